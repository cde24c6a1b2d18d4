//! The link between a stand-in and one source: what a test cuts, and what a closing session ends.

use std::{
    mem,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use futures_util::FutureExt;
use tokio_util::sync::CancellationToken;

use crate::{
    backend::memory::MemorySession,
    contract::{FinalReading, RetireReason, Session, SourceControl},
};

/// The link to one source.
#[derive(Debug, Default)]
pub(super) struct Link {
    /// Ends the stream.
    pub(super) cut: CancellationToken,
    by_the_test: AtomicBool,
    retired: AtomicBool,
}

/// Why a source ended by itself.
#[derive(Debug, thiserror::Error)]
#[error("the test has cut the link")]
struct TheTestCutTheLink;

impl Link {
    pub(super) fn cut(&self) {
        self.by_the_test.store(true, Relaxed);
        self.cut.cancel();
    }

    /// Whether the test has cut it, and the bus has not done with that yet.
    pub(super) fn is_being_cut(&self) -> bool {
        self.by_the_test.load(Relaxed) && !self.retired.load(Relaxed)
    }

    /// The last reading, which knows why the source ended.
    pub(super) fn retired(&self, reading: FinalReading) -> FinalReading {
        self.retired.store(true, Relaxed);
        if self.by_the_test.load(Relaxed) { reading.ended_by(TheTestCutTheLink) } else { reading }
    }
}

/// What a closing session ends.
pub(super) trait Ends: Send + Sync {
    fn end(&self);
}

/// A source's control in memory, and its link.
#[derive(Debug)]
pub(super) struct Linked<C> {
    pub(super) control: C,
    pub(super) link: Arc<Link>,
}

impl<C: SourceControl> Ends for Linked<C> {
    fn end(&self) {
        self.link.cut.cancel();
        // Memory retires without waiting, and never in vain.
        let _ = self.control.retire(RetireReason::Stopping).now_or_never();
    }
}

/// One session's connection to memory.
pub(super) struct Wire {
    pub(super) memory: Arc<MemorySession>,
    /// What is in memory outlives the session.
    persistent: bool,
    pub(super) closed: CancellationToken,
    sources: Mutex<Vec<Weak<dyn Ends>>>,
}

impl Wire {
    pub(super) fn new(memory: Arc<MemorySession>, persistent: bool) -> Self {
        Self { memory, persistent, closed: CancellationToken::new(), sources: Mutex::default() }
    }

    pub(super) fn opened<C: SourceControl>(&self, source: &Arc<Linked<C>>) {
        let source: Weak<Linked<C>> = Arc::downgrade(source);
        self.sources().push(source);
    }

    /// Ends everything that goes through it, for good.
    pub(super) fn close(&self) {
        self.closed.cancel();
        if self.persistent {
            let sources = mem::take(&mut *self.sources());
            sources.iter().filter_map(Weak::upgrade).for_each(|source| source.end());
        } else {
            // Memory closes without waiting, and never in vain.
            let _ = self.memory.close().now_or_never();
        }
    }

    fn sources(&self) -> MutexGuard<'_, Vec<Weak<dyn Ends>>> {
        self.sources.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.close();
    }
}
