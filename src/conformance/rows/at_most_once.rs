//! At most once.

use crate::{
    AtMostOnce,
    conformance::{Fixture, Result, Row, Stage, proof::ensure},
    contract::{DeliversAtMostOnce, Outcome, RetireReason, Settlement},
};

pub(crate) const ONE_ATTEMPT: Row = Row {
    number: "23",
    name: "one_attempt",
    needs: "at most once",
    rules: "M1",
    promise: "a message is offered once, whatever is said of it: not again, not later, and not to another source",
    cause: "a decline is put back into the queue",
};

/// Row 23 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn one_attempt<F: Fixture>(mut stage: Stage<F>) -> Result
where
    F::Backend: DeliversAtMostOnce,
{
    let (group, later) = (stage.shared("group"), stage.timing().quiet / 2);
    let plan = stage.plan("a").shared(&group);
    let mut tap = stage.subscribe::<AtMostOnce>(plan).await?;
    for (id, said) in [
        ("declined", Some(Settlement::new(Outcome::Nacked))),
        ("declined-for-later", Some(Settlement::new(Outcome::Nacked).after(later))),
        ("silent", Some(Settlement::new(Outcome::Silent))),
        ("returned", Some(Settlement::new(Outcome::Returned))),
        ("acknowledged", Some(Settlement::new(Outcome::Acked))),
        ("dropped", None),
    ] {
        stage.publish("a", [id]).await?;
        let got = tap.next().await?;
        let (came, attempt) = (got.id(), got.attempt);
        ensure!((came, attempt) == (id, 1), "attempt {attempt} at `{came}` came, and attempt 1 at `{id}` was due");
        match said {
            Some(settlement) => got.say(settlement).await?,
            None => drop(got),
        }
    }
    tap.stays_quiet().await?;
    let plan = stage.plan("a").shared(&group);
    let mut other = stage.subscribe::<AtMostOnce>(plan).await?;
    tap.retire(RetireReason::Restarting).await?;
    other.stays_quiet().await
}
