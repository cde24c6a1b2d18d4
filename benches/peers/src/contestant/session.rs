//! The session of tramline's in-memory backend, read as a bus reads it, but without one.

use std::num::NonZeroUsize;

use futures_util::StreamExt;
use tramline::{
    Event, Group, Name, Pattern, Subject,
    backend::memory::{Memory, MemorySession, MemorySourceControl},
    contract::{AtMostOnceSpec, Backend, DeliversAtMostOnce, FailsWhenFull, Overflow, Source, SourceId},
};

use super::{Publishes, event, turn};
use crate::{
    job::{BOUND, Job, Load, PATTERNS, Shape, bystander, pattern, subjects},
    work,
};

const SUBJECT: &str = "order.placed";

pub(super) struct Session {
    session: MemorySession,
    job: Job,
    event: Event,
    subjects: Vec<Subject>,
    /// Kept, as a bus keeps them.
    _controls: Vec<MemorySourceControl>,
}

impl Session {
    pub(super) async fn start(job: Job) -> Self {
        let session = Memory::new().open().await.expect("it opens");
        let mut controls = Vec::new();
        for (pattern, group) in wanted(job.shape) {
            controls.push(subscribe(&session, &pattern, group, job.decodes()).await);
        }
        let subjects = match job.shape {
            Shape::Patterns => subjects().collect(),
            _ => vec![SUBJECT.to_owned()],
        };
        let subjects = subjects.into_iter().map(|subject| Subject::new(subject).expect("it is valid")).collect();
        Self { session, job, event: event(job.body()), subjects, _controls: controls }
    }
}

impl Publishes for Session {
    async fn publish(&self, index: u64) {
        let event = if self.job.load == Load::Value { event(work::encoded()) } else { self.event.clone() };
        let subject = &self.subjects[turn(index, self.subjects.len())];
        if let Err(event) = Memory::publish_at_once(&self.session, subject, event) {
            Memory::publish_when_room(&self.session, subject, event, None).await.expect("it is open");
        }
    }
}

/// The patterns to subscribe to, each with its group.
fn wanted(shape: Shape) -> Vec<(String, Option<Group>)> {
    let subject = || SUBJECT.to_owned();
    match shape {
        Shape::FanOut(readers) => (0..readers).map(|_| (subject(), None)).collect(),
        Shape::Competing(readers) => {
            (0..readers).map(|_| (subject(), Some(Group::new("orders").expect("it is valid")))).collect()
        }
        Shape::Patterns => (0..PATTERNS).map(|index| (pattern(index), None)).collect(),
        Shape::Among(others) => {
            let others = (0..others).map(|index| (bystander(index), None));
            others.chain([(subject(), None)]).collect()
        }
        Shape::Acked | Shape::DeclinedOnce => unreachable!("it is not asked for {shape:?}"),
    }
}

async fn subscribe(session: &MemorySession, pattern: &str, group: Option<Group>, decode: bool) -> MemorySourceControl {
    let bound = NonZeroUsize::new(BOUND).expect("it is not zero");
    let (name, pattern) = (Name::new("reader").expect("it is valid"), Pattern::new(pattern).expect("it is valid"));
    let spec = AtMostOnceSpec::new(SourceId::new(1, 0, 0), name, pattern, bound).group(group).overflow(Overflow::Fail);
    let (mut deliveries, control) = Memory::at_most_once(session, spec).await.expect("it subscribes").split();
    tokio::spawn(async move {
        while let Some(incoming) = deliveries.next().await {
            let message = incoming.message.expect("it is well formed");
            work::received(decode, message.event.data().expect("an order").bytes());
        }
    });
    control
}
