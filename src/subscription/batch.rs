//! Sending many events without waiting for each, and what became of them.

use std::{
    error::Error,
    fmt,
    future::{Future, poll_fn},
    pin::Pin,
    task::Poll,
};

use futures_util::{StreamExt, stream::FuturesUnordered};
use tokio::task::coop::unconstrained;
use tokio_util::sync::ReusableBoxFuture;

use crate::{contract::PublishError, event::Event, subject::Subject};

/// How many publishes of one batch are under way at most.
pub(crate) const WINDOW: usize = 256;

type Outcome = Result<(), PublishError>;

/// An event and the subject that it is for, as a batch is made of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an event with its subject",
    label = "asks for pairs",
    note = "give each event its subject, as in `events.into_iter().map(|event| (&subject, event))`"
)]
pub trait Addressed {
    /// The two of them.
    fn addressed(self) -> (Subject, Event);
}

impl Addressed for (Subject, Event) {
    fn addressed(self) -> (Subject, Event) {
        self
    }
}

impl Addressed for (&Subject, Event) {
    fn addressed(self) -> (Subject, Event) {
        (self.0.clone(), self.1)
    }
}

/// What became of each event of a batch.
#[derive(Debug)]
#[must_use = "an event of the batch may not have been published"]
#[non_exhaustive]
pub struct BatchReport {
    /// One outcome for each event, in the order in which they were given.
    pub outcomes: Vec<Outcome>,
}

impl BatchReport {
    /// Whether every event was published.
    pub fn is_ok(&self) -> bool {
        self.outcomes.iter().all(Result::is_ok)
    }

    /// The events that were not published, by their place in the batch, which begins at 0, and why.
    ///
    /// What an error gives back, such as the event of [`PublishError::QueueFull`], can be had from
    /// [`outcomes`](Self::outcomes).
    pub fn failures(&self) -> impl Iterator<Item = (usize, &PublishError)> {
        self.outcomes.iter().enumerate().filter_map(|(index, outcome)| Some((index, outcome.as_ref().err()?)))
    }

    /// This report as an error, unless every event was published.
    ///
    /// # Errors
    /// An event was not published.
    pub fn into_result(self) -> Result<(), Self> {
        if self.is_ok() { Ok(()) } else { Err(self) }
    }
}

impl fmt::Display for BatchReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.outcomes.len();
        match self.failures().next() {
            None => write!(f, "all {all} events of the batch were published"),
            Some((index, error)) => {
                let failed = self.failures().count();
                write!(
                    f,
                    "{failed} of {all} events of the batch were not published; the first is event {index}: {error}"
                )
            }
        }
    }
}

impl Error for BatchReport {
    /// What the first event failed of.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.failures().next().and_then(|(_, error)| error.source())
    }
}

/// Sends each event in turn, and goes on to the next while up to so many are not confirmed.
pub(crate) async fn publish_all<F: Future<Output = Outcome> + Send>(
    window: usize,
    events: impl Iterator<Item = (Subject, Event)>,
    mut publish: impl FnMut(Subject, Event) -> F,
) -> BatchReport {
    let mut outcomes = Vec::with_capacity(events.size_hint().0);
    let mut under_way = FuturesUnordered::new();
    let mut spare = None;
    for (subject, event) in events {
        // A publisher in a loop gives its consumers a turn.
        tokio::task::consume_budget().await;
        while under_way.len() >= window {
            if let Some((index, outcome)) = under_way.next().await {
                outcomes[index] = Some(outcome);
            }
        }
        let mut this = slot(spare.take(), publish(subject, event));
        // Polled here once, because that is what sends it, and the order is to be ours: unconstrained, since one that gives
        // way before it sends would be overtaken. One that is confirmed at once, as in memory, costs nothing more.
        match poll_fn(|cx| Poll::Ready(Pin::new(&mut unconstrained(&mut this)).poll(cx))).await {
            Poll::Ready(outcome) => {
                outcomes.push(Some(outcome));
                spare = Some(this);
            }
            Poll::Pending => {
                let index = outcomes.len();
                outcomes.push(None);
                under_way.push(async move { (index, this.await) });
            }
        }
    }
    while let Some((index, outcome)) = under_way.next().await {
        outcomes[index] = Some(outcome);
    }
    let outcomes = outcomes.into_iter().map(|outcome| outcome.expect("all of them have ended"));
    BatchReport { outcomes: outcomes.collect() }
}

/// The future in the place of one that has ended, if there is one.
fn slot<'f, F: Future<Output = Outcome> + Send + 'f>(
    spare: Option<ReusableBoxFuture<'f, Outcome>>,
    future: F,
) -> ReusableBoxFuture<'f, Outcome> {
    let Some(mut spare) = spare else { return ReusableBoxFuture::new(future) };
    spare.set(future);
    spare
}
