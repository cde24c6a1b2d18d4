//! Waiting until nothing is queued and nothing is in hand.

use std::{future::pending, num::NonZeroU32};

use tokio::time::{Instant, timeout};
use tramline::{
    Ack, AtLeastOnce, Attempt, Backoff, Bus, Delayed, Delivery, DurableName, Memory, Publisher, Restart, Running,
    contract::PublishError, responder, source, subject, subscription,
};

use crate::{
    backends::{Answer, Faulty},
    support::{Door, balanced, builder, event, millis, name, seconds, settle, start},
};

/// A bus whose handlers of the subject `a` wait behind this door.
async fn behind(door: &Door) -> Bus<Memory, Running> {
    let door = door.clone();
    start(builder().at_most_once(name("one")).subject(subject!("a")).handle(move |_| {
        let door = door.clone();
        async move { door.pass().await }
    }))
    .await
}

#[tokio::test(start_paused = true)]
async fn a_bus_is_idle_once_what_is_queued_and_in_hand_is_handled_and_not_before() {
    let door = Door::closed();
    let bus = behind(&door).await;
    bus.idle().await;
    for id in 0..3 {
        bus.publish(&subject!("a"), event(id)).await.unwrap();
    }
    let handle = bus.handle();
    let idle = tokio::spawn(async move { handle.idle().await });
    for admitted in 0..3 {
        settle().await;
        assert!(!idle.is_finished(), "{admitted} of 3 are handled");
        door.admit(1);
    }
    idle.await.unwrap();
    let stats = bus.stats("one").unwrap();
    assert_eq!((stats.delivered, stats.pending, stats.in_hand), (3, 0, 0), "{stats}");
}

#[tokio::test(start_paused = true)]
async fn a_message_that_waits_out_its_delay_is_waited_for_and_no_longer() {
    let backoff = Backoff::new(seconds(60), seconds(60), 1.0).unwrap();
    let bus = start(
        builder()
            .at_least_once(name("one"), DurableName::new("one").unwrap(), NonZeroU32::MIN.saturating_add(2))
            .subject(subject!("a"))
            .allow_volatile()
            .backoff(backoff)
            .handle(|delivery: Delivery<AtLeastOnce<Delayed>>| async move { delivery.nack() }),
    )
    .await;
    let begun = Instant::now();
    bus.publish(&subject!("a"), event("x")).await.unwrap();
    bus.idle().await;
    assert_eq!(begun.elapsed().as_secs(), 120, "two delays between three attempts");
    assert_eq!(bus.stats("one").unwrap().exhausted, 1);
}

#[tokio::test(start_paused = true)]
async fn a_chain_of_handlers_that_publish_is_waited_for_to_its_end() {
    #[subscription(subject = "third")]
    async fn third() {}
    #[subscription(subject = "second")]
    async fn second(publisher: Publisher) -> Result<(), PublishError> {
        publisher.publish(&subject!("third"), event("x")).await
    }
    #[subscription(subject = "first")]
    async fn first(publisher: Publisher) -> Result<(), PublishError> {
        publisher.publish(&subject!("second"), event("x")).await
    }

    // The last one is looked at first.
    let bus = start(builder().subscribe(third).subscribe(second).subscribe(first)).await;
    bus.publish(&subject!("first"), event("x")).await.unwrap();
    bus.idle().await;
    let delivered = bus.ledger().subscriptions.iter().map(|stats| stats.delivered).collect::<Vec<_>>();
    assert_eq!(delivered, [1, 1, 1]);
}

#[tokio::test(start_paused = true)]
async fn a_consumer_that_is_restarted_is_waited_for_with_what_it_is_owed() {
    let bus = start(
        builder()
            .at_least_once(name("one"), DurableName::new("one").unwrap(), NonZeroU32::MIN.saturating_add(4))
            .subject(subject!("a"))
            .allow_volatile()
            .restart(Restart::default())
            .handle(|delivery: Delivery<AtLeastOnce>| async move {
                assert!(delivery.attempt().get() > 1, "the first attempt panics");
                delivery.ack()
            }),
    )
    .await;
    bus.publish(&subject!("a"), event("x")).await.unwrap();
    bus.idle().await;
    let stats = bus.stats("one").unwrap();
    assert_eq!((stats.panics, stats.settlement.acked), (1, 1), "{stats}");
    balanced(&stats);
}

