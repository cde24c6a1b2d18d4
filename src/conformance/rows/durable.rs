//! What survives a restart, for backends that say they do.

use std::time::Duration;

use tokio::time::Instant;

use crate::{
    AtLeastOnce,
    conformance::{Ability, DurableFixture, Failure, Field, Plan, Result, Stage, Tap, proof::ensure},
    contract::{
        DelaysRedelivery, Outcome, Replays, RetireReason, Settlement, Source, SourceStats, StartAt, SubscribeError,
        SurvivesRestart,
    },
};

/// How the storage goes down.
#[derive(Clone, Copy)]
enum Goes {
    Orderly,
    Down,
}

/// Row D1: what was published before a restart is delivered after it (K).
///
/// # Errors
/// The row is red.
pub async fn backlog_survives<F: DurableFixture>(mut stage: Stage<F>) -> Result {
    backlog(&mut stage, Goes::Orderly).await
}

/// Row D2: a restart does not reset the number of attempts, and the budget is not exceeded (M4, K).
///
/// # Errors
/// The row is red.
pub async fn restart_attempt<F: DurableFixture>(mut stage: Stage<F>) -> Result {
    const MOST: u32 = 4;
    const FAILURES: u32 = 2;
    let plan = durable(&mut stage, "a", "attempts").max_deliver(MOST);
    let mut tap = stage.subscribe::<AtLeastOnce>(plan.clone()).await?;
    stage.publish("a", ["1"]).await?;
    for _ in 0..FAILURES {
        tap.next().await?.nack().await?;
    }
    retire(&tap).await?;
    stage.restart().await?;
    let mut tap = stage.subscribe::<AtLeastOnce>(plan).await?;
    let least = FAILURES + 1 - u32::from(F::Backend::LOSES_LAST_FAILURE);
    let most = FAILURES + 1 + u32::from(F::Backend::CAN_SPEND_UNSEEN_ATTEMPT);
    let mut got = tap.next().await?;
    ensure!(
        (least..=most).contains(&got.attempt),
        "after {FAILURES} failures and a restart the attempt has number {}, and {least} to {most} was due",
        got.attempt
    );
    while got.attempt < MOST {
        let last = got.attempt;
        got.nack().await?;
        got = tap.next().await?;
        ensure!(got.attempt == last + 1, "attempt {} came after attempt {last}", got.attempt);
    }
    got.nack().await?;
    tap.stays_quiet().await
}

/// Row D3: a durable name goes on where it was (I4).
///
/// # Errors
/// The row is red.
pub async fn identity_resumes<F: DurableFixture>(mut stage: Stage<F>) -> Result {
    let plan = durable(&mut stage, "a", "resumes");
    let mut tap = stage.subscribe::<AtLeastOnce>(plan.clone()).await?;
    stage.publish("a", ["1", "2"]).await?;
    tap.take(2).await?;
    retire(&tap).await?;
    stage.publish("a", ["while the source was gone"]).await?;
    stage.restart().await?;
    stage.publish("a", ["after the restart"]).await?;
    let mut tap = stage.subscribe::<AtLeastOnce>(plan).await?;
    takes(&mut tap, &["after the restart", "while the source was gone"]).await?;
    tap.stays_quiet().await
}

/// Row D4: reopening an identity with another value in a field is refused, naming the field and both values (I4).
///
/// # Errors
/// The row is red.
pub async fn reopen_refused<F: DurableFixture>(mut stage: Stage<F>) -> Result {
    let lease = stage.timing().lease;
    let plan = durable(&mut stage, "a", "reopened").max_deliver(3).ack_wait(lease);
    retire(&stage.subscribe::<AtLeastOnce>(plan.clone()).await?).await?;
    for restarted in [false, true] {
        if restarted {
            stage.restart().await?;
        }
        for field in stage.fixture().refused_on_reopening() {
            refuses(&stage, &plan, *field).await?;
        }
    }
    // What was refused has changed nothing.
    let mut tap = stage.subscribe::<AtLeastOnce>(plan).await?;
    stage.publish("a", ["1"]).await?;
    takes(&mut tap, &["1"]).await
}

/// Row D5: a new identity sees nothing that is older (I5).
///
/// # Errors
/// The row is red.
pub async fn start_at_new<F: DurableFixture>(mut stage: Stage<F>) -> Result {
    stage.publish("a", ["before"]).await?;
    stage.restart().await?;
    stage.publish("a", ["before, too"]).await?;
    let plan = durable(&mut stage, "a", "new");
    let mut tap = stage.subscribe::<AtLeastOnce>(plan).await?;
    stage.publish("a", ["after"]).await?;
    takes(&mut tap, &["after"]).await?;
    tap.stays_quiet().await
}

