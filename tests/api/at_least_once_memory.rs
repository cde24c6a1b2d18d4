//! At least once in memory, through the bus: attempts, delays, restarts and stops, and a ledger that explains them.

use std::{
    num::NonZeroU32,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};

use tokio::time::Instant;
use tramline::{
    Ack, AtLeastOnce, Backoff, Bus, Delayed, Delivery, DurableName, Memory, Nack, Payload, Restart, Running,
    bus::{BusBuilder, ConsumerState, Stats},
    contract::PublishError,
    source, subject,
    subscription::{Asks, AtLeastOnceBuilder, Immediate, Keeps, MayForget},
};

use crate::{
    backends::Faulty,
    support::{Door, balanced, builder, event, many, millis, name, seconds, settle, start, until},
};

type Waiting = AtLeastOnceBuilder<Memory, BusBuilder<Memory>, Asks<Immediate, MayForget, Keeps>>;

/// A subscription with this many attempts, in the making.
fn one(max_deliver: u32) -> Waiting {
    builder()
        .at_least_once(name("one"), DurableName::new("one").unwrap(), NonZeroU32::new(max_deliver).unwrap())
        .subject(subject!("a"))
        .allow_volatile()
}

async fn publish(bus: &Bus<Memory, Running>, ids: impl IntoIterator<Item = u32>) {
    for id in ids {
        bus.publish(&subject!("a"), event(id)).await.unwrap();
    }
}

fn stats(bus: &Bus<Memory, Running>) -> Stats {
    let stats = bus.stats("one").unwrap();
    balanced(&stats);
    stats
}

async fn stopped(bus: Bus<Memory, Running>) -> Stats {
    let stopped = bus.stop(seconds(2)).await;
    assert!(stopped.report.is_clean(), "{}", stopped.report);
    let stats = stopped.bus.stats("one").unwrap();
    balanced(&stats);
    assert_eq!((stats.in_hand, stats.pending), (0, 0), "{stats}");
    stats
}

/// Attempts in the order of their beginning: event, attempt, time since the first.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<(String, u32, Instant)>>>);

impl Seen {
    fn note(&self, id: &str, attempt: NonZeroU32) {
        self.0.lock().unwrap().push((id.to_owned(), attempt.get(), Instant::now()));
    }

    fn attempts(&self) -> Vec<(String, u32)> {
        self.0.lock().unwrap().iter().map(|(id, attempt, _)| (id.clone(), *attempt)).collect()
    }

    fn gaps(&self) -> Vec<Duration> {
        self.0.lock().unwrap().windows(2).map(|pair| pair[1].2 - pair[0].2).collect()
    }
}

#[tokio::test(start_paused = true)]
async fn m2_a_handler_that_always_fails_gets_max_deliver_attempts_and_o1_with_growing_gaps() {
    let seen = Seen::default();
    let handler = {
        let seen = seen.clone();
        move |delivery: Delivery<AtLeastOnce<Delayed>>| {
            seen.note(delivery.event().id(), delivery.attempt());
            async { Err::<Ack, _>("no luck") }
        }
    };
    let backoff = Backoff::new(seconds(1), seconds(60), 10.0).unwrap();
    let bus = start(one(4).backoff(backoff).handle(handler)).await;
    publish(&bus, [7]).await;
    tokio::time::sleep(seconds(3_600)).await;
    assert_eq!(seen.attempts(), [1, 2, 3, 4].map(|attempt| ("7".to_owned(), attempt)));
    for (gap, least) in seen.gaps().into_iter().zip([1, 10, 60].map(seconds)) {
        assert!(gap >= least && gap <= least + millis(2), "O3: {gap:?} for {least:?}");
    }
    let stats = stopped(bus).await;
    assert_eq!((stats.offered, stats.delivered, stats.settlement.silent), (4, 4, 4), "{stats}");
    assert_eq!((stats.exhausted, stats.redelivered, stats.errors, stats.stranded), (1, 3, 4, 0), "{stats}");
}

