//! Request and reply in memory, each way beside the others: time, and instructions under valgrind.
//!
//! Rounds are short and interleaved, so that what else the machine does meets all of them.

use std::{
    error::Error,
    process::Command,
    time::{Duration, Instant},
};

use peers::{Asker, SEVERAL, Way};
use tokio::runtime::{Builder, Runtime};

const ROUNDS: usize = 101;
const REQUESTS: u64 = 3_200;
/// Their difference leaves out what starting costs.
const FEW: u64 = 500;
const MANY: u64 = 2_500;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &*arguments.iter().map(String::as_str).collect::<Vec<_>>() {
        [] => time(ROUNDS, REQUESTS),
        ["time", rounds, requests] => time(rounds.parse()?, requests.parse()?),
        ["instructions"] => instructions(),
        ["run", way, requesters, requests] => run(way, requesters.parse()?, requests.parse()?),
        _ => Err("requests [time ROUNDS REQUESTS | instructions | run WAY REQUESTERS REQUESTS]".into()),
    }
}

fn one_thread() -> Result<Runtime, std::io::Error> {
    Builder::new_current_thread().enable_time().build()
}

fn run(way: &str, requesters: u64, requests: u64) -> Result<(), Box<dyn Error>> {
    let way = Way::ALL.into_iter().find(|known| known.name() == way).ok_or("no such way")?;
    let runtime = one_thread()?;
    // In a task, where a service would be.
    runtime.block_on(runtime.spawn(async move { Asker::start(way).await.ask(requesters, requests).await }))?;
    Ok(())
}

fn time(rounds: usize, requests: u64) -> Result<(), Box<dyn Error>> {
    println!("{rounds} rounds of {requests} requests, thousands a second: median (worst to best)");
    let two_workers = Builder::new_multi_thread().worker_threads(2).enable_time().build()?;
    for (runtime, threads) in [(one_thread()?, "one thread"), (two_workers, "two workers")] {
        for requesters in [1, SEVERAL] {
            println!("\n{threads}, {requesters} at a time");
            // In a task, where a service would be.
            let times = runtime.block_on(runtime.spawn(measure(rounds, requesters, requests)))?;
            report(&times, requests);
        }
    }
    Ok(())
}

/// The times of each way, round by round.
type Times = [Vec<Duration>; Way::ALL.len()];

async fn measure(rounds: usize, requesters: u64, requests: u64) -> Times {
    let mut askers = Vec::new();
    for way in Way::ALL {
        askers.push(Asker::start(way).await);
    }
    let mut times = Times::default();
    // The first round warms up.
    for round in 0..=rounds {
        for (asker, times) in askers.iter().zip(&mut times) {
            let begun = Instant::now();
            asker.ask(requesters, requests).await;
            if round > 0 {
                times.push(begun.elapsed());
            }
        }
    }
    times
}

fn report(times: &Times, requests: u64) {
    let of = |way| Way::ALL.into_iter().zip(times).find(|(known, _)| *known == way).map_or(&[][..], |(_, times)| times);
    for way in Way::ALL {
        let rates = Spread::new(of(way).iter().map(|time| requests as f64 / time.as_secs_f64() / 1e3));
        println!("  {:<16} {:>6.0} ({:.0} to {:.0})", way.name(), rates.median, rates.worst, rates.best);
        for rival in way.rivals() {
            let ratios = of(way).iter().zip(of(*rival)).map(|(ours, theirs)| theirs.as_secs_f64() / ours.as_secs_f64());
            let ratios = Spread::new(ratios);
            let [low, high] = ratios.middle;
            let verdict = if low <= 1.0 && 1.0 <= high { ", indistinguishable" } else { "" };
            let Spread { worst, median, best, .. } = ratios;
            println!(
                "    {median:>5.2} x {}, half of the rounds {low:.2} to {high:.2} ({worst:.2} to {best:.2}){verdict}",
                rival.name()
            );
        }
    }
}

struct Spread {
    worst: f64,
    median: f64,
    best: f64,
    /// Where the middle half of them lies.
    middle: [f64; 2],
}

impl Spread {
    /// Of more than none, the larger the better.
    fn new(figures: impl Iterator<Item = f64>) -> Self {
        let mut figures: Vec<_> = figures.collect();
        figures.sort_by(f64::total_cmp);
        let at = |part: usize| figures[(figures.len() - 1) * part / 4];
        Self { worst: at(0), median: at(2), best: at(4), middle: [at(1), at(3)] }
    }
}

fn instructions() -> Result<(), Box<dyn Error>> {
    println!("instructions per request, one thread, 1 at a time and {SEVERAL} at a time");
    for way in Way::ALL {
        let mut counts = Vec::new();
        for requesters in [1, SEVERAL] {
            let (few, many) = (FEW.next_multiple_of(SEVERAL), MANY.next_multiple_of(SEVERAL));
            let (of_few, of_many) = (collected(way, requesters, few)?, collected(way, requesters, many)?);
            counts.push((of_many - of_few) / (many - few));
        }
        println!("  {:<16} {:>6} {:>6}", way.name(), counts[0], counts[1]);
    }
    Ok(())
}

/// What callgrind counts over a whole run.
fn collected(way: Way, requesters: u64, requests: u64) -> Result<u64, Box<dyn Error>> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe()?)
        .args(["run", way.name(), &requesters.to_string(), &requests.to_string()])
        .output()
        .map_err(|error| format!("valgrind does not start ({error}): apt-get install valgrind"))?;
    let report = String::from_utf8_lossy(&output.stderr);
    let count = report.lines().find_map(|line| line.split("Collected : ").nth(1)?.trim().parse().ok());
    Ok(count.ok_or_else(|| format!("valgrind reports no count:\n{report}"))?)
}
