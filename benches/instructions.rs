//! Instructions for one message on its whole way, counted by `valgrind --tool=callgrind`: the same on every run, whatever
//! else the machine does.
//!
//! The bench starts itself under valgrind twice for each shape, with two numbers of messages; the difference is what the
//! messages cost, without starting and stopping. `cargo bench --bench instructions`

use std::{
    process::{Command, ExitCode},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use serde::Deserialize;
use tramline::{Bus, Event, Memory, Payload, source, subject, subscription};

const FEW: u64 = 2_000;
const MANY: u64 = 12_000;

#[derive(Deserialize)]
struct Small<'a> {
    number: u64,
    text: &'a str,
}

/// How many messages were handled.
static SEEN: AtomicU64 = AtomicU64::new(0);

#[subscription(subject = "bench.decoded", bound = 256)]
async fn decoded(payload: Payload<Small<'_>>) {
    SEEN.fetch_add(payload.number + payload.text.len() as u64, Relaxed);
}

#[subscription(subject = "bench.bare", bound = 256)]
async fn bare() {
    SEEN.fetch_add(1, Relaxed);
}

#[subscription(pattern = "bench.*.wild", bound = 256)]
async fn wild() {
    SEEN.fetch_add(1, Relaxed);
}

/// What is measured, by name.
const SHAPES: [(&str, &str); 5] = [
    ("decoded", "publish, handle with JSON decoded, settle"),
    ("bare", "the same, nothing decoded"),
    ("wild", "the same through a wildcard"),
    ("handle", "nothing decoded, published through a handle"),
    ("build", "a small JSON event built and dropped"),
];

fn event() -> Event {
    let builder = Event::builder("1", source!("urn:example:bench"), "com.example.small.v1");
    builder.json(r#"{"number":17,"text":"hello"}"#).build().expect("valid")
}

async fn run(shape: &str, messages: u64) {
    let bus = Bus::builder(Memory::new(), source!("urn:example:bench"))
        .subscribe(decoded)
        .subscribe(bare)
        .subscribe(wild)
        .build()
        .expect("valid")
        .start()
        .await
        .expect("starts");
    let (event_once, handle) = (event(), bus.handle());
    let (of_decoded, of_bare, of_wild) = (subject!("bench.decoded"), subject!("bench.bare"), subject!("bench.a.wild"));
    for turn in 0..messages {
        match shape {
            "decoded" => bus.publish(&of_decoded, event_once.clone()).await.expect("taken"),
            "bare" => bus.publish(&of_bare, event_once.clone()).await.expect("taken"),
            "wild" => bus.publish(&of_wild, event_once.clone()).await.expect("taken"),
            "handle" => handle.publish(&of_bare, event_once.clone()).await.expect("taken"),
            _ => drop(std::hint::black_box(event())),
        }
        // Half a queue at a time, so that nothing is shed.
        if turn % 128 == 127 {
            tokio::task::yield_now().await;
        }
    }
    let handled: u64 =
        bus.ledger().subscriptions.iter().map(|stats| stats.delivered + stats.pending + stats.in_hand).sum();
    assert!(shape == "build" || handled == messages, "{handled} of {messages}");
}

/// Instructions of one run under valgrind.
fn instructions(shape: &str, messages: u64) -> Result<u64, String> {
    let itself = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(itself)
        .args(["--messages", shape, &messages.to_string()])
        .output()
        .map_err(|error| format!("valgrind does not start ({error}): apt-get install valgrind"))?;
    let report = String::from_utf8_lossy(&output.stderr);
    let collected = report.lines().find_map(|line| line.split("Collected :").nth(1));
    let collected = collected.and_then(|count| count.trim().parse().ok());
    collected.ok_or_else(|| format!("valgrind reports no count:\n{report}"))
}

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    if let [flag, shape, messages] = &*arguments
        && flag == "--messages"
    {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(run(shape, messages.parse().expect("a number")));
        return ExitCode::SUCCESS;
    }
    for (shape, what) in SHAPES {
        match (instructions(shape, FEW), instructions(shape, MANY)) {
            (Ok(few), Ok(many)) => println!("{:>6} instructions  {what}", (many - few) / (MANY - FEW)),
            (Err(error), _) | (_, Err(error)) => {
                eprintln!("{error}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}
