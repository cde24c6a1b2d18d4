//! The chapter on compile errors, written from the cases: what each says, why, and how it is mended.

use std::{env, fmt::Write as _, fs, path::Path};

use crate::cases::{Case, FEATURE, features};

/// What must be run when a page is stale.
const COMMAND: &str = "UPDATE_GUIDE=1 cargo test --all-features --test ui the_guide";

/// The themes, in the order in which a newcomer meets them: the folder, its title, and what it is about.
const THEMES: [(&str, &str, &str); 9] = [
    ("settings", "Settings", "What an attribute, or a builder, does not take."),
    ("handler", "Handlers", "Arguments, return values and futures of handlers; what is no handler; values and codecs."),
    ("capability", "Capabilities", "What is asked of a backend that cannot do it, in the attribute and at run time."),
    ("names", "Names", "Literals that are no subject, no pattern and no name."),
    ("lifecycle", "Life cycle", "What is done in one state and can be done in another only; steps that are left out."),
    ("topic", "Topics", "What a topic says of itself, and who can select it."),
    ("feature", "Features", "What is there only with a feature of the crate."),
    ("sealed", "What is closed", "Adding to what is closed; editing what is shared."),
    ("cascade", "One among others", "A mistake stays one error, whatever stands beside it."),
];

/// What newcomers do first, told in the chapter itself.
const FIRST: [(&str, &str, &str); 5] = [
    ("The wrong return type", "handler", "nothing_does_not_say_what_became_of_the_message"),
    ("`allow_volatile` is forgotten", "capability", "at_least_once_in_memory_needs_allow_volatile"),
    ("A handler that is not async", "handler", "a_handler_is_async"),
    ("A name that does not exist", "settings", "a_typo_in_a_setting_is_recognised"),
    ("A backend whose feature is not enabled", FEATURE, "a_backend_is_behind_its_feature"),
];

/// What a file name says with underscores and without an apostrophe, and how it is written.
const SPELLINGS: &[(&str, &str)] = &[
    ("ack wait", "`ack_wait`"),
    ("all available", "`AllAvailable`"),
    ("allow volatile", "`allow_volatile`"),
    ("Backoff is", "`backoff` is"),
    ("cbor", "CBOR"),
    ("closures", "closure's"),
    ("Concurrency is", "`concurrency` is"),
    ("Durable is", "`durable` is"),
    ("enums", "enum's"),
    ("extend lease", "`ExtendLease`"),
    ("Fail ", "`Fail` "),
    ("future is send", "future is `Send`"),
    ("handlers error", "handler's error"),
    ("in prefer", "in `prefer`"),
    ("in slow handler", "in `slow_handler`"),
    ("Keyed ", "`keyed` "),
    ("max deliver", "`max_deliver`"),
    ("max nack delay", "`max_nack_delay`"),
    ("max processing time", "`max_processing_time`"),
    ("nack after", "`nack_after`"),
    (" nats", " NATS"),
    ("no self", "no `self`"),
    ("Ok of", "`Ok` of"),
    ("Ordered ", "`ordered` "),
    ("payloads", "payload's"),
    ("protobuf", "Protobuf"),
    ("redeliver", "`Redeliver`"),
    ("Replay ", "`replay` "),
    ("replys", "reply's"),
    ("requests value", "request's value"),
    ("responders", "responder's"),
    ("shed newest", "`ShedNewest`"),
    ("shed oldest", "`ShedOldest`"),
    ("Slow handler", "`slow_handler`"),
    ("start at", "`start_at`"),
    ("Subject and pattern", "`subject` and `pattern`"),
    ("subscriptions own", "subscription's own"),
    ("topics", "topic's"),
    (" uri", " URI"),
];

const FIRST_BEGIN: &str = "<!-- the five: written by tests/ui/guide.rs -->\n";
const FIRST_END: &str = "<!-- end of the five -->";
const INDEX_BEGIN: &str = "<!-- the index: written by tests/ui/guide.rs -->\n";
const ERROR_BEGIN: &str = "<!-- the error: written by tests/ui/guide.rs -->\n";
const ERROR_END: &str = "<!-- end of the error -->";
const INDEX_END: &str = "<!-- end of the index -->";

