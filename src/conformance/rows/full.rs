//! What a publisher is told at the bound, in both modes.

use std::pin::pin;

use tokio::time::{Instant, sleep, timeout};

use crate::{
    conformance::{DeliversIn, Failure, Fixture, Result, Row, Stage, Tap, proof::ensure},
    contract::{Backend, FailsWhenFull, Overflow, PublishError, Source},
    event::Event,
    subject::Name,
};

const BOUND: usize = 2;

pub(crate) const BOUND_FAIL: Row = Row {
    number: "11",
    name: "bound_fail",
    needs: "fails when full",
    rules: "B2, B8, B9",
    promise: "at the bound the publisher is told which subscription is full, nobody gets the event, publishing again works once there is room, and who waits for room gets in",
    cause: "the shedding queues are filled before the failing one is looked at",
};

/// Row 11 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn bound_fail<F: Fixture, M>(mut stage: Stage<F>) -> Result
where
    F::Backend: DeliversIn<M> + FailsWhenFull,
{
    // One before it and one after it, whichever the backend looks at first.
    let mut before = beside::<F, M>(&mut stage).await?;
    let plan = stage.plan("a").bound(BOUND).overflow(Overflow::Fail);
    let mut full = stage.subscribe::<M>(plan).await?;
    let mut after = beside::<F, M>(&mut stage).await?;

    stage.publish("a", ["1", "2"]).await?;
    full.offered(2).await?;
    for refused in 1..=2 {
        let event = stage.event("3");
        match stage.try_publish("a", event.clone()).await {
            Err(PublishError::QueueFull { subscription, event: back }) => {
                is_told(full.name(), &event, &subscription, &back)?;
            }
            Err(error) => return Err(Failure::error("a full queue was refused otherwise than as `QueueFull`", &error)),
            Ok(()) => return Err(Failure::seen(format!("`3` was taken by a queue that holds {BOUND} of {BOUND}"))),
        }
        let stats = full.stats()?;
        ensure!(
            (stats.accepted, stats.refused, stats.evicted) == (2, refused, 0),
            "{refused} publishes were refused: accepted {}, refused {}, evicted {}",
            stats.accepted,
            stats.refused,
            stats.evicted
        );
    }
    for tap in [&mut before, &mut after] {
        let stats = tap.offered(2).await?;
        ensure!(stats.evicted + stats.refused == 0, "`{}` shed a message for one that nobody gets", tap.name());
        tap.takes(&["1", "2"]).await?;
        tap.stays_quiet().await?;
    }

    waits_in_vain(&stage, full.name()).await?;
    let mut got = gets_in(&stage, &mut full).await?;
    let told = 2 + publishes_again(&stage).await?;
    got.extend(full.take(2).await?);
    got.sort();
    ensure!(got == ["1", "2", "3", "4"], "`{}` got {got:?}, and each of 1 to 4 was due once", full.name());
    for tap in [&mut before, &mut after] {
        tap.takes(&["3", "4"]).await?;
        tap.stays_quiet().await?;
    }
    let stats = full.stats()?;
    ensure!(stats.refused == told, "{told} publishes were refused, others waited, and refused is {}", stats.refused);
    Ok(())
}

/// A subscription beside the one that is full, at its bound too where it may shed: then what gets in pushes something out.
async fn beside<F: Fixture, M>(stage: &mut Stage<F>) -> Result<Tap<<F::Backend as DeliversIn<M>>::Source>>
where
    F::Backend: DeliversIn<M>,
{
    let plan = stage.plan("a");
    let sheds = !<F::Backend as DeliversIn<M>>::OWES && <F::Backend as Backend>::CAPABILITIES.sheds_oldest();
    let plan = if sheds { plan.bound(BOUND).overflow(Overflow::ShedOldest) } else { plan };
    stage.subscribe::<M>(plan).await
}

/// Room that does not come, at once and until a deadline, gives the event back and is no refusal.
async fn waits_in_vain<F: Fixture>(stage: &Stage<F>, full: &Name) -> Result
where
    F::Backend: FailsWhenFull,
{
    let (session, subject, quiet) = (stage.session(), stage.subject("a"), stage.timing().quiet);
    let event = stage.event("3");
    let at_once = F::Backend::publish_at_once(session, &subject, event.clone());
    ensure!(
        at_once.is_err_and(|back| back == event),
        "`publish_at_once` took `3`, or changed it, and there was no room"
    );

    let began = Instant::now();
    let waited = F::Backend::publish_when_room(session, &subject, event.clone(), Some(quiet));
    match stage.within("waiting for room with a deadline", waited).await? {
        Err(PublishError::NoRoomInTime { subscription, event: back, waited }) => {
            is_told(full, &event, &subscription, &back)?;
            ensure!(waited == quiet, "the deadline was {quiet:?}, and the publisher was told {waited:?}");
            let took = began.elapsed();
            ensure!(took >= quiet, "the publisher waited {took:?}, and the deadline was {quiet:?}");
            stage.note(format_args!("no room for `3` in {took:?}"));
            Ok(())
        }
        Err(error) => Err(Failure::error("room did not come in time, which is `NoRoomInTime`", &error)),
        Ok(()) => Err(Failure::seen("`3` was taken, and there was no room")),
    }
}

/// Whoever waits without a deadline gets in once there is room (B9). Two are taken: what made room, and one more.
async fn gets_in<F: Fixture, S: Source>(stage: &Stage<F>, full: &mut Tap<S>) -> Result<Vec<String>>
where
    F::Backend: FailsWhenFull,
{
    let (session, subject, quiet) = (stage.session(), stage.subject("a"), stage.timing().quiet);
    let mut waiting = pin!(F::Backend::publish_when_room(session, &subject, stage.event("3"), None));
    if let Ok(ended) = timeout(quiet, &mut waiting).await {
        return Err(Failure::seen(format!("waiting for room ended before there was any: {ended:?}")));
    }
    let mut got = full.take(1).await?;
    let waited = stage.within("waiting for room once there was some", waiting).await?;
    waited.map_err(|error| Failure::error("waiting for room", &error))?;
    stage.note("`3` got in once there was room");
    got.extend(full.take(1).await?);
    Ok(got)
}

/// Publishing again works once there is room, which is when the broker has seen the acknowledgement. How often it was
/// refused before that.
async fn publishes_again<F: Fixture>(stage: &Stage<F>) -> Result<u64> {
    let deadline = Instant::now() + stage.timing().patience;
    let mut refused = 0;
    loop {
        match stage.try_publish("a", stage.event("4")).await {
            Ok(()) => return Ok(refused),
            Err(PublishError::QueueFull { .. }) if Instant::now() < deadline => refused += 1,
            Err(error) => return Err(Failure::error("publishing `4` once there was room", &error)),
        }
        sleep(std::time::Duration::from_millis(5)).await;
    }
}

fn is_told(name: &Name, event: &Event, told: &Name, back: &Event) -> Result {
    ensure!(told == name, "`{name}` is full, and the publisher was told that `{told}` is");
    ensure!(back == event, "`{}` was refused, and not given back as it was", event.id());
    Ok(())
}
