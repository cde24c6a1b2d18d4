//! What is given back without a judgement: returned, left behind by a source, or dropped.

use crate::{
    AtLeastOnce,
    conformance::{Fixture, Got, Result, Row, Stage, proof::ensure},
    contract::{DeliversAtLeastOnce, Outcome, RetireReason, Settle, Settlement},
};

pub(crate) const RETURNED_IS_NOT_JUDGED: Row = Row {
    number: "29",
    name: "returned_is_not_judged",
    needs: "at least once",
    rules: "T2",
    promise: "what is given back unjudged is offered again, also after the last attempt; where the backend can, no attempt is spent",
    cause: "a return is handled as a decline",
};

/// Row 29 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn returned_is_not_judged<F: Fixture>(mut stage: Stage<F>) -> Result
where
    F::Backend: DeliversAtLeastOnce,
{
    for max_deliver in [1, 2] {
        let tokens = format!("a{max_deliver}");
        let plan = stage.plan(&tokens).max_deliver(max_deliver);
        let mut tap = stage.subscribe::<AtLeastOnce>(plan).await?;
        stage.publish(&tokens, ["1"]).await?;
        // Where a return spends an attempt, a decline after several of them may exhaust the message.
        let judged = if <F::Backend as DeliversAtLeastOnce>::RETURNS_ATTEMPT { max_deliver } else { 1 };
        for attempt in 1..=judged {
            for _ in 0..3 {
                let got = tap.next().await?;
                is_unspent::<F, _>(&got, attempt)?;
                got.say(Settlement::new(Outcome::Returned)).await?;
            }
            let got = tap.next().await?;
            is_unspent::<F, _>(&got, attempt)?;
            if attempt < judged { got.nack().await? } else { got.ack().await? }
        }
        tap.stays_quiet().await?;
        let exhausted = tap.retire(RetireReason::Stopping).await?.stats.exhausted;
        ensure!(exhausted == 0, "{exhausted} messages count as exhausted, and the one there was is acknowledged");
    }
    Ok(())
}

fn is_unspent<F: Fixture, S: Settle>(got: &Got<S>, attempt: u32) -> Result
where
    F::Backend: DeliversAtLeastOnce,
{
    ensure!(
        got.attempt == attempt || !<F::Backend as DeliversAtLeastOnce>::RETURNS_ATTEMPT,
        "a return spent an attempt, and `RETURNS_ATTEMPT` says that it does not: attempt {} came, and {attempt} was due",
        got.attempt
    );
    Ok(())
}

pub(crate) const RELEASED_ON_RETIRE: Row = Row {
    number: "34",
    name: "released_on_retire",
    needs: "at least once",
    rules: "N7",
    promise: "what a retired source had not handled, or had in hand, goes to the next source of the identity",
    cause: "the backlog goes with the source",
};

/// Row 34 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn released_on_retire<F: Fixture>(mut stage: Stage<F>) -> Result
where
    F::Backend: DeliversAtLeastOnce,
{
    const IDS: [&str; 4] = ["1", "2", "3", "4"];
    for (tokens, reason) in [("a", RetireReason::Restarting), ("b", RetireReason::Stopping)] {
        let plan = stage.plan(tokens);
        let plan = stage.with_short_lease(plan);
        let mut tap = stage.subscribe::<AtLeastOnce>(plan.clone()).await?;
        stage.publish(tokens, IDS).await?;
        let in_hand = tap.next().await?;
        tap.retire(reason).await?;
        let mut next = stage.subscribe::<AtLeastOnce>(plan.again()).await?;
        next.takes(&IDS).await?;
        next.stays_quiet().await?;
        drop(in_hand);
    }
    Ok(())
}

pub(crate) const DROPPED_SETTLER_RETURNS: Row = Row {
    number: "51",
    name: "dropped_settler_returns",
    needs: "at least once",
    rules: "T4",
    promise: "a settler that is dropped gives its message back: nothing is held for ever",
    cause: "the message waits for an answer that cannot come",
};

/// Row 51 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn dropped_settler_returns<F: Fixture>(mut stage: Stage<F>) -> Result
where
    F::Backend: DeliversAtLeastOnce,
{
    // Where a lease decides, each of them is an attempt.
    let plan = stage.plan("a").max_deliver(5);
    let plan = stage.with_short_lease(plan);
    let mut tap = stage.subscribe::<AtLeastOnce>(plan).await?;
    stage.publish("a", ["1"]).await?;
    drop(tap.next().await?);
    stage.note("the delivery was dropped");
    let settler = tap.next().await?.into_settler();
    // A decline, since a future that does its work when it is called may have settled.
    drop(settler.settle(Settlement::new(Outcome::Nacked)));
    stage.note("its settlement was dropped before it was polled");
    tap.next().await?.ack().await?;
    tap.stays_quiet().await
}
