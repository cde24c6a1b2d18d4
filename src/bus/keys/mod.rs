//! Keyed concurrency: different keys side by side, one key strictly in order (contract G2, G3).
//!
//! Readers of a keyed subscription take their turns at an [`Intake`], which hands out a delivery only if its key is free.
//! What is taken while its key is at work is parked in the key's lane. A reader that is done with a delivery concludes
//! it: the next one of its lane is handed out first, or, if the message is to come again, the lane waits for it.

mod away;
mod intake;
mod key;
mod lanes;

use std::{
    num::NonZeroU32,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crossbeam_utils::CachePadded;
use tokio::time::Instant;

use self::{
    away::Away,
    key::Key,
    lanes::{ALLOWANCE, Lanes},
};
pub(super) use self::{away::Bequest, intake::Intake};
use super::{
    desk::Desk,
    guard::{Guarded, caught},
    reader::ReaderEnd,
    seen::Place,
    tally::Tally,
};
use crate::{
    contract::{Incoming, Message, Settle, SourceId},
    event::Event,
    subject::Subject,
    subscription::{KeyedBy, Settings},
};

/// The keys of one source, which all its readers share.
///
/// The lock is taken inside of the stream's own (see [`Feed`](super::feed::Feed)), so that deliveries come into their
/// lanes in the order in which the source gave them; never the other way round.
pub(super) struct Keys<S> {
    by: KeyedBy,
    /// How many deliveries may be parked (contract G3).
    room: usize,
    desk: Arc<Desk>,
    bequest: Arc<Bequest>,
    activation: u64,
    lanes: Mutex<Lanes<S>>,
    /// Counts what is parked; written under the lock, and by who gives back after it has closed.
    pub(super) tally: Arc<CachePadded<Tally>>,
}

impl<S: Settle> Keys<S> {
    /// The keys of a new source; none for a subscription that is not keyed.
    pub(super) fn new(
        settings: &Settings,
        desk: &Arc<Desk>,
        bequest: &Arc<Bequest>,
        id: SourceId,
    ) -> Option<Arc<Self>> {
        let by = settings.keyed.clone()?;
        let mut lanes = Lanes::new(settings.bound.get(), settings.concurrency.get());
        lanes.inherit(bequest.take(id.activation), Instant::now());
        Some(Arc::new(Self {
            by,
            // One at least: with a bound of 1 it is in the hand of the reader that took it, and waits with it.
            room: settings.room_for_keys().max(1),
            desk: desk.clone(),
            bequest: bequest.clone(),
            activation: id.activation,
            lanes: Mutex::new(lanes),
            tally: Arc::default(),
        }))
    }

    /// A reader has done with a delivery; `again` says after which delay the message is to be expected again, if it is.
    #[inline(never)]
    pub(super) fn conclude(&self, subject: &Subject, event: &Event, attempt: NonZeroU32, again: Option<Duration>) {
        let Some(key) = Key::of(&self.by, subject, event) else { return };
        let now = Instant::now();
        let away = again.map(|delay| Away::new(subject, event, attempt, now + delay + ALLOWANCE));
        let mut lanes = self.lanes();
        if !lanes.is_closed() {
            lanes.conclude(&key, away, now);
        } else if let Some(away) = away {
            self.bequest.leave_first(self.activation, key, away);
        }
    }

    /// The next parked delivery whose key is free, for readers that take nothing more from the source: what is parked
    /// was taken, and is handled while there is time (contract Y7, L6).
    #[inline(never)]
    pub(super) fn next_parked(&self) -> Option<Incoming<S>> {
        if self.desk.cut_off.is_cancelled() {
            return None;
        }
        self.next_ready(&mut self.lanes())
    }

    /// Gives back what no handler was entered for. Called when the readers have ended, or are cut off.
    pub(super) async fn give_back(self: Arc<Self>) -> ReaderEnd {
        let parked = {
            let mut lanes = self.lanes();
            let (parked, owed) = lanes.close(self.desk.at_least_once, Instant::now() + ALLOWANCE);
            self.bequest.leave(self.activation, owed);
            for _ in &parked {
                self.tally.parked.take_one();
                self.tally.taken.add_one();
            }
            parked
        };
        for Incoming { message, attempt, settler } in parked {
            // What is no event is not parked.
            let Ok(Message { subject, event }) = message else { continue };
            let place = Place { subject: &subject, event: Some(&event), attempt, seen: None };
            let settling = self.desk.settle(&self.tally, Guarded::CutOff, attempt, &place, settler);
            if caught(settling).await.is_err() {
                self.tally.refused.add_one();
            }
        }
        self.tally.rest();
        self.desk.idle.look();
        ReaderEnd::Closed
    }

    /// Takes a delivery in: gives it back if it is to be handled now, else parks it.
    fn sort(&self, incoming: Incoming<S>) -> Option<Incoming<S>> {
        // What is no event has no key.
        let key =
            incoming.message.as_ref().ok().and_then(|Message { subject, event, .. }| Key::of(&self.by, subject, event));
        let Some(key) = key else { return Some(incoming) };
        let mut lanes = self.lanes();
        if lanes.is_closed() {
            // Its reader was late; the handler is cut off.
            return Some(incoming);
        }
        let sorted = lanes.sort(key, incoming);
        if sorted.is_none() {
            self.tally.parked.add_one();
        }
        sorted
    }

    fn next_ready(&self, lanes: &mut Lanes<S>) -> Option<Incoming<S>> {
        let incoming = lanes.next_ready()?;
        self.tally.parked.take_one();
        Some(incoming)
    }

    /// Lets keys go on that have waited long enough.
    fn look(&self, lanes: &mut Lanes<S>) {
        for Away { subject, event, .. } in lanes.look(Instant::now()) {
            let Some(suppressed) = self.desk.passed_over.admit() else { continue };
            tracing::warn!(
                name: "pass_over",
                target: "tramline",
                subscription = %self.desk.name,
                %subject,
                event.id = event.id(),
                suppressed,
                "a declined message did not come back in time: its key goes on without it"
            );
        }
    }

    fn lanes(&self) -> MutexGuard<'_, Lanes<S>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
