//! What a source's counters show while it is live, in both modes.

use std::time::{Duration, Instant};

use crate::{
    conformance::{DeliversIn, Fixture, Result, Row, Stage, Tap, proof::ensure},
    contract::{Source, SourceControl, SourceStats},
};

pub(crate) const SNAPSHOT_ADVISORY: Row = Row {
    number: "14",
    name: "snapshot_advisory",
    needs: "a mode",
    rules: "N6, L2",
    promise: "a snapshot never waits, is in balance, and its totals never go down",
    cause: "counters are reset when they are read",
};

/// Row 14 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn snapshot_advisory<F: Fixture, M>(mut stage: Stage<F>) -> Result
where
    F::Backend: DeliversIn<M>,
{
    const BOUND: usize = 8;
    let plan = stage.plan("a").bound(BOUND);
    let mut tap = stage.subscribe::<M>(plan).await?;
    let mut last = SourceStats::default();
    let mut taken = 0;
    // Three rounds, each beyond the bound, so that every total has something to count.
    for round in 0..3 {
        for number in 0..2 * BOUND {
            let event = stage.event(&format!("{round}-{number}"));
            // Whether it is taken in, shed or refused is no matter here.
            let _ = stage.try_publish("a", event).await;
            last = read(&tap, last)?;
        }
        while let Some(got) = tap.next_within(stage.timing().quiet).await? {
            taken += 1;
            last = read(&tap, last)?;
            got.ack().await?;
            last = read(&tap, last)?;
        }
    }
    ensure!(taken >= BOUND, "a source with a bound of {BOUND} handed {taken} messages over in three rounds");

    // The quickest of several, so that a thread that had to wait for a processor proves nothing.
    let quickest = (0..5).map(|_| timed(&tap)).min().unwrap_or_default();
    let quiet = stage.timing().quiet;
    ensure!(quickest < quiet, "a snapshot took {quickest:?}, as long as a round trip");
    Ok(())
}

/// Reads several times, with nothing happening in between, or whatever the backend does by itself.
fn read<S: Source>(tap: &Tap<S>, mut last: SourceStats) -> Result<SourceStats> {
    for _ in 0..4 {
        let now = tap.stats()?;
        let totals = |stats: SourceStats| {
            [
                ("accepted", stats.accepted),
                ("refused", stats.refused),
                ("evicted", stats.evicted),
                ("exhausted", stats.exhausted),
                ("lease expired", stats.lease_expired),
                ("delay shortened", stats.delay_shortened),
                ("interruptions", stats.interruptions),
            ]
        };
        for ((name, now), (_, before)) in totals(now).into_iter().zip(totals(last)) {
            ensure!(now >= before, "`{}` had {name} {before}, and then {now}", tap.name());
        }
        last = now;
    }
    Ok(last)
}

fn timed<S: Source>(tap: &Tap<S>) -> Duration {
    let began = Instant::now();
    let _ = tap.control().snapshot();
    began.elapsed()
}
