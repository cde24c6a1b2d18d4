//! What a test kit sees of each delivery, and where it steps in: before its handler, and after it.

use std::{
    num::NonZeroU32,
    panic::{AssertUnwindSafe, catch_unwind},
};

use super::{
    desk::Handled,
    guard::{Guarded, describe},
};
use crate::{
    event::Event,
    subject::{Name, Subject},
    subscription::Judgement,
};

/// Watches the deliveries of one bus.
pub(crate) trait Watcher: Send + Sync {
    /// What it says is said in the handler's place, which is then not called. A panic of it is the handler's.
    fn before(&self, arrival: &Arrival<'_>) -> Option<Judgement>;

    /// Told what it came to, before it is settled.
    fn after(&self, arrival: &Arrival<'_>, came_to: CameTo<'_>);
}

/// What a watcher does in the handler's place, if anything.
#[cold]
pub(super) fn step_in(watcher: &dyn Watcher, arrival: &Arrival<'_>) -> Option<Handled> {
    match catch_unwind(AssertUnwindSafe(|| watcher.before(arrival))) {
        Ok(said) => said.map(|judgement| Guarded::Returned(Ok(judgement))),
        Err(payload) => Some(Guarded::Panicked(describe(payload))),
    }
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
