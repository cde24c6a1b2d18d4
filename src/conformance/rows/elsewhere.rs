//! Queues that live at a broker, which can lose the link, the consumer, and the manners of whoever publishes.

use std::collections::BTreeSet;

use tokio::time::Instant;

use crate::{
    AtLeastOnce,
    conformance::{Ability, DeliversIn, Failure, Fixture, Got, Plan, Result, Row, Stage, Tap, proof::ensure},
    contract::{DeliversAtLeastOnce, Incoming, Outcome, QueuePlace, RetireReason, Settle, Settlement, Source},
};

pub(crate) const NO_SECOND_QUEUE: Row = Row {
    number: "13",
    name: "no_second_queue",
    needs: "queue elsewhere",
    rules: "B5",
    promise: "between the broker's queue and the bus there is a window within the bound, and no queue",
    cause: "a task reads ahead into a channel of its own",
};

/// Row 13 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn no_second_queue<F: Fixture>(mut stage: Stage<F>) -> Result
where
    F::Backend: DeliversAtLeastOnce,
{
    const BOUND: usize = 4;
    const PUBLISHED: usize = 40;
    if <F::Backend as DeliversAtLeastOnce>::QUEUE == QueuePlace::Own {
        return Err(Failure::not_applicable("its queue does not live elsewhere"));
    }
    let shared = stage.shared("window");
    let plan = stage.plan("a").shared(shared.clone()).bound(BOUND);
    let idle = stage.subscribe::<AtLeastOnce>(plan).await?;
    let ids: Vec<String> = (0..PUBLISHED).map(|id| id.to_string()).collect();
    stage.publish("a", ids.iter().map(String::as_str)).await?;
    let plan = stage.plan("a").shared(shared).bound(BOUND);
    let mut busy = stage.subscribe::<AtLeastOnce>(plan).await?;
    // What the one that nobody reads does not hold is the other's.
    let taken = busy.take(PUBLISHED - BOUND).await.map_err(|failure| held_back(&idle, BOUND, failure))?;
    let pending = idle.stats()?.pending;
    ensure!(pending <= BOUND as u64, "`{}` holds {pending}, and its bound is {BOUND}", idle.name());
    idle.retire(RetireReason::Stopping).await?;
    let mut all: BTreeSet<String> = taken.into_iter().collect();
    while all.len() < PUBLISHED {
        let got = busy.next().await?;
        all.insert(got.id().to_owned());
        got.ack().await?;
    }
    Ok(())
}

fn held_back<S: Source>(idle: &Tap<S>, bound: usize, failure: Failure) -> Failure {
    match (failure, idle.stats()) {
        (Failure::Seen(what), Ok(stats)) => Failure::Seen(format!(
            "{what}; `{}`, which nobody reads, has accepted {}, and its bound is {bound}",
            idle.name(),
            stats.accepted
        )),
        (failure, _) => failure,
    }
}

pub(crate) const LINK_DEATH_IS_SEEN: Row = Row {
    number: "48",
    name: "link_death_is_seen",
    needs: "queue elsewhere",
    rules: "N8",
    promise: "when its link is cut a stream ends with a cause, or recovers and loses nothing that it owed",
    cause: "the client reconnects and nobody subscribes again",
};

/// Row 48 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn link_death_is_seen<F: Fixture>(mut stage: Stage<F>) -> Result
where
    F::Backend: DeliversAtLeastOnce,
{
    let (plan, mut tap, held) = with_one_in_hand(&mut stage).await?;
    match stage.fixture().cut_link().await {
        Ability::Done => stage.note("the link was cut"),
        Ability::NotHere => return Err(cannot::<F, AtLeastOnce>("cut the link")),
    }
    publish_in_time(&stage, "after").await?;
    // Whether this is refused or done, it is owed.
    let _ = held.settle(Settlement::new(Outcome::Nacked)).await;
    let mut owed = BTreeSet::from(["1", "2", "3", "after"].map(str::to_owned));
    if !recovers(&mut tap, &mut owed).await? {
        ends_with_a_cause(&mut tap).await?;
        tap = stage.subscribe::<AtLeastOnce>(plan.again()).await?;
        ensure!(recovers(&mut tap, &mut owed).await?, "after the link was made again, {owed:?} did not come");
    }
    Ok(())
}

pub(crate) const CONSUMER_DELETED_UNDER_US: Row = Row {
    number: "49",
    name: "consumer_deleted_under_us",
    needs: "queue elsewhere",
    rules: "N8",
    promise: "when the broker loses the consumer a stream ends with a cause, or recovers and loses nothing that it owed",
    cause: "the error item is skipped",
};

/// Row 49 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn consumer_deleted_under_us<F: Fixture>(mut stage: Stage<F>) -> Result
where
    F::Backend: DeliversAtLeastOnce,
{
    let (plan, mut tap, held) = with_one_in_hand(&mut stage).await?;
    match stage.fixture().delete_consumers().await {
        Ability::Done => stage.note("the consumer was deleted"),
        Ability::NotHere => return Err(cannot::<F, AtLeastOnce>("delete a consumer")),
    }
    publish_in_time(&stage, "after").await?;
    // Whether this is refused or done, it is owed.
    let _ = held.settle(Settlement::new(Outcome::Nacked)).await;
    let mut owed = BTreeSet::from(["1", "2", "3", "after"].map(str::to_owned));
    if !recovers(&mut tap, &mut owed).await? {
        ends_with_a_cause(&mut tap).await?;
        // What the broker has thrown away is not owed by the backend; what is published from now on is.
        let mut tap = stage.subscribe::<AtLeastOnce>(plan.again()).await?;
        stage.publish("a", ["anew"]).await?;
        let mut owed = BTreeSet::from(["anew".to_owned()]);
        ensure!(recovers(&mut tap, &mut owed).await?, "after subscribing again, what was published did not come");
    }
    Ok(())
}

