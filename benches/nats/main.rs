//! The whole bus on NATS beside the bare client doing the same work on the same server: the budget of 0.95 in `design.md`,
//! section 6.
//!
//! Both sides send the same six `ce-` headers (and where a stream tells duplicates by it, an id), look at the version, the type and
//! the format of what arrives (the bus at all six, and the bare client at no more than it needs to decode), decode the same JSON of 1 KiB,
//! acknowledge after handling, and have the same window. Rounds are interleaved, and who begins alternates; a claim is a ratio
//! with its spread, beside the bare client's own.
//!
//! `cargo bench --all-features --bench nats -- [--version 2.9|2.15] [--rounds 11] [part of a row's name ..]`
//!
//! For a profiler, which counts instructions: `--only bare|ours` has one side work alone, once and untimed, and `--count` says on how
//! many messages.

#![allow(clippy::unwrap_used, reason = "a bench that panics has failed")]

#[path = "../../tests/nats/folder.rs"]
#[allow(dead_code, reason = "the bench does not need all of it")]
mod folder;
#[path = "../../tests/nats/server.rs"]
#[allow(dead_code, reason = "the bench does not need all of it")]
mod server;
#[path = "../../tests/nats/setup.rs"]
#[allow(dead_code, reason = "the bench does not need all of it")]
mod setup;

mod bare;
mod ours;
mod work;

use std::time::Duration;

use async_nats::jetstream::{self, stream::Config};

use crate::{
    server::{Server, Version},
    work::Tally,
};

/// One side of a comparison, on one server.
trait Side {
    /// How long it takes to publish so many, and to have them handled.
    async fn publish(&self, count: u64) -> Duration;
    /// How long so many requests take, so many of them side by side.
    async fn request(&self, count: u64, at_once: usize) -> Duration;
    /// How long it takes until a stream has confirmed so many, 256 in flight.
    async fn store(&self, count: u64) -> Duration;
    /// How long it takes to handle and acknowledge so many, which are in the stream, from the first one on.
    async fn consume(&self, count: u64) -> Duration;
}

struct Round {
    bare: Duration,
    ours: Duration,
}

fn print(name: &str, count: u64, mut rounds: Vec<Round>) {
    let ratio = |round: &Round| round.bare.as_secs_f64() / round.ours.as_secs_f64();
    rounds.sort_by(|one, other| ratio(one).total_cmp(&ratio(other)));
    let middle = rounds.len() / 2;
    let (worst, median, best) = (ratio(&rounds[0]), ratio(&rounds[middle]), ratio(&rounds[rounds.len() - 1]));
    let rates = |of: fn(&Round) -> Duration| {
        let mut rates: Vec<_> = rounds.iter().map(|round| count as f64 / of(round).as_secs_f64() / 1e3).collect();
        rates.sort_by(f64::total_cmp);
        rates
    };
    let (bare, ours) = (rates(|round| round.bare), rates(|round| round.ours));
    println!(
        "{name:<44} bare {:>6.1} k/s ({:.2} to {:.2} of it)   ours {:>6.1} k/s   ratio {median:.2} ({worst:.2} to {best:.2})",
        bare[middle],
        bare[0] / bare[middle],
        bare[bare.len() - 1] / bare[middle],
        ours[middle],
    );
}

/// Runs the sides in turn. The first round warms up.
macro_rules! compare {
    ($asked:expr, $name:expr, $usual:expr, $bare:expr, $ours:expr, |$side:ident, $count:ident| $work:expr, $after:expr) => {
        let $count = $asked.count.unwrap_or($usual);
        if !$asked.takes(&$name) {
        } else if $asked.only.as_deref() == Some("bare") {
            let $side = $bare;
            $work.await;
        } else if $asked.only.as_deref() == Some("ours") {
            let $side = $ours;
            $work.await;
        } else {
            let mut rounds = Vec::new();
            for round in 0..=$asked.rounds {
                let bare = async {
                    let $side = $bare;
                    $work.await
                };
                let ours = async {
                    let $side = $ours;
                    $work.await
                };
                let (bare, ours) = if round % 2 == 0 {
                    let bare = bare.await;
                    (bare, ours.await)
                } else {
                    let ours = ours.await;
                    (bare.await, ours)
                };
                $after.await;
                if round > 0 {
                    rounds.push(Round { bare, ours });
                }
            }
            print(&$name, $count, rounds);
        }
    };
}

