//! One attempt in a handler's hands.

use std::{fmt, marker::PhantomData, num::NonZeroU32, time::Duration};

use super::{
    AtLeastOnce, Delayed, Settled,
    verdict::{Judgement, Word},
};
use crate::{
    contract::{Outcome, Settlement},
    event::Event,
    subject::Subject,
};

/// One attempt at one message, in mode `M`.
///
/// Under at least once it says what became of the message, and saying so consumes it: a second answer cannot be written
/// (contract T1, T4). The answer is a value to return; the bus performs it after the handler has returned.
#[derive(Debug)]
pub struct Delivery<M> {
    subject: Subject,
    event: Event,
    attempt: NonZeroU32,
    longest_delay: Duration,
    mode: PhantomData<fn() -> M>,
}

impl<M> Delivery<M> {
    pub(crate) fn new(subject: Subject, event: Event, attempt: NonZeroU32, longest_delay: Duration) -> Self {
        Self { subject, event, attempt, longest_delay, mode: PhantomData }
    }

    /// The concrete subject (contract S11).
    pub fn subject(&self) -> &Subject {
        &self.subject
    }

    /// The event. Its data is shared and immutable (contract Q7).
    pub fn event(&self) -> &Event {
        &self.event
    }

    /// The backend's number for this attempt, from 1 (contract M4).
    pub fn attempt(&self) -> NonZeroU32 {
        self.attempt
    }
}

impl<R> Delivery<AtLeastOnce<R>> {
    /// The message is done.
    pub fn ack(self) -> Settled {
        Settled(Judgement::new(Outcome::Acked))
    }

    /// The message is declined: it comes back while attempts remain, after the backoff if there is one.
    pub fn nack(self) -> Settled {
        Settled(Judgement::new(Outcome::Nacked))
    }
}

impl Delivery<AtLeastOnce<Delayed>> {
    /// The message is declined and held back for this long, whatever the backoff says (contract T12).
    ///
    /// # Errors
    /// The delay is above the subscription's ceiling, `max_nack_delay` or else `backoff.max`. The error gives the
    /// delivery back, so that it can still be declined.
    pub fn nack_after(self, delay: Duration) -> Result<Settled, DelayTooLong> {
        if delay > self.longest_delay {
            let ceiling = self.longest_delay;
            return Err(DelayTooLong { delivery: self, asked: delay, ceiling });
        }
        let settlement = Settlement::new(Outcome::Nacked).after(delay);
        Ok(Settled(Judgement { settlement, own_delay: true, word: Word::Plain }))
    }
}

/// A delay above the subscription's ceiling (contract T12).
#[derive(Debug)]
#[non_exhaustive]
pub struct DelayTooLong {
    /// The delivery, to be declined otherwise.
    pub delivery: Delivery<AtLeastOnce<Delayed>>,
    /// The delay that was asked for.
    pub asked: Duration,
    /// The longest that the subscription allows.
    pub ceiling: Duration,
}

impl fmt::Display for DelayTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { asked, ceiling, .. } = self;
        write!(f, "a delay of {asked:?} is above the subscription's ceiling of {ceiling:?}: raise `max_nack_delay`")
    }
}

impl std::error::Error for DelayTooLong {}
