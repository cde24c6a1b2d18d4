//! How large an event may be, in both modes.

use crate::{
    conformance::{DeliversIn, Failure, Fixture, Result, Row, Stage, proof::ensure},
    contract::PublishError,
    event::{Data, Event},
};

/// What a broker without a limit has to carry.
const LARGE: usize = 4 * 1024 * 1024;
/// By how much an event is too large.
const OVER: usize = 1024;

pub(crate) const PAYLOAD_LIMIT: Row = Row {
    number: "50",
    name: "payload_limit",
    needs: "a mode",
    rules: "N2",
    promise: "an event that is too large is refused with its size and the limit, nothing of it is delivered, and the next one is; without a limit, 4 MiB arrive whole",
    cause: "the limit is the client's panic, or the broker closes the link",
};

/// Row 50 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn payload_limit<F: Fixture, M>(mut stage: Stage<F>) -> Result
where
    F::Backend: DeliversIn<M>,
{
    let mut tap = stage.tap::<M>("a").await?;
    let Some(limit) = stage.fixture().payload_limit() else {
        let large = with_bytes(&stage.event("large"), LARGE);
        stage.publish_event("a", large.clone()).await?;
        let got = tap.next().await?;
        let length = got.event.data().map_or(0, |data| data.bytes().len());
        ensure!(got.event == large, "{LARGE} bytes were published, and `{}` with {length} arrived", got.id());
        return got.ack().await;
    };

    let size = limit + OVER;
    match stage.try_publish("a", with_bytes(&stage.event("too large"), size)).await {
        Err(PublishError::TooLarge { size: counted, limit: told }) => {
            ensure!(told == limit, "the limit is {limit}, and the publisher was told {told}");
            ensure!(counted >= size, "the event has {size} bytes of data alone, and the publisher was told {counted}");
        }
        Err(error) => return Err(Failure::error("an event above the limit was refused, not as `TooLarge`", &error)),
        Ok(()) => return Err(Failure::seen(format!("{size} bytes were taken, and the limit is {limit}"))),
    }
    // Below the limit, and small: the one after it is delivered, and first.
    let fitting = with_bytes(&stage.event("fitting"), limit / 2);
    for event in [fitting, stage.event("small")] {
        stage.publish_event("a", event.clone()).await?;
        let got = tap.next().await?;
        ensure!(got.event == event, "`{}` was due, and `{}` arrived, or not whole", event.id(), got.id());
        got.ack().await?;
    }
    tap.stays_quiet().await
}

/// The event with so many bytes of data, no two neighbours alike.
fn with_bytes(event: &Event, length: usize) -> Event {
    let each: Vec<u8> = (0..=u8::MAX).collect();
    let mut bytes = each.repeat(length.div_ceil(each.len()));
    bytes.truncate(length);
    let large = event.to_builder().data(Some("application/octet-stream"), Data::Binary(bytes.into()));
    large.build().expect("it is valid")
}
