//! How long a declined message is held back.

use std::{collections::HashMap, time::Duration};

use tokio::time::Instant;

use crate::{
    AtLeastOnce,
    conformance::{Failure, Fixture, Result, Row, Stage, proof::ensure},
    contract::{DelaysRedelivery, Outcome, RetireReason, Settlement},
};

pub(crate) const DELAY_RESPECTED: Row = Row {
    number: "38",
    name: "delay_respected",
    needs: "delays redelivery",
    rules: "O3",
    promise: "a declined message never comes before its delay has passed, with no delay at once, and after silence the same",
    cause: "the delay is measured from the delivery, or ignored for silence",
};

/// Row 38 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn delay_respected<F: Fixture>(mut stage: Stage<F>) -> Result
where
    F::Backend: DelaysRedelivery,
{
    let delay = at_most_the_longest::<F>(stage.timing().quiet);
    // The longest is asked for first, so that no message waits behind another one by chance.
    let declines = HashMap::from([
        ("1", Settlement::new(Outcome::Nacked).after(delay)),
        ("2", Settlement::new(Outcome::Silent).after(delay)),
        ("3", Settlement::new(Outcome::Nacked).after(delay / 2)),
        ("4", Settlement::new(Outcome::Silent).after(delay / 2)),
        ("5", Settlement::new(Outcome::Nacked)),
        ("6", Settlement::new(Outcome::Silent)),
    ]);
    let mut tap = stage.tap::<AtLeastOnce>("a").await?;
    stage.publish("a", ["1", "2", "3", "4", "5", "6"]).await?;
    let mut declined = HashMap::new();
    for _ in 0..2 * declines.len() {
        let got = tap.next().await?;
        let id = got.id().to_owned();
        let Some(Settlement { outcome, delay, .. }) = declines.get(&*id).copied() else {
            return Err(Failure::seen(format!("`{id}` came, and was not published")));
        };
        if got.attempt == 1 {
            if id == "1" {
                // A delay begins with the decline.
                stage.pass(delay / 2).await;
            }
            declined.insert(id, Instant::now());
            got.say(Settlement::new(outcome).after(delay)).await?;
            continue;
        }
        let waited = declined.get(&id).map(Instant::elapsed).unwrap_or_default();
        ensure!(waited >= delay, "`{id}` was {outcome:?} for {delay:?}, and came again after {waited:?}");
        got.ack().await?;
    }
    tap.stays_quiet().await
}

pub(crate) const DELAY_LETS_OTHERS_FLOW: Row = Row {
    number: "39",
    name: "delay_lets_others_flow",
    needs: "delays redelivery",
    rules: "O3",
    promise: "a message that waits out its delay holds no other up",
    cause: "the delay is a sleep in the one task",
};

/// Row 39 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn delay_lets_others_flow<F: Fixture>(mut stage: Stage<F>) -> Result
where
    F::Backend: DelaysRedelivery,
{
    // Longer than anybody waits for the others.
    let delay = at_most_the_longest::<F>(2 * stage.timing().patience);
    let mut tap = stage.tap::<AtLeastOnce>("a").await?;
    stage.publish("a", ["held"]).await?;
    let held = tap.next().await?;
    let declined = Instant::now();
    held.say(Settlement::new(Outcome::Nacked).after(delay)).await?;
    let others = ["1", "2", "3"];
    stage.publish("a", others).await?;
    let mut ids = Vec::new();
    while ids.len() < others.len() {
        let got = tap.next().await?;
        if got.id() == "held" {
            let waited = declined.elapsed();
            ensure!(waited >= delay, "`held` was declined for {delay:?}, and came again after {waited:?}");
        } else {
            ids.push(got.id().to_owned());
        }
        got.ack().await?;
    }
    ids.sort();
    ensure!(ids == others, "{ids:?} came beside the one that waits, and {others:?} were published");
    Ok(())
}

