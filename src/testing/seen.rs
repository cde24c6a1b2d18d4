//! What was seen: deliveries and publishes, to look at, and in the message of every assertion that fails.

use std::{fmt, num::NonZeroU32, ops::Deref, time::Duration};

use tokio::time::Instant;

use crate::{
    bus::watch::CameTo,
    contract::Outcome,
    event::Event,
    subject::{Name, Subject},
    subscription::Word,
};

/// One delivery to a handler, and what it came to.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TestDelivery {
    /// The subscription.
    pub subscription: Name,
    /// Where it was published.
    pub subject: Subject,
    /// What was delivered.
    pub event: Event,
    /// The number of the attempt, from 1.
    pub attempt: NonZeroU32,
    /// What became of it.
    pub handled: Handled,
    /// When it came to that, in paused time if time is paused.
    pub at: Instant,
}

/// What a handler made of a delivery.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Handled {
    /// It accepted the message; at most once, also by returning nothing.
    Acked,
    /// It declined the message.
    Nacked {
        /// The delay that it asked for itself; without one it is the backoff's, if there is one.
        delay: Option<Duration>,
    },
    /// It returned this error, in words. Also where the test [made it fail](super::TestBus::fail_next).
    Failed(String),
    /// It was not called: this says which of its arguments could not be made, and why.
    Undecodable(String),
    /// It panicked, with this text.
    Panicked(String),
    /// A responder replied with this.
    Replied(Event),
    /// A responder's reply could not be made, for this reason.
    BadReply(String),
    /// It was cancelled at the end of a stop's budget.
    CutOff,
}

impl Handled {
    pub(super) fn new(came_to: &CameTo<'_>) -> Self {
        let judgement = match came_to {
            CameTo::Said(judgement) => judgement,
            CameTo::Rejected(why) => return Self::Undecodable((*why).to_owned()),
            CameTo::Panicked(text) => return Self::Panicked((*text).to_owned()),
            CameTo::CutOff => return Self::CutOff,
        };
        match &judgement.word {
            Word::Failed(error) => Self::Failed(error.clone()),
            Word::Reply(event) => Self::Replied(event.clone()),
            Word::BadReply(why) => Self::BadReply(why.to_string()),
            Word::Plain if judgement.settlement.outcome == Outcome::Acked => Self::Acked,
            Word::Plain => Self::Nacked { delay: judgement.own_delay.then_some(judgement.settlement.delay) },
        }
    }
}

impl fmt::Display for Handled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Acked => f.write_str("acked"),
            Self::Nacked { delay: None } => f.write_str("nacked"),
            Self::Nacked { delay: Some(delay) } => write!(f, "nacked for {delay:?}"),
            Self::Failed(error) => write!(f, "failed: {error}"),
            Self::Undecodable(why) => write!(f, "undecodable: {why}"),
            Self::Panicked(text) => write!(f, "panicked: {text}"),
            Self::Replied(event) => write!(f, "replied with {}", event.event_type()),
            Self::BadReply(why) => write!(f, "replied badly: {why}"),
            Self::CutOff => f.write_str("cut off by a stop"),
        }
    }
}

impl fmt::Display for TestDelivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { subscription, subject, event, attempt, handled, .. } = self;
        write!(f, "{subscription}: {subject}, {} {}, attempt {attempt}: {handled}", event.event_type(), event.id())
    }
}

/// One publish or request, whoever made it: the test, a handler, or anybody else on the bus.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TestPublish {
    /// Where it was published.
    pub subject: Subject,
    /// What was published.
    pub event: Event,
    /// Whether a reply was asked for.
    pub requested: bool,
    /// Why it failed, if it did: the error, in words.
    pub refused: Option<String>,
    /// When that was, in paused time if time is paused. Of a request, when it ended.
    pub at: Instant,
}

impl fmt::Display for TestPublish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { subject, event, requested, refused, .. } = self;
        let what = if *requested { "request" } else { "publish" };
        write!(f, "{what}: {subject}, {} {}", event.event_type(), event.id())?;
        refused.iter().try_for_each(|why| write!(f, ": {why}"))
    }
}

/// What was seen, in order: a slice, a list of lines when printed, and a few assertions that print it when they fail.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen<T>(Vec<T>);

impl<T> Seen<T> {
    pub(super) const fn new(seen: Vec<T>) -> Self {
        Self(seen)
    }
}

impl<T: fmt::Display> Seen<T> {
    /// Asserts that it is so many.
    ///
    /// # Panics
    /// If it is not, with what was seen.
    #[track_caller]
    pub fn assert_count(&self, count: usize) -> &Self {
        assert!(self.len() == count, "there are {} and not {count}:\n{self}", self.len());
        self
    }

    /// The only one.
    ///
    /// # Panics
    /// If there is none or more than one, with what was seen.
    #[track_caller]
    pub fn only(self) -> T {
        self.assert_count(1);
        self.0.into_iter().next().expect("there is one")
    }
}

impl Seen<TestDelivery> {
    /// Asserts that the handlers came to this, in this order.
    ///
    /// # Panics
    /// If they did not, with what was seen.
    #[track_caller]
    pub fn assert_handled(&self, handled: &[Handled]) -> &Self {
        let agrees = self.iter().map(|delivery| &delivery.handled).eq(handled);
        assert!(agrees, "it came to something else than {handled:?}:\n{self}");
        self
    }
}

impl<T> Deref for Seen<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> IntoIterator for Seen<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a Seen<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<T: fmt::Display> fmt::Display for Seen<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("  nothing was seen");
        }
        self.iter().try_for_each(|seen| writeln!(f, "  {seen}"))
    }
}
