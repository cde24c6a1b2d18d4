//! The example that newcomers run first, as the program that it is: its output, its messages, its exit status.

use std::{
    env, fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::LazyLock,
    time::{Instant, SystemTime},
};

const SHIPPED: &str = "examples/data/events.jsonl";

const GOOD: &str = r#"{"specversion":"1.0","id":"1","source":"/here","type":"com.example.good.v1"}"#;

#[test]
fn the_shipped_events_are_all_published_and_every_one_is_accounted_for() {
    LazyLock::force(&PROGRAM);
    let begun = Instant::now();
    let ran = run(&[], b"");
    assert!(begun.elapsed().as_secs() < 2, "it took {:?}", begun.elapsed());
    assert_eq!(status(&ran), 0, "{ran:?}");
    assert_eq!(text(&ran.stderr), "");
    let count = fs::read_to_string(SHIPPED).expect("it is there").lines().count();
    let out = text(&ran.stdout);
    assert!(out.contains(&format!("events.jsonl: {count} published, 0 refused")), "{out}");
    let [logger, one, two, archive] =
        ["logger", "worker_one", "worker_two", "archive"].map(|subscription| row(&out, subscription));
    assert_eq!((logger.offered, logger.delivered, logger.lost), (count, count, 0), "fan-out");
    assert_eq!(one.delivered + two.delivered, count, "each event has one of the two");
    assert!(one.delivered > 0 && two.delivered > 0, "both work");
    assert_eq!((archive.offered, archive.delivered, archive.lost), (count, 8, count - 8), "it keeps the latest eight");
    assert!(out.ends_with(&format!("archive lost: overflow {}\n", count - 8)), "{out}");
}