/// Row D6: a new identity that asks for it sees what is retained, once (I5).
///
/// # Errors
/// The row is red.
pub async fn start_at_all<F: DurableFixture>(mut stage: Stage<F>) -> Result
where
    F::Backend: Replays,
{
    stage.publish("a", ["1", "2"]).await?;
    stage.restart().await?;
    let plan = durable(&mut stage, "a", "all").start_at(StartAt::AllAvailable);
    let mut tap = stage.subscribe::<AtLeastOnce>(plan.clone()).await?;
    takes(&mut tap, &["1", "2"]).await?;
    retire(&tap).await?;
    stage.restart().await?;
    let mut tap = stage.subscribe::<AtLeastOnce>(plan).await?;
    tap.stays_quiet().await?;
    stage.publish("a", ["3"]).await?;
    takes(&mut tap, &["3"]).await
}

/// Row D7: `max_deliver` bounds the message, not the process (M2).
///
/// # Errors
/// The row is red.
pub async fn exhaustion_across_restart<F: DurableFixture>(mut stage: Stage<F>) -> Result {
    exhaustion(&mut stage, Goes::Orderly).await
}

/// Row D8: what was delivered and not settled when the storage restarted is offered again (K).
///
/// # Errors
/// The row is red.
pub async fn in_hand_survives<F: DurableFixture>(mut stage: Stage<F>) -> Result {
    in_hand(&mut stage, Goes::Orderly).await
}

/// Row D9: the fixture's restart ends the connections that were open.
///
/// # Errors
/// The row is red.
pub async fn restart_is_real<F: DurableFixture>(mut stage: Stage<F>) -> Result {
    let mut witness = stage.fixture().witness().await;
    stage.restart().await?;
    let ended = stage.fixture().has_ended(&mut witness).await;
    ensure!(ended, "a connection of before the restart is still there after it");
    Ok(())
}

/// Row D10: a backlog, its attempts and what is in hand survive a crash as they do a restart (K).
///
/// # Errors
/// The row is red.
pub async fn crash<F: DurableFixture>(mut stage: Stage<F>) -> Result {
    backlog(&mut stage, Goes::Down).await?;
    exhaustion(&mut stage, Goes::Down).await?;
    in_hand(&mut stage, Goes::Down).await
}

/// Row D11: a delay is kept over a restart, or is counted as shortened, unless the backend states that it forgets it (O3).
///
/// # Errors
/// The row is red.
pub async fn delay_across_restart<F: DurableFixture>(mut stage: Stage<F>) -> Result
where
    F::Backend: DelaysRedelivery,
{
    let delay = stage.timing().lease * 3;
    let plan = durable(&mut stage, "a", "delayed");
    let mut tap = stage.subscribe::<AtLeastOnce>(plan.clone()).await?;
    stage.publish("a", ["1"]).await?;
    let got = tap.next().await?;
    let declined = Instant::now();
    got.say(Settlement::new(Outcome::Nacked).after(delay)).await?;
    let before = retire(&tap).await?;
    stage.restart().await?;
    let mut tap = stage.subscribe::<AtLeastOnce>(plan).await?;
    let got = tap.next().await?;
    let after = declined.elapsed();
    let shortened = before.delay_shortened + tap.stats()?.delay_shortened;
    ensure!(
        F::Backend::FORGETS_DELAY || after >= delay || shortened > 0,
        "attempt {} came after {after:?}, and a delay of {delay:?} was asked for; none was counted as shortened",
        got.attempt
    );
    got.ack().await
}

/// Row D12: distinct durable names each get a copy, and one name competes (I2, I3).
///
/// # Errors
/// The row is red.
pub async fn two_names_two_copies<F: DurableFixture>(mut stage: Stage<F>) -> Result {
    let plans = [durable(&mut stage, "a", "one"), durable(&mut stage, "a", "other"), durable(&mut stage, "a", "other")];
    let mut taps = Vec::new();
    for plan in plans {
        taps.push(stage.subscribe::<AtLeastOnce>(plan).await?);
    }
    stage.publish("a", ["1", "2", "3", "4"]).await?;
    takes(&mut taps[0], &["1", "2", "3", "4"]).await?;
    let mut shared = Vec::new();
    let deadline = Instant::now() + stage.timing().patience;
    while shared.len() < 4 && Instant::now() < deadline {
        for tap in &mut taps[1..] {
            if let Some(got) = tap.next_within(stage.timing().quiet / 4).await? {
                shared.push(got.id().to_owned());
                got.ack().await?;
            }
        }
    }
    shared.sort();
    ensure!(shared == ["1", "2", "3", "4"], "the two sources of one name got {shared:?}, and 1 to 4 were published");
    for tap in &mut taps {
        tap.stays_quiet().await?;
    }
    Ok(())
}

async fn backlog<F: DurableFixture>(stage: &mut Stage<F>, goes: Goes) -> Result {
    let plan = durable(stage, "backlog", "backlog");
    let tap = stage.subscribe::<AtLeastOnce>(plan.clone()).await?;
    stage.publish("backlog", ["1", "2"]).await?;
    retire(&tap).await?;
    stage.publish("backlog", ["3"]).await?;
    down(stage, goes).await?;
    let mut tap = stage.subscribe::<AtLeastOnce>(plan).await?;
    takes(&mut tap, &["1", "2", "3"]).await?;
    tap.stays_quiet().await
}

