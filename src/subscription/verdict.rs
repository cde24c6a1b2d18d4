//! What a handler's return value says about its message.

use std::fmt;

use super::{AtMostOnce, Mode};
use crate::{
    contract::{Outcome, Settlement},
    event::Event,
};

/// A return value that says what became of the message in mode `M` (contract T1, T3).
///
/// At most once, `()` is enough. At least once it is [`Ack`], [`Nack`], or what [`Delivery`](super::Delivery)'s `ack`,
/// `nack` and `nack_after` give. In both modes also a `Result` of one of them, whose error is counted, logged, and counts
/// as a decline.
#[diagnostic::on_unimplemented(
    message = "an `{M}` handler cannot return `{Self}`",
    label = "this does not say what became of the message",
    note = "return `Ack`, `Nack`, what `delivery.ack()` gives, or a `Result` of one of them such as `Ok(Ack)`",
    note = "an `AtMostOnce` handler may return nothing, too"
)]
pub trait Verdict<M: Mode> {
    /// What the value says.
    fn judge(self) -> Judgement;
}

/// What a handler said: the settlement, and the error behind it if there was one; of a responder, the reply.
#[derive(Debug)]
#[non_exhaustive]
pub struct Judgement {
    /// What the bus shall ask the backend for.
    pub(crate) settlement: Settlement,
    /// Whether the handler itself named the delay, which then overrides the backoff (contract T12).
    pub(crate) own_delay: bool,
    /// What it said besides.
    pub(crate) word: Word,
}

/// What a handler said besides the outcome.
#[derive(Debug)]
pub(crate) enum Word {
    /// Nothing.
    Plain,
    /// It failed; its error, in words.
    Failed(String),
    /// A responder's reply.
    Reply(Event),
    /// A responder's reply could not be made; why, in words.
    BadReply(Box<str>),
}

impl Judgement {
    /// An outcome without an error. [`Outcome::Returned`] is the bus's own word; a handler that says it has not accepted the
    /// message.
    #[inline]
    pub const fn new(outcome: Outcome) -> Self {
        let outcome = match outcome {
            Outcome::Returned => Outcome::Silent,
            Outcome::Unheard => Outcome::Nacked,
            said => said,
        };
        Self { settlement: Settlement::new(outcome), own_delay: false, word: Word::Plain }
    }

    /// A handler that failed with this error: the message is not accepted (T2, T3), and a request gets a failure reply
    /// (R6).
    pub fn failed(error: &dyn fmt::Display) -> Self {
        Self { word: Word::Failed(error.to_string()), ..Self::new(Outcome::Silent) }
    }

    /// A responder that replies with this event (contract R6). Said by another handler, it accepts the message, and nobody
    /// gets the event.
    pub fn reply(event: Event) -> Self {
        Self { word: Word::Reply(event), ..Self::new(Outcome::Acked) }
    }

    /// A responder whose reply cannot be sent, for this reason: a request gets a failure reply (contract R6).
    pub fn bad_reply(reason: &dyn fmt::Display) -> Self {
        Self { word: Word::BadReply(reason.to_string().into()), ..Self::new(Outcome::Acked) }
    }
}

/// The message is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ack;

/// The message is declined: it comes back while attempts remain, after the backoff if there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nack;

/// What became of a delivery, as said through the delivery itself.
#[derive(Debug)]
#[must_use = "return it from the handler: the bus settles the message with it"]
pub struct Settled(pub(super) Judgement);

impl Verdict<AtMostOnce> for () {
    #[inline]
    fn judge(self) -> Judgement {
        Judgement::new(Outcome::Acked)
    }
}

impl<M: Mode> Verdict<M> for Ack {
    #[inline]
    fn judge(self) -> Judgement {
        Judgement::new(Outcome::Acked)
    }
}

impl<M: Mode> Verdict<M> for Nack {
    #[inline]
    fn judge(self) -> Judgement {
        Judgement::new(Outcome::Nacked)
    }
}

impl<M: Mode> Verdict<M> for Settled {
    #[inline]
    fn judge(self) -> Judgement {
        self.0
    }
}

impl<M: Mode, V: Verdict<M>, E: fmt::Display> Verdict<M> for Result<V, E> {
    #[inline]
    fn judge(self) -> Judgement {
        match self {
            Ok(verdict) => verdict.judge(),
            Err(error) => Judgement::failed(&error),
        }
    }
}
