//! A publisher that runs beside what a row does.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
};

use tokio::task::yield_now;
use tokio_util::task::AbortOnDropHandle;

use super::{Failure, Result, Timing, seen::Seen};
use crate::{
    contract::{PublishError, Session},
    event::Event,
    subject::Subject,
};

/// A publisher that runs beside what a row does, on a task of its own, which ends with it.
#[must_use = "a flood ends when it is dropped"]
pub struct Flood {
    shared: Arc<Shared>,
    task: AbortOnDropHandle<Option<PublishError>>,
    timing: Timing,
    seen: Seen,
}

#[derive(Default)]
struct Shared {
    begun: AtomicU64,
    full: AtomicU64,
    stops: AtomicBool,
}

impl Flood {
    /// Publishes the events that this makes of the numbers from 0 on, `count` of them or until it fails for another
    /// reason than a full queue.
    pub(super) fn begin<S: Session>(
        (session, subject): (Arc<S>, Subject),
        event: impl Fn(usize) -> Event + Send + 'static,
        count: usize,
        (timing, seen): (Timing, Seen),
    ) -> Self {
        let shared = Arc::new(Shared::default());
        let counts = Arc::clone(&shared);
        let task = tokio::spawn(async move {
            for number in 0..count {
                let last = counts.stops.load(SeqCst);
                counts.begun.fetch_add(1, SeqCst);
                match session.publish(&subject, event(number)).await {
                    Ok(()) => {}
                    Err(PublishError::QueueFull { .. }) => {
                        counts.full.fetch_add(1, SeqCst);
                    }
                    Err(error) => return Some(error),
                }
                if last {
                    break;
                }
                // Not in step with anything, also where all tasks are on one thread.
                for _ in 0..number % 3 {
                    yield_now().await;
                }
            }
            None
        });
        Self { shared, task: AbortOnDropHandle::new(task), timing, seen }
    }

    /// How many publishes have begun so far.
    pub fn begun(&self) -> u64 {
        self.shared.begun.load(SeqCst)
    }

    /// How many have been told so far that a queue is full.
    pub fn told_full(&self) -> u64 {
        self.shared.full.load(SeqCst)
    }

    /// Publishes once more, which begins after this, and then no more.
    pub fn stop(&self) {
        self.shared.stops.store(true, SeqCst);
    }

    /// Waits for its end, and gives what ended it other than a full queue, if anything did.
    ///
    /// # Errors
    /// It does not end within the fixture's patience, or it panicked.
    pub async fn ended(self) -> Result<Option<PublishError>> {
        let patience = self.timing.patience;
        let Ok(ended) = tokio::time::timeout(patience, self.task).await else {
            return Err(Failure::seen(format!("a publish did not come to an end within {patience:?}")));
        };
        let error = ended.map_err(|panicked| Failure::seen(format!("a publish panicked: {panicked}")))?;
        let (begun, full) = (self.shared.begun.load(SeqCst), self.shared.full.load(SeqCst));
        match &error {
            Some(error) => self.seen.note(format_args!("of {begun} publishes {full} found no room, the last: {error}")),
            None => self.seen.note(format_args!("of {begun} publishes {full} found no room")),
        }
        Ok(error)
    }
}
