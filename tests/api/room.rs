//! Publishers that wait for room.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use tokio::time::Instant;
use tramline::{Bus, Fail, Subject, contract::PublishError, subject};

use crate::support::{Door, balanced, builder, event, many, name, seconds, settle, until};

#[tokio::test(start_paused = true)]
async fn b9_when_room_waits_until_there_is_room_and_tries_again() {
    let door = Door::closed();
    let seen = Arc::new(AtomicUsize::new(0));
    let bus = full_at_two(&door, &seen).await;
    let full = bus.publish(&subject!("a"), event("refused")).await;
    assert!(matches!(&full, Err(PublishError::QueueFull { subscription, .. }) if subscription.as_str() == "one"));
    let handle = bus.handle();
    let waiting: Vec<_> = (0..3)
        .map(|id| {
            let handle = handle.clone();
            tokio::spawn(async move { handle.publish(&subject!("a"), event(id)).when_room().await })
        })
        .collect();
    settle().await;
    assert!(waiting.iter().all(|waiting| !waiting.is_finished()));
    for admitted in 1..=3 {
        door.admit(1);
        settle().await;
        assert_eq!(waiting.iter().filter(|waiting| waiting.is_finished()).count(), admitted, "one each");
    }
    door.admit(10);
    until("all are handled", || seen.load(SeqCst) == 6).await;
    for waiting in waiting {
        waiting.await.unwrap().unwrap();
    }
    let stopped = bus.stop(seconds(1)).await;
    let stats = stopped.bus.stats("one").unwrap();
    assert_eq!(stats.delivered, 6);
    balanced(&stats);
}

#[tokio::test(start_paused = true)]
async fn b9_when_room_is_cut_off_by_stopping_and_ends_at_its_deadline() {
    let bus = full_at_two(&Door::closed(), &Arc::default()).await;
    let begun = Instant::now();
    let late = bus.publish(&subject!("a"), event(0)).when_room().within(seconds(3)).await;
    assert_eq!(begun.elapsed(), seconds(3));
    assert_eq!(late.unwrap_err().to_string(), "no room in the queue of subscription `one` within 3s");
    let handle = bus.handle();
    let waiting = tokio::spawn(async move { handle.publish(&subject!("a"), event(1)).when_room().await });
    settle().await;
    let begun = Instant::now();
    let stopping = tokio::spawn(bus.stop(seconds(10)));
    assert!(matches!(waiting.await.unwrap(), Err(PublishError::NotReady)));
    assert_eq!(begun.elapsed(), seconds(0), "at the beginning of the stop");
    balanced(&stopping.await.unwrap().bus.stats("one").unwrap());
}

/// A bus whose one subscription fails when full, has one message in hand, and two in its queue of two.
async fn full_at_two(door: &Door, seen: &Arc<AtomicUsize>) -> Bus<tramline::Memory, tramline::Running> {
    let handler = {
        let (door, seen) = (door.clone(), seen.clone());
        move |_| {
            let (door, seen) = (door.clone(), seen.clone());
            async move {
                door.pass().await;
                seen.fetch_add(1, SeqCst);
            }
        }
    };
    let bus = builder()
        .at_most_once(name("one"))
        .subject(subject!("a"))
        .bound(many(2))
        .overflow(Fail)
        .handle(handler)
        .build()
        .unwrap()
        .start()
        .await
        .unwrap();
    let subject: Subject = subject!("a");
    bus.publish(&subject, event("x")).await.unwrap();
    until("it is in hand", || bus.stats("one").unwrap().in_hand == 1).await;
    for id in ["y", "z"] {
        bus.publish(&subject, event(id)).await.unwrap();
    }
    bus
}
