//! What a newcomer reads who changes one word of the quickstart: copies of it, each with one mistake, are compiled.

#![allow(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use std::{fs, path::Path, process::Command};

const ATTRIBUTE: &str = r#"#[subscription(pattern = ">", group = "workers", overflow = Fail, mode = AtMostOnce)]"#;

const ASKS: &str =
    r#"#[subscription(pattern = ">", overflow = Fail, durable = "workers", max_deliver = 5, mode = AtLeastOnce)]"#;

/// A backend that delivers at most once and no more, on the sessions of `Memory`.
const ONCE: &str = r#"
struct Once;

impl tramline::contract::Backend for Once {
    type Session = tramline::backend::memory::MemorySession;
    type Storage = tramline::contract::Volatile;
    const CAPABILITIES: tramline::contract::Capabilities = tramline::capabilities!(Once);
    async fn open(&self) -> Result<Self::Session, tramline::contract::OpenError> {
        tramline::contract::Backend::open(&Memory::new()).await
    }
}

impl DeliversAtMostOnce for Once {
    type Source = tramline::backend::memory::MemorySource;
    async fn at_most_once(
        session: &Self::Session,
        spec: tramline::contract::AtMostOnceSpec,
    ) -> Result<Self::Source, tramline::contract::SubscribeError> {
        Memory::at_most_once(session, spec).await
    }
}

impl FailsWhenFull for Once {
    async fn publish_when_room(
        session: &Self::Session,
        subject: &Subject,
        event: Event,
        within: Option<Duration>,
    ) -> Result<(), tramline::contract::PublishError> {
        Memory::publish_when_room(session, subject, event, within).await
    }
}

impl tramline::contract::ShedsOldest for Once {}
impl tramline::contract::MatchesPatterns for Once {}

use tramline::contract::{DeliversAtMostOnce, FailsWhenFull};
"#;

/// What rustc says of the quickstart with this attribute in place of the first worker's.
fn check(name: &str, attribute: &str) -> String {
    check_copy(name, |example| example.replace(ATTRIBUTE, attribute))
}

fn check_copy(name: &str, change: impl FnOnce(String) -> String) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("quickstart_refusals");
    let example = fs::read_to_string(root.join("examples/quickstart.rs")).unwrap();
    assert_eq!(example.matches(ATTRIBUTE).count(), 1, "the quickstart has the attribute that newcomers change");
    let copy = folder.join(name);
    fs::create_dir_all(copy.join("src/data")).unwrap();
    fs::copy(root.join("examples/data/events.jsonl"), copy.join("src/data/events.jsonl")).unwrap();
    fs::write(copy.join("src/main.rs"), change(example)).unwrap();
    let manifest = format!(
        "[package]\nname = {name:?}\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\ntramline = {{ path = {root:?} }}\n\
         tokio = {{ version = \"1\", features = [\"macros\", \"rt\", \"sync\"] }}\n",
    );
    fs::write(copy.join("Cargo.toml"), manifest).unwrap();
    fs::copy(root.join("Cargo.lock"), copy.join("Cargo.lock")).unwrap();
    let output = Command::new(env!("CARGO"))
        .args(["check", "--offline", "--quiet", "--color", "never"])
        .current_dir(&copy)
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .env_remove("RUSTFLAGS")
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    println!("{said}");
    said
}

/// The errors, without cargo's own last line.
fn errors(said: &str) -> Vec<&str> {
    said.split("\n\n")
        .filter(|part| part.trim_start().starts_with("error") && !part.contains("could not compile"))
        .collect()
}

fn within_budget(error: &str) {
    let lines: Vec<_> = error.trim_start().lines().collect();
    assert!(lines.len() <= 40, "{} lines", lines.len());
    assert!(lines.iter().all(|line| line.chars().count() <= 160), "a line of more than 160 columns");
    for leak in ["__private", "long-type", "/rustc/"] {
        assert!(!error.contains(leak), "`{leak}` is not for users");
    }
}

/// The last line with this in it.
fn place(lines: &[&str], code: &str) -> usize {
    lines.iter().rposition(|line| line.contains(code)).unwrap_or_else(|| panic!("no `{code}`"))
}

#[test]
fn the_quickstart_itself_compiles() {
    assert_eq!(errors(&check("as-it-is", ATTRIBUTE)), Vec::<&str>::new());
}

#[test]
fn at_least_once_in_the_quickstart_is_one_error_that_memory_keeps_nothing() {
    let said = check("at-least-once", ASKS);
    let errors = errors(&said);
    let [error] = &*errors else { panic!("{} errors", errors.len()) };
    within_budget(error);
    let lines: Vec<_> = error.trim_start().lines().collect();
    assert_eq!(lines[0], "error[E0277]: backend `Memory` keeps nothing across a restart");
    let subscribe = place(&lines, ".subscribe(worker_one)");
    assert!(lines[subscribe + 1].ends_with("^^^^^^^^^^ asks for a backlog that survives"), "{}", lines[subscribe + 1]);
    let fix = lines.iter().position(|line| line.contains("write `allow_volatile`")).expect("the fix is there");
    assert!(fix < 14, "the fix is in line {fix}");
}

#[test]
fn c14_with_allow_volatile_it_compiles() {
    let asks = ASKS.replace("mode =", "allow_volatile, mode =");
    assert_eq!(errors(&check("allow-volatile", &asks)), Vec::<&str>::new());
}

#[test]
fn at_least_once_on_a_backend_without_it_is_one_error_at_the_subscribe_and_at_the_word() {
    let said = check_copy("at-most-once-only", |example| {
        let elsewhere = example.replace("Memory::new()", "Once").replace("Bus<Memory, Running>", "Bus<Once, Running>");
        let asks = ASKS.replace("overflow = Fail", "allow_volatile");
        elsewhere.replace(ATTRIBUTE, &asks) + ONCE
    });
    let errors = errors(&said);
    let [error] = &*errors else { panic!("{} errors", errors.len()) };
    within_budget(error);
    let lines: Vec<_> = error.trim_start().lines().collect();
    assert_eq!(lines[0], "error[E0277]: backend `Once` cannot deliver at least once");
    let subscribe = place(&lines, ".subscribe(worker_one)");
    assert!(lines[subscribe + 1].ends_with("^^^^^^^^^^ asks for `AtLeastOnce`"), "{}", lines[subscribe + 1]);
    let attribute = place(&lines, "mode = AtLeastOnce)]");
    let value = lines[attribute].find("AtLeastOnce").unwrap();
    assert_eq!(lines[attribute + 1].find("-----------"), Some(value), "the attribute's value is underlined");
    let fix = lines.iter().position(|line| line.contains("write `mode = AtMostOnce`")).expect("the fix is there");
    assert!(fix < 14, "the fix is in line {fix}");
}

#[test]
fn a_forgotten_durable_name_is_one_error_on_the_attribute_and_no_other() {
    let forgets = r#"#[subscription(pattern = ">", overflow = Fail, max_deliver = 5, mode = AtLeastOnce)]"#;
    let said = check("without-durable", forgets);
    let errors = errors(&said);
    let [error] = &*errors else { panic!("{} errors", errors.len()) };
    within_budget(error);
    let lines: Vec<_> = error.trim_start().lines().collect();
    assert!(lines[0].starts_with("error: ") && lines[0].contains("durable"), "{}", lines[0]);
    let attribute =
        lines.iter().position(|line| line.contains("#[subscription(pattern")).expect("the attribute is shown");
    assert!(lines[attribute + 1].contains('^'), "and marked: {}", lines[attribute + 1]);
    assert!(!error.contains(".subscribe("), "nothing is said of the call");
}
