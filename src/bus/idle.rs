//! Waiting until nothing is queued and nothing is in hand.
//!
//! Nobody counts for this: what is looked at are the counters that the ledger is made of. While somebody waits, readers
//! say so each time they find their source empty, and whoever waits looks again.
//!
//! **Invariant:** a wait costs a delivery nothing. A reader looks whether somebody waits only when it has nothing to do,
//! and that a wait has begun it learns by being woken.

use std::{
    future::pending,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed, Ordering::SeqCst, fence},
    },
    time::Duration,
};

use tokio::{sync::Notify, time::sleep};

use super::{Stats, core::Core, tally::Tally};
use crate::contract::Backend;

/// How often a broker's queue is looked at: what leaves it by itself, at the end of a lease, wakes no reader.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Who waits, and where they are told that it is worth looking.
#[derive(Default)]
pub(super) struct Idle {
    waiting: AtomicUsize,
    changed: Notify,
}

impl Idle {
    /// A reader has nothing to do: it says so if somebody waits. That somebody does, it was woken for.
    #[inline]
    pub(super) fn rests(&self, tally: &Tally) {
        if self.waiting.load(Relaxed) > 0 {
            tally.rest();
            self.changed.notify_waiters();
        }
    }

    /// Something has changed besides. Nobody was woken for it, but either this is seen, or what was counted before is.
    pub(super) fn look(&self) {
        fence(SeqCst);
        if self.waiting.load(Relaxed) > 0 {
            self.changed.notify_waiters();
        }
    }
}

struct Waiting<'i>(&'i Idle);

impl<'i> Waiting<'i> {
    fn new(idle: &'i Idle) -> Self {
        idle.waiting.fetch_add(1, Relaxed);
        fence(SeqCst);
        Self(idle)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Relaxed);
    }
}

/// Waits until nothing is queued, and nothing in hand.
pub(super) async fn idle<B: Backend>(core: &Arc<Core<B>>) {
    at_rest(core, |stats| stats.pending == 0).await;
}

/// Waits until each subscription is at rest. What that is besides having a source and nothing in hand, is said of its
/// counters by `rests`, which is to be false while anything is queued that matters.
pub(super) async fn at_rest<B: Backend>(core: &Arc<Core<B>>, rests: impl Fn(&Stats) -> bool + Send + Sync) {
    let waiting = Waiting::new(&core.observers.idle);
    for record in core.records().iter() {
        record.book.wake_readers();
    }
    loop {
        let mut changed = pin!(waiting.0.changed.notified());
        changed.as_mut().enable();
        if rested(core, &rests) {
            return;
        }
        let again = async {
            match B::CAPABILITIES.queues_elsewhere() {
                true => sleep(LOOK_AGAIN).await,
                false => pending().await,
            }
        };
        tokio::select! {
            () = changed => {}
            () = again => {}
        }
    }
}

/// Whether there was an instant at which all of them were at rest.
///
/// A handler may publish to a subscription that was looked at before its own. So they are looked at twice, and nothing was
/// offered in between: each was then at rest from its first look to its second, and in particular when the first look at
/// the last one ended.
fn rested<B: Backend>(core: &Core<B>, rests: &(impl Fn(&Stats) -> bool + Send + Sync)) -> bool {
    let records = core.records().clone();
    let offered = || records.iter().map(|record| record.book.offered_if_at_rest(rests)).collect::<Option<Vec<u64>>>();
    offered().is_some_and(|first| offered().is_some_and(|second| first == second))
}
