//! Retire, close, and what they leave (contract N2, N4, N6, N7; conformance rows 14 to 20).

use std::sync::Arc;

use futures_util::{FutureExt, StreamExt};
use tramline::{
    backend::memory::Memory,
    contract::{DeliversAtMostOnce, PublishError, RetireReason, Session, SourceControl, SubscribeError},
};

use crate::support::*;

#[tokio::test]
async fn n7_a_retire_ends_the_stream_and_its_counters_never_change_again() {
    for policy in [sub("a").sheds_newest(), sub("a").sheds_oldest(), sub("a").fails()] {
        let session = open().await;
        let mut sink = policy.bound(4).on(&session).await;
        for id in 0..6 {
            let _ = publish(&session, "a", id).await;
        }
        sink.try_next().unwrap();
        let last = sink.retire().await;
        assert_eq!(last.pending, 3, "what was not handed over, the receiver's batch too");
        assert!(sink.has_ended() && sink.has_ended());
        for id in 0..6 {
            publish(&session, "a", id).await.unwrap();
        }
        for reason in [RetireReason::Restarting, RetireReason::Stopping, RetireReason::GivenUp] {
            assert_eq!(sink.control.retire(reason).await.unwrap().stats, last);
        }
        assert_eq!(sink.stats(), last);
        session.close().await.unwrap();
        assert_eq!(sink.retire().await, last);
    }
}

#[tokio::test]
async fn n7_a_full_failing_queue_refuses_nobody_once_it_is_retired() {
    let session = open().await;
    let full = sub("a").bound(1).fails().on(&session).await;
    let mut other = sub("a").on(&session).await;
    publish(&session, "a", 0).await.unwrap();
    publish(&session, "a", 1).await.unwrap_err();
    full.control.retire(RetireReason::GivenUp).await.unwrap();
    publish(&session, "a", 2).await.unwrap();
    assert_eq!(other.drain(), ["0", "2"]);
}

