//! How long a message takes at a given rate, from an open-loop generator: each message has a time at which it is due, whatever
//! became of the ones before, and its latency counts from there. A queue that is full therefore shows.

use std::{
    error::Error,
    process::Command,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
    time::{Duration, Instant},
};

use crate::{
    contestant::{Contestant, Drives, Publishes},
    job::{Job, Load, Shape},
    threads::Threads,
    work,
};

/// What is sent: 1 to 1, 28 B, decoded. Each of those who do it hands messages over in order and loses none, so the n-th that
/// is handled is the n-th that was due.
const JOB: Job = Job { shape: Shape::FanOut(1), load: Load::Decoded(28) };
/// Who does it.
pub const CONTESTANTS: [Contestant; 4] =
    [Contestant::Mpsc, Contestant::AsyncChannel, Contestant::Ruststream, Contestant::Subscriptions];
const WARM_UP: u64 = 50_000;

/// When each message was handled, after it was due.
pub struct Recorder {
    begun: Instant,
    /// Messages a second.
    rate: u64,
    nanoseconds: Vec<AtomicU32>,
}

impl Recorder {
    fn new(rate: u64, messages: u64) -> Self {
        Self { begun: Instant::now(), rate, nanoseconds: (0..messages).map(|_| AtomicU32::new(0)).collect() }
    }

    /// The message with this index is handled now.
    pub fn handled(&self, index: u64) {
        let due = u128::from(index) * 1_000_000_000 / u128::from(self.rate);
        let late = self.begun.elapsed().as_nanos().saturating_sub(due);
        if let Some(slot) = usize::try_from(index).ok().and_then(|index| self.nanoseconds.get(index)) {
            slot.store(u32::try_from(late).unwrap_or(u32::MAX), Relaxed);
        }
    }

    /// How many messages are due by now.
    fn due(&self) -> u64 {
        let due = self.begun.elapsed().as_nanos() * u128::from(self.rate) / 1_000_000_000;
        u64::try_from(due).unwrap_or(u64::MAX).min(self.nanoseconds.len() as u64)
    }
}

/// What came of one run. Times are in microseconds.
#[derive(Clone, Copy)]
pub struct Latency {
    /// Messages a second that were handled.
    pub rate: f64,
    /// Half of the messages took less.
    pub p50: f64,
    /// 99 % of them did.
    pub p99: f64,
    /// 99.9 % of them did.
    pub p999: f64,
}

/// Runs it in a process of its own. Without a rate it is as fast as it can be.
///
/// # Errors
/// Where the process does not start, or does not say what it should.
pub fn measure(
    contestant: Contestant,
    threads: Threads,
    rate: Option<u64>,
    messages: u64,
) -> Result<Latency, Box<dyn Error>> {
    let index = CONTESTANTS.iter().position(|known| *known == contestant).ok_or("nobody measures its latency")?;
    let arguments = [index as u64, rate.unwrap_or(u64::MAX), messages].map(|number| number.to_string());
    let output = Command::new(std::env::current_exe()?).args(["latency", threads.key()]).args(arguments).output()?;
    let said = String::from_utf8(output.stdout)?;
    let figures = said.split_whitespace().map(str::parse).collect::<Result<Vec<f64>, _>>()?;
    match figures[..] {
        [rate, p50, p99, p999] => Ok(Latency { rate, p50, p99, p999 }),
        _ => Err(format!("{said:?} instead of four figures").into()),
    }
}

/// The other side.
pub async fn serve(contestant: usize, rate: u64, messages: u64) {
    let latency = CONTESTANTS[contestant].driven(JOB, OpenLoop { rate, messages }).await;
    println!("{} {} {} {}", latency.rate, latency.p50, latency.p99, latency.p999);
}

struct OpenLoop {
    rate: u64,
    messages: u64,
}

impl Drives for OpenLoop {
    type Output = Latency;

    async fn drive<P: Publishes>(self, publisher: P) -> Latency {
        for index in 0..WARM_UP {
            publisher.publish(index).await;
        }
        work::reached(WARM_UP).await;
        let recorder = work::record(Recorder::new(self.rate, self.messages));
        let mut sent = 0;
        while sent < self.messages {
            let due = recorder.due();
            while sent < due {
                publisher.publish(sent).await;
                sent += 1;
            }
            tokio::task::yield_now().await;
        }
        work::reached(self.messages).await;
        summed_up(recorder, recorder.begun.elapsed())
    }
}

fn summed_up(recorder: &Recorder, took: Duration) -> Latency {
    let mut nanoseconds: Vec<_> = recorder.nanoseconds.iter().map(|slot| slot.load(Relaxed)).collect();
    nanoseconds.sort_unstable();
    let at = |of_a_thousand: usize| f64::from(nanoseconds[(nanoseconds.len() - 1) * of_a_thousand / 1_000]) / 1e3;
    Latency { rate: nanoseconds.len() as f64 / took.as_secs_f64(), p50: at(500), p99: at(990), p999: at(999) }
}