pub(crate) const MALFORMED_IS_COUNTED: Row = Row {
    number: "52",
    name: "malformed_is_counted",
    needs: "a broker",
    rules: "Q10, N9",
    promise: "a foreign message crosses the seam as malformed, at most once one time, at least once with its settler until it is exhausted; and the next good one is delivered",
    cause: "the reader skips it, or ends",
};

/// Row 52 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn malformed_is_counted<F: Fixture, M>(mut stage: Stage<F>) -> Result
where
    F::Backend: DeliversIn<M>,
{
    let owes = <F::Backend as DeliversIn<M>>::OWES;
    let most = if owes { 2 } else { 1 };
    let plan = stage.plan("a").max_deliver(most);
    let mut tap = stage.subscribe::<M>(plan).await?;
    match stage.fixture().publish_foreign(&stage.subject("a")).await {
        Ability::Done => stage.note("a foreign message was put on the broker"),
        Ability::NotHere => return Err(cannot::<F, M>("put a foreign message on a broker")),
    }
    stage.publish("a", ["good"]).await?;
    let deadline = Instant::now() + stage.timing().patience;
    let (mut malformed, mut good) = (0, false);
    while malformed < most || !good {
        let left = deadline.saturating_duration_since(Instant::now());
        let Ok(next) = tokio::time::timeout(left, tap.incoming()).await else {
            return Err(Failure::seen(format!(
                "of the foreign message {malformed} attempts came, and the good one {}",
                if good { "came" } else { "did not come" }
            )));
        };
        let Some(Incoming { message, attempt, settler, .. }) = next else {
            return Err(Failure::seen("the stream ended at a foreign message"));
        };
        let outcome = match message {
            Ok(message) => {
                ensure!(message.event.id() == "good", "`{}` came, and nobody had published it", message.event.id());
                good = true;
                Outcome::Acked
            }
            Err(_) => {
                malformed += 1;
                stage.note(format_args!("the foreign message came as malformed, attempt {attempt}"));
                ensure!(attempt.get() == malformed, "attempt {malformed} at the foreign message has number {attempt}");
                Outcome::Silent
            }
        };
        let settled = settler.settle(Settlement::new(outcome)).await;
        settled.map_err(|error| Failure::error("what came could not be settled", &error))?;
    }
    let quiet = stage.timing().quiet;
    let more = tokio::time::timeout(quiet, tap.incoming()).await;
    ensure!(more.is_err(), "something came after attempt {most} at the foreign message, the last one");
    if owes {
        tap.reaches("one exhausted message", |stats| stats.exhausted > 0).await?;
    }
    let (last, due) = (tap.retire(RetireReason::Stopping).await?.stats, u64::from(owes));
    ensure!(last.exhausted == due, "{} messages count as exhausted, and {due} had to be", last.exhausted);
    Ok(())
}

type SourceOf<F> = <<F as Fixture>::Backend as DeliversAtLeastOnce>::Source;

/// Three messages, one of them in hand.
async fn with_one_in_hand<F: Fixture>(
    stage: &mut Stage<F>,
) -> Result<(Plan, Tap<SourceOf<F>>, Got<<SourceOf<F> as Source>::Settler>)>
where
    F::Backend: DeliversAtLeastOnce,
{
    let shared = stage.shared("cut");
    let plan = stage.plan("a").shared(shared).max_deliver(10);
    let plan = stage.with_short_lease(plan);
    let mut tap = stage.subscribe::<AtLeastOnce>(plan.clone()).await?;
    stage.publish("a", ["1", "2", "3"]).await?;
    let held = tap.next().await?;
    Ok((plan, tap, held))
}

/// Publishes once that is possible again.
async fn publish_in_time<F: Fixture>(stage: &Stage<F>, id: &str) -> Result {
    let deadline = Instant::now() + stage.timing().patience;
    loop {
        match stage.try_publish("a", stage.event(id)).await {
            Ok(()) => return Ok(()),
            Err(error) if Instant::now() >= deadline => {
                return Err(Failure::error("nothing can be published any more", &error));
            }
            Err(_) => stage.pass(stage.timing().quiet / 4).await,
        }
    }
}

/// Whether all that is owed comes; if not, the stream has ended.
async fn recovers<S: Source>(tap: &mut Tap<S>, owed: &mut BTreeSet<String>) -> Result<bool> {
    while !owed.is_empty() {
        let Some(got) = tap.next_or_end().await? else { return Ok(false) };
        owed.remove(got.id());
        // The link may go while it is settled; then it comes again.
        let _ = got.settle(Settlement::new(Outcome::Acked)).await;
    }
    Ok(true)
}

async fn ends_with_a_cause<S: Source>(tap: &mut Tap<S>) -> Result {
    let last = tap.retire(RetireReason::Restarting).await?;
    ensure!(last.cause.is_some(), "the stream of `{}` ended by itself, and its last reading has no cause", tap.name());
    Ok(())
}

/// Where there is a broker its owner can; where there is none the row does not apply.
fn cannot<F: Fixture, M>(what: &str) -> Failure
where
    F::Backend: DeliversIn<M>,
{
    match <F::Backend as DeliversIn<M>>::QUEUE {
        QueuePlace::Own => Failure::not_applicable(format!("nobody can {what} here")),
        QueuePlace::Elsewhere => {
            Failure::seen(format!("the queue lives elsewhere, and the fixture does not say how to {what}"))
        }
    }
}
