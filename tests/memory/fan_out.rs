//! Who gets what (contract S, K; conformance rows 1, 3, 6 to 9, 23).

use futures_util::{FutureExt, StreamExt};
use static_assertions::{assert_impl_all, assert_not_impl_any};
use tramline::{
    backend::memory::{Memory, MemoryDeliveries, MemorySession, MemorySource, MemorySourceControl},
    contract::{Backend, Outcome, Settlement},
};

use crate::support::*;

assert_impl_all!(Memory: Send, Sync, Clone, Copy, Default, std::fmt::Debug);
assert_impl_all!(MemorySession: Send, Sync, Unpin, std::fmt::Debug);
assert_impl_all!(MemorySource: Send, Unpin, std::fmt::Debug);
assert_impl_all!(MemoryDeliveries: Send, Unpin, std::fmt::Debug);
assert_impl_all!(MemorySourceControl: Send, Sync, Unpin, std::fmt::Debug);
assert_not_impl_any!(MemoryDeliveries: Clone);

/// The truth table of S8, as far as its subjects are subjects.
const TRUTH: &[(&str, &str, bool)] = &[
    ("a", "a", true),
    ("a", "b", false),
    ("a.b", "a.b", true),
    ("a.b", "a", false),
    ("a", "a.b", false),
    ("a.*", "a.b", true),
    ("a.*", "a", false),
    ("a.*", "a.b.c", false),
    ("*", "a", true),
    ("*", "a.b", false),
    ("*.b", "a.b", true),
    ("*.*", "a.b", true),
    ("*.*", "a", false),
    ("a.>", "a.b", true),
    ("a.>", "a.b.c", true),
    ("a.>", "a", false),
    (">", "a", true),
    (">", "a.b.c", true),
    ("*.>", "a.b", true),
    ("*.>", "a", false),
    ("a.*.>", "a.b.c", true),
    ("a.*.>", "a.b", false),
    ("A", "a", false),
    ("a.*.c", "a.b.c", true),
    ("a.*.c", "a.c", false),
];

#[test]
fn n1_the_table_of_capabilities_is_what_is_implemented() {
    let can = Memory::CAPABILITIES;
    assert!(can.at_most_once() && can.sheds_newest() && can.sheds_oldest() && can.fails_when_full());
    assert!(can.matches_patterns() && can.orders() && can.routes_around_degraded());
    assert!(!can.persistent() && !can.survives_restart() && !can.replays());
}

#[tokio::test]
async fn every_source_whose_pattern_selects_the_subject_gets_each_message_once() {
    let session = open().await;
    let mut sinks = [
        sub("a.b").on(&session).await,
        sub("a.b").on(&session).await,
        sub("a.*").on(&session).await,
        sub(">").on(&session).await,
    ];
    let mut other = sub("a.c").on(&session).await;
    for id in 0..10 {
        publish(&session, "a.b", id).await.unwrap();
    }
    let all: Vec<_> = (0..10).map(|id| id.to_string()).collect();
    for sink in &mut sinks {
        assert_eq!(sink.drain(), all);
        assert_eq!(sink.counts(), [10, 0, 0, 0]);
    }
    assert_eq!(other.drain(), [""; 0]);
}

#[tokio::test]
async fn s8_the_truth_table_holds_alone_and_with_everybody_subscribed() {
    let crowd = open().await;
    let mut everybody = Vec::new();
    for (pattern, ..) in TRUTH {
        everybody.push(sub(pattern).on(&crowd).await);
    }
    for (at, (pattern, to, expected)) in TRUTH.iter().enumerate() {
        let alone = open().await;
        let mut sink = sub(pattern).on(&alone).await;
        publish(&alone, to, at).await.unwrap();
        assert_eq!(!sink.drain().is_empty(), *expected, "{pattern} {to}");

        publish(&crowd, to, at).await.unwrap();
        for (sink, (pattern, ..)) in everybody.iter_mut().zip(TRUTH) {
            let expected = TRUTH.iter().find(|row| row.0 == *pattern && row.1 == *to);
            let got = sink.drain();
            if let Some((.., expected)) = expected {
                assert_eq!(!got.is_empty(), *expected, "{pattern} {to} in the crowd");
            }
        }
    }
}

#[tokio::test]
async fn s11_a_delivery_carries_the_concrete_subject_and_the_event_unchanged() {
    let session = open().await;
    let mut sink = sub("a.*.>").on(&session).await;
    let event = event("x").to_builder().json(" {\"k\": 1.0}").extension("tenant", true).build().unwrap();
    tramline::contract::Session::publish(&session, &subject("a.b.c"), event.clone()).await.unwrap();
    let incoming = sink.deliveries.next().await.unwrap();
    let message = incoming.message.unwrap();
    assert_eq!(message.subject, "a.b.c");
    assert_eq!(message.event, event);
}

#[tokio::test]
async fn b8_a_publish_that_matches_nobody_is_ok() {
    let session = open().await;
    publish(&session, "a", 0).await.unwrap();
    let sink = sub("b").on(&session).await;
    publish(&session, "a", 1).await.unwrap();
    assert_eq!(sink.counts(), [0; 4]);
}

#[tokio::test]
async fn m1_one_attempt_whatever_is_said_of_it() {
    for outcome in [Outcome::Acked, Outcome::Nacked, Outcome::Silent, Outcome::Returned] {
        let session = open().await;
        let mut sink = sub("a").on(&session).await;
        publish(&session, "a", 0).await.unwrap();
        sink.deliveries.next().await.unwrap().settle(Settlement::new(outcome)).await.unwrap();
        assert!(sink.deliveries.next().now_or_never().is_none());
        assert_eq!(sink.counts(), [1, 0, 0, 0]);
    }
}

#[tokio::test]
async fn who_subscribes_between_two_publishes_gets_the_second() {
    let session = open().await;
    let mut first = sub("a").on(&session).await;
    publish(&session, "a", 0).await.unwrap();
    let mut second = sub("*").on(&session).await;
    publish(&session, "a", 1).await.unwrap();
    assert_eq!(first.drain(), ["0", "1"]);
    assert_eq!(second.drain(), ["1"]);
}

#[tokio::test]
async fn a_subject_may_reach_more_than_fits_on_the_stack() {
    let session = open().await;
    let mut sinks = Vec::new();
    for n in 0..60 {
        let spec = if n % 2 == 0 { sub("a.*").fails() } else { sub("a.>") };
        sinks.push(spec.on(&session).await);
    }
    publish(&session, "a.b", "x").await.unwrap();
    sinks.iter_mut().for_each(|sink| assert_eq!(sink.drain(), ["x"]));
}
