//! The hot path allocates nothing (design.md §6): not per publish beyond the event's own handle, and not per delivery.
//!
//! One file, one process: the counting allocator is the process's.

#![allow(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use std::{
    num::NonZeroUsize,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use allocation_counter::measure;
use futures_util::{StreamExt, poll};
use serde::Deserialize;
use tokio::{
    runtime::{Builder, Runtime},
    task::unconstrained,
};
use tramline::{
    AtLeastOnce, AtMostOnce, Bus, Delayed, Delivery, Event, Memory, Payload, Running, Settled, State, Subject, Topic,
    backend::memory::{MemoryRequestDeliveries, MemorySession},
    contract::{AnswersRequests, Backend, FailureReply, Reply, ResponderSpec, Source, SourceId},
    pattern, source, subject, subscription,
};

#[derive(Deserialize)]
struct Small<'a> {
    number: u64,
    text: &'a str,
}

#[derive(Clone, Default)]
struct Seen(Arc<AtomicU64>);

#[subscription(subject = "small", bound = 256, overflow = Fail)]
async fn decoding(payload: Payload<Small<'_>>, State(seen): State<Seen>) {
    seen.0.fetch_add(payload.number + payload.text.len() as u64, Relaxed);
}

#[subscription(pattern = "many.*", bound = 64, overflow = ShedOldest, concurrency = 2)]
async fn shedding(subject: &Subject, event: &Event, State(seen): State<Seen>) {
    seen.0.fetch_add((subject.as_str().len() + event.id().len()) as u64, Relaxed);
}

#[subscription(pattern = "keyed.*", bound = 64, keyed = subject, concurrency = 3)]
async fn keyed(event: &Event, State(seen): State<Seen>) {
    // Longer than it takes until the next one is there, so that most wait for their key.
    tokio::task::yield_now().await;
    tokio::task::yield_now().await;
    seen.0.fetch_add(event.id().len() as u64, Relaxed);
}

#[subscription(
    pattern = "owed.*", bound = 64, mode = AtLeastOnce, durable = "owed", max_deliver = 3, allow_volatile, concurrency = 2,
    backoff(initial = "1ms", max = "1ms", multiplier = 1.0),
)]
async fn owed(subject: &Subject, State(seen): State<Seen>, delivery: Delivery<AtLeastOnce<Delayed>>) -> Settled {
    let count = seen.0.fetch_add(1, Relaxed);
    // Some are declined, and come back at once.
    if subject.as_str() == "owed.twice" && count % 3 == 0 && delivery.attempt().get() == 1 {
        return delivery.nack_after(Duration::ZERO).expect("below the ceiling");
    }
    delivery.ack()
}

