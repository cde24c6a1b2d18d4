//! Attributes that are made when somebody first reads them.
//!
//! In memory most events reach their handlers, and are answered, without a look at their `id` and their `time`, and making
//! the two would cost more than all the rest of the event.

use std::{
    sync::OnceLock,
    time::{SystemTime, UNIX_EPOCH},
};

use uuid::Uuid;

use super::Timestamp;

/// A value that was given, or one that is made of a seed when it is first read. From then on it is what it is: all
/// clones of an event share it.
pub(super) enum OnDemand<S: Seed> {
    Given(S::Made),
    Seed(S, OnceLock<S::Made>),
}

/// What a value is made of. What comes of it is valid.
pub(super) trait Seed {
    type Made: Clone + PartialEq;

    fn make(&self) -> Self::Made;
}

/// An `id` that no other event has: a version 7 UUID.
pub(super) struct Fresh;

impl Seed for Fresh {
    type Made = String;

    fn make(&self) -> String {
        Uuid::now_v7().to_string()
    }
}

/// A reading of the clock.
impl Seed for SystemTime {
    type Made = Timestamp;

    fn make(&self) -> Timestamp {
        Timestamp::of_clock((*self).max(UNIX_EPOCH))
    }
}

impl<S: Seed> OnDemand<S> {
    #[inline]
    pub(super) fn get(&self) -> &S::Made {
        match self {
            Self::Given(value) => value,
            Self::Seed(seed, made) => made.get_or_init(|| seed.make()),
        }
    }

    /// What was given, and was perhaps never checked.
    pub(super) fn given(&self) -> Option<&S::Made> {
        match self {
            Self::Given(value) => Some(value),
            Self::Seed(..) => None,
        }
    }
}

impl OnDemand<SystemTime> {
    pub(super) fn now() -> Self {
        Self::Seed(SystemTime::now(), OnceLock::new())
    }
}

/// A copy is of the value, not of its seed.
impl<S: Seed> Clone for OnDemand<S> {
    fn clone(&self) -> Self {
        Self::Given(self.get().clone())
    }
}

impl<S: Seed> PartialEq for OnDemand<S> {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::event::EventBuilder;

    fn fresh() -> EventBuilder {
        EventBuilder::fresh(crate::source!("urn:example:test"), "com.example.test.v1".into(), None)
    }

    #[test]
    fn p2_what_is_made_on_demand_is_the_same_for_everybody_and_in_every_copy() {
        let event = fresh().build().expect("valid");
        let (shared, copy) = (event.clone(), event.to_builder().subject("edited").build().expect("valid"));
        assert_eq!(shared.id(), event.id());
        assert_eq!(copy.id(), event.id());
        assert_eq!(copy.time(), event.time());
        let builder = fresh();
        let (one, other) = (builder.clone().subject("one").build(), builder.build());
        assert_eq!(one.expect("valid").id(), other.expect("valid").id());
    }

    #[test]
    fn q8_no_two_events_are_made_with_one_id() {
        let (one, other) = (fresh().build().expect("valid"), fresh().build().expect("valid"));
        assert_ne!(one.id(), other.id());
        let version = one.id().parse::<Uuid>().expect("a UUID").get_version_num();
        assert_eq!(version, 7);
    }

    #[test]
    fn p2_the_time_is_that_of_the_making_and_not_that_of_the_reading() {
        let event = fresh().build().expect("valid");
        let made = SystemTime::now();
        while SystemTime::now() < made + Duration::from_millis(2) {
            std::hint::spin_loop();
        }
        assert!(event.time().and_then(Timestamp::to_system_time).expect("it has one") <= made);
    }
}