/// What is to be run.
struct Asked {
    versions: Vec<Version>,
    rounds: usize,
    only: Option<String>,
    count: Option<u64>,
    parts: Vec<String>,
}

impl Asked {
    fn parse() -> Self {
        let mut asked =
            Self { versions: Version::ALL.to_vec(), rounds: 11, only: None, count: None, parts: Vec::new() };
        let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
        while let Some(argument) = arguments.next() {
            match &*argument {
                "--version" => {
                    asked.versions = match arguments.next().as_deref() {
                        Some("2.9") => vec![Version::V2_9],
                        Some("2.15") => vec![Version::V2_15],
                        other => panic!("there is no version {other:?} here: it is 2.9 or 2.15"),
                    }
                }
                "--rounds" => asked.rounds = arguments.next().unwrap().parse().expect("a number of rounds"),
                "--only" => asked.only = Some(arguments.next().expect("`bare` or `ours`")),
                "--count" => asked.count = Some(arguments.next().unwrap().parse().expect("a number of messages")),
                part => asked.parts.push(part.to_owned()),
            }
        }
        asked
    }

    fn takes(&self, name: &str) -> bool {
        self.parts.iter().all(|part| name.contains(part.as_str()))
    }
}

#[tokio::main(worker_threads = 2)]
async fn main() {
    const STREAMS: [&str; 2] = [work::STORE, work::LOG];
    let asked = Asked::parse();
    println!("the bus beside the bare client: {} rounds, 1 KiB of JSON, six headers", asked.rounds);
    for &version in &asked.versions {
        let server = Server::start(version).await;
        let operator = jetstream::new(async_nats::connect(server.url()).await.unwrap());
        for name in STREAMS {
            let subjects = vec![format!("{}.>", name.to_ascii_lowercase())];
            operator.create_stream(Config { name: name.to_owned(), subjects, ..Default::default() }).await.unwrap();
        }
        let purge = async || {
            for name in STREAMS {
                operator.get_stream(name).await.unwrap().purge().await.unwrap();
            }
        };
        let (bare, ours) = (bare::Bare::new(&server.url()).await, ours::Ours::new(&server.url()).await);

        let name = format!("{version:?}: publish to handler");
        compare!(asked, name, 30_000, &bare, &ours, |side, count| side.publish(count), async {});
        let name = format!("{version:?}: request to reply");
        compare!(asked, name, 2_000, &bare, &ours, |side, count| side.request(count, 1), async {});
        let name = format!("{version:?}: request to reply, 64 at once");
        compare!(asked, name, 20_000, &bare, &ours, |side, count| side.request(count, 64), async {});
        let name = format!("{version:?}: stream publish, 256 in flight");
        compare!(asked, name, 20_000, &bare, &ours, |side, count| side.store(count), purge());
        let name = format!("{version:?}: stream consume and acknowledge");
        if asked.takes(&name) {
            bare.fill(asked.count.unwrap_or(20_000)).await;
        }
        // Each side has a consumer of its own, and both find the same messages there.
        compare!(asked, name, 20_000, &bare, &ours, |side, count| side.consume(count), async {
            purge().await;
            bare.fill(count).await;
        });
        ours.stop().await;
    }
}

/// Waits for the last one, and says how long it took since the first, or since `begun`.
async fn all(tally: &Tally, begun: Option<std::time::Instant>) -> Duration {
    let (first, last) = tokio::time::timeout(Duration::from_secs(60), tally.all()).await.expect("all are handled");
    last - begun.unwrap_or(first)
}
