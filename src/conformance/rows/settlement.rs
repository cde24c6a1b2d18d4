//! What becomes of a message that was settled at least once.

use crate::{
    AtLeastOnce,
    conformance::{Failure, Fixture, Result, Row, Stage, proof::ensure},
    contract::{Backend, DeliversAtLeastOnce, Lease, Outcome, RetireReason, Settlement},
};

pub(crate) const ACK_REMOVES: Row = Row {
    number: "24",
    name: "ack_removes",
    needs: "at least once",
    rules: "M2",
    promise: "what is acknowledged is not offered again, several leases long, nor to the next source of the identity",
    cause: "the acknowledgement does not arrive, or is forgotten with its source",
};

/// Row 24 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn ack_removes<F: Fixture>(mut stage: Stage<F>) -> Result
where
    F::Backend: DeliversAtLeastOnce,
{
    const IDS: [&str; 6] = ["1", "2", "3", "4", "5", "6"];
    let plan = stage.plan("a");
    let plan = stage.with_short_lease(plan);
    let mut tap = stage.subscribe::<AtLeastOnce>(plan.clone()).await?;
    stage.publish("a", IDS).await?;
    tap.takes(&IDS).await?;

    let timing = stage.timing();
    tap.stays_quiet_for(match <F::Backend as DeliversAtLeastOnce>::LEASE {
        Lease::None => timing.quiet,
        Lease::Fixed | Lease::Extendable => timing.quiet.max(3 * timing.lease),
    })
    .await?;
    let last = tap.retire(RetireReason::Restarting).await?.stats;
    ensure!(last.pending == 0, "{} messages are pending, and all were acknowledged", last.pending);
    ensure!(last.exhausted == 0, "{} messages count as exhausted, and all were acknowledged", last.exhausted);
    stage.subscribe::<AtLeastOnce>(plan.again()).await?.stays_quiet().await
}

pub(crate) const NACK_REDELIVERS: Row = Row {
    number: "25",
    name: "nack_redelivers",
    needs: "at least once",
    rules: "M2, M4",
    promise: "what is declined comes back, and attempts are numbered from 1",
    cause: "attempts are counted from 0, or per source",
};

/// Row 25 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn nack_redelivers<F: Fixture>(stage: Stage<F>) -> Result
where
    F::Backend: DeliversAtLeastOnce,
{
    comes_back(stage, Outcome::Nacked).await
}

pub(crate) const SILENT_IS_NACK: Row = Row {
    number: "26",
    name: "silent_is_nack",
    needs: "at least once",
    rules: "T2",
    promise: "what was not accepted comes back as what is declined does",
    cause: "silence is taken for an acknowledgement",
};

/// Row 26 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn silent_is_nack<F: Fixture>(stage: Stage<F>) -> Result
where
    F::Backend: DeliversAtLeastOnce,
{
    comes_back(stage, Outcome::Silent).await
}

pub(crate) const UNKNOWN_OUTCOME_IS_NACK: Row = Row {
    number: "27",
    name: "unknown_outcome_is_nack",
    needs: "at least once",
    rules: "T5",
    promise: "an outcome that the backend does not know is a decline",
    cause: "the arm for other outcomes acknowledges",
};

/// Row 27 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn unknown_outcome_is_nack<F: Fixture>(stage: Stage<F>) -> Result
where
    F::Backend: DeliversAtLeastOnce,
{
    comes_back(stage, Outcome::Unheard).await
}

/// Of two messages one is declined like this, until its last attempt.
async fn comes_back<F: Fixture>(mut stage: Stage<F>, outcome: Outcome) -> Result
where
    F::Backend: DeliversAtLeastOnce,
{
    const ATTEMPTS: u32 = 3;
    let plan = stage.plan("a").max_deliver(ATTEMPTS);
    let mut tap = stage.subscribe::<AtLeastOnce>(plan).await?;
    stage.publish("a", ["declined", "accepted"]).await?;
    let (mut declined, mut accepted) = (0, 0);
    // What comes back may come before the other one, or after it.
    for _ in 0..=ATTEMPTS {
        let got = tap.next().await?;
        let attempts = if got.id() == "declined" { &mut declined } else { &mut accepted };
        *attempts += 1;
        let due = *attempts;
        ensure!(got.attempt == due, "attempt {due} at `{}` has number {}", got.id(), got.attempt);
        if got.id() == "declined" && due < ATTEMPTS {
            got.say(Settlement::new(outcome)).await?;
        } else {
            got.ack().await?;
        }
    }
    ensure!(
        (declined, accepted) == (ATTEMPTS, 1),
        "`declined` was offered {declined} times and `accepted` {accepted} times"
    );
    tap.stays_quiet().await?;
    let exhausted = tap.retire(RetireReason::Stopping).await?.stats.exhausted;
    ensure!(exhausted == 0, "{exhausted} messages count as exhausted, and both were acknowledged");
    Ok(())
}

pub(crate) const PER_MESSAGE_ACK: Row = Row {
    number: "28",
    name: "per_message_ack",
    needs: "at least once",
    rules: "T4",
    promise: "acknowledging one message leaves the others owed",
    cause: "an acknowledgement covers all before it",
};

/// Row 28 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn per_message_ack<F: Fixture>(mut stage: Stage<F>) -> Result
where
    F::Backend: DeliversAtLeastOnce,
{
    // Who orders may keep the next message of a subject back until the one before it is done.
    let table = <F::Backend as Backend>::CAPABILITIES;
    let (pattern, subjects) = match (table.orders(), table.matches_patterns()) {
        (false, _) => ("a", ["a", "a", "a"]),
        (true, true) => ("a.*", ["a.1", "a.2", "a.3"]),
        (true, false) => {
            let why = "it orders and matches no patterns, so one source may have one message in hand at a time";
            return Err(Failure::not_applicable(why));
        }
    };
    let mut tap = stage.tap::<AtLeastOnce>(pattern).await?;
    for (subject, id) in subjects.into_iter().zip(["1", "2", "3"]) {
        stage.publish(subject, [id]).await?;
    }
    let earlier = [tap.next().await?, tap.next().await?];
    tap.next().await?.ack().await?;
    let owed = earlier.each_ref().map(|got| got.id().to_owned());
    for got in earlier {
        got.nack().await?;
    }
    tap.takes(&owed.each_ref().map(String::as_str)).await?;
    tap.stays_quiet().await
}