async fn exhaustion<F: DurableFixture>(stage: &mut Stage<F>, goes: Goes) -> Result {
    let plan = durable(stage, "exhausted", "exhausted").max_deliver(2);
    let mut tap = stage.subscribe::<AtLeastOnce>(plan.clone()).await?;
    stage.publish("exhausted", ["1"]).await?;
    tap.next().await?.nack().await?;
    retire(&tap).await?;
    down(stage, goes).await?;
    let mut tap = stage.subscribe::<AtLeastOnce>(plan.clone()).await?;
    // An attempt that nobody saw may have been the last one.
    let mut more = 1 + u32::from(F::Backend::LOSES_LAST_FAILURE);
    let least = more - u32::from(F::Backend::CAN_SPEND_UNSEEN_ATTEMPT);
    let mut seen = 0;
    let wait = stage.timing().lease * 3 + stage.timing().quiet;
    while let Some(got) = tap.next_within(wait).await? {
        ensure!(more > 0, "attempt {} came after the restart, and `max_deliver` is 2", got.attempt);
        (more, seen) = (more - 1, seen + 1);
        got.nack().await?;
    }
    ensure!(seen >= least.min(1), "no attempt was left after one failure and a restart, and `max_deliver` is 2");
    retire(&tap).await?;
    down(stage, goes).await?;
    let mut tap = stage.subscribe::<AtLeastOnce>(plan).await?;
    tap.stays_quiet_for(wait).await
}

async fn in_hand<F: DurableFixture>(stage: &mut Stage<F>, goes: Goes) -> Result {
    let plan = durable(stage, "held", "held");
    let mut tap = stage.subscribe::<AtLeastOnce>(plan.clone()).await?;
    stage.publish("held", ["1"]).await?;
    let held = tap.next().await?;
    down(stage, goes).await?;
    let mut tap = stage.subscribe::<AtLeastOnce>(plan).await?;
    let again = tap.next().await?;
    ensure!(again.id() == "1", "`{}` came after the restart, and `1` was in hand", again.id());
    again.ack().await?;
    drop(held);
    tap.stays_quiet().await
}

async fn down<F: DurableFixture>(stage: &mut Stage<F>, goes: Goes) -> Result {
    match goes {
        Goes::Orderly => stage.restart().await,
        Goes::Down => match stage.crash().await? {
            Ability::Done => Ok(()),
            Ability::NotHere => Err(Failure::not_applicable("the fixture cannot crash its storage")),
        },
    }
}

/// A subscription under a durable name of this row. What a restart leaves to a lease is decided by the shortest there is.
fn durable<F: DurableFixture>(stage: &mut Stage<F>, tokens: &str, name: &str) -> Plan {
    let shared = stage.shared(name);
    let plan = stage.plan(tokens).shared(shared);
    stage.with_short_lease(plan)
}

async fn retire<S: Source>(tap: &Tap<S>) -> Result<SourceStats> {
    Ok(tap.retire(RetireReason::Stopping).await?.stats)
}

/// The next deliveries are these, in whatever order.
async fn takes<S: Source>(tap: &mut Tap<S>, ids: &[&str]) -> Result {
    let mut taken = tap.take(ids.len()).await?;
    taken.sort();
    ensure!(taken == ids, "`{}` got {taken:?}, and {ids:?} was due", tap.name());
    Ok(())
}

/// Opens the identity with another value in one field, which has to be refused.
async fn refuses<F: DurableFixture>(stage: &Stage<F>, plan: &Plan, field: Field) -> Result {
    let (name, changed) = (field.as_str(), plan.clone());
    let changed = match field {
        Field::Pattern => changed.pattern(stage.pattern("b")),
        Field::StartAt => changed.start_at(StartAt::AllAvailable),
        Field::MaxDeliver => changed.max_deliver(7),
        Field::AckWait => changed.ack_wait(stage.timing().lease + Duration::from_secs(3)),
    };
    match stage.try_subscribe::<AtLeastOnce>(changed).await? {
        Ok(_) => Err(Failure::seen(format!("the identity was reopened with another `{name}`"))),
        Err(SubscribeError::Reopened { field, existing, asked, .. }) => {
            ensure!(field == name, "another `{name}` was refused as another `{field}`");
            ensure!(
                existing != asked && !existing.is_empty() && !asked.is_empty(),
                "another `{name}` was refused with the values `{existing}` and `{asked}`"
            );
            let (old, new) = match name {
                "pattern" => (stage.pattern("a").to_string(), stage.pattern("b").to_string()),
                "max_deliver" => ("3".to_owned(), "7".to_owned()),
                _ => (existing.clone(), asked.clone()),
            };
            ensure!(
                existing.contains(&old) && asked.contains(&new),
                "another `{name}` was refused with `{existing}` for the old value and `{asked}` for the new one"
            );
            Ok(())
        }
        Err(error) => Err(Failure::error(format_args!("another `{name}` was refused, and not as reopened"), &error)),
    }
}
