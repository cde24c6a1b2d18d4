//! A message that was given back and is waited for, and what a failed consumer's lanes leave to the next source.

use std::{
    collections::{HashMap, VecDeque},
    num::NonZeroU32,
    sync::{Mutex, PoisonError},
};

use tokio::time::Instant;

use super::key::Key;
use crate::{event::Event, subject::Subject};

/// A message that is to come before the others of its key, and is not here.
pub(super) struct Away {
    pub(super) subject: Subject,
    pub(super) event: Event,
    /// The attempt that it went away from.
    pub(super) attempt: NonZeroU32,
    /// How long it is waited for.
    pub(super) until: Instant,
}

impl Away {
    pub(super) fn new(subject: &Subject, event: &Event, attempt: NonZeroU32, until: Instant) -> Self {
        Self { subject: subject.clone(), event: event.clone(), attempt, until }
    }

    /// Whether it is this one: an event's identity is `id` and `source` (contract Q8).
    pub(super) fn is(&self, subject: &Subject, event: &Event) -> bool {
        self.event.id() == event.id() && self.event.source() == event.source() && self.subject == *subject
    }
}

/// What the lanes of one source leave to those of the next, so that order holds over a restart of the consumer.
#[derive(Default)]
pub(in crate::bus) struct Bequest(Mutex<Owed>);

#[derive(Default)]
struct Owed {
    activation: u64,
    lanes: HashMap<Key, VecDeque<Away>>,
}

impl Bequest {
    /// Takes what is left, for a source of this activation. An earlier one's is void: its session is closed.
    pub(super) fn take(&self, activation: u64) -> HashMap<Key, VecDeque<Away>> {
        let mut owed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lanes = std::mem::take(&mut owed.lanes);
        let same = owed.activation == activation;
        owed.activation = activation;
        if same { lanes } else { HashMap::new() }
    }

    pub(super) fn leave(&self, activation: u64, lanes: HashMap<Key, VecDeque<Away>>) {
        let mut owed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if owed.activation == activation {
            for (key, mut messages) in lanes {
                owed.lanes.entry(key).or_default().append(&mut messages);
            }
        }
    }

    /// The message of a handler that returned after its lanes had closed: it comes before what waited for it.
    pub(super) fn leave_first(&self, activation: u64, key: Key, away: Away) {
        let mut owed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if owed.activation == activation {
            owed.lanes.entry(key).or_default().push_front(away);
        }
    }
}
