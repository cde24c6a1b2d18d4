//! Publication order.

use std::collections::HashSet;

use crate::{
    conformance::{DeliversIn, Failure, Fixture, Result, Row, Stage, Tap, proof::ensure},
    contract::{Orders, Source},
};

pub(crate) const ORDERING: Row = Row {
    number: "21",
    name: "ordering",
    needs: "orders",
    rules: "G1",
    promise: "one subscriber sees one subject in publication order, also beside publishers to other subjects",
    cause: "several tasks fill one queue",
};

/// Row 21 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn ordering<F: Fixture, M>(mut stage: Stage<F>) -> Result
where
    F::Backend: DeliversIn<M> + Orders,
{
    const MESSAGES: usize = 200;
    let (plain, ordered) = (stage.plan("a").bound(MESSAGES), stage.plan("a").bound(MESSAGES).ordered());
    let (mut plain, mut ordered) = (stage.subscribe::<M>(plain).await?, stage.subscribe::<M>(ordered).await?);
    let mut beside = stage.tap::<M>("b").await?;
    let others = [("b", "b-"), ("c", "c-")].map(|(to, ids)| stage.flood(to, ids, usize::MAX));
    let flood = stage.flood("a", "", MESSAGES);
    {
        let in_order = async {
            in_order(&mut ordered, MESSAGES).await?;
            in_order(&mut plain, MESSAGES).await
        };
        tokio::select! {
            done = in_order => done?,
            read = read(&mut beside) => read?,
        }
    }
    if let Some(error) = flood.ended().await? {
        return Err(Failure::error("a publish failed", &error));
    }
    for other in others {
        other.stop();
        if let Some(error) = other.ended().await? {
            return Err(Failure::error("a publish to another subject failed", &error));
        }
    }
    Ok(())
}

async fn in_order<S: Source>(tap: &mut Tap<S>, messages: usize) -> Result {
    let mut seen = HashSet::new();
    while seen.len() < messages {
        let got = tap.next().await?;
        let id = got.id().to_owned();
        got.ack().await?;
        // A message that comes back does so out of order.
        if !seen.contains(&id) {
            let due = seen.len().to_string();
            ensure!(id == due, "`{}` got `{id}`, and `{due}` was due", tap.name());
            seen.insert(id);
        }
    }
    Ok(())
}

/// Reads for as long as there is something to read.
async fn read<S: Source>(tap: &mut Tap<S>) -> Result {
    loop {
        tap.take(1).await?;
    }
}
