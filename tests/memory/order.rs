//! Order and waking up (contract G1; conformance row 21; design.md, section 7).

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
    time::Duration,
};

use futures_util::StreamExt;

use crate::support::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn g1_one_subject_is_in_publication_order_beside_publishers_to_other_subjects() {
    let session = Arc::new(open().await);
    let mut sink = sub("a.*").bound(16).fails().on(&session).await;
    let publishers: Vec<_> = ["a.a", "a.b", "a.c"]
        .map(|to| {
            let session = Arc::clone(&session);
            tokio::spawn(async move {
                for id in 0..3_000 {
                    publish_when_room(&session, &subject(to), &event(id)).await.unwrap();
                }
            })
        })
        .into();
    let mut next = std::collections::HashMap::from([("a.a", 0), ("a.b", 0), ("a.c", 0)]);
    for _ in 0..9_000 {
        let incoming = soon(sink.deliveries.next()).await.unwrap();
        let message = incoming.message.unwrap();
        let expected = next.get_mut(message.subject.as_str()).unwrap();
        assert_eq!(message.event.id(), expected.to_string());
        *expected += 1;
    }
    for publisher in publishers {
        soon(publisher).await.unwrap();
    }
}

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::test]
async fn only_a_receiver_that_sleeps_is_woken_and_only_once() {
    let session = open().await;
    let mut sink = sub("a").on(&session).await;
    let count = Arc::new(Count::default());
    let waker = Waker::from(Arc::clone(&count));
    let mut poll = || sink.deliveries.poll_next_unpin(&mut Context::from_waker(&waker));
    let wakes = || count.0.load(Ordering::Relaxed);

    publish(&session, "a", 0).await.unwrap();
    assert_eq!(wakes(), 0, "it never slept");
    assert!(poll().is_ready() && poll().is_pending() && poll().is_pending());
    publish(&session, "a", 1).await.unwrap();
    assert_eq!(wakes(), 1);
    publish(&session, "a", 2).await.unwrap();
    publish(&session, "b", 3).await.unwrap();
    assert_eq!(wakes(), 1, "it is awake");
    assert!(poll().is_ready());
    publish(&session, "a", 4).await.unwrap();
    assert_eq!(wakes(), 1);
}

#[tokio::test]
async fn the_waker_of_the_last_poll_is_the_one_that_is_woken() {
    let session = open().await;
    let mut sink = sub("a").on(&session).await;
    let [old, new] = [(); 2].map(|()| Arc::new(Count::default()));
    for count in [&old, &new] {
        let waker = Waker::from(Arc::clone(count));
        assert!(sink.deliveries.poll_next_unpin(&mut Context::from_waker(&waker)).is_pending());
    }
    publish(&session, "a", 0).await.unwrap();
    assert_eq!((old.0.load(Ordering::Relaxed), new.0.load(Ordering::Relaxed)), (0, 1));
}

#[tokio::test]
async fn an_always_ready_source_starves_no_timer_on_its_thread() {
    let session = Arc::new(open().await);
    let mut sink = sub("a").bound(4).fails().on(&session).await;
    let feeder = Arc::clone(&session);
    let hot = tokio::spawn(async move {
        // Publisher and reader in one task: there is always a message, and nothing to wait for.
        loop {
            publish(&feeder, "a", 0).await.unwrap();
            sink.deliveries.next().await.unwrap();
        }
    });
    soon(tokio::time::sleep(Duration::from_millis(1))).await;
    hot.abort();
}

#[tokio::test]
async fn a_delivery_takes_one_unit_of_the_budget_and_waiting_takes_none() {
    let session = open().await;
    let mut sink = sub("a").bound(1_000).on(&session).await;
    for id in 0..1_000 {
        publish(&session, "a", id).await.unwrap();
    }
    let took = tokio::spawn(async move {
        std::future::poll_fn(|cx| {
            let mut took = 0;
            while let Poll::Ready(Some(_)) = sink.deliveries.poll_next_unpin(cx) {
                took += 1;
            }
            Poll::Ready(took)
        })
        .await
    });
    let took = soon(took).await.unwrap();
    assert!((64..=256).contains(&took), "tokio gives a task 128 units a turn, and this took {took}");
}
