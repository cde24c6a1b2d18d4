//! What a backend is before it is opened.

use crate::{
    conformance::{Failure, Fixture, Result, Row, Stage, proof::ensure},
    contract::Backend,
};

/// How many backends are built: more connections than come or go by chance.
const BUILT: usize = 100;

pub(crate) const CONSTRUCTOR_ACQUIRES_NOTHING: Row = Row {
    number: "1",
    name: "constructor_acquires_nothing",
    needs: "–",
    rules: "N1, K",
    promise: "a backend is built without I/O, and its table is what its traits say, before a session and after",
    cause: "the constructor connects or starts a task, or `CAPABILITIES` is another backend's table",
};

/// Row 1 of [`ROWS`](crate::conformance::ROWS).
///
/// Without a broker that counts connections, what shows is only whether building needs a runtime, as nearly all I/O does.
///
/// # Errors
/// The row is red.
pub async fn constructor_acquires_nothing<F: Fixture>(stage: Stage<F>) -> Result {
    let table = <F::Backend as Backend>::CAPABILITIES;
    for (declared, derived) in table.rows().zip(stage.derived().rows()) {
        ensure!(
            declared == derived,
            "`{}` declares `{}` otherwise than its traits do: `CAPABILITIES` is to be `capabilities!(..)` of it",
            std::any::type_name::<F::Backend>(),
            declared.0
        );
    }

    let fixture = stage.fixture();
    let before = fixture.connections().await;
    // On a thread that no runtime has.
    let build = || (0..BUILT).map(|_| fixture.backend()).collect::<Vec<_>>();
    let built = std::thread::scope(|scope| scope.spawn(build).join());
    let built = built.map_err(|_| Failure::seen("a backend cannot be built where there is no runtime"))?;
    // Time for what a constructor may have left running.
    stage.pass(stage.timing().quiet).await;
    let after = fixture.connections().await;
    if let (Some(before), Some(after)) = (before, after) {
        stage.note(format_args!("connections before: {before}; with {BUILT} more backends: {after}"));
        ensure!(
            after <= before,
            "the broker had {before} connections, and has {after} once {BUILT} backends are built"
        );
    }
    drop(built);
    Ok(())
}
