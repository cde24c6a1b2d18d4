//! Every example, run to its end as a user runs it.

#![allow(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

mod at_least_once;
mod live_ledger;
mod request_reply;

use std::{
    collections::BTreeSet,
    env, fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::PathBuf,
    process::{Command, Output, Stdio},
    sync::LazyLock,
};

/// With its arguments, and what it prints in any case.
const EXAMPLES: &[(&str, &[&str], &str)] = &[
    ("at_least_once", &[], "exhausted: a message that ran out of its three attempts"),
    ("conformance_report", &[], "ordering"),
    ("from_configuration", &[], "attempt 2"),
    ("live_ledger", &["3"], "stopped."),
    ("own_backend", &[], "delivered"),
    ("quickstart", &[], "0 refused"),
    ("request_reply", &[], "sold out"),
    ("service", &["once"], r#""coffee": 1, "glass": 1, "sugar": 1, "tea": 2}"#),
    ("swap_the_backend", &["memory"], "coffee, attempt 2"),
    ("testing", &[], "panicked: the scales broke"),
];

/// Where the examples are, up to date: built once, of the whole workspace and with every feature, as the tests are, so that no
/// dependency is built another time.
static PROGRAMS: LazyLock<PathBuf> = LazyLock::new(|| {
    let this = env::current_exe().unwrap();
    let profile = this.ancestors().nth(2).unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--offline", "--workspace", "--all-features", "--examples", "--target-dir"]);
    cargo.arg(profile.parent().unwrap()).current_dir(env!("CARGO_MANIFEST_DIR"));
    if profile.ends_with("release") {
        cargo.arg("--release");
    }
    assert!(cargo.status().unwrap().success(), "an example does not compile");
    profile.join("examples")
});

fn command(example: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(PROGRAMS.join(example));
    command.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR"));
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn each_runs_to_its_end_and_says_what_it_shows() {
    for (example, arguments, said) in EXAMPLES {
        let Output { status, stdout, stderr } = command(example, arguments).output().unwrap();
        let (out, err) = (text(&stdout), text(&stderr));
        assert!(status.success(), "`{example}` failed:\n{out}\n{err}");
        assert!(out.contains(said), "`{example}` says nothing of `{said}`:\n{out}\n{err}");
    }
}

#[test]
fn none_is_left_out() {
    let here = BTreeSet::from_iter(EXAMPLES.iter().map(|(example, ..)| (*example).to_owned()));
    let there: BTreeSet<String> = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/examples"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs") || path.join("main.rs").exists())
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    assert_eq!(here, there);
}

#[test]
fn a_file_of_subscriptions_that_is_wrong_is_refused_whole_with_each_setting_and_its_fix() {
    let Output { status, stdout, stderr } =
        command("from_configuration", &["examples/data/refused.toml"]).output().unwrap();
    let (out, err) = (text(&stdout), text(&stderr));
    assert_eq!(status.code(), Some(1), "{out}\n{err}");
    assert_eq!(out, "", "nothing was published");
    for said in ["examples/data/refused.toml is refused", "`billing`", "`accounting`", "concurrency = 8", "durable"] {
        assert!(err.contains(said), "no `{said}` in\n{err}");
    }
}

#[cfg(unix)]
#[test]
fn the_service_tells_its_health_and_stops_on_ctrl_c_with_a_place_for_every_message() {
    let mut service = command("service", &[]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut out = BufReader::new(service.stdout.take().unwrap());
    let mut first = String::new();
    out.read_line(&mut first).unwrap();
    let address = first.split("http://").nth(1).unwrap().split('/').next().unwrap().to_owned();
    let ask = |path: &str| {
        let mut endpoint = TcpStream::connect(&address).unwrap();
        write!(endpoint, "GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
        let mut said = String::new();
        endpoint.read_to_string(&mut said).unwrap();
        said
    };
    assert!(ask("/ready").starts_with("HTTP/1.1 200 OK\r\n") && ask("/ready").ends_with("\r\n\r\nready\n"));
    assert!(ask("/health").ends_with("\r\n\r\nhealthy\n"), "{}", ask("/health"));
    assert!(ask("/ledger").contains("\nbilling "), "{}", ask("/ledger"));
    assert!(ask("/nowhere").starts_with("HTTP/1.1 404 "));

    assert!(Command::new("kill").args(["-INT", &service.id().to_string()]).status().unwrap().success());
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert!(service.wait().unwrap().success(), "{rest}");
    assert!(rest.contains("stopped in ") && rest.contains("packed: {"), "{rest}");
    for name in ["billing", "packing", "dashboard"] {
        let row = rest.lines().find(|line| line.starts_with(&format!("{name} ")) && line.contains(" = ")).unwrap();
        let numbers: Vec<u64> = row.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        assert_eq!(numbers[0], numbers[1..].iter().sum::<u64>(), "L4: {row}");
    }
}
