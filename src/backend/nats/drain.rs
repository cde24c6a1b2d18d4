//! Takes messages out of the client as fast as they come, so that what is shed is shed here and counted.

use std::{future::poll_fn, pin::Pin, task::Poll};

use async_nats::{Message, Subscriber};
use futures_util::Stream;
use tokio::task::unconstrained;

/// How many messages the client holds of one subscription on their way here. In one turn it reads what its socket has, up
/// to 8 MiB; then it is our turn, and what does not fit in between it drops without a count.
pub(in crate::backend) const TRANSIT: usize = 128 * 1024;
/// How many messages are taken at a time. A task may do 128 things in one turn, so in one turn it takes all that the
/// client can hold.
const BATCH: usize = TRANSIT / 128;

/// Waits until there are messages, and takes those that there are. False when there will be none.
pub(super) async fn next_batch(subscriber: &mut Subscriber, batch: &mut Vec<Message>) -> bool {
    let next = poll_fn(|cx| {
        while batch.len() < BATCH {
            match Pin::new(&mut *subscriber).poll_next(cx) {
                Poll::Ready(Some(message)) => batch.push(message),
                Poll::Pending if batch.is_empty() => return Poll::Pending,
                Poll::Ready(None) if batch.is_empty() => return Poll::Ready(false),
                Poll::Ready(None) | Poll::Pending => break,
            }
        }
        Poll::Ready(true)
    });
    // A unit of the budget for each message would end the turn after 128 of them.
    unconstrained(next).await
}
