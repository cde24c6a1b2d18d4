//! Groups that avoid a member that is full.

use std::collections::BTreeSet;

use tokio::time::Instant;

use crate::{
    conformance::{DeliversIn, Fixture, Result, Row, Stage, proof::ensure},
    contract::{QueuePlace, RetireReason, RoutesAroundDegraded},
};

pub(crate) const ROUTES_AROUND: Row = Row {
    number: "22",
    name: "routes_around",
    needs: "routes around",
    rules: "N11, K",
    promise: "a group loses nothing as long as one member has room, also beside one that is full",
    cause: "members take turns whatever they hold",
};

/// Row 22 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn routes_around<F: Fixture, M>(mut stage: Stage<F>) -> Result
where
    F::Backend: DeliversIn<M> + RoutesAroundDegraded,
{
    const BOUND: usize = 4;
    let group = stage.shared("group");
    let plan = stage.plan("a").shared(&group).bound(BOUND);
    let wedged = stage.subscribe::<M>(plan).await?;
    let first: Vec<String> = (0..BOUND).map(|id| format!("first-{id}")).collect();
    stage.publish("a", first.iter().map(String::as_str)).await?;
    if <F::Backend as DeliversIn<M>>::QUEUE == QueuePlace::Own {
        wedged.offered(BOUND as u64).await?;
    } else {
        // Its window may be smaller than its bound (B6).
        stage.pass(stage.timing().quiet).await;
    }

    let plan = stage.plan("a").shared(&group).bound(BOUND);
    let mut healthy = stage.subscribe::<M>(plan).await?;
    let mut missing: BTreeSet<String> = first.into_iter().collect();
    // Where members share one queue, that is full now.
    while let Some(got) = healthy.next_within(stage.timing().quiet).await? {
        missing.remove(got.id());
        got.ack().await?;
    }
    for id in 0..36 {
        let id = format!("then-{id}");
        stage.publish("a", [id.as_str()]).await?;
        missing.insert(id.clone());
        // One at a time, so that it always has room.
        let deadline = Instant::now() + stage.timing().patience;
        while missing.contains(&id) {
            if let Some(got) = healthy.next_within(stage.timing().quiet).await? {
                missing.remove(got.id());
                got.ack().await?;
                continue;
            }
            let lost = [wedged.stats()?, healthy.stats()?].map(|stats| stats.refused + stats.evicted);
            ensure!(
                lost == [0, 0],
                "`{id}` did not arrive: the wedged member lost {}, and the healthy one {}",
                lost[0],
                lost[1]
            );
            ensure!(Instant::now() < deadline, "`{id}` did not arrive, and nobody counts it as lost");
        }
    }
    let last = wedged.retire(RetireReason::Restarting).await?.stats;
    if <F::Backend as DeliversIn<M>>::OWES {
        while !missing.is_empty() {
            let got = healthy.next().await?;
            missing.remove(got.id());
            got.ack().await?;
        }
    } else {
        let (pending, left) = (last.pending, missing.len() as u64);
        ensure!(pending == left, "{left} messages did not arrive, and the wedged member had {pending}");
    }
    let lost = [last, healthy.stats()?].map(|stats| stats.refused + stats.evicted);
    ensure!(lost == [0, 0], "everything arrived, and the wedged member lost {}, the healthy one {}", lost[0], lost[1]);
    Ok(())
}
