//! What a tracer does for a bus.

use tracing::Span;

use super::TraceContext;

/// A tracer, as a bus needs it: where the current trace stands, and how a span is linked to another trace. Given to
/// [`BusBuilder::trace_context`](crate::bus::BusBuilder::trace_context).
///
/// ```
/// use tramline::trace::{Propagator, TraceContext};
///
/// /// Says in the log which trace an event comes from, and begins none.
/// struct Told;
///
/// impl Propagator for Told {
///     fn current(&self) -> Option<TraceContext> {
///         None
///     }
///
///     fn link(&self, span: &tracing::Span, from: &TraceContext) {
///         tracing::debug!(parent: span, trace = from.trace_id(), "this comes from a trace");
///     }
/// }
/// ```
///
/// Neither method may block. A panic of one is the caller's: a publish panics, and a delivery counts as one whose handler
/// panicked, which fails its consumer. A reply goes out without a trace.
pub trait Propagator: Send + Sync + 'static {
    /// Where the trace stands in which this is called; `None` without one. Called once for each event that is published,
    /// asked or replied.
    fn current(&self) -> Option<TraceContext>;

    /// Links a delivery's span, which is not entered yet, to the trace that its event carries. Called where that span is
    /// enabled.
    fn link(&self, span: &Span, from: &TraceContext);
}
