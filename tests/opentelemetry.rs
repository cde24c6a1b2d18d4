//! Traces through OpenTelemetry: a handler's span is linked to the publisher's, or is its child.

#![allow(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use opentelemetry::trace::{SpanId, SpanKind, TracerProvider};
use opentelemetry_sdk::{
    error::OTelSdkResult,
    trace::{SdkTracerProvider, SpanData, SpanExporter},
};
use tracing::Instrument;
use tracing_subscriber::layer::SubscriberExt;
use tramline::{Bus, Event, Memory, responder, source, subject, subscription, trace::OpenTelemetry};

/// Keeps the spans that have ended.
#[derive(Debug, Clone, Default)]
struct Kept(Arc<Mutex<Vec<SpanData>>>);

impl SpanExporter for Kept {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        self.0.lock().unwrap().extend(batch);
        Ok(())
    }
}

impl Kept {
    #[track_caller]
    fn only(&self, name: &str) -> SpanData {
        let all = self.0.lock().unwrap();
        let found: Vec<_> = all.iter().filter(|span| span.name == name).collect();
        assert_eq!(found.len(), 1, "{name} in {all:#?}");
        found[0].clone()
    }
}

#[subscription(subject = "invoice.raised")]
async fn invoices() {
    tracing::info_span!("of the handler").in_scope(|| {});
}

#[responder(subject = "price.of", group = "pricing")]
async fn price(asked: &Event) -> Event {
    asked.to_builder().without_extension("traceparent").without_extension("tracestate").build().unwrap()
}

fn event() -> Event {
    Event::builder("x", source!("urn:example:test"), "com.example.test.v1").build().unwrap()
}

/// Publishes in a span `publishing` and asks in a span `asking`; what OpenTelemetry has then, and the reply.
async fn spans(propagator: OpenTelemetry) -> (Kept, Event) {
    let kept = Kept::default();
    let provider = SdkTracerProvider::builder().with_simple_exporter(kept.clone()).build();
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("test"));
    let _listening = tracing::subscriber::set_default(tracing_subscriber::registry().with(layer));

    let bus = Bus::builder(Memory::new(), source!("urn:example:test")).trace_context(propagator);
    let bus = bus.subscribe(invoices).subscribe(price).build().unwrap().start().await.unwrap();
    let publishing = async { bus.publish(&subject!("invoice.raised"), event()).await.unwrap() };
    publishing.instrument(tracing::info_span!("publishing")).await;
    bus.idle().await;
    let asking = async { bus.request(&subject!("price.of"), event()).within(Duration::from_secs(1)).await.unwrap() };
    let reply = asking.instrument(tracing::info_span!("asking")).await;
    bus.stop(Duration::from_secs(1)).await;
    provider.force_flush().unwrap();
    (kept, reply)
}

/// The span of the delivery that was published there.
#[track_caller]
fn delivery(kept: &Kept, subscription: &str) -> SpanData {
    let all = kept.0.lock().unwrap();
    let is_its = |span: &&SpanData| {
        span.name == "handle"
            && span
                .attributes
                .iter()
                .any(|pair| pair.key.as_str() == "subscription" && pair.value.as_str() == subscription)
    };
    let found: Vec<_> = all.iter().filter(is_its).collect();
    assert_eq!(found.len(), 1, "{all:#?}");
    found[0].clone()
}

#[tokio::test(start_paused = true)]
async fn a_linked_delivery_begins_its_own_trace_with_a_link_to_where_its_event_was_made() {
    let (kept, reply) = spans(OpenTelemetry::linked()).await;
    for (begun, subscription) in [("publishing", "invoices"), ("asking", "price")] {
        let (made, handled) = (kept.only(begun), delivery(&kept, subscription));
        let [link] = &handled.links.links[..] else { panic!("{handled:#?}") };
        assert_eq!(link.span_context.trace_id(), made.span_context.trace_id());
        assert_eq!(link.span_context.span_id(), made.span_context.span_id());
        assert!(link.span_context.is_remote());
        assert_ne!(handled.span_context.trace_id(), made.span_context.trace_id());
        assert_eq!((handled.parent_span_id, handled.span_kind), (SpanId::INVALID, SpanKind::Consumer));
    }
    let inner = kept.only("of the handler");
    assert_eq!(inner.parent_span_id, delivery(&kept, "invoices").span_context.span_id(), "the handler runs inside");
    // The reply was made in the responder's span.
    let context = tramline::trace::TraceContext::of(&reply).unwrap();
    assert_eq!(context.span_id(), delivery(&kept, "price").span_context.span_id().to_string());
}

#[tokio::test(start_paused = true)]
async fn a_delivery_that_is_a_child_goes_on_with_the_trace_of_its_event() {
    let (kept, reply) = spans(OpenTelemetry::child()).await;
    for (begun, subscription) in [("publishing", "invoices"), ("asking", "price")] {
        let (made, handled) = (kept.only(begun), delivery(&kept, subscription));
        assert_eq!(handled.span_context.trace_id(), made.span_context.trace_id());
        assert_eq!(handled.parent_span_id, made.span_context.span_id());
        assert!(handled.links.links.is_empty());
    }
    let context = tramline::trace::TraceContext::of(&reply).unwrap();
    assert_eq!(context.trace_id(), kept.only("asking").span_context.trace_id().to_string(), "one trace for all of it");
}
