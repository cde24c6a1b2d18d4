//! Instructions per request in memory, each way, counted by valgrind, which has to be installed.

use std::{error::Error, process::Command};

use peers::{
    requests::{Asker, SEVERAL, Way},
    threads::Threads,
};

/// Their difference leaves out what starting costs.
const FEW: u64 = 500;
const MANY: u64 = 2_500;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &*arguments.iter().map(String::as_str).collect::<Vec<_>>() {
        [] => instructions(),
        ["run", way, requesters, requests] => run(way, requesters.parse()?, requests.parse()?),
        _ => Err("instructions [run WAY REQUESTERS REQUESTS]".into()),
    }
}

fn run(way: &str, requesters: u64, requests: u64) -> Result<(), Box<dyn Error>> {
    let way = Way::ALL.into_iter().find(|known| known.name() == way).ok_or("no such way")?;
    Ok(Threads::One.run(async move { Asker::start(way).await.ask(requesters, requests).await })?)
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
