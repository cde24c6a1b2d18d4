//! Settlements that come too late: their source has ended, or their attempt has.

use crate::{
    AtLeastOnce,
    conformance::{Fixture, Got, Result, Row, Stage, Tap, proof::ensure},
    contract::{DeliversAtLeastOnce, Lease, Outcome, RetireReason, Settlement, SlowHandler, Source},
};

const OUTCOMES: [Outcome; 4] = [Outcome::Acked, Outcome::Nacked, Outcome::Silent, Outcome::Returned];

pub(crate) const SETTLE_REFUSED: Row = Row {
    number: "30",
    name: "settle_refused",
    needs: "at least once",
    rules: "T6",
    promise: "after a retire or a close a settlement is refused, promptly, and after a retire the message is still owed",
    cause: "the settler answers without having looked",
};

/// Row 30 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn settle_refused<F: Fixture>(mut stage: Stage<F>) -> Result
where
    F::Backend: DeliversAtLeastOnce,
{
    for outcome in OUTCOMES {
        let tokens = format!("{outcome:?}");
        let plan = stage.plan(&tokens);
        let plan = stage.with_short_lease(plan);
        let mut tap = stage.subscribe::<AtLeastOnce>(plan.clone()).await?;
        stage.publish(&tokens, ["1"]).await?;
        let got = tap.next().await?;
        tap.retire(RetireReason::Restarting).await?;
        got.is_refused(Settlement::new(outcome)).await?;
        // It is still owed to the identity.
        stage.subscribe::<AtLeastOnce>(plan.again()).await?.take(1).await?;
    }

    let mut in_hand = Vec::new();
    for (outcome, tokens) in OUTCOMES.into_iter().zip(["a", "b", "c", "d"]) {
        let mut tap = stage.tap::<AtLeastOnce>(tokens).await?;
        stage.publish(tokens, ["1"]).await?;
        in_hand.push((tap.next().await?, outcome, tap));
    }
    stage.close().await?;
    for (got, outcome, _tap) in in_hand {
        got.is_refused(Settlement::new(outcome)).await?;
    }
    Ok(())
}

pub(crate) const STALE_SETTLE_IS_REFUSED: Row = Row {
    number: "31",
    name: "stale_settle_is_refused",
    needs: "at least once",
    rules: "T6, E7",
    promise: "an old token never settles a new attempt",
    cause: "messages are settled by identity instead of by attempt",
};

/// Row 31 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn stale_settle_is_refused<F: Fixture>(mut stage: Stage<F>) -> Result
where
    F::Backend: DeliversAtLeastOnce,
{
    let plan = stage.plan("a").max_deliver(5);
    let plan = stage.with_short_lease(plan);
    let mut tap = stage.subscribe::<AtLeastOnce>(plan.clone()).await?;
    stage.publish("a", ["1"]).await?;
    let old = tap.next().await?;
    tap.retire(RetireReason::Restarting).await?;
    let mut next = stage.subscribe::<AtLeastOnce>(plan.again()).await?;
    let new = next.next().await?;
    is_its_own(old, new, &mut next).await?;

    if <F::Backend as DeliversAtLeastOnce>::LEASE != Lease::None {
        let plan = stage.plan("b").max_deliver(5).slow_handler(SlowHandler::Redeliver);
        let plan = stage.with_short_lease(plan);
        let mut tap = stage.subscribe::<AtLeastOnce>(plan).await?;
        stage.publish("b", ["1"]).await?;
        let old = tap.next().await?;
        let new = tap.next().await?;
        is_its_own(old, new, &mut tap).await?;
    }
    Ok(())
}

/// What is said of the old attempt does nothing to the new one, which is declined and has to come back.
async fn is_its_own<S: Source>(old: Got<S::Settler>, new: Got<S::Settler>, tap: &mut Tap<S>) -> Result {
    old.is_refused(Settlement::new(Outcome::Acked)).await?;
    let declined = new.attempt;
    // On a busy machine its lease may have ended, too; then it comes again all the same.
    let _ = new.settle(Settlement::new(Outcome::Nacked)).await;
    let back = tap.next().await?;
    ensure!(back.attempt > declined, "attempt {declined} was declined, and attempt {} came next", back.attempt);
    back.ack().await?;
    tap.stays_quiet().await
}