/// Fails if the chapter, or a page of it, is not what the cases say; writes it when asked to.
pub(crate) fn hold(cases: &[Case], root: &Path) {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/guide");
    let chapter = guide.join("compile_errors.md");
    let pages = chapter.with_extension("");
    let found = fs::read_to_string(&chapter).expect("the chapter is there");
    let right = between(&found, FIRST_BEGIN, FIRST_END, &first(cases, root));
    let right = between(&right, INDEX_BEGIN, INDEX_END, &index(cases));
    let mut files = vec![(chapter, right)];
    // What the compiler says when a backend is swapped stands in the chapter about that, too.
    let choosing = guide.join("choosing_a_backend.md");
    let found = fs::read_to_string(&choosing).expect("the chapter is there");
    let error =
        format!("```text\n{}```\n", printed(find(cases, "capability", "at_least_once_does_not_run_on_core_nats")));
    files.push((choosing, between(&found, ERROR_BEGIN, ERROR_END, &error)));
    for (folder, _, about) in THEMES {
        files.push((pages.join(format!("{folder}.md")), page(folder, about, cases, root)));
    }
    for (path, right) in files {
        let found = fs::read_to_string(&path).unwrap_or_default();
        if found == right {
            continue;
        }
        assert!(env::var_os("UPDATE_GUIDE").is_some(), "{} is stale: run {COMMAND}", path.display());
        fs::create_dir_all(&pages).and_then(|()| fs::write(&path, &right)).expect("the page can be written");
    }
}

/// A text with another one between two marks.
fn between(text: &str, begin: &str, end: &str, new: &str) -> String {
    let (before, rest) = text.split_once(begin).unwrap_or_else(|| panic!("the chapter has no {begin}"));
    let (_, after) = rest.split_once(end).unwrap_or_else(|| panic!("the chapter has no {end}"));
    format!("{before}{begin}{new}{end}{after}")
}

fn first(cases: &[Case], root: &Path) -> String {
    let told = FIRST
        .into_iter()
        .map(|(title, folder, name)| format!("\n## {title}\n\n{}", explained(find(cases, folder, name), root)));
    told.collect::<String>() + "\n"
}

fn find<'c>(cases: &'c [Case], folder: &str, name: &str) -> &'c Case {
    cases.iter().find(|case| case.folder == folder && case.name == name).expect(name)
}

/// Every first line once, with a link to where it is explained.
fn index(cases: &[Case]) -> String {
    let mut text = String::new();
    for (folder, title, about) in THEMES {
        let _ = write!(text, "\n## [{title}](crate::guide::compile_errors::{folder})\n\n{about}\n\n");
        let mut said = Vec::new();
        for case in cases.iter().filter(|case| case.folder == folder) {
            let fact = fact(case);
            if !said.contains(&fact) {
                let _ = writeln!(
                    text,
                    "- [{fact}](crate::guide::compile_errors::{folder}#{})",
                    anchor(&heading(&case.name))
                );
                said.push(fact);
            }
        }
    }
    text + "\n"
}

fn page(folder: &str, about: &str, cases: &[Case], root: &Path) -> String {
    let mut text = format!("{about}\n\n<!-- Written by tests/ui/guide.rs from ui-tests/{folder}/. -->\n");
    for case in cases.iter().filter(|case| case.folder == folder) {
        let _ = write!(text, "\n# {}\n\n{}", heading(&case.name), explained(case, root));
    }
    let place = THEMES.iter().position(|(theme, ..)| *theme == folder).expect("it is one of them");
    let next = THEMES.get(place + 1).map_or_else(
        || "Next: [writing a backend](crate::guide::writing_a_backend).".to_owned(),
        |(folder, title, _)| format!("Next: [{title}](crate::guide::compile_errors::{folder})."),
    );
    text + "\n" + &next + "\n"
}

/// One mistake: the cause, the code, the error as printed, the fix.
fn explained(case: &Case, root: &Path) -> String {
    let cause = case.cause().unwrap_or_else(|| panic!("{case} says no cause"));
    let (code, error) = (case.code(), printed(case));
    let mended = case.mended(root);
    let fix = if case.folder == FEATURE { in_manifest(&mended) } else { difference(&code, &mended) };
    format!("{cause}\n\n```rust,compile_fail\n{code}```\n\n```text\n{error}```\n\nThe fix:\n\n```diff\n{fix}```\n")
}

/// The error as a user sees it, in a file of their own.
fn printed(case: &Case) -> String {
    let file = format!("ui-tests/{}/{}.rs", case.folder, case.name);
    case.stderr().replace(&format!("$DIR/{file}"), "src/main.rs").replace(&file, "src/main.rs").trim_end().to_owned()
        + "\n"
}

/// The first line without its code, and a mark where it goes on.
fn fact(case: &Case) -> String {
    let printed = printed(case);
    let mut lines = printed.lines();
    let first = lines.next().expect("an error has a first line");
    let (_, fact) = first.split_once(": ").expect("an error says something");
    let goes_on = lines.next().is_some_and(|second| !second.trim_start().starts_with("-->"));
    fact.trim_start_matches("evaluation panicked: ").to_owned() + if goes_on { " .." } else { "" }
}

/// A file's name as a sentence.
fn heading(name: &str) -> String {
    let words = name.replace('_', " ");
    let (first, rest) = words.split_at(1);
    let sentence = first.to_uppercase() + rest;
    SPELLINGS.iter().fold(sentence, |sentence, &(plain, written)| {
        // At the beginning of a sentence it has a capital.
        let (first, rest) = plain.split_at(1);
        sentence.replace(&(first.to_uppercase() + rest), written).replace(plain, written)
    })
}

