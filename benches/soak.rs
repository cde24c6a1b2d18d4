//! A stream under load whose server is killed and stopped again and again, for as long as one likes.
//!
//! `cargo bench --all-features --bench soak -- [--minutes 10] [--every 30] [--version 2.9|2.15]`: `every` is in seconds. What it
//! checks is in `tests/nats/soak.rs`, which runs it for some seconds.

#![allow(clippy::unwrap_used, dead_code, reason = "it is made of modules of the tests, and does not need all of them")]

#[path = "../tests/nats/folder.rs"]
mod folder;
#[path = "../tests/nats/server.rs"]
mod server;
#[path = "../tests/nats/setup.rs"]
mod setup;
#[path = "../tests/nats/soak.rs"]
mod soak;

use std::time::Duration;

use server::Version;

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let after = |name: &str| arguments.iter().skip_while(|argument| *argument != name).nth(1);
    let number = |name, otherwise| after(name).map_or(otherwise, |number| number.parse().expect("a number"));
    let length = Duration::from_secs_f64(60.0 * number("--minutes", 1.0));
    let every = Duration::from_secs_f64(number("--every", 30.0));
    let versions = match after("--version").map(String::as_str) {
        None => Version::ALL.to_vec(),
        Some("2.9") => vec![Version::V2_9],
        Some("2.15") => vec![Version::V2_15],
        Some(other) => panic!("there is no version {other} here: it is 2.9 or 2.15"),
    };
    for version in versions {
        let report = soak::soak(version, length, every).await;
        println!("{report}\n");
        report.check();
    }
}