#[tokio::test(start_paused = true)]
async fn a_subscription_that_has_failed_for_good_is_idle() {
    let bus = start(
        builder()
            .at_most_once(name("one"))
            .subject(subject!("a"))
            .handle(|delivery| async move { assert!(delivery.event().id() != "x", "on purpose") }),
    )
    .await;
    bus.publish(&subject!("a"), event("x")).await.unwrap();
    bus.idle().await;
    assert!(!bus.health().is_healthy());
    assert_eq!(bus.stats("one").unwrap().panics, 1);
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_is_dropped_leaves_nothing_and_any_number_may_wait() {
    let door = Door::closed();
    let bus = behind(&door).await;
    bus.publish(&subject!("a"), event("x")).await.unwrap();
    timeout(millis(1), bus.idle()).await.unwrap_err();
    let both = async { tokio::join!(bus.idle(), bus.idle()) };
    door.admit(1);
    timeout(millis(1), both).await.expect("both are told");
}

#[tokio::test(start_paused = true)]
async fn a_subscription_on_its_way_is_waited_for_until_it_is_refused() {
    let (backend, faults) = Faulty::new();
    let bus = start(Bus::builder(backend, source!("urn:example:test"))).await;
    faults.subscribe("one", Answer::RefusedLate);
    let attaching = bus.at_most_once(name("one")).subject(subject!("a")).handle(async |_| {});
    let handle = bus.handle();
    let idle = tokio::spawn(async move { handle.idle().await });
    settle().await;
    assert!(!idle.is_finished(), "its source is awaited");
    attaching.await.unwrap_err();
    timeout(millis(1), idle).await.expect("nothing is left of it").unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_a_wait() {
    let bus = start(builder().at_most_once(name("one")).subject(subject!("a")).handle(|_| pending::<()>())).await;
    bus.publish(&subject!("a"), event("x")).await.unwrap();
    let handle = bus.handle();
    let idle = tokio::spawn(async move { handle.idle().await });
    settle().await;
    assert!(!idle.is_finished());
    bus.stop(seconds(1)).await;
    timeout(millis(1), idle).await.expect("it ends with the stop").unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn on_several_threads_no_wait_ends_early_and_none_is_forgotten() {
    #[subscription(subject = "b", mode = AtLeastOnce, durable = "last", max_deliver = 2, allow_volatile, concurrency = 2)]
    async fn last(Attempt(attempt): Attempt) -> Result<Ack, &'static str> {
        if attempt.get() == 1 { Err("once more") } else { Ok(Ack) }
    }
    #[subscription(subject = "a", concurrency = 2)]
    async fn first(publisher: Publisher) -> Result<(), PublishError> {
        publisher.publish(&subject!("b"), event("x")).await
    }

    // The last one is looked at first.
    let bus = start(builder().subscribe(last).subscribe(first)).await;
    for round in 1..=2_000 {
        bus.publish(&subject!("a"), event(round)).await.unwrap();
        timeout(seconds(10), bus.idle()).await.expect("it is told");
        let (begun, done) = (bus.stats("first").unwrap(), bus.stats("last").unwrap());
        assert_eq!((begun.delivered, done.settlement.acked), (round, round), "{begun}\n{done}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_reply_that_is_owed_is_waited_for() {
    #[responder(subject = "a", group = "ones", reply = "com.example.reply.v1")]
    async fn one() -> u32 {
        17
    }

    let bus = start(builder().subscribe(one)).await;
    for round in 1..=500 {
        bus.publish(&subject!("a"), event(round)).await.unwrap();
        timeout(seconds(10), bus.idle()).await.expect("it is told");
        assert_eq!(bus.stats("one").unwrap().replies.unaddressed, round);
    }
}
