//! Rounds: each contestant in a process of its own, which does one round when it is told to.
//!
//! Rounds are interleaved, so that what else the machine does meets all of them, and who begins changes from round to round.

use std::{
    error::Error,
    io::{BufRead as _, BufReader, Write as _, stdin, stdout},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::Instant,
};

use crate::{
    contestant::{Drives, Publishes},
    job::Job,
    memory,
    requests::Asker,
    rows::{Entry, Row, Runs},
    spread::Spread,
    threads::Threads,
    work,
};

/// What came of one entry of a row.
pub struct Measured {
    /// Messages a second, round by round; each counts once, however many get it, and a lost delivery not at all.
    pub rates: Vec<f64>,
    /// The share of deliveries that were lost, over all rounds.
    pub lost: f64,
    /// The most memory that its process ever had, in MiB.
    pub peak: Option<f64>,
}

impl Measured {
    /// The rates, summed up.
    pub fn spread(&self) -> Spread {
        Spread::new(self.rates.iter().copied())
    }
}

/// Measures all entries of a row beside each other.
///
/// # Errors
/// Where a process does not start or ends early.
pub fn measure(row: &Row, threads: Threads, rounds: usize, messages: u64) -> Result<Vec<Measured>, Box<dyn Error>> {
    let mut workers = Vec::new();
    for entry in 0..row.entries.len() {
        let mut worker = Worker::start(row, entry, threads)?;
        // Warms up.
        worker.round(messages)?;
        workers.push(worker);
    }
    let mut all: Vec<_> = workers.iter().map(|_| Measured { rates: Vec::new(), lost: 0.0, peak: None }).collect();
    for round in 0..rounds {
        for turn in 0..workers.len() {
            let index = (round + turn) % workers.len();
            let (seconds, lost) = workers[index].round(messages)?;
            all[index].rates.push(messages as f64 * (1.0 - lost) / seconds);
            all[index].lost += lost / rounds as f64;
        }
    }
    for (worker, measured) in workers.into_iter().zip(&mut all) {
        measured.peak = worker.end()?;
    }
    Ok(all)
}

/// The other side: does rounds for as long as somebody asks for them.
pub async fn serve(entry: &Entry) {
    match entry.runs {
        Runs::Publishes(contestant, job) => contestant.driven(job, Rounds { job }).await,
        Runs::Asks(way, requesters) => {
            let asker = Asker::start(way).await;
            while let Some(messages) = told() {
                let begun = Instant::now();
                asker.ask(requesters, messages).await;
                tell(begun, 0.0);
            }
        }
    }
    println!("{}", memory::peak().unwrap_or(f64::NAN));
}

struct Rounds {
    job: Job,
}

impl Drives for Rounds {
    type Output = ();

    async fn drive<P: Publishes>(self, publisher: P) {
        while let Some(messages) = told() {
            let begun = Instant::now();
            for index in 0..messages {
                publisher.publish(index).await;
            }
            let deliveries = messages * self.job.deliveries();
            let lost = work::reached(deliveries).await;
            tell(begun, lost as f64 / deliveries as f64);
        }
    }
}

/// Blocks the thread: between rounds there is nothing to do on it.
fn told() -> Option<u64> {
    let mut line = String::new();
    stdin().read_line(&mut line).ok()?;
    line.trim().parse().ok()
}

fn tell(begun: Instant, lost: f64) {
    println!("{} {lost}", begun.elapsed().as_secs_f64());
    stdout().flush().expect("somebody listens");
}

struct Worker {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Worker {
    fn start(row: &Row, entry: usize, threads: Threads) -> Result<Self, Box<dyn Error>> {
        let mut process = Command::new(std::env::current_exe()?)
            .args(["serve", row.key, &entry.to_string(), threads.key()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (Some(input), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
            return Err("a process without its pipes".into());
        };
        Ok(Self { process, input, output: BufReader::new(output) })
    }

    /// Seconds, and the share that was lost.
    fn round(&mut self, messages: u64) -> Result<(f64, f64), Box<dyn Error>> {
        writeln!(self.input, "{messages}")?;
        let line = self.line()?;
        let (seconds, lost) = line.split_once(' ').ok_or("a process that ended early")?;
        Ok((seconds.parse()?, lost.parse()?))
    }

    fn end(self) -> Result<Option<f64>, Box<dyn Error>> {
        let Self { mut process, input, mut output } = self;
        drop(input);
        let mut line = String::new();
        output.read_line(&mut line)?;
        process.wait()?;
        Ok(line.trim().parse().ok().filter(|peak: &f64| peak.is_finite()))
    }

    fn line(&mut self) -> Result<String, Box<dyn Error>> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(line.trim().to_owned())
    }
}
