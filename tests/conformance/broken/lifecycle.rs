//! Faults in the end of a session.

use std::{
    mem,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
};

use futures_util::future::BoxFuture;
use tokio::task::yield_now;
use tramline::{
    Event, Subject,
    backend::memory::MemorySession,
    contract::{CloseError, PublishError, Session},
};

use super::{Fault, through::Publish};
use crate::both_ways::{Mutant, mutant};

const CLOSE_RELEASES: &[&str] = &["at_most_once::close_releases", "at_least_once::close_releases"];
const BESIDE_CLOSE: &[&str] = &["at_most_once::publish_beside_close", "at_least_once::publish_beside_close"];
const IN_SEQUENCE: &[&str] = &["at_most_once::sessions_in_sequence", "at_least_once::sessions_in_sequence"];

pub(crate) fn mutants() -> Vec<Mutant> {
    vec![
        mutant("closes for publishers and leaves its sources open", DoorOnly::default)
            .breaks(CLOSE_RELEASES)
            .also(BESIDE_CLOSE, "sources have to end in that row, too")
            .also(&["requests::request_closing_session"], "a responder's source has to end, too")
            .also(&["at_least_once::settle_refused"], "what an open source had in hand can be settled"),
        mutant("says Ok to a publish after the close", || Swallows)
            .breaks(CLOSE_RELEASES)
            .also(BESIDE_CLOSE, "a publish that begins after the close is in that row, too"),
        mutant("panics in a publish that meets a close", Panics::default)
            .breaks(BESIDE_CLOSE)
            .also(CLOSE_RELEASES, "a publish that meets the close is in that row, too"),
        mutant("waits for ever in a publish that meets a close", Hangs::default)
            .breaks(BESIDE_CLOSE)
            .also(CLOSE_RELEASES, "a publish that meets the close is in that row, too"),
        mutant("keeps what was published last for the next session", Leftovers::default).breaks(IN_SEQUENCE),
    ]
}

/// For one session in a row.
#[derive(Default)]
struct DoorOnly(AtomicBool);

impl Fault for DoorOnly {
    fn opens(&self) {
        self.0.store(false, SeqCst);
    }

    fn publishes<'a>(&'a self, publish: Publish<'a>) -> BoxFuture<'a, Result<(), PublishError>> {
        Box::pin(async move {
            yield_now().await;
            if self.0.load(SeqCst) { Err(PublishError::Closed) } else { publish.go().await }
        })
    }

    fn closes<'a>(&'a self, _session: &'a MemorySession) -> BoxFuture<'a, Result<(), CloseError>> {
        self.0.store(true, SeqCst);
        Box::pin(async { Ok(()) })
    }
}

struct Swallows;

impl Fault for Swallows {
    fn publishes<'a>(&'a self, publish: Publish<'a>) -> BoxFuture<'a, Result<(), PublishError>> {
        Box::pin(async move {
            match publish.go().await {
                Err(PublishError::Closed) => Ok(()),
                published => published,
            }
        })
    }
}

/// Publishes in two steps; a close may come between them.
#[derive(Default)]
struct TwoSteps(AtomicBool);

impl TwoSteps {
    /// Whether it did.
    async fn meets_a_close(&self) -> bool {
        let closed = self.0.load(SeqCst);
        yield_now().await;
        !closed && self.0.load(SeqCst)
    }
}

#[derive(Default)]
struct Panics(TwoSteps);

impl Fault for Panics {
    fn opens(&self) {
        self.0.0.store(false, SeqCst);
    }

    fn publishes<'a>(&'a self, publish: Publish<'a>) -> BoxFuture<'a, Result<(), PublishError>> {
        Box::pin(async move {
            assert!(!self.0.meets_a_close().await, "the link is gone");
            publish.go().await
        })
    }

    fn closes<'a>(&'a self, session: &'a MemorySession) -> BoxFuture<'a, Result<(), CloseError>> {
        self.0.0.store(true, SeqCst);
        Box::pin(session.close())
    }
}

#[derive(Default)]
struct Hangs(TwoSteps);

impl Fault for Hangs {
    fn opens(&self) {
        self.0.0.store(false, SeqCst);
    }

    fn publishes<'a>(&'a self, publish: Publish<'a>) -> BoxFuture<'a, Result<(), PublishError>> {
        Box::pin(async move {
            if self.0.meets_a_close().await {
                std::future::pending::<()>().await;
            }
            publish.go().await
        })
    }

    fn closes<'a>(&'a self, session: &'a MemorySession) -> BoxFuture<'a, Result<(), CloseError>> {
        self.0.0.store(true, SeqCst);
        Box::pin(session.close())
    }
}

/// The events of this session, and of the one before.
#[derive(Default)]
struct Leftovers(Mutex<[Vec<(Subject, Event)>; 2]>);

impl Fault for Leftovers {
    fn opens(&self) {
        let [these, before] = &mut *self.0.lock().unwrap();
        *before = mem::take(these);
    }

    fn publishes<'a>(&'a self, publish: Publish<'a>) -> BoxFuture<'a, Result<(), PublishError>> {
        let kept = (publish.subject.clone(), publish.event.clone());
        self.0.lock().unwrap()[0].push(kept);
        Box::pin(publish.go())
    }

    fn subscribed<'a>(&'a self, session: &'a MemorySession) -> BoxFuture<'a, ()> {
        let before = mem::take(&mut self.0.lock().unwrap()[1]);
        Box::pin(async move {
            for (subject, event) in before {
                session.publish(&subject, event).await.unwrap();
            }
        })
    }
}
