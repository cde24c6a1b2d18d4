//! Who gets a message, in both modes.

use crate::conformance::{DeliversIn, Fixture, Result, Stage, proof::ensure};

/// Row 3: every source gets every message that its pattern selects, once (N, S8).
///
/// # Errors
/// The row is red.
pub async fn fanout_every_subscriber<F: Fixture, M>(mut stage: Stage<F>) -> Result
where
    F::Backend: DeliversIn<M>,
{
    let mut taps = Vec::new();
    for _ in 0..3 {
        taps.push(stage.tap::<M>("a").await?);
    }
    stage.publish("a", ["1", "2", "3"]).await?;
    for tap in &mut taps {
        let mut ids = tap.take(3).await?;
        ids.sort();
        ensure!(ids == ["1", "2", "3"], "`{}` got {ids:?}, and 1, 2 and 3 were published", tap.name());
    }
    for tap in &mut taps {
        tap.stays_quiet().await?;
    }
    Ok(())
}
