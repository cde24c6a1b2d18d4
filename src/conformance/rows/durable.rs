//! What survives a restart, for backends that say they do.

use std::time::Duration;

use tokio::time::Instant;

use crate::{
    AtLeastOnce,
    conformance::{Ability, DurableFixture, Failure, Field, Plan, Result, Row, Stage, Tap, proof::ensure},
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

pub(crate) const BACKLOG_SURVIVES: Row = Row {
    number: "D1",
    name: "backlog_survives",
    needs: "survives restart",
    rules: "K",
    promise: "what was published before a restart is delivered after it",
    cause: "the backlog is kept in memory",
};

/// Row D1 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn backlog_survives<F: DurableFixture>(mut stage: Stage<F>) -> Result {
    backlog(&mut stage, Goes::Orderly).await
}

pub(crate) const RESTART_ATTEMPT: Row = Row {
    number: "D2",
    name: "restart_attempt",
    needs: "survives restart",
    rules: "M4, K",
    promise: "a restart does not reset the number of attempts, and the budget is not exceeded",
    cause: "attempts are kept in memory",
};

/// Row D2 of [`ROWS`](crate::conformance::ROWS).
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

pub(crate) const IDENTITY_RESUMES: Row = Row {
    number: "D3",
    name: "identity_resumes",
    needs: "survives restart",
    rules: "I4",
    promise: "a durable name goes on where it was: what was acknowledged stays gone, what was published meanwhile arrives",
    cause: "the identity is made anew",
};

/// Row D3 of [`ROWS`](crate::conformance::ROWS).
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
    tap.takes(&["after the restart", "while the source was gone"]).await?;
    tap.stays_quiet().await
}

pub(crate) const REOPEN_REFUSED: Row = Row {
    number: "D4",
    name: "reopen_refused",
    needs: "survives restart",
    rules: "I4",
    promise: "reopening an identity with another value in a field is refused, naming the field and both values",
    cause: "the broker changes the consumer silently",
};

/// Row D4 of [`ROWS`](crate::conformance::ROWS).
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
    tap.takes(&["1"]).await
}

pub(crate) const START_AT_NEW: Row = Row {
    number: "D5",
    name: "start_at_new",
    needs: "survives restart",
    rules: "I5",
    promise: "a new identity sees nothing that is older",
    cause: "it begins at the beginning",
};

/// Row D5 of [`ROWS`](crate::conformance::ROWS).
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
    tap.takes(&["after"]).await?;
    tap.stays_quiet().await
}

pub(crate) const START_AT_ALL: Row = Row {
    number: "D6",
    name: "start_at_all",
    needs: "replays",
    rules: "I5",
    promise: "a new identity that asks for it sees what is retained, and that is not applied again when it resumes",
    cause: "the start is applied at each opening",
};

/// Row D6 of [`ROWS`](crate::conformance::ROWS).
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
    tap.takes(&["1", "2"]).await?;
    retire(&tap).await?;
    stage.restart().await?;
    let mut tap = stage.subscribe::<AtLeastOnce>(plan).await?;
    tap.stays_quiet().await?;
    stage.publish("a", ["3"]).await?;
    tap.takes(&["3"]).await
}

pub(crate) const EXHAUSTION_ACROSS_RESTART: Row = Row {
    number: "D7",
    name: "exhaustion_across_restart",
    needs: "survives restart",
    rules: "M2",
    promise: "`max_deliver` bounds the message, not the process",
    cause: "attempts are counted per process",
};

/// Row D7 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn exhaustion_across_restart<F: DurableFixture>(mut stage: Stage<F>) -> Result {
    exhaustion(&mut stage, Goes::Orderly).await
}

pub(crate) const IN_HAND_SURVIVES: Row = Row {
    number: "D8",
    name: "in_hand_survives",
    needs: "survives restart",
    rules: "K",
    promise: "what was delivered and not settled when the storage restarted is offered again",
    cause: "a delivery counts as done",
};

/// Row D8 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn in_hand_survives<F: DurableFixture>(mut stage: Stage<F>) -> Result {
    in_hand(&mut stage, Goes::Orderly).await
}

pub(crate) const RESTART_IS_REAL: Row = Row {
    number: "D9",
    name: "restart_is_real",
    needs: "survives restart",
    rules: "–",
    promise: "the fixture's restart ends the connections that were open",
    cause: "the fixture restarts nothing",
};

/// Row D9 of [`ROWS`](crate::conformance::ROWS).
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

pub(crate) const CRASH: Row = Row {
    number: "D10",
    name: "crash",
    needs: "survives restart",
    rules: "K",
    promise: "a backlog, its attempts and what is in hand survive a crash as they do a restart",
    cause: "contents are written at the stop",
};

/// Row D10 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn crash<F: DurableFixture>(mut stage: Stage<F>) -> Result {
    backlog(&mut stage, Goes::Down).await?;
    exhaustion(&mut stage, Goes::Down).await?;
    in_hand(&mut stage, Goes::Down).await
}

pub(crate) const DELAY_ACROSS_RESTART: Row = Row {
    number: "D11",
    name: "delay_across_restart",
    needs: "survives restart, delays redelivery",
    rules: "O3, K",
    promise: "a delay is kept over a restart, or is counted as shortened, unless the backend states that it forgets it",
    cause: "the due time is kept in memory",
};

/// Row D11 of [`ROWS`](crate::conformance::ROWS).
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

pub(crate) const TWO_NAMES_TWO_COPIES: Row = Row {
    number: "D12",
    name: "two_names_two_copies",
    needs: "survives restart",
    rules: "I2, I3",
    promise: "distinct durable names each get a copy, and one name competes",
    cause: "the pattern is the identity",
};

/// Row D12 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn two_names_two_copies<F: DurableFixture>(mut stage: Stage<F>) -> Result {
    const IDS: [&str; 4] = ["1", "2", "3", "4"];
    let mut taps = Vec::new();
    for name in ["one", "other", "other"] {
        let plan = durable(&mut stage, "a", name);
        taps.push(stage.subscribe::<AtLeastOnce>(plan).await?);
    }
    stage.publish("a", IDS).await?;
    let got = stage.gather(&mut taps, 2 * IDS.len()).await?;
    for id in IDS {
        let times =
            |taps: std::ops::Range<usize>| -> usize { taps.filter_map(|at| got.get(&(at, id.to_owned()))).sum() };
        let (alone, shared) = (times(0..1), times(1..3));
        ensure!(alone == 1, "the source that has a name for itself got `{id}` {alone} times");
        ensure!(shared == 1, "the two sources of one name got `{id}` {shared} times");
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
    tap.takes(&["1", "2", "3"]).await?;
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
