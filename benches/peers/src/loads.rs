//! Latencies at half and at four fifths of what somebody does at most.

use std::error::Error;

use crate::{
    contestant::Contestant,
    latency::{self, Latency},
    spread::Spread,
    threads::Threads,
};

/// How many messages are sent to see how many a second that can be.
const AT_MOST: u64 = 1_000_000;

/// The latency of somebody at a load.
pub struct Loaded {
    /// Who.
    pub contestant: Contestant,
    /// On which runtime.
    pub threads: Threads,
    /// Which load.
    pub load: String,
    /// Messages a second that were due.
    pub offered: f64,
    /// What came of it: each figure is the median over the runs.
    pub latency: Latency,
}

/// Measures all of them, in so many runs of so many milliseconds each. Runs are interleaved.
///
/// # Errors
/// Where a process does not start, or does not say what it should.
pub fn measure(runs: usize, milliseconds: u64) -> Result<Vec<Loaded>, Box<dyn Error>> {
    let mut loads = Vec::new();
    for threads in Threads::ALL {
        let most = at_most(threads, runs)?;
        for (share, name) in [(0.5, "half"), (0.8, "four fifths")] {
            let mut latencies: Vec<_> = most.iter().map(|_| Vec::new()).collect();
            for _ in 0..runs {
                for (most, latencies) in most.iter().zip(&mut latencies) {
                    let rate = whole(most.rate * share);
                    latencies.push(latency::measure(
                        most.contestant,
                        threads,
                        Some(rate),
                        rate * milliseconds / 1_000,
                    )?);
                }
            }
            loads.extend(most.iter().zip(latencies).map(|(most, latencies)| Loaded {
                contestant: most.contestant,
                threads,
                load: format!("{name} of {} most", most.whose),
                offered: most.rate * share,
                latency: median(&latencies),
            }));
        }
    }
    Ok(loads)
}

/// What somebody is loaded with a share of.
struct Most {
    contestant: Contestant,
    rate: f64,
    whose: &'static str,
}

fn at_most(threads: Threads, runs: usize) -> Result<Vec<Most>, Box<dyn Error>> {
    let mut most = Vec::new();
    for contestant in latency::CONTESTANTS {
        let runs = (0..runs).map(|_| latency::measure(contestant, threads, None, AT_MOST));
        let runs = runs.collect::<Result<Vec<_>, _>>()?;
        most.push(Most { contestant, rate: median(&runs).rate, whose: "its own" });
    }
    // mpsc at tramline's load too: as many messages a second for both.
    let ours = most.iter().find(|most| most.contestant == Contestant::Subscriptions).map(|most| most.rate);
    most.extend(ours.map(|rate| Most { contestant: Contestant::Mpsc, rate, whose: "tramline's" }));
    Ok(most)
}

fn median(latencies: &[Latency]) -> Latency {
    let of = |figure: fn(&Latency) -> f64| Spread::new(latencies.iter().map(figure)).median;
    Latency { rate: of(|one| one.rate), p50: of(|one| one.p50), p99: of(|one| one.p99), p999: of(|one| one.p999) }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rate is positive, and far below the limit"
)]
fn whole(rate: f64) -> u64 {
    rate as u64
}
