//! Whose a message is while a handler takes its time.

use tokio::time::Instant;

use crate::{
    AtLeastOnce,
    conformance::{Failure, Fixture, Result, Row, Stage, proof::ensure},
    contract::{DeliversAtLeastOnce, KeepsForHandler, Lease, Outcome, Settlement, SlowHandler},
};

pub(crate) const LEASE_EXTENDED: Row = Row {
    number: "35",
    name: "lease_extended",
    needs: "keeps for the handler",
    rules: "E3, E5",
    promise: "a handler slower than the lease gets its message once",
    cause: "nobody sends the heartbeat",
};

/// Row 35 of [`ROWS`](crate::conformance::ROWS). Also where there is no lease.
///
/// # Errors
/// The row is red.
pub async fn lease_extended<F: Fixture>(mut stage: Stage<F>) -> Result
where
    F::Backend: KeepsForHandler,
{
    let lease = stage.timing().lease;
    let slow = SlowHandler::ExtendLease { max_processing_time: lease * 50 };
    let plan = stage.plan("a").ack_wait(lease).slow_handler(slow);
    let mut tap = stage.subscribe::<AtLeastOnce>(plan).await?;
    stage.publish("a", ["1"]).await?;
    let held = tap.next().await?;
    tap.stays_quiet_for(lease * 3).await?;
    held.ack().await?;
    tap.stays_quiet().await?;
    let expired = tap.stats()?.lease_expired;
    ensure!(expired == 0, "{expired} leases are counted as expired, and the handler had its message all the time");
    Ok(())
}

pub(crate) const LEASE_BOUND: Row = Row {
    number: "36",
    name: "lease_bound",
    needs: "lease, extended",
    rules: "E4, E5, E7",
    promise: "past `max_processing_time` the message is handed on, the lease counts as expired, and a late settlement harms nothing",
    cause: "the heartbeat has no end",
};

/// Row 36 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn lease_bound<F: Fixture>(mut stage: Stage<F>) -> Result
where
    F::Backend: KeepsForHandler,
{
    if <F::Backend as DeliversAtLeastOnce>::LEASE != Lease::Extendable {
        return Err(Failure::not_applicable("its deliveries have no lease that is extended"));
    }
    let lease = stage.timing().lease;
    let most = lease * 4;
    expires(&mut stage, SlowHandler::ExtendLease { max_processing_time: most }, most).await
}

pub(crate) const LEASE_REDELIVER: Row = Row {
    number: "37",
    name: "lease_redeliver",
    needs: "lease",
    rules: "E3",
    promise: "under `Redeliver` a handler slower than the lease sees a second delivery elsewhere",
    cause: "the lease is extended all the same",
};

/// Row 37 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn lease_redeliver<F: Fixture>(mut stage: Stage<F>) -> Result
where
    F::Backend: DeliversAtLeastOnce,
{
    if <F::Backend as DeliversAtLeastOnce>::LEASE == Lease::None {
        return Err(Failure::not_applicable("its deliveries have no lease"));
    }
    let lease = stage.timing().lease;
    expires(&mut stage, SlowHandler::Redeliver, lease).await
}

/// A message is held until its lease is over, and then is another's.
async fn expires<F: Fixture>(stage: &mut Stage<F>, slow: SlowHandler, after: std::time::Duration) -> Result
where
    F::Backend: DeliversAtLeastOnce,
{
    let (lease, shared) = (stage.timing().lease, stage.shared("slow"));
    let plan = stage.plan("a").shared(shared).ack_wait(lease).slow_handler(slow).max_deliver(5);
    let mut tap = stage.subscribe::<AtLeastOnce>(plan).await?;
    // The lease begins when the broker hands the message over, which is after this (E1).
    let began = Instant::now();
    stage.publish("a", ["1"]).await?;
    let late = tap.next().await?;
    let again = tap.next().await?;
    let passed = began.elapsed();
    ensure!(passed >= after, "it was handed on after {passed:?}, and it was its handler's for {after:?}");
    ensure!(
        (again.id(), again.attempt) == ("1", late.attempt + 1),
        "`{}` came as attempt {}, and `1` was to be handed on as attempt {}",
        again.id(),
        again.attempt,
        late.attempt + 1
    );
    tap.reaches("a lease that is counted as expired", |stats| stats.lease_expired > 0).await?;
    late.is_refused(Settlement::new(Outcome::Acked)).await?;
    // On a busy machine its lease may have ended, too; then it comes again all the same.
    let _ = again.settle(Settlement::new(Outcome::Nacked)).await;
    let third = tap.next().await?;
    ensure!(third.attempt > 2, "attempt {} came after attempt 2", third.attempt);
    third.ack().await?;
    tap.stays_quiet_for(after + lease).await
}
