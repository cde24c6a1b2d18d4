//! Publishes CloudEvents on an in-memory bus, and says what became of every one of them.
//!
//! ```text
//! cargo run --example quickstart                    the events that come with it
//! cargo run --example quickstart -- events.jsonl    your own, one JSON event a line
//! cargo run --example quickstart -- -               the same, from standard input
//! ```
//!
//! Look at the ledger at the end: two workers share what each of the others gets whole, and the slow archive sheds what it
//! has no room for, which is counted.
//!
//! Exit status: 0, or 1 if a line was refused, or 2 if there was nothing to read.

use std::{env, error::Error, fs, io, io::Read, process::ExitCode, sync::Arc, time::Duration};

use tokio::sync::SetOnce;
use tramline::{Ack, Bus, Event, Memory, Running, State, Subject, event::Data, source, subscription};

/// Gets every event. With `Fail` it loses none: a publisher that finds it full is told, or waits for room.
#[subscription(pattern = ">", overflow = Fail)]
async fn logger(subject: &Subject, event: &Event) {
    println!("  {:<37} {:<38} {}", subject.as_str(), event.source().as_str(), data(event));
}

/// Shares the events with its twin: each goes to one of the two.
//
// Change one word, to `mode = AtLeastOnce`, and the attribute says what that needs. Give it that, `durable = "workers",
// max_deliver = 5` in place of `group`, and rustc says what the backend below does not do: keep anything across a
// restart. Where that will do, `allow_volatile` says so.
#[subscription(pattern = ">", group = "workers", overflow = Fail, mode = AtMostOnce)]
async fn worker_one() -> Ack {
    Ack
}

#[subscription(pattern = ">", group = "workers", overflow = Fail)]
async fn worker_two() -> Ack {
    Ack
}

/// Slow on purpose: its tape is ready only when everything has been published. It keeps the latest eight, and what it
/// had to let go stands in the ledger.
#[subscription(pattern = ">", bound = 8, overflow = ShedOldest)]
async fn archive(State(tape): State<Tape>) {
    tape.wait().await;
}

type Tape = Arc<SetOnce<()>>;

// One thread, so that the lines have one order.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let (name, lines) = match input() {
        Ok(input) => input,
        Err(error) => {
            eprintln!("{error}");
            return Ok(ExitCode::from(2));
        }
    };

    let tape = Tape::default();
    let bus = Bus::builder(Memory::new(), source!("urn:example:quickstart"))
        .state(tape.clone())
        .subscribe(logger)
        .subscribe(worker_one)
        .subscribe(worker_two)
        .subscribe(archive)
        .build()?
        .start()
        .await?;

    let (mut published, mut refused) = (0, 0);
    for (index, line) in lines.split(|byte| *byte == b'\n').enumerate() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        match publish(&bus, line).await {
            Ok(()) => published += 1,
            Err(error) => {
                refused += 1;
                eprintln!("{name}, line {}: {error}", index + 1);
            }
        }
    }
    tape.set(())?;
    // A stop does not drain.
    bus.idle().await;

    let stopped = bus.stop(Duration::from_secs(5)).await;
    println!("\n{name}: {published} published, {refused} refused; {}\n", stopped.report);
    print!("{}", stopped.bus.ledger());
    Ok(if refused == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Publishes one line on the subject that its event's type names, dots and all.
async fn publish(bus: &Bus<Memory, Running>, line: &[u8]) -> Result<(), Box<dyn Error>> {
    let event = Event::from_json(line)?;
    let subject = Subject::new(event.event_type())?;
    bus.publish(&subject, event).when_room().await?;
    Ok(())
}

fn data(event: &Event) -> String {
    match event.data() {
        None => "no data".to_owned(),
        Some(Data::Json(json)) => format!("{} bytes of JSON", json.len()),
        Some(Data::Text(text)) => format!("{} bytes of text", text.len()),
        Some(Data::Binary(bytes)) => format!("{} bytes", bytes.len()),
    }
}

/// What to read, by name and content.
fn input() -> Result<(String, Vec<u8>), String> {
    match env::args().nth(1).as_deref() {
        None => Ok(("events.jsonl".to_owned(), include_bytes!("data/events.jsonl").to_vec())),
        Some("-") => {
            let mut lines = Vec::new();
            io::stdin().read_to_end(&mut lines).map_err(|error| format!("standard input cannot be read: {error}"))?;
            Ok(("standard input".to_owned(), lines))
        }
        Some(path) => {
            let lines = fs::read(path).map_err(|error| format!("{path} cannot be read: {error}"))?;
            Ok((path.to_owned(), lines))
        }
    }
}
