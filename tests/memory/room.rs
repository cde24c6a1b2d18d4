//! Waiting for room (contract B9).

use std::{sync::Arc, time::Duration};

use futures_util::{FutureExt, StreamExt};
use tokio::time::Instant;
use tramline::{
    backend::memory::{Memory, MemorySession},
    contract::{FailsWhenFull, PublishError, RetireReason, Session, SourceControl},
};

use crate::support::*;

async fn when_room(session: &MemorySession, to: &str) -> Result<(), PublishError> {
    Memory::publish_when_room(session, &subject(to), event("waited"), None).await
}

#[tokio::test]
async fn nobody_waits_where_nobody_fails_when_full() {
    let session = open().await;
    when_room(&session, "a").await.unwrap();
    let full = sub("a").bound(1).on(&session).await;
    let _elsewhere = sub("b").bound(1).fails().on(&session).await;
    publish(&session, "a", 0).await.unwrap();
    publish(&session, "b", 0).await.unwrap();
    when_room(&session, "a").await.unwrap();
    assert_eq!(full.counts(), [1, 1, 1, 0], "it shed the newcomer, as it does for every publish");
}

#[tokio::test]
async fn b9_it_waits_until_every_failing_subscription_has_room_and_waiting_is_no_refusal() {
    let session = open().await;
    let mut one = sub("a").bound(1).fails().on(&session).await;
    let mut two = sub("*").bound(1).fails().on(&session).await;
    publish(&session, "a", 0).await.unwrap();
    let mut waiting = Box::pin(when_room(&session, "a"));
    assert!(waiting.as_mut().now_or_never().is_none());
    two.try_next().unwrap();
    assert!(waiting.as_mut().now_or_never().is_none());
    one.try_next().unwrap();
    soon(waiting).await.unwrap();
    assert_eq!((one.try_next().unwrap(), two.try_next().unwrap()), ("waited".to_owned(), "waited".to_owned()));
    assert_eq!((one.counts(), two.counts()), ([2, 0, 0, 0], [2, 0, 0, 0]));
}

#[tokio::test]
async fn each_message_handed_over_lets_one_of_those_who_wait_in() {
    let session = Arc::new(open().await);
    let mut sink = sub("a").bound(3).fails().on(&session).await;
    for id in 0..3 {
        publish(&session, "a", id).await.unwrap();
    }
    let waits: Vec<_> = (0..3)
        .map(|_| {
            let session = Arc::clone(&session);
            tokio::spawn(async move { when_room(&session, "a").await })
        })
        .collect();
    tokio::task::yield_now().await;
    assert!(waits.iter().all(|wait| !wait.is_finished()));
    for _ in 0..6 {
        soon(sink.deliveries.next()).await.unwrap();
    }
    for wait in waits {
        soon(wait).await.unwrap().unwrap();
    }
    assert_eq!(sink.counts(), [6, 0, 0, 0]);
}

#[tokio::test]
async fn a_group_has_room_when_one_member_has() {
    let session = open().await;
    let _wedged = sub("a").group("g").bound(1).fails().on(&session).await;
    let mut member = sub("a").group("g").bound(1).fails().on(&session).await;
    publish(&session, "a", 0).await.unwrap();
    when_room(&session, "a").await.unwrap();
    let mut waiting = Box::pin(when_room(&session, "a"));
    assert!(waiting.as_mut().now_or_never().is_none());
    member.try_next().unwrap();
    soon(waiting).await.unwrap();
}

#[tokio::test]
async fn a_retire_makes_room_and_a_close_ends_the_wait_with_an_error() {
    let session = open().await;
    let full = sub("a").bound(1).fails().on(&session).await;
    let other = sub("*").bound(1).fails().on(&session).await;
    publish(&session, "a", 0).await.unwrap();
    let mut waiting = Box::pin(when_room(&session, "a"));
    assert!(waiting.as_mut().now_or_never().is_none());
    full.control.retire(RetireReason::GivenUp).await.unwrap();
    assert!(waiting.as_mut().now_or_never().is_none());
    session.close().await.unwrap();
    assert!(matches!(soon(waiting).await, Err(PublishError::Closed)));
    assert!(matches!(when_room(&session, "a").await, Err(PublishError::Closed)));
    drop(other);
}

#[tokio::test]
async fn waits_that_are_given_up_leave_nothing_behind() {
    let session = open().await;
    let mut sink = sub("a").bound(1).fails().on(&session).await;
    publish(&session, "a", 0).await.unwrap();
    for _ in 0..1_000 {
        assert!(tokio::time::timeout(Duration::ZERO, when_room(&session, "a")).await.is_err());
    }
    sink.try_next().unwrap();
    when_room(&session, "a").await.unwrap();
    assert_eq!(sink.counts(), [2, 1, 0, 0]);
}

#[tokio::test(start_paused = true)]
async fn b9_a_deadline_ends_the_wait_names_the_full_subscription_and_gives_the_event_back() {
    let session = open().await;
    let _full = sub("a").named("slow").bound(1).fails().on(&session).await;
    publish(&session, "a", 0).await.unwrap();
    let (begun, within) = (Instant::now(), Duration::from_secs(3));
    let late = Memory::publish_when_room(&session, &subject("a"), event("late"), Some(within)).await;
    let Err(PublishError::NoRoomInTime { subscription, event, waited }) = late else { panic!("{late:?}") };
    assert_eq!((subscription.as_str(), event.id(), waited), ("slow", "late", within));
    assert_eq!(begun.elapsed(), within);
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
