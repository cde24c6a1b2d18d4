//! What becomes of a message that was settled at least once.

use crate::{
    AtLeastOnce,
    conformance::{Fixture, Result, Stage, proof::ensure},
    contract::DeliversAtLeastOnce,
};

/// Row 25: what is declined comes back, and attempts are numbered from 1 (M2, M4).
///
/// # Errors
/// The row is red.
pub async fn nack_redelivers<F: Fixture>(mut stage: Stage<F>) -> Result
where
    F::Backend: DeliversAtLeastOnce,
{
    let mut tap = stage.tap::<AtLeastOnce>("a").await?;
    stage.publish("a", ["1"]).await?;
    for expected in 1..=2 {
        let got = tap.next().await?;
        ensure!(
            (got.id(), got.attempt) == ("1", expected),
            "`{}` came with attempt {}, and attempt {expected} at `1` was due",
            got.id(),
            got.attempt
        );
        if expected == 1 { got.nack().await? } else { got.ack().await? }
    }
    Ok(())
}
