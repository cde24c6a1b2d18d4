//! Waiting for room (contract B9).

use std::{sync::Arc, time::Duration};

use futures_util::{FutureExt, StreamExt};
use tramline::{
    backend::memory::Memory,
    contract::{FailsWhenFull, PublishError, RetireReason, Session, SourceControl},
};

use crate::support::*;

#[tokio::test]
async fn there_is_room_where_nobody_fails_when_full() {
    let session = open().await;
    let a = subject("a");
    Memory::room(&session, &a).await.unwrap();
    let _full = sub("a").bound(1).on(&session).await;
    let _elsewhere = sub("b").bound(1).fails().on(&session).await;
    publish(&session, "a", 0).await.unwrap();
    publish(&session, "b", 0).await.unwrap();
    Memory::room(&session, &a).await.unwrap();
}

#[tokio::test]
async fn it_waits_until_every_failing_subscription_has_room() {
    let session = open().await;
    let mut one = sub("a").bound(1).fails().on(&session).await;
    let mut two = sub("*").bound(1).fails().on(&session).await;
    publish(&session, "a", 0).await.unwrap();
    let a = subject("a");
    let mut room = Box::pin(Memory::room(&session, &a));
    assert!(room.as_mut().now_or_never().is_none());
    two.try_next().unwrap();
    assert!(room.as_mut().now_or_never().is_none());
    one.try_next().unwrap();
    soon(room).await.unwrap();
    publish(&session, "a", 1).await.unwrap();
    assert_eq!(one.stats().refused + two.stats().refused, 0, "waiting is no refusal");
}

#[tokio::test]
async fn the_first_message_handed_over_wakes_who_waits() {
    let session = Arc::new(open().await);
    let mut sink = sub("a").bound(3).fails().on(&session).await;
    for id in 0..3 {
        publish(&session, "a", id).await.unwrap();
    }
    let waits: Vec<_> = (0..3)
        .map(|_| {
            let session = Arc::clone(&session);
            tokio::spawn(async move { Memory::room(&session, &subject("a")).await })
        })
        .collect();
    tokio::task::yield_now().await;
    assert!(waits.iter().all(|wait| !wait.is_finished()));
    sink.deliveries.next().await.unwrap();
    for wait in waits {
        soon(wait).await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn a_group_has_room_when_one_member_has() {
    let session = open().await;
    let _wedged = sub("a").group("g").bound(1).fails().on(&session).await;
    let mut member = sub("a").group("g").bound(1).fails().on(&session).await;
    publish(&session, "a", 0).await.unwrap();
    let a = subject("a");
    Memory::room(&session, &a).await.unwrap();
    publish(&session, "a", 1).await.unwrap();
    let mut room = Box::pin(Memory::room(&session, &a));
    assert!(room.as_mut().now_or_never().is_none());
    member.try_next().unwrap();
    soon(room).await.unwrap();
}

#[tokio::test]
async fn a_retire_makes_room_and_a_close_ends_the_wait_with_an_error() {
    let session = open().await;
    let full = sub("a").bound(1).fails().on(&session).await;
    let other = sub("*").bound(1).fails().on(&session).await;
    publish(&session, "a", 0).await.unwrap();
    let a = subject("a");
    let mut room = Box::pin(Memory::room(&session, &a));
    assert!(room.as_mut().now_or_never().is_none());
    full.control.retire(RetireReason::GivenUp).await.unwrap();
    assert!(room.as_mut().now_or_never().is_none());
    session.close().await.unwrap();
    assert!(matches!(soon(room).await, Err(PublishError::Closed)));
    assert!(matches!(Memory::room(&session, &a).await, Err(PublishError::Closed)));
    drop(other);
}

#[tokio::test]
async fn waits_that_are_given_up_leave_nothing_behind() {
    let session = open().await;
    let mut sink = sub("a").bound(1).fails().on(&session).await;
    publish(&session, "a", 0).await.unwrap();
    let a = subject("a");
    for _ in 0..1_000 {
        assert!(tokio::time::timeout(Duration::ZERO, Memory::room(&session, &a)).await.is_err());
    }
    sink.try_next().unwrap();
    Memory::room(&session, &a).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn publishers_that_wait_lose_nothing_at_any_bound() {
    for bound in [1, 2, 64] {
        let session = Arc::new(open().await);
        let sinks = [
            sub("a").bound(bound).fails().on(&session).await,
            sub("*").bound(bound).fails().on(&session).await,
            sub("a").group("g").bound(bound).fails().on(&session).await,
        ];
        let readers = sinks.map(|mut sink| {
            tokio::spawn(async move {
                for _ in 0..3_000 {
                    sink.deliveries.next().await.unwrap();
                }
                sink.stats()
            })
        });
        let publishers: Vec<_> = (0..3)
            .map(|_| {
                let session = Arc::clone(&session);
                tokio::spawn(async move {
                    for id in 0..1_000 {
                        publish_when_room(&session, &subject("a"), &event(id)).await.unwrap();
                    }
                })
            })
            .collect();
        for publisher in publishers {
            soon(publisher).await.unwrap();
        }
        for reader in readers {
            let stats = soon(reader).await.unwrap();
            assert_eq!((stats.accepted, stats.pending), (3_000, 0));
        }
    }
}
