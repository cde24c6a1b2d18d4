//! The shapes that are counted. Each takes a number of messages and works them off on one thread.

use std::{
    future::Future,
    hint::black_box,
    num::NonZeroUsize,
    pin::Pin,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use futures_util::StreamExt;
use serde::Deserialize;
use tokio::task::{unconstrained, yield_now};
use tramline::{
    Ack, AtLeastOnce, AtMostOnce, Bus, Delivery, Dormant, Event, Fail, Memory, Payload, Running, Settled, Subject,
    bus::BusBuilder,
    contract::{AtMostOnceSpec, Backend, DeliversAtMostOnce, Session, Source, SourceId},
    pattern, responder, source, subject, subscription,
};

/// A queue's bound is twice this, so that nothing is shed.
const AT_ONCE: u64 = 128;

/// One shape, by its name in the baseline.
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    pub(crate) what: &'static str,
    pub(crate) run: fn(u64) -> Pin<Box<dyn Future<Output = ()>>>,
}

macro_rules! shapes {
    ($($run:ident $what:literal)+) => {
        /// In the order of the table.
        pub(crate) const SHAPES: &[Shape] =
            &[$(Shape { name: stringify!($run), what: $what, run: |messages| Box::pin($run(messages)) }),+];
    };
}

shapes! {
    session "published to the session and read from its source"
    bare "at most once, nothing decoded"
    decoded "at most once, small JSON decoded, by the attribute"
    built "the same, by the run-time builder"
    when_room "the same as `decoded`, published with `when_room`"
    handle "at most once, nothing decoded, published by a handle"
    wild "at most once, selected by a wildcard"
    fan_out "to eight subscriptions that fail when full, per message"
    acked "at least once, acknowledged"
    declined "at least once, declined once and then acknowledged"
    request "asked and answered, bare events"
    event "a small JSON event made and dropped"
}

#[derive(Deserialize)]
struct Small<'a> {
    number: u64,
    text: &'a str,
}

/// How often a handler was called.
static SEEN: AtomicU64 = AtomicU64::new(0);

fn seen() {
    SEEN.fetch_add(1, Relaxed);
}

fn decoded_one(small: &Small<'_>) {
    SEEN.fetch_add(small.number / 17 + (small.text.len() as u64 - 5), Relaxed);
}

#[subscription(subject = "bench.decoded", bound = 256)]
async fn of_decoded(payload: Payload<Small<'_>>) {
    decoded_one(&payload);
}

#[subscription(subject = "bench.lossless", bound = 256, overflow = Fail)]
async fn of_lossless(payload: Payload<Small<'_>>) {
    decoded_one(&payload);
}

#[subscription(subject = "bench.bare", bound = 256)]
async fn of_bare() {
    seen();
}

#[subscription(pattern = "bench.*.wild", bound = 256)]
async fn of_wild() {
    seen();
}

#[subscription(
    subject = "bench.acked", bound = 256, mode = AtLeastOnce, durable = "acked", max_deliver = 3, allow_volatile
)]
async fn of_acked() -> Ack {
    seen();
    Ack
}

#[subscription(
    subject = "bench.declined", bound = 256, mode = AtLeastOnce, durable = "declined", max_deliver = 3, allow_volatile
)]
async fn of_declined(delivery: Delivery<AtLeastOnce>) -> Settled {
    seen();
    if delivery.attempt().get() == 1 { delivery.nack() } else { delivery.ack() }
}

#[responder(subject = "bench.asked", group = "bench")]
async fn of_asked(event: &Event) -> Event {
    seen();
    event.clone()
}

