//! The propagator for services whose `tracing` spans go to OpenTelemetry.

use std::str::FromStr;

use opentelemetry::{
    Context,
    trace::{SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState},
};
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

use super::{Propagator, TraceContext};

/// Carries the traces of OpenTelemetry, for services whose `tracing` spans go there through the layer of the crate
/// `tracing-opentelemetry`.
///
/// ```
/// use tramline::{Bus, Memory, source, trace::OpenTelemetry};
///
/// let bus = Bus::builder(Memory::new(), source!("urn:example:billing")).trace_context(OpenTelemetry::linked()).build()?;
/// # Ok::<(), tramline::bus::BuildError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct OpenTelemetry {
    is_child: bool,
}

impl OpenTelemetry {
    /// Each delivery begins a trace of its own, or goes on with the one around the consumer, and has a link to the span in
    /// which its event was made. What OpenTelemetry advises for messages: a trace ends, however long its event lies in a
    /// queue and however many subscribe to it.
    pub const fn linked() -> Self {
        Self { is_child: false }
    }

    /// Each delivery goes on with the trace of its event: its span is a child of the one in which the event was made. For
    /// whoever wants to see publisher and handlers in one trace.
    pub const fn child() -> Self {
        Self { is_child: true }
    }
}

impl Propagator for OpenTelemetry {
    fn current(&self) -> Option<TraceContext> {
        let context = Span::current().context();
        let span = context.span().span_context().clone();
        // A span that OpenTelemetry has and `tracing` has not.
        let span = if span.is_valid() { span } else { Context::current().span().span_context().clone() };
        let traceparent = format!("00-{}-{}-{:02x}", span.trace_id(), span.span_id(), span.trace_flags());
        let context = TraceContext::new(traceparent).ok()?;
        // One that cannot be carried is left behind, and the trace goes on.
        Some(context.clone().with_tracestate(span.trace_state().header()).unwrap_or(context))
    }

    fn link(&self, span: &Span, from: &TraceContext) {
        let Some(remote) = remote(from) else { return };
        if self.is_child {
            // Without the layer there is no span to be a child.
            let _ = span.set_parent(Context::new().with_remote_span_context(remote));
        } else {
            span.add_link(remote);
        }
    }
}

fn remote(from: &TraceContext) -> Option<SpanContext> {
    let trace_id = TraceId::from_hex(from.trace_id()).ok()?;
    let span_id = SpanId::from_hex(from.span_id()).ok()?;
    let flags = TraceFlags::new(u8::from_str_radix(from.flags(), 16).ok()?);
    let state = from.tracestate().and_then(|state| TraceState::from_str(state).ok()).unwrap_or_default();
    Some(SpanContext::new(trace_id, span_id, flags, true, state))
}