#[tokio::test]
async fn n7_a_retire_wakes_the_reader_that_sleeps() {
    let session = open().await;
    let Sink { mut deliveries, control } = sub("a").on(&session).await;
    let reader = tokio::spawn(async move { deliveries.next().await.is_none() });
    tokio::task::yield_now().await;
    control.retire(RetireReason::Stopping).await.unwrap();
    assert!(soon(reader).await.unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn n7_beside_publishes_a_retire_leaves_nothing_outside_the_counters() {
    for round in 0..200 {
        let session = Arc::new(open().await);
        let policy =
            [sub("a").bound(8), sub("a").bound(8).sheds_oldest(), sub("a").bound(8).fails()][round % 3].clone();
        let Sink { mut deliveries, control } = policy.on(&session).await;
        let publishers: Vec<_> = (0..2)
            .map(|_| {
                let session = Arc::clone(&session);
                tokio::spawn(async move {
                    let mut refused = 0_u64;
                    for id in 0..50 {
                        refused += u64::from(publish(&session, "a", id).await.is_err());
                    }
                    refused
                })
            })
            .collect();
        let reader = tokio::spawn(async move {
            let mut count = 0;
            while deliveries.next().await.is_some() {
                count += 1;
            }
            count
        });
        for _ in 0..round % 7 {
            tokio::task::yield_now().await;
        }
        let last = control.retire(RetireReason::Stopping).await.unwrap().stats;
        let handed_over: u64 = soon(reader).await.unwrap();
        let mut told = 0;
        for publisher in publishers {
            told += soon(publisher).await.unwrap();
        }
        assert_eq!(last.handed_over(), handed_over);
        assert_eq!(last.accepted, handed_over + last.pending + last.evicted, "L2");
        assert!(last.accepted + last.refused <= 100);
        if round % 3 == 2 {
            assert_eq!(told, last.refused, "who was told is counted");
        }
        assert_eq!(control.snapshot(), last);
    }
}

#[tokio::test]
async fn n6_totals_of_a_snapshot_never_go_down() {
    let session = open().await;
    let mut sink = sub("a").bound(2).sheds_oldest().on(&session).await;
    let mut before = sink.stats();
    for id in 0..50 {
        publish(&session, "a", id).await.unwrap();
        if id % 3 == 0 {
            sink.try_next();
        }
        let now = sink.stats();
        assert!(now.accepted >= before.accepted && now.refused >= before.refused && now.evicted >= before.evicted);
        assert!(now.handed_over() >= before.handed_over());
        before = now;
    }
}

#[tokio::test]
async fn n4_a_close_ends_all_sources_and_is_idempotent() {
    let session = open().await;
    let mut sinks = [sub("a").on(&session).await, sub("*").group("g").on(&session).await];
    publish(&session, "a", 0).await.unwrap();
    session.close().await.unwrap();
    session.close().await.unwrap();
    for sink in &mut sinks {
        assert!(sink.has_ended());
        assert_eq!(counts(sink.retire().await), [1, 1, 0, 0]);
    }
    assert!(matches!(publish(&session, "a", 1).await, Err(PublishError::Closed)));
    assert!(matches!(publish(&session, "nobody", 1).await, Err(PublishError::Closed)));
    let refusal = Memory::at_most_once(&session, sub("a").spec()).await.map(drop);
    assert!(matches!(refusal, Err(SubscribeError::Closed)));
}

#[tokio::test]
async fn n4_a_publish_that_was_kept_from_before_the_close_fails_when_it_is_polled() {
    let session = open().await;
    let mut sink = sub("a").on(&session).await;
    let a = subject("a");
    let kept = session.publish(&a, event(0));
    session.close().await.unwrap();
    assert!(matches!(kept.now_or_never(), Some(Err(PublishError::Closed))));
    assert!(sink.has_ended());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn n2_beside_a_close_publishes_end_in_an_error_and_a_yes_is_in_the_counters() {
    for _ in 0..200 {
        let session = Arc::new(open().await);
        let sink = sub("a").bound(1_000).fails().on(&session).await;
        let publishers: Vec<_> = (0..2)
            .map(|_| {
                let session = Arc::clone(&session);
                tokio::spawn(async move {
                    let mut accepted = 0;
                    loop {
                        match publish(&session, "a", 0).await {
                            Ok(()) => accepted += 1,
                            Err(PublishError::Closed) => return accepted,
                            Err(PublishError::QueueFull { .. }) => tokio::task::yield_now().await,
                            Err(other) => panic!("{other}"),
                        }
                    }
                })
            })
            .collect();
        tokio::task::yield_now().await;
        session.close().await.unwrap();
        let mut accepted = 0;
        for publisher in publishers {
            accepted += soon(publisher).await.unwrap();
        }
        assert_eq!(sink.retire().await.accepted, accepted);
    }
}

#[tokio::test]
async fn n4_a_session_sees_nothing_of_the_one_before() {
    let memory = Memory::new();
    for _ in 0..3 {
        let session = tramline::contract::Backend::open(&memory).await.unwrap();
        let mut sink = sub("a").group("g").on(&session).await;
        assert!(sink.try_next().is_none());
        assert_eq!(sink.counts(), [0; 4]);
        publish(&session, "a", 0).await.unwrap();
        session.close().await.unwrap();
    }
}

#[tokio::test]
async fn y12_a_session_that_is_dropped_ends_its_sources() {
    let session = open().await;
    let mut sink = sub("a").on(&session).await;
    let waiting = is_pending(sink.deliveries.next());
    drop(session);
    assert!(waiting && sink.has_ended());
    assert_eq!(counts(sink.retire().await), [0; 4]);
}

#[tokio::test]
async fn a_source_that_is_dropped_whole_leaves_the_routing() {
    let session = open().await;
    let Sink { deliveries, control } = sub("a").bound(1).fails().on(&session).await;
    publish(&session, "a", 0).await.unwrap();
    drop(deliveries);
    publish(&session, "a", 1).await.unwrap_err();
    drop(control);
    publish(&session, "a", 2).await.unwrap();
}

#[tokio::test]
async fn what_a_retired_or_closed_source_held_is_dropped() {
    for close in [false, true] {
        let session = open().await;
        let sink = sub("a").on(&session).await;
        let data = bytes::Bytes::from(vec![0; 1_000]);
        let event = event(0).to_builder().binary("x/y", data.clone()).build().unwrap();
        session.publish(&subject("a"), event).await.unwrap();
        assert!(!data.is_unique());
        if close {
            session.close().await.unwrap();
        } else {
            sink.retire().await;
        }
        assert!(data.is_unique());
    }
}
