//! The link between a stand-in and one source: what a test cuts, and what a closing session ends.

use std::{
    pin::Pin,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use tokio_util::sync::CancellationToken;

use crate::contract::{FinalReading, RetireReason, SourceControl};

/// The link to one source.
#[derive(Debug, Default)]
pub(super) struct Link {
    /// Ends the stream.
    pub(super) cut: CancellationToken,
    by_the_test: AtomicBool,
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

    /// The last reading, which knows why the source ended.
    pub(super) fn explain(&self, reading: FinalReading) -> FinalReading {
        if self.by_the_test.load(Relaxed) { reading.ended_by(TheTestCutTheLink) } else { reading }
    }
}

/// What a closing session ends.
pub(super) trait Ends: Send + Sync {
    fn end(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

/// A source's control in memory, and its link.
#[derive(Debug)]
pub(super) struct Linked<C> {
    pub(super) control: C,
    pub(super) link: Arc<Link>,
}

impl<C: SourceControl> Ends for Linked<C> {
    fn end(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async {
            self.link.cut.cancel();
            // Memory retires at once, and never in vain.
            let _ = self.control.retire(RetireReason::Stopping).await;
        })
    }
}

/// The sources of one session.
pub(super) type Sources = Vec<Weak<dyn Ends>>;