#[test]
fn the_same_events_give_the_same_output_every_time() {
    // But for the time that the stop took.
    let out = |ran: Output| {
        text(&ran.stdout).lines().filter(|line| !line.contains("stopped in")).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(out(run(&[], b"")), out(run(&[], b"")));
}

#[test]
fn a_file_and_standard_input_give_what_the_shipped_events_give() {
    let shipped = run(&[], b"");
    let from_file = run(&[SHIPPED], b"");
    let from_input = run(&["-"], &fs::read(SHIPPED).expect("it is there"));
    for ran in [&from_file, &from_input] {
        assert_eq!(status(ran), 0, "{ran:?}");
        assert_eq!(table(&text(&ran.stdout)), table(&text(&shipped.stdout)));
    }
    assert!(text(&from_input.stdout).contains("standard input: "));
}

#[test]
fn a_bad_line_is_reported_with_its_number_and_the_rest_goes_on() {
    let lines: [&[u8]; 9] = [
        GOOD.as_bytes(),
        b"",
        b"not JSON",
        br#"{"specversion":"0.3","id":"1","source":"/here","type":"com.example.old.v1"}"#,
        br#"{"specversion":"1.0","id":"1","source":"/here","type":"com..example"}"#,
        br#"{"specversion":"1.0","id":"1","source":"/here","type":"com.example.*"}"#,
        br#"{"specversion":"1.0","id":"1","type":"com.example.nobody.v1"}"#,
        b"\xff\xfe",
        GOOD.as_bytes(),
    ];
    let file = env::temp_dir().join(format!("tramline-quickstart-{}.jsonl", std::process::id()));
    fs::write(&file, lines.join(&b"\n"[..])).expect("the temporary folder can be written");
    let ran = run(&[file.to_str().expect("text")], b"");
    fs::remove_file(&file).expect("it is there");

    assert_eq!(status(&ran), 1, "{ran:?}");
    let said = text(&ran.stderr);
    let said: Vec<&str> = said.lines().collect();
    let expected = [
        ("line 3: ", "cannot be read"),
        ("line 4: ", "version 0.3 is not supported"),
        ("line 5: ", "no empty token"),
        ("line 6: ", "no `*`"),
        ("line 7: ", "no `source`"),
        ("line 8: ", "cannot be read"),
    ];
    assert_eq!(said.len(), expected.len(), "{said:#?}");
    for (line, (number, reason)) in said.iter().zip(expected) {
        assert!(line.contains(number) && line.contains(reason), "{number}{reason}, and not: {line}");
    }
    let out = text(&ran.stdout);
    assert!(out.contains("2 published, 6 refused"), "{out}");
    assert_eq!(row(&out, "logger").delivered, 2);
}

#[test]
fn more_events_than_any_queue_holds_wait_for_room_and_none_is_lost() {
    let ran = run(&["-"], [GOOD; 2_000].join("\n").as_bytes());
    assert_eq!(status(&ran), 0, "{ran:?}");
    let out = text(&ran.stdout);
    assert_eq!((row(&out, "logger").delivered, row(&out, "logger").lost), (2_000, 0));
    assert_eq!(row(&out, "worker_one").lost + row(&out, "worker_two").lost, 0);
}

#[test]
fn a_file_that_is_not_there_is_said_to_be() {
    let ran = run(&["no such file"], b"");
    assert_eq!(status(&ran), 2);
    assert!(text(&ran.stderr).starts_with("no such file cannot be read: "), "{ran:?}");
}

#[test]
fn the_shipped_events_are_of_many_kinds() {
    let lines = fs::read_to_string(SHIPPED).expect("it is there");
    let events: Vec<_> = lines
        .lines()
        .map(|line| tramline::Event::from_json(line.as_bytes()).expect("every line is an event"))
        .collect();
    assert!(events.len() >= 50);
    let some = |what: &str, holds: fn(&tramline::Event) -> bool| assert!(events.iter().any(holds), "none has {what}");
    some("a relative source", |event| event.source().as_str().starts_with('/'));
    some("text that is not ASCII", |event| event.subject().is_some_and(|subject| !subject.is_ascii()));
    some("text data", |event| matches!(event.data(), Some(tramline::event::Data::Text(_))));
    some("binary data", |event| matches!(event.data(), Some(tramline::event::Data::Binary(_))));
    some("no data", |event| event.data().is_none());
    some("a media type with +json", |event| event.data_content_type().is_some_and(|media| media.contains("+json")));
    some("an extension", |event| event.extensions().len() > 0);
    some("a schema", |event| event.data_schema().is_some());
}

/// One row of the ledger's table.
#[derive(Debug, PartialEq)]
struct Row {
    offered: usize,
    delivered: usize,
    lost: usize,
}

/// The row of a subscription, whose identity holds.
fn row(out: &str, subscription: &str) -> Row {
    let line = table(out).into_iter().find(|line| line.split_whitespace().next() == Some(subscription));
    let line = line.unwrap_or_else(|| panic!("the ledger has no {subscription}:\n{out}"));
    let numbers: Vec<usize> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [offered, delivered, lost, released, in_hand, pending] = numbers[..] else { panic!("not six numbers: {line}") };
    assert_eq!(offered, delivered + lost + released + in_hand + pending, "L4: {line}");
    Row { offered, delivered, lost }
}

fn table(out: &str) -> Vec<&str> {
    out.lines().skip_while(|line| !line.starts_with("subscription ")).collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("it prints text")
}

fn status(ran: &Output) -> i32 {
    ran.status.code().expect("it ended by itself")
}

fn run(arguments: &[&str], input: &[u8]) -> Output {
    let mut command = Command::new(&*PROGRAM);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the example can be started");
    let mut stdin = child.stdin.take().expect("it is piped");
    let input = input.to_vec();
    // A program that does not read its input closes it, which is its right.
    let feeding = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().expect("the example ends");
    feeding.join().expect("it does not panic");
    output
}

/// The compiled example. A whole `cargo test` has built it by now; where only this test was asked for, cargo is.
static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
    let this = env::current_exe().expect("a test knows where it is");
    let profile = this.ancestors().nth(2).expect("target/<profile>/deps/<test>");
    let program = profile.join("examples").join(format!("quickstart{}", env::consts::EXE_SUFFIX));
    let built = fs::metadata(&program).and_then(|metadata| metadata.modified()).ok();
    if built.is_none_or(|built| ["src", "macros/src", "examples"].iter().any(|folder| newest(folder.as_ref()) > built))
    {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--example", "quickstart", "--target-dir"]);
        cargo.arg(profile.parent().expect("the target folder"));
        if profile.ends_with("release") {
            cargo.arg("--release");
        }
        assert!(cargo.status().expect("cargo can be started").success(), "the example does not compile");
    }
    program
});

/// When something in a folder was changed last.
fn newest(folder: &Path) -> SystemTime {
    let entries = fs::read_dir(folder).expect("it can be read").map(|entry| entry.expect("it can be read"));
    let changed = entries.map(|entry| {
        if entry.path().is_dir() {
            return newest(&entry.path());
        }
        entry.metadata().and_then(|metadata| metadata.modified()).expect("the file system knows when")
    });
    changed.max().unwrap_or(SystemTime::UNIX_EPOCH)
}
