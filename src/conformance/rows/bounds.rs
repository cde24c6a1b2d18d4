//! What happens at the bound.

use std::collections::BTreeSet;

use crate::{
    AtMostOnce,
    conformance::{DeliversIn, Failure, Fixture, Result, Row, Stage, proof::ensure},
    contract::{
        Backend, DeliversAtMostOnce, Overflow, PublishError, QueuePlace, RetireReason, ShedsNewest, ShedsOldest,
    },
};

/// How many messages are published beyond a bound.
const BEYOND: usize = 3;

pub(crate) const BOUND_SHEDS_NEWEST: Row = Row {
    number: "10",
    name: "bound_sheds_newest",
    needs: "sheds newest",
    rules: "B2, B3, L1, L2",
    promise: "at the bound the newcomer is refused and counted as refused, and what was queued stays",
    cause: "evicted is counted as refused, or the bound is off by one",
};

/// Row 10 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn bound_sheds_newest<F: Fixture>(mut stage: Stage<F>) -> Result
where
    F::Backend: ShedsNewest,
{
    for bound in [1, 4] {
        sheds(&mut stage, Overflow::ShedNewest, bound).await?;
    }
    Ok(())
}

pub(crate) const BOUND_SHEDS_OLDEST: Row = Row {
    number: "10",
    name: "bound_sheds_oldest",
    needs: "sheds oldest",
    rules: "B2, B3, L1, L2",
    promise: "at the bound the head is evicted and counted as evicted, and the newest stay",
    cause: "the newcomer is refused instead, or counted twice",
};

/// Row 10 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn bound_sheds_oldest<F: Fixture>(mut stage: Stage<F>) -> Result
where
    F::Backend: ShedsOldest,
{
    for bound in [1, 4] {
        sheds(&mut stage, Overflow::ShedOldest, bound).await?;
    }
    Ok(())
}

async fn sheds<F: Fixture>(stage: &mut Stage<F>, overflow: Overflow, bound: usize) -> Result
where
    F::Backend: DeliversAtMostOnce,
{
    let subject = format!("bound.{bound}");
    let plan = stage.plan(&subject).bound(bound).overflow(overflow);
    let mut tap = stage.subscribe::<AtMostOnce>(plan).await?;
    let ids: Vec<String> = (0..bound + BEYOND).map(|number| number.to_string()).collect();
    stage.publish(&subject, ids.iter().map(String::as_str)).await?;

    // What is published may still be on its way: it is there once it is counted.
    let (all, shed) = (ids.len() as u64, BEYOND as u64);
    let full = tap.offered(all).await?;
    let (refused, evicted, kept) = match overflow {
        Overflow::ShedNewest => (shed, 0, &ids[..bound]),
        _ => (0, shed, &ids[BEYOND..]),
    };
    ensure!(
        (full.refused, full.evicted, full.pending) == (refused, evicted, bound as u64),
        "{all} were published at a bound of {bound}: refused {}, evicted {}, pending {}, and {refused}, {evicted} and \
         {bound} were due",
        full.refused,
        full.evicted,
        full.pending
    );

    let mut got = tap.take(bound).await?;
    if <F::Backend as Backend>::CAPABILITIES.orders() {
        ensure!(got == kept, "{got:?} were kept of {ids:?} at a bound of {bound}, and {kept:?} were due");
    } else {
        // Which ones are the newest, the backend alone knows.
        got.sort();
        got.dedup();
        ensure!(got.len() == bound && got.iter().all(|id| ids.contains(id)), "{got:?} were kept of {ids:?}");
    }

    // There is room again.
    stage.publish(&subject, ["after"]).await?;
    let after = tap.take(1).await?;
    ensure!(after == ["after"], "{after:?} came once there was room, and `after` was due");
    let last = tap.retire(RetireReason::Stopping).await?.stats;
    ensure!(
        (last.accepted + last.refused, last.refused, last.evicted) == (all + 1, refused, evicted),
        "L1 does not hold: {} were published, accepted {}, refused {}, evicted {}",
        all + 1,
        last.accepted,
        last.refused,
        last.evicted
    );
    Ok(())
}