pub(crate) const DELAY_SPENDS_ONE_ATTEMPT: Row = Row {
    number: "40",
    name: "delay_spends_one_attempt",
    needs: "delays redelivery",
    rules: "M4",
    promise: "a decline with a delay spends one attempt, as one without does",
    cause: "the message is put back and counted again when it is due",
};

/// Row 40 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn delay_spends_one_attempt<F: Fixture>(mut stage: Stage<F>) -> Result
where
    F::Backend: DelaysRedelivery,
{
    const ATTEMPTS: u32 = 4;
    let delay = at_most_the_longest::<F>(stage.timing().quiet / 4);
    let plan = stage.plan("a").max_deliver(ATTEMPTS);
    let mut tap = stage.subscribe::<AtLeastOnce>(plan).await?;
    stage.publish("a", ["1"]).await?;
    for attempt in 1..=ATTEMPTS {
        let got = tap.next().await?;
        ensure!(
            got.attempt == attempt,
            "attempt {attempt} of {ATTEMPTS} has number {}, after declines with a delay",
            got.attempt
        );
        let outcome = if attempt % 2 == 1 { Outcome::Nacked } else { Outcome::Silent };
        got.say(Settlement::new(outcome).after(delay)).await?;
    }
    tap.stays_quiet_for(delay + stage.timing().quiet).await?;
    tap.reaches("one exhausted message", |stats| stats.exhausted > 0).await?;
    let exhausted = tap.retire(RetireReason::Stopping).await?.stats.exhausted;
    ensure!(exhausted == 1, "{exhausted} messages count as exhausted, and there was one");
    Ok(())
}

pub(crate) const DELAY_CEILING: Row = Row {
    number: "41",
    name: "delay_ceiling",
    needs: "delays redelivery, with a longest delay",
    rules: "O3",
    promise: "a delay longer than can be held comes early and is counted as shortened",
    cause: "the delay is cut without a word",
};

/// Row 41 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn delay_ceiling<F: Fixture>(mut stage: Stage<F>) -> Result
where
    F::Backend: DelaysRedelivery,
{
    let Some(longest) = <F::Backend as DelaysRedelivery>::LONGEST_DELAY else {
        return Err(Failure::not_applicable("there is no delay that it cannot hold"));
    };
    let patience = stage.timing().patience;
    let asked = longest + patience;
    let mut tap = stage.tap::<AtLeastOnce>("a").await?;
    stage.publish("a", ["1"]).await?;
    // One that it can hold is not shortened.
    tap.next().await?.say(Settlement::new(Outcome::Nacked).after(longest.min(stage.timing().quiet))).await?;
    let got = tap.next().await?;
    let shortened = tap.stats()?.delay_shortened;
    ensure!(shortened == 0, "{shortened} delays count as shortened, and the one there was can be held");

    let declined = Instant::now();
    got.say(Settlement::new(Outcome::Nacked).after(asked)).await?;
    if longest <= patience {
        let Some(got) = tap.next_within(asked).await? else {
            return Err(Failure::seen(format!(
                "it was declined for {asked:?} and held that long; the longest is {longest:?}"
            )));
        };
        let waited = declined.elapsed();
        ensure!(waited < asked, "it was declined for {asked:?} and held for {waited:?}; the longest is {longest:?}");
        got.ack().await?;
    } else {
        stage.note(format_args!("nobody waits for {longest:?}"));
    }
    tap.reaches("one shortened delay", |stats| stats.delay_shortened > 0).await?;
    let shortened = tap.retire(RetireReason::Stopping).await?.stats.delay_shortened;
    ensure!(shortened == 1, "{shortened} delays count as shortened, and there was one");
    Ok(())
}

/// This delay, or the longest that the backend can hold.
fn at_most_the_longest<F: Fixture>(delay: Duration) -> Duration
where
    F::Backend: DelaysRedelivery,
{
    <F::Backend as DelaysRedelivery>::LONGEST_DELAY.map_or(delay, |longest| longest.min(delay))
}
