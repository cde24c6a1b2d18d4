//! What a test kit sees of each delivery, and where it steps in: before its handler, and after it.

use std::num::NonZeroU32;

use super::{desk::Handled, guard::Guarded};
use crate::{
    event::Event,
    subject::{Name, Subject},
    subscription::Judgement,
};

/// Watches the deliveries of one bus.
pub(crate) trait Watcher: Send + Sync {
    /// Asked under the handler's guard, so that a panic is the handler's. What it says is said in the handler's place,
    /// which is then not called.
    fn before(&self, arrival: &Arrival<'_>) -> Option<Judgement>;

    /// Told what it came to, before it is settled.
    fn after(&self, arrival: &Arrival<'_>, came_to: CameTo<'_>);
}

/// One delivery.
#[allow(dead_code, reason = "without the feature `testing` nobody watches")]
#[derive(Clone, Copy)]
pub(crate) struct Arrival<'a> {
    pub(crate) subscription: &'a Name,
    pub(crate) subject: &'a Subject,
    pub(crate) event: &'a Event,
    pub(crate) attempt: NonZeroU32,
}

/// What a delivery came to.
#[allow(dead_code, reason = "without the feature `testing` nobody watches")]
pub(crate) enum CameTo<'a> {
    Said(&'a Judgement),
    Rejected(&'a str),
    Panicked(&'a str),
    CutOff,
}

impl<'a> From<&'a Handled> for CameTo<'a> {
    fn from(handled: &'a Handled) -> Self {
        match handled {
            Guarded::Returned(Ok(judgement)) => Self::Said(judgement),
            Guarded::Returned(Err(rejection)) => Self::Rejected(rejection),
            Guarded::Panicked(text) => Self::Panicked(text),
            Guarded::CutOff => Self::CutOff,
        }
    }
}
