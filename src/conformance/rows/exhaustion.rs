//! Running out of attempts.

use crate::{
    AtLeastOnce,
    conformance::{Failure, Fixture, Result, Row, Stage, Tap, proof::ensure},
    contract::{DeliversAtLeastOnce, Outcome, RetireReason, Settlement},
};

pub(crate) const EXHAUSTION: Row = Row {
    number: "32",
    name: "exhaustion",
    needs: "at least once",
    rules: "M2, L11",
    promise: "a message has exactly `max_deliver` attempts, then none, and is counted as exhausted once",
    cause: "the limit is off by one",
};

/// Row 32 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn exhaustion<F: Fixture>(mut stage: Stage<F>) -> Result
where
    F::Backend: DeliversAtLeastOnce,
{
    let declines: [&[Outcome]; 4] = [
        &[Outcome::Nacked],
        &[Outcome::Silent],
        &[Outcome::Silent, Outcome::Nacked],
        &[Outcome::Nacked, Outcome::Nacked, Outcome::Silent],
    ];
    let mut taps = Vec::new();
    for (declines, tokens) in declines.into_iter().zip(["a", "b", "c", "d"]) {
        let attempts = u32::try_from(declines.len()).expect("they are few");
        let plan = stage.plan(tokens).max_deliver(attempts);
        let mut tap = stage.subscribe::<AtLeastOnce>(plan).await?;
        stage.publish(tokens, ["1"]).await?;
        for (outcome, attempt) in declines.iter().zip(1..) {
            let got = tap.next().await?;
            ensure!(got.attempt == attempt, "attempt {attempt} of {attempts} has number {}", got.attempt);
            got.say(Settlement::new(*outcome)).await?;
        }
        taps.push(tap);
    }
    for tap in &mut taps {
        tap.stays_quiet().await?;
        tap.reaches("one exhausted message", |stats| stats.exhausted > 0).await?;
    }
    for tap in &taps {
        let exhausted = tap.retire(RetireReason::Stopping).await?.stats.exhausted;
        ensure!(exhausted == 1, "`{}` counts {exhausted} exhausted messages, and there was one", tap.name());
    }
    Ok(())
}

pub(crate) const BUDGET_IS_SHARED: Row = Row {
    number: "33",
    name: "budget_is_shared",
    needs: "at least once",
    rules: "M2, I3",
    promise: "members of one identity share one count of attempts of a message",
    cause: "attempts are counted per member",
};

/// Row 33 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn budget_is_shared<F: Fixture>(mut stage: Stage<F>) -> Result
where
    F::Backend: DeliversAtLeastOnce,
{
    const ATTEMPTS: u32 = 4;
    let shared = stage.shared("members");
    let mut members = Vec::new();
    for _ in 0..2 {
        let plan = stage.plan("a").max_deliver(ATTEMPTS).shared(&shared);
        members.push(stage.subscribe::<AtLeastOnce>(plan).await?);
    }
    stage.publish("a", ["1"]).await?;
    let mut last = 0;
    for attempt in 1..=ATTEMPTS {
        // Nobody can say who gets it: whoever did not get the last one is only asked first.
        let Some((at, got)) = Tap::first_of(&mut members, last + 1, stage.timing().patience).await? else {
            return Err(Failure::seen(format!("attempt {attempt} came to no member")));
        };
        ensure!(got.attempt == attempt, "attempt {attempt} of both members has number {}", got.attempt);
        got.nack().await?;
        last = at;
    }
    if let Some((_, got)) = Tap::first_of(&mut members, 0, stage.timing().quiet).await? {
        return Err(Failure::seen(format!("attempt {} came, and {ATTEMPTS} are the most", got.attempt)));
    }
    let mut exhausted = 0;
    for tap in &members {
        exhausted += tap.retire(RetireReason::Stopping).await?.stats.exhausted;
    }
    ensure!(exhausted == 1, "the members count {exhausted} exhausted messages, and there was one");
    Ok(())
}
