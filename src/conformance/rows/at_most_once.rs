//! At most once.

use crate::{
    AtMostOnce,
    conformance::{Fixture, Result, Stage},
    contract::{DeliversAtMostOnce, Outcome, Settlement},
};

/// Row 23: a message is offered once, whatever is said of it (M1).
///
/// # Errors
/// The row is red.
pub async fn one_attempt<F: Fixture>(mut stage: Stage<F>) -> Result
where
    F::Backend: DeliversAtMostOnce,
{
    let mut tap = stage.tap::<AtMostOnce>("a").await?;
    for (id, outcome) in
        [("1", Outcome::Nacked), ("2", Outcome::Silent), ("3", Outcome::Returned), ("4", Outcome::Acked)]
    {
        stage.publish("a", [id]).await?;
        let got = tap.next().await?;
        crate::conformance::proof::ensure!(got.attempt == 1, "the attempt at `{id}` has number {}", got.attempt);
        got.say(Settlement::new(outcome)).await?;
    }
    stage.publish("a", ["dropped"]).await?;
    drop(tap.next().await?);
    tap.stays_quiet().await
}
