//! The in-memory session alone, nothing decoded, against bounded `tokio::sync::mpsc` of equal capacity carrying
//! handles: the budgets of `design.md`, section 6. Interleaved rounds; a claim is a ratio with its spread.
//!
//! `cargo bench --bench session`, or with parts of a row's name: `cargo bench --bench session -- wildcard "two workers"`

use std::{
    num::NonZeroUsize,
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::StreamExt;
use tokio::runtime::{Builder, Runtime};
use tramline::{
    Event, Name, Pattern, Subject,
    backend::memory::{Memory, MemoryDeliveries, MemorySession, MemorySourceControl},
    contract::{AtMostOnceSpec, Backend, DeliversAtMostOnce, FailsWhenFull, Overflow, Session, Source, SourceId},
    source,
};

const CAPACITY: usize = 256;
const MESSAGES: usize = 400_000;
const ROUNDS: usize = 11;

struct Reader {
    deliveries: MemoryDeliveries,
    // Kept, as a bus keeps it.
    _control: MemorySourceControl,
}

async fn subscribe(session: &MemorySession, pattern: &str) -> Reader {
    let id = SourceId::new(1, 0, 0);
    let bound = NonZeroUsize::new(CAPACITY).expect("not zero");
    let pattern = Pattern::new(pattern).expect("valid");
    let spec = AtMostOnceSpec::new(id, Name::new("reader").expect("valid"), pattern, bound).overflow(Overflow::Fail);
    let (deliveries, _control) = Memory::at_most_once(session, spec).await.expect("subscribes").split();
    Reader { deliveries, _control }
}

async fn session_run(readers: usize, others: usize, subject: Subject, pattern: &str, messages: usize) -> Duration {
    let session = Memory::new().open().await.expect("opens");
    let mut crowd = Vec::new();
    for n in 0..others {
        let pattern = match n % 4 {
            0 => format!("orders.region{n}.*"),
            1 => format!("service{n}.>"),
            _ => format!("orders.created.tenant{n}"),
        };
        crowd.push(subscribe(&session, &pattern).await);
    }
    let mut all = Vec::new();
    for _ in 0..readers {
        all.push(subscribe(&session, pattern).await);
    }
    let event = event();
    // The table is made by the first publish; that is not what is measured here.
    session.publish(&tramline::subject!("nobody"), event.clone()).await.expect("open");
    let begin = Instant::now();
    let tasks: Vec<_> = all
        .into_iter()
        .map(|mut reader| {
            tokio::spawn(async move {
                for _ in 0..messages {
                    std::hint::black_box(reader.deliveries.next().await.expect("delivers"));
                }
            })
        })
        .collect();
    let publisher = tokio::spawn(async move {
        for _ in 0..messages {
            Memory::publish_when_room(&session, &subject, event.clone(), None).await.expect("open");
        }
        session
    });
    for task in tasks {
        task.await.expect("reads");
    }
    let elapsed = begin.elapsed();
    drop(publisher.await);
    elapsed
}

async fn mpsc_run(readers: usize, messages: usize) -> Duration {
    let (senders, receivers): (Vec<_>, Vec<_>) =
        (0..readers).map(|_| tokio::sync::mpsc::channel::<Arc<Event>>(CAPACITY)).unzip();
    let event = Arc::new(event());
    let begin = Instant::now();
    let tasks: Vec<_> = receivers
        .into_iter()
        .map(|mut receiver| {
            tokio::spawn(async move {
                for _ in 0..messages {
                    std::hint::black_box(receiver.recv().await.expect("delivers"));
                }
            })
        })
        .collect();
    let publisher = tokio::spawn(async move {
        for _ in 0..messages {
            for sender in &senders {
                sender.send(Arc::clone(&event)).await.expect("open");
            }
        }
        senders
    });
    for task in tasks {
        task.await.expect("reads");
    }
    let elapsed = begin.elapsed();
    drop(publisher.await);
    elapsed
}

fn event() -> Event {
    Event::builder("17", source!("urn:bench"), "bench").json(format!("\"{}\"", "x".repeat(62))).build().expect("valid")
}

fn compare(
    what: &str,
    budget: f64,
    messages: usize,
    mut ours: impl FnMut() -> Duration,
    mut theirs: impl FnMut() -> Duration,
) {
    if !std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).all(|part| what.contains(&part)) {
        return;
    }
    let mut rounds: Vec<(f64, Duration, Duration)> = Vec::new();
    for round in 0..=ROUNDS {
        // Who begins alternates; the first round only warms up.
        let (ours, theirs) = if round % 2 == 0 {
            let ours = ours();
            (ours, theirs())
        } else {
            let theirs = theirs();
            (ours(), theirs)
        };
        if round > 0 {
            rounds.push((theirs.as_secs_f64() / ours.as_secs_f64(), ours, theirs));
        }
    }
    rounds.sort_by(|a, b| b.0.total_cmp(&a.0));
    let rate = |elapsed: Duration| messages as f64 / elapsed.as_secs_f64() / 1e6;
    let (median, ours, theirs) = rounds[ROUNDS / 2];
    let (best, worst) = (rounds[0].0, rounds[ROUNDS - 1].0);
    let verdict = if median >= budget { "holds" } else { "MISSED" };
    println!(
        "{what:<44} best {best:>5.2}  median {median:>5.2}  worst {worst:>5.2}   ({:>5.2} against {:>5.2} M/s)   budget {budget} {verdict}",
        rate(ours),
        rate(theirs),
    );
}

fn main() {
    let one: Runtime = Builder::new_current_thread().build().expect("a runtime");
    let two: Runtime = Builder::new_multi_thread().worker_threads(2).build().expect("a runtime");
    let literal = || Subject::new("orders.created.tenant").expect("valid");
    for (threads, runtime) in [("one thread", &one), ("two workers", &two)] {
        let on = |f: &mut dyn FnMut() -> std::pin::Pin<Box<dyn Future<Output = Duration> + Send>>| {
            let task = f();
            runtime.block_on(async { runtime.spawn(task).await.expect("runs") })
        };
        let n = MESSAGES;
        compare(
            &format!("session against mpsc, {threads}"),
            0.5,
            n,
            || on(&mut || Box::pin(session_run(1, 0, literal(), "orders.created.tenant", n))),
            || on(&mut || Box::pin(mpsc_run(1, n))),
        );
        compare(
            &format!("the same through a wildcard, {threads}"),
            0.5,
            n,
            || on(&mut || Box::pin(session_run(1, 0, literal(), "orders.*.tenant", n))),
            || on(&mut || Box::pin(mpsc_run(1, n))),
        );
        compare(
            &format!("1 among 1,000 against 1 among 1, {threads}"),
            0.8,
            n,
            || on(&mut || Box::pin(session_run(1, 999, literal(), "orders.created.tenant", n))),
            || on(&mut || Box::pin(session_run(1, 0, literal(), "orders.created.tenant", n))),
        );
        compare(
            &format!("the same through a wildcard, {threads}"),
            0.8,
            n,
            || on(&mut || Box::pin(session_run(1, 999, literal(), "orders.*.tenant", n))),
            || on(&mut || Box::pin(session_run(1, 0, literal(), "orders.*.tenant", n))),
        );
        let n = MESSAGES / 4;
        compare(
            &format!("lossless to 8 against 8 mpsc, {threads}"),
            0.7,
            n,
            || on(&mut || Box::pin(session_run(8, 0, literal(), "orders.created.tenant", n))),
            || on(&mut || Box::pin(mpsc_run(8, n))),
        );
    }
}