fn event() -> Event {
    let builder = Event::builder("1", source!("urn:example:test"), "com.example.small.v1");
    builder.json(r#"{"number":17,"text":"hello"}"#).build().unwrap()
}

/// Allocations of so many publishes and their deliveries, once everything has its size.
fn allocations(runtime: &Runtime, bus: &Bus<Memory, Running>, subject: &Subject, messages: u64, lossless: bool) -> u64 {
    let event = event();
    let round = |messages: u64| {
        runtime.block_on(async {
            for _ in 0..messages {
                let publish = bus.publish(subject, event.clone());
                if lossless { publish.when_room().await } else { publish.await }.unwrap();
                // The consumer keeps up: a publisher that waits for room allocates.
                tokio::task::yield_now().await;
            }
        });
    };
    round(2_000);
    // Entering the runtime and yielding allocates once, however many messages there are.
    let entering = measure(|| round(1)).count_total;
    measure(|| round(messages)).count_total - entering
}

fn running(runtime: &Runtime, seen: &Seen) -> Bus<Memory, Running> {
    let counting = seen.clone();
    let bus = Bus::builder(Memory::new(), source!("urn:example:test"))
        .state(seen.clone())
        .subscribe(decoding)
        .subscribe(shedding)
        .subscribe(keyed)
        .subscribe(owed)
        .at_most_once("closure".parse().unwrap())
        .pattern(pattern!("built.>"))
        .handle(move |delivery: Delivery<AtMostOnce>| {
            counting.0.fetch_add(u64::from(delivery.attempt().get()), Relaxed);
            async {}
        })
        .build()
        .unwrap();
    runtime.block_on(bus.start()).unwrap()
}

#[test]
fn neither_a_publish_nor_a_delivery_nor_a_settlement_allocates() {
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    let seen = Seen::default();
    let bus = running(&runtime, &seen);
    for (subject, lossless) in [
        (subject!("small"), false),
        (subject!("small"), true),
        (subject!("many.a"), false),
        (subject!("keyed.a"), false),
        (subject!("built.at.run.time"), false),
        (subject!("owed.once"), false),
        (subject!("owed.once"), true),
        (subject!("owed.twice"), true),
        (subject!("nobody"), false),
        (Subject::new("many.b").unwrap(), false),
    ] {
        let before = seen.0.load(Relaxed);
        let count = allocations(&runtime, &bus, &subject, 10_000, lossless);
        assert_eq!(count, 0, "`{subject}`, lossless {lossless}");
        assert!(subject == *"nobody" || seen.0.load(Relaxed) > before, "`{subject}` was handled");
    }
    assert!(bus.ledger().subscriptions.iter().all(|stats| stats.unaccounted() == 0));
}

/// So many requests, each answered, or given up before its answer comes.
async fn ask(session: &MemorySession, responder: &mut MemoryRequestDeliveries, count: u64, give_up: bool) {
    let (to, request, reply) = (subject!("asked"), event(), event());
    for _ in 0..count {
        let late = {
            let mut asking = pin!(Memory::request(session, &to, request.clone(), Duration::from_secs(1)));
            // Without a budget, or being pending might only mean that it is another task's turn.
            assert!(poll!(unconstrained(&mut asking)).is_pending());
            let replier = unconstrained(responder.next()).await.unwrap().settler.into_replier().unwrap();
            if give_up {
                Some(replier)
            } else {
                replier.reply(reply.clone()).await.unwrap();
                asking.await.unwrap();
                None
            }
        };
        if let Some(replier) = late {
            replier.reply(reply.clone()).await.unwrap();
        }
    }
}

#[test]
fn a_request_allocates_once_and_one_that_was_given_up_leaves_nothing_behind() {
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    let session = runtime.block_on(Memory::new().open()).unwrap();
    let (id, bound) = (SourceId::new(1, 0, 0), NonZeroUsize::new(4).unwrap());
    let failure = FailureReply::new(source!("urn:example:test"));
    let (name, group) = ("asked".parse().unwrap(), "asked".parse().unwrap());
    let spec = ResponderSpec::new(id, name, pattern!("asked"), group, bound, failure);
    let (mut responder, _control) = runtime.block_on(Memory::responder(&session, spec)).unwrap().split();
    for give_up in [false, true] {
        let mut round = |count| runtime.block_on(ask(&session, &mut responder, count, give_up));
        round(2_000);
        let once = measure(|| round(1));
        let many = measure(|| round(1_001));
        assert_eq!(many.count_total - once.count_total, 1_000, "given up: {give_up}");
        assert_eq!(many.count_current, 0, "given up: {give_up}");
    }
    assert_eq!(Memory::unclaimed(&session), 3_002);
}

#[test]
fn a_value_allocates_for_its_event_and_once_for_its_publish() {
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    let bus = running(&runtime, &Seen::default());
    let subject = subject!("nobody");
    let publish =
        || runtime.block_on(async { bus.publish_value(&subject, "com.example.small.v1", &17).await.unwrap() });
    // The thread's buffer, in which values are encoded, is there from the first on.
    publish();
    // Data, type, the event itself; id and time only when they are read. Then the future on the heap.
    let event = measure(|| drop(bus.event("com.example.small.v1", &17).unwrap().build().unwrap())).count_total;
    assert_eq!(event, 3);
    let entering = measure(|| runtime.block_on(async {})).count_total;
    assert_eq!(measure(publish).count_total - entering, event + 1);
}

#[test]
fn a_batch_allocates_for_its_report_and_not_for_each_event() {
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    let bus = running(&runtime, &Seen::default());
    let (subject, event) = (subject!("many.a"), event());
    let batch = |count: usize| {
        let events = (0..count).map(|_| (&subject, event.clone()));
        measure(|| assert!(runtime.block_on(bus.publish_batch(events).into_future()).is_ok())).count_total
    };
    // Large enough to give others a turn, for which the runtime allocates once.
    batch(1_000);
    assert_eq!(batch(10_000), batch(1_000));
}

#[test]
fn the_counter_counts() {
    assert_eq!(measure(|| drop(std::hint::black_box(Box::new(17)))).count_total, 1);
}

#[derive(Topic)]
#[topic(subject = "service.up", event_type = "com.example.up.v1", schema = "urn:example:up")]
struct Up;

#[test]
fn a_topic_without_places_has_its_subject_and_its_schema_without_allocating() {
    let used = measure(|| {
        assert_eq!(Up.subject().expect("no place can go wrong"), "service.up");
        assert!(Up::SCHEMA.is_some());
    });
    assert_eq!(used.count_total, 0, "{used:?}");
}
