//! Traces: what is published says where it was made, a delivery's span is linked to that, and nonsense harms nobody.

use std::{
    cell::RefCell,
    sync::{Arc, Mutex},
};

use tracing::{Span, level_filters::LevelFilter};
use tramline::{
    Bus, Event, Memory, Publisher, State,
    bus::BusBuilder,
    contract::Backend,
    event::{
        Value,
        headers::{ContentMode, decode, encode},
    },
    responder, source, subject, subscription,
    trace::{Propagator, TraceContext},
};

use crate::{
    confirming::Confirming,
    recorder::Recorder,
    support::{event, seconds, start},
};

const TRACE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const OTHER: &str = "00-11111111111111111111111111111111-2222222222222222-00";

thread_local! {
    /// Where the trace of this thread stands.
    static CURRENT: RefCell<Option<TraceContext>> = const { RefCell::new(None) };
}

/// Says where the trace of this thread stands, and writes down what is linked to what.
#[derive(Clone, Default)]
struct Tracer(Arc<Mutex<Vec<Link>>>);

/// The span's name, and what it is linked to.
type Link = (Option<&'static str>, TraceContext);

impl Tracer {
    fn linked(&self) -> Vec<String> {
        self.0.lock().unwrap().iter().map(|(_, from)| from.traceparent().to_owned()).collect()
    }
}

impl Propagator for Tracer {
    fn current(&self) -> Option<TraceContext> {
        CURRENT.with_borrow(Clone::clone)
    }

    fn link(&self, span: &Span, from: &TraceContext) {
        self.0.lock().unwrap().push((span.metadata().map(tracing::Metadata::name), from.clone()));
    }
}

fn stand_at(traceparent: &str) {
    let context = TraceContext::new(traceparent).unwrap().with_tracestate("vendor=17").unwrap();
    CURRENT.set(Some(context));
}

fn on<B: Backend>(backend: B) -> (BusBuilder<B>, Tracer) {
    let tracer = Tracer::default();
    (Bus::builder(backend, source!("urn:example:test")).trace_context(tracer.clone()), tracer)
}

fn text<'e>(event: &'e Event, name: &str) -> Option<&'e str> {
    match event.extension(name) {
        Some(Value::String(text)) => Some(text),
        None => None,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn every_way_to_publish_says_where_it_was_made() {
    let (backend, arrived) = Confirming::at_once();
    let (builder, _) = on(backend);
    let bus = start(builder).await;
    stand_at(TRACE);
    let a = subject!("a");
    bus.publish(&a, event("bus")).await.unwrap();
    bus.publish_value(&a, "com.example.v1", "value").await.unwrap();
    assert!(bus.publish_batch([(&a, event("batch"))]).await.is_ok());
    let handle = bus.handle();
    handle.publish(&a, event("handle")).await.unwrap();
    handle.publish_value(&a, "com.example.v1", "value").await.unwrap();
    bus.publisher().publish(&a, event("publisher")).await.unwrap();
    let arrived = arrived.arrived.lock().unwrap().clone();
    assert_eq!(arrived.len(), 6);
    for (_, event) in arrived {
        assert_eq!((text(&event, "traceparent"), text(&event, "tracestate")), (Some(TRACE), Some("vendor=17")));
        let context = TraceContext::of(&event).unwrap();
        assert_eq!((context.trace_id(), context.span_id(), context.flags()), (&TRACE[3..35], &TRACE[36..52], "01"));
    }
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn the_events_that_a_caller_keeps_stay_what_they_were() {
    let (backend, arrived) = Confirming::at_once();
    let (builder, _) = on(backend);
    let bus = start(builder).await;
    stand_at(TRACE);
    let kept = event("x");
    bus.publish(&subject!("a"), kept.clone()).await.unwrap();
    assert_eq!((text(&kept, "traceparent"), text(&arrived.only(), "traceparent")), (None, Some(TRACE)));
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn an_event_that_says_already_where_it_was_made_keeps_that() {
    let (backend, arrived) = Confirming::at_once();
    let (builder, _) = on(backend);
    let bus = start(builder).await;
    stand_at(TRACE);
    let passed_on = event("x").to_builder().extension("traceparent", OTHER).build().unwrap();
    bus.publish(&subject!("a"), passed_on.clone()).await.unwrap();
    assert_eq!(arrived.only(), passed_on, "neither its traceparent nor its tracestate is another's");
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn without_a_trace_and_without_a_propagator_nothing_is_said() {
    let (backend, arrived) = Confirming::at_once();
    let (builder, _) = on(backend);
    let bus = start(builder).await;
    CURRENT.set(None);
    bus.publish(&subject!("a"), event("x")).await.unwrap();
    assert_eq!(arrived.only(), event("x"));
    bus.stop(seconds(1)).await;

    let (backend, arrived) = Confirming::at_once();
    let bus = start(Bus::builder(backend, source!("urn:example:test"))).await;
    stand_at(TRACE);
    bus.publish(&subject!("a"), event("x")).await.unwrap();
    assert_eq!(arrived.only(), event("x"));
    bus.stop(seconds(1)).await;
}

#[subscription(subject = "a")]
async fn quiet() {}

#[tokio::test(start_paused = true)]
async fn a_delivery_s_span_is_linked_to_where_its_event_was_made_and_nonsense_is_no_error() {
    let (_recorder, _listening) = Recorder::listen(LevelFilter::INFO);
    let (builder, tracer) = on(Memory::new());
    let bus = start(builder.subscribe(quiet)).await;
    stand_at(TRACE);
    bus.publish(&subject!("a"), event("x")).await.unwrap();
    CURRENT.set(None);
    let foreign = [OTHER, "", "nonsense", "00-0-0-0", "ff-11111111111111111111111111111111-2222222222222222-00"];
    for traceparent in foreign {
        let event = event("y").to_builder().extension("traceparent", traceparent).extension("tracestate", "=,=");
        bus.publish(&subject!("a"), event.build().unwrap()).await.unwrap();
    }
    let number = event("z").to_builder().extension("traceparent", 17).build().unwrap();
    bus.publish(&subject!("a"), number).await.unwrap();
    bus.idle().await;
    assert_eq!(tracer.linked(), [TRACE, OTHER]);
    let linked = tracer.0.lock().unwrap().clone();
    assert!(linked.iter().all(|(span, _)| *span == Some("handle")), "{linked:?}");
    assert_eq!((linked[0].1.tracestate(), linked[1].1.tracestate()), (Some("vendor=17"), None));
    assert_eq!(bus.stats("quiet").unwrap().settlement.acked, 7, "each is handled");
    bus.stop(seconds(1)).await;
}

/// Panics wherever it is asked.
struct Broken;

impl Propagator for Broken {
    fn current(&self) -> Option<TraceContext> {
        CURRENT.with_borrow(|current| assert!(current.is_none(), "on purpose"));
        None
    }

    fn link(&self, _: &Span, _: &TraceContext) {
        panic!("on purpose");
    }
}

#[tokio::test(start_paused = true)]
async fn v4_a_propagator_that_panics_on_a_delivery_fails_its_consumer_as_a_handler_does() {
    let (_recorder, _listening) = Recorder::listen(LevelFilter::INFO);
    let builder = Bus::builder(Memory::new(), source!("urn:example:test")).trace_context(Broken);
    let bus = start(builder.subscribe(quiet)).await;
    let traced = event("x").to_builder().extension("traceparent", TRACE).build().unwrap();
    bus.publish(&subject!("a"), traced).await.unwrap();
    bus.idle().await;
    let stats = bus.stats("quiet").unwrap();
    assert_eq!((stats.panics, stats.lost.handler_panic, stats.in_hand, stats.incidents), (1, 1, 0, 1), "{stats}");
    bus.stop(seconds(1)).await;
}

#[responder(subject = "broken", group = "brokens", reply = "com.example.reply.v1")]
async fn broken() -> u64 {
    stand_at(OTHER);
    17
}

#[tokio::test(start_paused = true)]
async fn r6_a_reply_goes_out_though_a_propagator_panics_on_it() {
    let builder = Bus::builder(Memory::new(), source!("urn:example:test")).trace_context(Broken);
    let bus = start(builder.subscribe(broken)).await;
    let reply = bus.request(&subject!("broken"), event("x")).within(seconds(5)).await.unwrap();
    assert_eq!(text(&reply, "traceparent"), None);
    CURRENT.set(None);
    let stats = bus.stats("broken").unwrap();
    assert_eq!((stats.replies.replied, stats.panics), (1, 0), "{stats}");
    bus.stop(seconds(1)).await;
}

/// Publishes from inside a handler.
#[subscription(subject = "a")]
async fn forwards(publisher: Publisher) -> Result<(), tramline::contract::PublishError> {
    stand_at(OTHER);
    publisher.publish_value(&subject!("b"), "com.example.v1", "forwarded").await
}

#[derive(Clone, Default)]
struct Asked(Arc<Mutex<Vec<Event>>>);

#[subscription(subject = "b")]
async fn looks(event: &Event, State(asked): State<Asked>) {
    asked.0.lock().unwrap().push(event.clone());
}

#[responder(subject = "price.of", group = "pricing", reply = "com.example.price.v1")]
async fn price(event: &Event, State(asked): State<Asked>) -> u64 {
    asked.0.lock().unwrap().push(event.clone());
    stand_at(OTHER);
    250
}

#[tokio::test(start_paused = true)]
async fn what_a_handler_publishes_asks_and_replies_says_where_it_was_made_too() {
    let (builder, _) = on(Memory::new());
    let asked = Asked::default();
    let bus = start(builder.state(asked.clone()).subscribe(forwards).subscribe(looks).subscribe(price)).await;
    stand_at(TRACE);
    let reply = bus.request(&subject!("price.of"), event("x")).within(seconds(1)).await.unwrap();
    let request = asked.0.lock().unwrap().remove(0);
    assert_eq!((text(&request, "traceparent"), text(&reply, "traceparent")), (Some(TRACE), Some(OTHER)));

    stand_at(TRACE);
    bus.publish(&subject!("a"), event("y")).await.unwrap();
    bus.idle().await;
    let forwarded = asked.0.lock().unwrap().remove(0);
    assert_eq!(text(&forwarded, "traceparent"), Some(OTHER));
    bus.stop(seconds(1)).await;
}

#[test]
fn q2_both_ways_to_write_an_event_over_headers_carry_it() {
    let event =
        event("x").to_builder().extension("traceparent", TRACE).extension("tracestate", "a=1,b=2").build().unwrap();
    for mode in [ContentMode::Binary, ContentMode::Structured] {
        let encoded = encode(&event, mode);
        let headers: Vec<_> = encoded.headers().map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
        if mode == ContentMode::Binary {
            assert!(headers.contains(&("ce-traceparent".to_owned(), TRACE.to_owned())), "{headers:?}");
        }
        let pairs = headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let arrived = decode(pairs, encoded.payload().clone()).unwrap();
        let context = TraceContext::of(&arrived).unwrap();
        assert_eq!((context.traceparent(), context.tracestate()), (TRACE, Some("a=1,b=2")), "{mode:?}");
    }
}

#[test]
fn a_traceparent_is_what_the_recommendation_says() {
    let good = [
        TRACE,
        OTHER,
        "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-comes-later",
    ];
    for traceparent in good {
        assert_eq!(TraceContext::new(traceparent).unwrap().traceparent(), traceparent);
    }
    for bad in [
        "",
        "00",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0g",
        "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
        "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.more",
        "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-\u{7f}",
        "00-4bf92f3577b34da6a3ce929d0e0e473ü-00f067aa0ba902b7-01",
    ] {
        let error = TraceContext::new(bad).expect_err(bad);
        assert_eq!(
            error.to_string(),
            format!(
                "{} bytes were given as `traceparent` and are none: write it as `00-<32 digits>-<16 digits>-<2 digits>`, \
                 in lower-case hexadecimal and not all zeros",
                bad.len()
            )
        );
    }
}

#[test]
fn a_tracestate_has_bounds() {
    let context = TraceContext::new(TRACE).unwrap();
    let members = |count| (0..count).map(|number| format!("k{number}=v")).collect::<Vec<_>>().join(",");
    for good in ["a=1", "a=1, b=2", "t@v=x=y", &members(32)] {
        assert_eq!(context.clone().with_tracestate(good).unwrap().tracestate(), Some(good));
    }
    assert_eq!(context.clone().with_tracestate("").unwrap().tracestate(), None);
    for bad in ["a", "=1", "a=", ",", "a=1\tb", "a=\u{e9}", &members(33), &format!("a={}", "x".repeat(511))] {
        let error = context.clone().with_tracestate(bad).expect_err(bad).to_string();
        assert!(
            error.starts_with(&format!("{} bytes were given as `tracestate` and are none: ", bad.len())),
            "{error}"
        );
    }
}
