//! Who competes: a file for each way to bring a message from here to there.

mod async_channel;
mod broadcast;
mod bus;
mod closures;
mod mpsc;
mod ruststream;
mod session;
mod subscriptions;

use std::future::Future;

use tramline::{Event, event::Timestamp, source};

use crate::{
    job::{Job, Shape},
    work::EVENT_TYPE,
};

/// A way to bring a message from here to there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Contestant {
    /// A bounded `tokio::sync::mpsc`; for several readers one each.
    Mpsc,
    /// A `tokio::sync::broadcast`, which overwrites what a receiver has not read.
    Broadcast,
    /// A bounded `async_channel`; for several readers one each, or one for all.
    AsyncChannel,
    /// The in-memory broker of ruststream, with its runtime.
    Ruststream,
    /// The session of tramline's in-memory backend, without a bus.
    Session,
    /// tramline's bus with subscriptions made at run time; the closure decodes.
    Closures,
    /// tramline's bus with `#[subscription]`, decoding a `Payload`.
    Subscriptions,
}

impl Contestant {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Mpsc,
        Self::Broadcast,
        Self::AsyncChannel,
        Self::Ruststream,
        Self::Session,
        Self::Closures,
        Self::Subscriptions,
    ];

    /// As the table calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mpsc => "tokio mpsc",
            Self::Broadcast => "tokio broadcast",
            Self::AsyncChannel => "async-channel",
            Self::Ruststream => "ruststream",
            Self::Session => "tramline, session alone",
            Self::Closures => "tramline, closures",
            Self::Subscriptions => "tramline",
        }
    }

    /// Why it is not asked for a job, where it cannot do it or there would be nothing new to see.
    pub fn cannot(self, job: Job) -> Option<&'static str> {
        let is_channel = matches!(self, Self::Mpsc | Self::Broadcast | Self::AsyncChannel);
        match (self, job.shape) {
            (Self::Subscriptions, Shape::FanOut(2..)) if !job.decodes() => Some("its handlers decode: see closures"),
            (_, Shape::FanOut(_)) => None,
            (Self::Mpsc, Shape::Competing(_)) => Some("has one receiver"),
            (Self::Broadcast, Shape::Competing(_)) => Some("hands every message to every receiver"),
            (_, Shape::Competing(_)) => None,
            (_, Shape::Patterns | Shape::Among(_)) if is_channel => Some("has no subjects"),
            (Self::Subscriptions, Shape::Patterns | Shape::Among(_)) => {
                Some("nobody writes a thousand of them: see closures")
            }
            (_, Shape::Acked | Shape::DeclinedOnce) if is_channel => Some("nothing can be acknowledged or declined"),
            (Self::Session, Shape::Acked | Shape::DeclinedOnce) => Some("settling is the work of a bus"),
            _ => None,
        }
    }

    /// Starts it for a job, and has it driven. In a task of a runtime.
    pub async fn driven<D: Drives>(self, job: Job, driver: D) -> D::Output {
        match self {
            Self::Mpsc => driver.drive(mpsc::Mpsc::start(job)).await,
            Self::Broadcast => driver.drive(broadcast::Broadcast::start(job)).await,
            Self::AsyncChannel => driver.drive(async_channel::AsyncChannel::start(job)).await,
            Self::Ruststream => driver.drive(ruststream::Ruststream::start(job).await).await,
            Self::Session => driver.drive(session::Session::start(job).await).await,
            Self::Closures => driver.drive(closures::start(job).await).await,
            Self::Subscriptions => driver.drive(subscriptions::start(job).await).await,
        }
    }
}

/// Somebody who publishes, to readers that run.
pub trait Publishes: Send + Sync + 'static {
    /// The next message of a round, when there is room for it.
    fn publish(&self, index: u64) -> impl Future<Output = ()> + Send;
}

/// What is done with a contestant. A trait, as [`Publishes`] is none for objects.
pub trait Drives: Send {
    /// What it comes to.
    type Output;

    /// Does it.
    fn drive<P: Publishes>(self, publisher: P) -> impl Future<Output = Self::Output> + Send;
}

/// The event that tramline carries, with this data.
pub(crate) fn event(json: Vec<u8>) -> Event {
    let builder = Event::builder("1", source!("urn:example:bench"), EVENT_TYPE).time(Timestamp::now());
    builder.json(json).build().expect("it is valid")
}

/// Whose turn it is, of so many.
fn turn(index: u64, of: usize) -> usize {
    usize::try_from(index % of as u64).unwrap_or_default()
}
