//! The end of a source, in both modes.

use std::{collections::BTreeSet, future::poll_fn, pin::pin, task::Poll};

use crate::{
    conformance::{DeliversIn, Failure, Fixture, Flood, Result, Row, Stage, proof::ensure},
    contract::{Outcome, RetireReason, Settlement, SourceControl},
};

pub(crate) const RETIRE_FINAL: Row = Row {
    number: "15",
    name: "retire_final",
    needs: "a mode",
    rules: "N7",
    promise: "a retired source yields nothing, also when its retire was given up and begun again; its reading never changes, repeated for whatever reason it is the same, and it has no cause",
    cause: "the queue goes on counting after the retire",
};

/// Row 15 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn retire_final<F: Fixture, M>(mut stage: Stage<F>) -> Result
where
    F::Backend: DeliversIn<M>,
{
    let mut tap = stage.tap::<M>("a").await?;
    stage.publish("a", ["1", "2", "3"]).await?;
    tap.take(1).await?;
    {
        let mut given_up = pin!(tap.control().retire(RetireReason::Stopping));
        // Ready or not, it is dropped here.
        let _ = poll_fn(|cx| Poll::Ready(given_up.as_mut().poll(cx))).await;
    }
    let last = tap.retire(RetireReason::Stopping).await?;
    tap.ends().await?;
    stage.publish("a", ["4", "5"]).await?;
    stage.pass(stage.timing().quiet).await;
    for reason in [RetireReason::Stopping, RetireReason::Restarting, RetireReason::GivenUp] {
        let again = tap.retire(reason).await?;
        let (stats, before) = (again.stats, last.stats);
        ensure!(stats == before, "retired again ({reason:?}) it reads {stats:?}, and at first it read {before:?}");
        if let Some(cause) = last.cause.as_ref().or(again.cause.as_ref()) {
            return Err(Failure::seen(format!("it was retired, and its reading has a cause: {cause}")));
        }
    }
    let (stats, before) = (tap.stats()?, last.stats);
    ensure!(stats == before, "a snapshot reads {stats:?} after the retire that read {before:?}");
    Ok(())
}

pub(crate) const RETIRE_BESIDE_PUBLISH: Row = Row {
    number: "16",
    name: "retire_beside_publish",
    needs: "a mode",
    rules: "N2, N7",
    promise: "beside concurrent publishes a retire leaves nothing outside of the counters, and what begins after it is not in them",
    cause: "an enqueue that is under way is counted after the last reading",
};

/// Row 16 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn retire_beside_publish<F: Fixture, M>(mut stage: Stage<F>) -> Result
where
    F::Backend: DeliversIn<M>,
{
    const PUBLISHERS: [&str; 3] = ["1-", "2-", "3-"];
    for (already, steps) in [(0, 4), (1, 0), (5, 1), (10, 2), (20, 3)] {
        let subject = format!("a{already}");
        let mut tap = stage.tap::<M>(&subject).await?;
        let floods = PUBLISHERS.map(|ids| stage.flood(&subject, ids, 40));
        tap.take(already).await?;
        stage.give_way(steps).await;
        let told: u64 = floods.iter().map(Flood::told_full).sum();
        let last = tap.retire_beside_reading(RetireReason::GivenUp).await?.stats;
        let begun: u64 = floods.iter().map(Flood::begun).sum();
        for flood in floods {
            if let Some(error) = flood.ended().await? {
                return Err(Failure::error("a publish beside a retire failed", &error));
            }
        }
        let offered = last.accepted + last.refused;
        ensure!(offered <= begun, "{offered} were accepted or refused, and only {begun} publishes had begun");
        ensure!(last.refused >= told, "{told} publishers were told that the queue is full, and {} count", last.refused);
        let again = tap.retire(RetireReason::GivenUp).await?.stats;
        ensure!(again == last, "after further publishes it reads {again:?}, and as it retired it read {last:?}");
    }
    Ok(())
}

pub(crate) const RETIRE_LEAVES_THE_GROUP: Row = Row {
    number: "17",
    name: "retire_leaves_the_group",
    needs: "a mode",
    rules: "N7",
    promise: "nothing is routed to a member that has retired; the others get it, and at least once what that member still owed",
    cause: "the member is taken out of the routing late, or takes its window with it",
};

/// Row 17 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn retire_leaves_the_group<F: Fixture, M>(mut stage: Stage<F>) -> Result
where
    F::Backend: DeliversIn<M>,
{
    let (before, after) = (["1", "2", "3", "4"], ["5", "6", "7", "8", "9", "10"]);
    let group = stage.shared("group");
    // Short, for where only the end of its lease gives back what a member had in hand.
    let lease = stage.timing().lease;
    let (stays, leaves) = (stage.plan("a"), stage.plan("a"));
    let mut stays = stage.subscribe::<M>(stays.shared(&group).ack_wait(lease)).await?;
    let mut leaves = stage.subscribe::<M>(leaves.shared(&group).ack_wait(lease)).await?;
    stage.publish("a", before).await?;
    // It may well have got none.
    let in_hand = leaves.next_within(stage.timing().quiet).await?;
    let last = leaves.retire(RetireReason::Restarting).await?.stats;
    leaves.ends().await?;
    drop(in_hand);

    stage.publish("a", after).await?;
    let owed: &[&str] = if <F::Backend as DeliversIn<M>>::OWES { &before } else { &[] };
    let mut due: BTreeSet<&str> = after.iter().chain(owed).copied().collect();
    while !due.is_empty() {
        let Some(got) = stays.next_within(stage.timing().patience).await? else { break };
        due.remove(got.id());
        // On a busy machine the lease may have ended; then it comes again, which is no matter here.
        let _ = got.settle(Settlement::new(Outcome::Acked)).await;
    }
    let name = leaves.name();
    ensure!(due.is_empty(), "the member that stayed did not get {due:?} once `{name}` had retired");
    let again = leaves.retire(RetireReason::Restarting).await?.stats;
    ensure!(again == last, "`{name}` reads {again:?} now, and as it retired it read {last:?}");
    Ok(())
}
