//! What a contestant is asked to do: who gets a message, and what it carries.

use std::sync::Arc;

use bytes::Bytes;

use crate::work;

/// What each queue holds at most.
pub const BOUND: usize = 256;
/// Subscriptions with patterns.
pub const PATTERNS: usize = 1_000;
/// The subjects that each of those selects.
pub const SUBJECTS_OF_EACH: usize = 10;

/// Who gets a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// Each of so many.
    FanOut(usize),
    /// One of so many.
    Competing(usize),
    /// One of [`PATTERNS`] subscriptions, on subjects that take turns.
    Patterns,
    /// One, on a bus that has so many others.
    Among(usize),
    /// One, which acknowledges it.
    Acked,
    /// One, which declines each message once, and acknowledges it when it comes back.
    DeclinedOnce,
}

/// What a message carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Load {
    /// Bytes that are there already, so many, and not read.
    Bare(usize),
    /// Bytes that are there already, so many, decoded where they are handled.
    Decoded(usize),
    /// A value, encoded where it is published and decoded where it is handled.
    Value,
}

/// A shape with a load.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Job {
    /// Who gets a message.
    pub shape: Shape,
    /// What it carries.
    pub load: Load,
}

impl Job {
    /// How often a message is counted as handled.
    pub fn deliveries(self) -> u64 {
        match self.shape {
            Shape::FanOut(readers) => readers as u64,
            _ => 1,
        }
    }

    /// Whether handlers decode.
    pub fn decodes(self) -> bool {
        !matches!(self.load, Load::Bare(_))
    }

    /// What is published where it is not encoded each time.
    pub fn body(self) -> Vec<u8> {
        match self.load {
            Load::Bare(bytes) | Load::Decoded(bytes) => work::body(bytes),
            Load::Value => work::encoded(),
        }
    }
}

/// The pattern of the subscription with this index.
pub fn pattern(index: usize) -> String {
    format!("region{index}.order.*")
}

/// All subjects that the patterns select, in the order in which they take turns: neighbours are of different subscriptions.
pub fn subjects() -> impl Iterator<Item = String> {
    (0..PATTERNS * SUBJECTS_OF_EACH).map(|turn| format!("region{}.order.kind{}", turn % PATTERNS, turn / PATTERNS))
}

/// The subject of a subscription that gets nothing, with this index.
pub fn bystander(index: usize) -> String {
    format!("aside{index}.order")
}

/// What a channel carries: bytes behind one `Arc`.
pub struct Message {
    data: Bytes,
}

/// What the channels publish.
pub struct Messages {
    ready: Option<Arc<Message>>,
}

impl Messages {
    /// As the job asks.
    pub fn new(job: Job) -> Self {
        Self { ready: (job.load != Load::Value).then(|| Arc::new(Message { data: job.body().into() })) }
    }

    /// The next one.
    pub fn next(&self) -> Arc<Message> {
        match &self.ready {
            Some(ready) => Arc::clone(ready),
            None => Arc::new(Message { data: work::encoded().into() }),
        }
    }
}

impl Message {
    /// What whoever receives it does.
    pub fn received(&self, decode: bool) {
        work::received(decode, &self.data);
    }
}