#[tokio::test(start_paused = true)]
async fn l6_a_payload_that_cannot_be_decoded_runs_out_of_attempts_and_the_consumer_lives() {
    #[tramline::subscription(subject = "a", mode = AtLeastOnce, durable = "one", max_deliver = 3, allow_volatile)]
    async fn decoding(number: Payload<u32>) -> Ack {
        std::hint::black_box(*number);
        Ack
    }
    let bus = builder().subscribe(decoding).build().unwrap().start().await.unwrap();
    bus.publish_value(&subject!("a"), "com.example.test.v1", "no number").await.unwrap();
    bus.publish_value(&subject!("a"), "com.example.test.v1", &17).await.unwrap();
    until("all is settled", || bus.stats("decoding").unwrap().delivered == 4).await;
    let stats = bus.stats("decoding").unwrap();
    balanced(&stats);
    assert_eq!((stats.errors, stats.settlement.silent, stats.settlement.acked), (3, 3, 1), "{stats}");
    assert_eq!((stats.exhausted, stats.redelivered, stats.lost.total()), (1, 2, 0), "{stats}");
    assert_eq!(bus.status().consumers[0].state, ConsumerState::Running);
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn n7_after_a_panic_the_backlog_and_what_comes_meanwhile_wait_for_the_next_source() {
    let seen = Seen::default();
    let handler = {
        let seen = seen.clone();
        move |delivery: Delivery<AtLeastOnce>| {
            seen.note(delivery.event().id(), delivery.attempt());
            let panics = (delivery.event().id(), delivery.attempt().get()) == ("0", 1);
            async move {
                assert!(!panics, "on purpose");
                delivery.ack()
            }
        }
    };
    let bus = start(one(3).restart(Restart::new()).handle(handler)).await;
    publish(&bus, 0..3).await;
    settle().await;
    publish(&bus, 3..5).await;
    assert_eq!(bus.status().consumers[0].state, ConsumerState::Unknown, "it waits for its restart");
    tokio::time::sleep(seconds(2)).await;
    let ids: Vec<_> = seen.attempts();
    let expected = [("0", 1), ("1", 1), ("2", 1), ("0", 2), ("3", 1), ("4", 1)];
    assert_eq!(ids, expected.map(|(id, attempt)| (id.to_owned(), attempt)), "T15: a panic is silent on the wire");
    let stats = stopped(bus).await;
    // Three, and one of them again after its panic; these were released with the first source, and offered by the second
    // with the two that came meanwhile.
    assert_eq!((stats.offered, stats.released, stats.delivered), (9, 4, 5), "{stats}");
    assert_eq!((stats.panics, stats.stranded, stats.exhausted, stats.incidents), (1, 0, 0, 0), "{stats}");
}

#[tokio::test(start_paused = true)]
async fn t15_a_poison_message_runs_out_of_attempts_over_restarts() {
    let handler = async |_| {
        assert!(std::hint::black_box(false), "poison");
        Ack
    };
    let bus = start(one(3).restart(Restart::new()).handle(handler)).await;
    publish(&bus, [0]).await;
    tokio::time::sleep(seconds(60)).await;
    let stats = stopped(bus).await;
    assert_eq!((stats.panics, stats.released, stats.exhausted, stats.stranded), (3, 5, 1, 0), "{stats}");
    assert_eq!(stats.settlement.silent, 0, "a panic is no answer: {stats}");
}

#[tokio::test(start_paused = true)]
async fn t13_a_stop_in_the_middle_releases_and_strands_what_is_owed_and_a_new_start_begins_empty() {
    let door = Door::closed();
    let handler = {
        let door = door.clone();
        move |delivery: Delivery<AtLeastOnce<Delayed>>| {
            let door = door.clone();
            async move {
                if delivery.event().id() == "0" {
                    return delivery.nack();
                }
                door.pass().await;
                delivery.ack()
            }
        }
    };
    let backoff = Backoff::new(seconds(600), seconds(600), 1.0).unwrap();
    let bus = start(one(3).backoff(backoff).handle(handler)).await;
    publish(&bus, 0..4).await;
    until("one waits out its delay and one is in hand", || stats(&bus).in_hand == 1 && stats(&bus).delivered == 1)
        .await;
    assert_eq!(stats(&bus).pending, 3, "0 waits out its delay, 2 and 3 are queued");
    let stopped = bus.stop(seconds(2)).await;
    let last = stopped.bus.stats("one").unwrap();
    balanced(&last);
    // Offered: four, 0 again after it was declined, 1 again after it was given back.
    assert_eq!((last.offered, last.delivered, last.released), (6, 1, 5), "{last}");
    assert_eq!((last.stranded, last.settlement.refused, last.in_hand, last.pending), (4, 0, 0, 0), "{last}");

    let bus = stopped.bus.start().await.unwrap();
    door.admit(1);
    publish(&bus, [9]).await;
    until("it is handled", || stats(&bus).settlement.acked == 1).await;
    let last = self::stopped(bus).await;
    assert_eq!((last.offered, last.delivered, last.released, last.stranded), (7, 2, 5, 4), "nothing came over: {last}");
}

#[tokio::test(start_paused = true)]
async fn v5_a_consumer_that_failed_for_good_refuses_nobodys_publishes_and_what_it_is_owed_is_stranded() {
    let handler = async |_| {
        assert!(std::hint::black_box(false), "poison");
        Ack
    };
    let bus = start(one(3).bound(many(2)).handle(handler)).await;
    publish(&bus, 0..2).await;
    until("it has failed", || bus.status().consumers[0].state == ConsumerState::Failed).await;
    publish(&bus, 2..10).await;
    let stats = stopped(bus).await;
    assert_eq!((stats.offered, stats.released, stats.stranded, stats.incidents), (3, 3, 2, 1), "{stats}");
    assert_eq!((stats.lost.overflow, stats.pending), (0, 0), "{stats}");
}

#[tokio::test(start_paused = true)]
async fn b4_what_is_in_hand_or_waits_out_a_delay_counts_against_the_bound_and_the_publisher_is_told() {
    let door = Door::closed();
    let handler = {
        let door = door.clone();
        move |delivery: Delivery<AtLeastOnce<Delayed>>| {
            let door = door.clone();
            async move {
                door.pass().await;
                if delivery.attempt().get() == 1 { delivery.nack() } else { delivery.ack() }
            }
        }
    };
    let backoff = Backoff::new(seconds(5), seconds(5), 1.0).unwrap();
    let bus = start(one(3).bound(many(2)).backoff(backoff).handle(handler)).await;
    publish(&bus, 0..2).await;
    let full = bus.publish(&subject!("a"), event(2)).await;
    assert!(matches!(&full, Err(PublishError::QueueFull { subscription, .. }) if *subscription == *"one"), "{full:?}");
    door.admit(2);
    until("both wait out their delay", || stats(&bus).delivered == 2).await;
    assert!(bus.publish(&subject!("a"), event(2)).await.is_err());
    door.admit(1);
    let begun = Instant::now();
    bus.publish(&subject!("a"), event(2)).when_room().await.unwrap();
    assert!(begun.elapsed() >= seconds(5), "an acknowledgement makes room, and there was none before");
    assert_eq!((stats(&bus).lost.overflow, stats(&bus).settlement.acked), (2, 1));
    door.admit(9);
    tokio::time::sleep(seconds(20)).await;
    let stats = stopped(bus).await;
    assert_eq!((stats.settlement.acked, stats.stranded, stats.exhausted), (3, 0, 0), "{stats}");
}

#[tokio::test(start_paused = true)]
async fn b7_readers_side_by_side_share_the_queue_and_settle_each_their_own() {
    let runs = Arc::new(AtomicU32::new(0));
    let handler = {
        let runs = runs.clone();
        move |delivery: Delivery<AtLeastOnce>| {
            let declines = runs.fetch_add(1, SeqCst).is_multiple_of(3);
            async move {
                tokio::time::sleep(millis(7)).await;
                if declines { Err("once more") } else { Ok(delivery.ack()) }
            }
        }
    };
    let bus = start(one(1_000).bound(many(16)).concurrency(many(4)).handle(handler)).await;
    for id in 0..200 {
        bus.publish(&subject!("a"), event(id)).when_room().await.unwrap();
    }
    tokio::time::sleep(seconds(10)).await;
    let stats = stopped(bus).await;
    assert_eq!((stats.settlement.acked, stats.stranded, stats.exhausted), (200, 0, 0), "{stats}");
    assert_eq!(stats.offered, stats.delivered, "{stats}");
    assert!(stats.redelivered > 0 && stats.settlement.silent == u64::from(runs.load(SeqCst)) - 200, "{stats}");
}

#[tokio::test(start_paused = true)]
async fn t2_a_handler_cancelled_at_its_last_attempt_exhausts_nothing() {
    let handler = |_| async {
        std::future::pending::<()>().await;
        Nack
    };
    let bus = start(one(1).handle(handler)).await;
    publish(&bus, [0]).await;
    until("it is in hand", || stats(&bus).in_hand == 1).await;
    let stats = stopped(bus).await;
    assert_eq!((stats.offered, stats.released, stats.exhausted, stats.stranded), (2, 2, 0, 1), "{stats}");
}

#[tokio::test(start_paused = true)]
async fn t13_what_comes_for_a_consumer_that_waits_for_its_restart_is_stranded_by_a_stop() {
    let handler = async |_| {
        assert!(std::hint::black_box(false), "poison");
        Ack
    };
    let bus = start(one(3).bound(many(4)).restart(Restart::new()).handle(handler)).await;
    publish(&bus, 0..1).await;
    settle().await;
    assert_eq!(bus.status().consumers[0].state, ConsumerState::Unknown, "it waits for its restart");
    publish(&bus, 1..4).await;
    assert!(bus.publish(&subject!("a"), event(4)).await.is_err(), "the bound holds meanwhile");
    let stats = stopped(bus).await;
    assert_eq!((stats.stranded, stats.lost.overflow, stats.panics), (4, 1, 1), "{stats}");
}

#[tokio::test(start_paused = true)]
async fn t13_what_a_failed_consumer_has_in_hand_at_a_stop_without_time_is_stranded_once() {
    let (backend, faults) = Faulty::new();
    let handler = |_| async {
        std::future::pending::<()>().await;
        Nack
    };
    let bus = Bus::builder(backend, source!("urn:example:test"))
        .at_least_once(name("one"), DurableName::new("one").unwrap(), NonZeroU32::new(2).unwrap())
        .subject(subject!("a"))
        .allow_volatile()
        .concurrency(many(2))
        .restart(Restart::new())
        .handle(handler);
    let bus = bus.build().unwrap().start().await.unwrap();
    bus.publish(&subject!("a"), event(0)).await.unwrap();
    until("it is in hand", || bus.stats("one").unwrap().in_hand == 1).await;
    // Its source ends, and its reader is disowned before it can give the message back: that is refused then, and the
    // message is with the identity.
    faults.end("one");
    settle().await;
    let stopped = bus.stop(Duration::ZERO).await;
    settle().await;
    let stats = stopped.bus.stats("one").unwrap();
    balanced(&stats);
    assert_eq!((stats.settlement.refused, stats.in_hand, stats.stranded), (1, 0, 1), "{stats}");
}
