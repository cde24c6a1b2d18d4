//! The traces that events come from, where the bus was told how to carry them.

use std::{fmt, sync::Arc};

use tracing::Span;

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

    /// Links a delivery's span to where its event was made.
    pub(super) fn link(&self, span: &Span, event: &Event) {
        let Some(propagator) = &self.0 else { return };
        if let Some(from) = TraceContext::of(event) {
            propagator.link(span, &from);
        }
    }
}

impl fmt::Debug for Traces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Traces").field(&self.0.is_some()).finish()
    }
}
