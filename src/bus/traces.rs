//! The traces that events come from, where the bus was told how to carry them.

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use tracing::Span;

use super::guard::describe;
use crate::{
    event::Event,
    trace::{Propagator, TraceContext},
};

/// How traces are carried, if they are.
#[derive(Clone, Default)]
pub(super) struct Traces(Option<Arc<dyn Propagator>>);

impl Traces {
    pub(super) fn new(propagator: impl Propagator) -> Self {
        Self(Some(Arc::new(propagator)))
    }

    /// Whether nobody has said how to carry them.
    #[inline]
    pub(super) fn are_left_alone(&self) -> bool {
        self.0.is_none()
    }

    /// The event, which says from now on where it was made.
    pub(super) fn set_on(&self, event: Event) -> Event {
        match self.0.as_ref().and_then(|propagator| propagator.current()) {
            Some(context) => context.set_on(event),
            None => event,
        }
    }

    /// The same of a reply, in a task that no panic may end: the error is the event, and the text of one.
    pub(super) fn try_set_on(&self, event: Event) -> Result<Event, (Event, String)> {
        if self.are_left_alone() {
            return Ok(event);
        }
        let kept = event.clone();
        catch_unwind(AssertUnwindSafe(|| self.set_on(event))).map_err(|payload| (kept, describe(payload)))
    }

    /// Links a delivery's span to where its event was made. The error is the text of a panic.
    pub(super) fn link(&self, span: &Span, event: &Event) -> Result<(), String> {
        let Some((propagator, from)) = self.0.as_ref().zip(TraceContext::of(event)) else { return Ok(()) };
        catch_unwind(AssertUnwindSafe(|| propagator.link(span, &from))).map_err(describe)
    }
}

impl fmt::Debug for Traces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Traces").field(&self.0.is_some()).finish()
    }
}