fn small() -> Event {
    let builder = Event::builder("1", source!("urn:example:bench"), "com.example.small.v1");
    builder.json(r#"{"number":17,"text":"hello"}"#).build().expect("valid")
}

async fn session(messages: u64) {
    let session = Memory::new().open().await.expect("opens");
    let bound = NonZeroUsize::MIN.saturating_add(255);
    let spec = AtMostOnceSpec::new(SourceId::new(1, 0, 0), "bench".parse().expect("valid"), pattern!("bench"), bound);
    let (mut deliveries, _control) = Memory::at_most_once(&session, spec).await.expect("subscribes").split();
    let (subject, event) = (subject!("bench"), small());
    // The reader is this same task, which gives way in neither half.
    unconstrained(async {
        for _ in 0..messages / AT_ONCE {
            for _ in 0..AT_ONCE {
                session.publish(&subject, event.clone()).await.expect("taken");
            }
            for _ in 0..AT_ONCE {
                black_box(deliveries.next().await.expect("delivered"));
            }
        }
    })
    .await;
}

async fn bare(messages: u64) {
    let bus = started(builder().subscribe(of_bare).build().expect("valid")).await;
    publish(&bus, &subject!("bench.bare"), messages, 1).await;
}

async fn decoded(messages: u64) {
    let bus = started(builder().subscribe(of_decoded).build().expect("valid")).await;
    publish(&bus, &subject!("bench.decoded"), messages, 1).await;
}

async fn built(messages: u64) {
    let collected = builder().at_most_once("built".parse().expect("valid")).subject(subject!("bench.built"));
    let handled = collected.bound(NonZeroUsize::MIN.saturating_add(255)).handle(|delivery: Delivery<AtMostOnce>| {
        let data = delivery.event().data().expect("it has data").bytes();
        decoded_one(&serde_json::from_slice(data).expect("it is small JSON"));
        async {}
    });
    let bus = started(handled.build().expect("valid")).await;
    publish(&bus, &subject!("bench.built"), messages, 1).await;
}

async fn when_room(messages: u64) {
    let bus = started(builder().subscribe(of_lossless).build().expect("valid")).await;
    let (subject, event) = (subject!("bench.lossless"), small());
    for turn in 1..=messages {
        bus.publish(&subject, event.clone()).when_room().await.expect("taken");
        if turn % AT_ONCE == 0 {
            keep_up(turn, 1).await;
        }
    }
}

async fn handle(messages: u64) {
    let bus = started(builder().subscribe(of_bare).build().expect("valid")).await;
    let (handle, subject, event) = (bus.handle(), subject!("bench.bare"), small());
    for turn in 1..=messages {
        handle.publish(&subject, event.clone()).await.expect("taken");
        if turn % AT_ONCE == 0 {
            keep_up(turn, 1).await;
        }
    }
}

async fn wild(messages: u64) {
    let bus = started(builder().subscribe(of_wild).build().expect("valid")).await;
    publish(&bus, &subject!("bench.a.wild"), messages, 1).await;
}

async fn fan_out(messages: u64) {
    let mut builder = builder();
    for n in 0..8 {
        let collected = builder.at_most_once(format!("fan{n}").parse().expect("valid")).subject(subject!("bench.fan"));
        let bounded = collected.bound(NonZeroUsize::MIN.saturating_add(255)).overflow(Fail);
        builder = bounded.handle(|_: Delivery<AtMostOnce>| {
            seen();
            async {}
        });
    }
    let bus = started(builder.build().expect("valid")).await;
    publish(&bus, &subject!("bench.fan"), messages, 8).await;
}

async fn acked(messages: u64) {
    let bus = started(builder().subscribe(of_acked).build().expect("valid")).await;
    publish(&bus, &subject!("bench.acked"), messages, 1).await;
}

async fn declined(messages: u64) {
    let bus = started(builder().subscribe(of_declined).build().expect("valid")).await;
    publish(&bus, &subject!("bench.declined"), messages, 2).await;
}

async fn request(messages: u64) {
    let bus = started(builder().subscribe(of_asked).build().expect("valid")).await;
    let (subject, event) = (subject!("bench.asked"), small());
    for turn in 1..=messages {
        let reply = bus.request(&subject, event.clone()).within(Duration::from_secs(60)).await;
        black_box(reply.expect("answered"));
        if turn % AT_ONCE == 0 {
            keep_up(turn, 1).await;
        }
    }
}

async fn event(messages: u64) {
    for _ in 0..messages {
        black_box(small());
    }
}

fn builder() -> BusBuilder<Memory> {
    Bus::builder(Memory::new(), source!("urn:example:bench"))
}

async fn started(bus: Bus<Memory, Dormant>) -> Bus<Memory, Running> {
    bus.start().await.expect("starts")
}

/// Publishes so many, each of which calls a handler so often.
async fn publish(bus: &Bus<Memory, Running>, subject: &Subject, messages: u64, calls: u64) {
    let event = small();
    for turn in 1..=messages {
        bus.publish(subject, event.clone()).await.expect("taken");
        if turn % AT_ONCE == 0 {
            keep_up(turn, calls).await;
        }
    }
}

/// Lets the handlers catch up after each half of a queue, and fails if that many calls are not made.
async fn keep_up(turn: u64, calls: u64) {
    for _ in 0..1_000 {
        if SEEN.load(Relaxed) == turn * calls {
            return;
        }
        yield_now().await;
    }
    panic!("{} calls of {}", SEEN.load(Relaxed), turn * calls);
}
