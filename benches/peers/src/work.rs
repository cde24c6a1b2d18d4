//! The work: a small order in JSON, decoded where it is handled, and the count of those that were.
//!
//! A contestant has a process of its own, so that one count serves all, and nobody pays for a shared state.

use std::sync::{
    OnceLock,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use serde::{Deserialize, Serialize};

use crate::latency::Recorder;

/// What is carried. Numbers only, since one of the contestants decodes nothing that borrows; what makes it longer is not
/// asked for, and skipped by the decoder.
#[derive(Serialize, Deserialize, ruststream::Outgoing)]
pub struct Order {
    article: u64,
    quantity: u32,
}

/// The order that is carried, again and again.
pub const ORDER: Order = Order { article: 101, quantity: 3 };

/// The type of the events that carry it.
pub const EVENT_TYPE: &str = "com.example.order.v1";

static HANDLED: AtomicU64 = AtomicU64::new(0);
static LOST: AtomicU64 = AtomicU64::new(0);
static RECORDER: OnceLock<Recorder> = OnceLock::new();

/// The order as JSON of so many bytes, 28 at least.
pub fn body(bytes: usize) -> Vec<u8> {
    let order = encoded();
    if bytes <= order.len() {
        return order;
    }
    let mut body = order[..order.len() - 1].to_vec();
    body.extend_from_slice(br#","filler":""#);
    body.resize(bytes - 2, b'x');
    body.extend_from_slice(br#""}"#);
    body
}

/// What a publisher does that has a value.
pub fn encoded() -> Vec<u8> {
    serde_json::to_vec(&ORDER).expect("it can be written")
}

/// What a handler does that gets bytes.
pub fn received(decode: bool, data: &[u8]) {
    if decode {
        handled(&serde_json::from_slice(data).expect("an order"));
    } else {
        count(u64::from(data[0] == b'{'));
    }
}

/// What a handler does that gets an order.
pub fn handled(order: &Order) {
    count(order.article / 101 * u64::from(order.quantity / 3));
}

/// So many messages that a receiver learned it had missed.
pub fn missed(messages: u64) {
    LOST.fetch_add(messages, Relaxed);
}

/// How many were handled since [`reached`].
pub fn so_far() -> u64 {
    HANDLED.load(Relaxed)
}

/// Waits until so many were handled or missed, counts afresh, and says how many were missed.
pub async fn reached(messages: u64) -> u64 {
    while HANDLED.load(Relaxed) + LOST.load(Relaxed) < messages {
        tokio::task::yield_now().await;
    }
    HANDLED.store(0, Relaxed);
    LOST.swap(0, Relaxed)
}

/// From here on, the time of each handling is kept.
pub fn record(recorder: Recorder) -> &'static Recorder {
    RECORDER.get_or_init(|| recorder)
}

fn count(one: u64) {
    let index = HANDLED.fetch_add(one, Relaxed);
    if let Some(recorder) = RECORDER.get() {
        recorder.handled(index);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_as_long_as_asked_for_and_is_an_order() {
        for bytes in [28, 1 << 10, 64 << 10] {
            let body = body(bytes);
            assert_eq!(body.len(), bytes);
            let order: Order = serde_json::from_slice(&body).expect("an order");
            assert_eq!((order.article, order.quantity), (ORDER.article, ORDER.quantity));
        }
    }
}