/// What rustdoc makes of a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-'));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

/// How an application asks for features.
fn in_manifest(mended: &str) -> String {
    let version = env!("CARGO_PKG_VERSION").rsplit_once('.').map_or(env!("CARGO_PKG_VERSION"), |(version, _)| version);
    let features = features(mended);
    assert!(!features.is_empty(), "the twin names the features that it needs");
    format!(
        " [dependencies]\n-tramline = \"{version}\"\n+tramline = {{ version = \"{version}\", features = {features:?} }}\n"
    )
}

/// The lines that differ, each group of them apart, and around what is only put in or only taken out the lines beside it.
fn difference(old: &str, new: &str) -> String {
    let lines = compared(old, new);
    let groups = lines.chunk_by(|one, other| (one.0 == ' ') == (other.0 == ' '));
    let mut groups = groups.map(<[_]>::to_vec).collect::<Vec<_>>();
    let last = groups.len().saturating_sub(1);
    let one_sided = |group: &[(char, &str)]| group[0].0 != ' ' && group.iter().all(|line| line.0 == group[0].0);
    let sides: Vec<bool> = groups.iter().map(|group| one_sided(group)).collect();
    for (index, group) in groups.iter_mut().enumerate().filter(|(_, group)| group[0].0 == ' ') {
        // What is left of lines that are the same on both sides: those that touch a group, and a mark for the others.
        let after = (index > 0 && sides[index - 1]).then(|| group[0]);
        let before = (index < last && sides[index + 1]).then(|| group[group.len() - 1]);
        let before = before.filter(|_| group.len() > 1 || after.is_none());
        let told = usize::from(after.is_some()) + usize::from(before.is_some());
        let gap = (index > 0 && index < last && told < group.len()).then_some((' ', ".."));
        *group = [after, gap, before].into_iter().flatten().filter(|line| !line.1.is_empty()).collect();
    }
    groups.concat().iter().map(|(mark, line)| format!("{mark}{line}\n")).collect()
}

/// The lines of both, each marked as common, taken out or put in. What is for the tests only is left out.
fn compared<'t>(old: &'t str, new: &'t str) -> Vec<(char, &'t str)> {
    let of_text = |text: &'t str| text.lines().filter(|line| !line.starts_with("// errors: ")).collect::<Vec<_>>();
    let (old, new) = (of_text(old), of_text(new));
    // How many lines are common to what is left of both from here on.
    let mut common = vec![vec![0_usize; new.len() + 1]; old.len() + 1];
    for o in (0..old.len()).rev() {
        for n in (0..new.len()).rev() {
            common[o][n] =
                if old[o] == new[n] { common[o + 1][n + 1] + 1 } else { common[o + 1][n].max(common[o][n + 1]) };
        }
    }
    let (mut o, mut n, mut lines) = (0, 0, Vec::new());
    while o < old.len() || n < new.len() {
        if o < old.len() && n < new.len() && old[o] == new[n] {
            lines.push((' ', old[o]));
            (o, n) = (o + 1, n + 1);
        } else if n == new.len() || (o < old.len() && common[o + 1][n] >= common[o][n + 1]) {
            lines.push(('-', old[o]));
            o += 1;
        } else {
            lines.push(('+', new[n]));
            n += 1;
        }
    }
    lines
}

#[test]
fn a_file_name_is_read_as_a_sentence_and_a_heading_has_its_anchor() {
    let slow = heading("a_slow_handler_needs_a_lease_that_can_be_extended");
    assert_eq!(slow, "A slow handler needs a lease that can be extended");
    assert_eq!(heading("slow_handler_is_at_least_once_only"), "`slow_handler` is at least once only");
    assert_eq!(heading("max_deliver_is_at_least_once_only"), "`max_deliver` is at least once only");
    assert_eq!(anchor(&heading("a_closures_future_is_send")), "a-closures-future-is-send");
    assert_eq!(anchor("`ack_wait` is for one mode"), "ack_wait-is-for-one-mode");
}

#[test]
fn a_difference_is_what_was_taken_out_and_what_was_put_in() {
    assert_eq!(difference("a\nb\nc\n", "a\nx\nc\n"), "-b\n+x\n");
    assert_eq!(difference("a\nb\nc\nd\n", "z\na\nb\nc\nd\ny\n"), "+z\n a\n ..\n d\n+y\n");
    assert_eq!(difference("a\nb\nc\n", "a\nc\n"), " a\n-b\n c\n");
    assert_eq!(difference("a\nb\nc\nd\n", "x\nb\nc\ny\n"), "-a\n+x\n ..\n-d\n+y\n");
    assert_eq!(difference("// errors: 2\na\n", "a\n"), "");
}
