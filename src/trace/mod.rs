//! Traces that go on from publisher to handler: W3C trace context in the event.
//!
//! The CloudEvents extension for [distributed tracing](https://github.com/cloudevents/spec/blob/main/cloudevents/extensions/distributed-tracing.md)
//! has two attributes, `traceparent` and `tracestate`, as [W3C Trace Context](https://www.w3.org/TR/trace-context/) writes
//! them. A bus that is given a [`Propagator`] sets them on what it publishes, asks and replies, from the trace in which that
//! happens, and links the span of each delivery to the trace that its event carries. Without one a bus sets nothing, and
//! looks at nothing.
//!
//! With the feature `opentelemetry`, `OpenTelemetry` is a propagator for services whose `tracing` spans go to OpenTelemetry.
//! For another tracer, implement [`Propagator`]; it has two methods.

mod context;
#[cfg(feature = "opentelemetry")]
mod opentelemetry;
mod propagator;

#[cfg(feature = "opentelemetry")]
pub use self::opentelemetry::OpenTelemetry;
pub use self::{
    context::{TraceContext, TraceContextError},
    propagator::Propagator,
};