pub(crate) const BOUND_BACKPRESSURE: Row = Row {
    number: "12",
    name: "bound_backpressure",
    needs: "a mode, no policy named",
    rules: "B1, B4, B5, L1",
    promise: "under a flood a source holds at most its bound; what is owed is shed by nobody and delivered after draining, what may be shed is counted",
    cause: "the source goes on fetching",
};

/// Row 12 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn bound_backpressure<F: Fixture, M>(mut stage: Stage<F>) -> Result
where
    F::Backend: DeliversIn<M>,
{
    const BOUND: usize = 8;
    const FLOOD: usize = 10 * BOUND;
    let offers = 2 + FLOOD as u64;
    let owes = <F::Backend as DeliversIn<M>>::OWES;
    let own = <F::Backend as DeliversIn<M>>::QUEUE == QueuePlace::Own;
    let plan = stage.plan("a").bound(BOUND);
    let mut tap = stage.subscribe::<M>(plan).await?;

    // What is owed counts against the bound while it is in hand, too.
    stage.publish("a", ["first", "second"]).await?;
    let mut in_hand = vec![tap.next().await?, tap.next().await?];
    if !owes {
        in_hand.clear();
    }
    let hands = in_hand.len() as u64;
    let held = |pending: u64| pending + hands;

    let mut taken = BTreeSet::new();
    let mut told = 0;
    for number in 0..FLOOD {
        let event = stage.event(&number.to_string());
        match stage.try_publish("a", event).await {
            Ok(()) => {
                taken.insert(number.to_string());
            }
            Err(PublishError::QueueFull { .. }) => told += 1,
            Err(error) => return Err(Failure::error(format_args!("publishing `{number}`"), &error)),
        }
        let holds = held(tap.stats()?.pending);
        ensure!(holds <= BOUND as u64, "it holds {holds}, and its bound is {BOUND}");
    }
    if own {
        let holds = held(tap.offered(offers).await?.pending);
        ensure!(holds == BOUND as u64, "the queue holds {holds} under a flood, and its bound is {BOUND}");
    }

    for got in in_hand {
        got.ack().await?;
    }
    let mut got = BTreeSet::new();
    let mut deliveries = 0;
    loop {
        // What is owed has to come. What is not may have been shed: it comes, or is counted.
        let stats = tap.stats()?;
        let uncounted = stats.accepted + stats.refused < offers || stats.pending > 0;
        let missing = if owes { got.len() < taken.len() } else { uncounted };
        let wait = if missing { stage.timing().patience } else { stage.timing().quiet };
        let Some(delivery) = tap.next_within(wait).await? else { break };
        let holds = tap.stats()?.pending + 1;
        ensure!(!owes || holds <= BOUND as u64, "it holds {holds} while it is drained, and its bound is {BOUND}");
        got.insert(delivery.id().to_owned());
        deliveries += 1;
        delivery.ack().await?;
    }
    let last = tap.retire(RetireReason::Stopping).await?.stats;
    ensure!(last.pending == 0, "{} are still pending after the last one came", last.pending);
    if owes {
        let lost: Vec<_> = taken.difference(&got).collect();
        ensure!(lost.is_empty(), "the publisher was told nothing, and these never came: {lost:?}");
        let shed = (last.refused, last.evicted);
        ensure!(shed == (told, 0), "{told} publishes were refused; refused and evicted are {shed:?}");
    } else {
        let counted = last.accepted + last.refused;
        ensure!(counted == offers, "{offers} were published, and {counted} are counted as accepted or refused");
        ensure!(got.len() == deliveries, "{deliveries} deliveries were of {} messages", got.len());
    }
    let foreign: Vec<_> = got.difference(&taken).collect();
    ensure!(foreign.is_empty(), "these came, and their publish was refused: {foreign:?}");
    Ok(())
}
