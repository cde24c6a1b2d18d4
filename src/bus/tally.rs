//! The counting itself: one tally per reader, one book per subscription.

use std::{
    mem,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{
            AtomicU64,
            Ordering::{Acquire, Relaxed, Release},
        },
    },
    time::Duration,
};

use crossbeam_utils::CachePadded;
use tokio::time::Instant;

use super::{desk::Desk, idle::Idle, ledger::Stats};
use crate::{
    contract::{Outcome, SourceStats},
    subject::Name,
};

/// A counter that one reader writes and others read: no locked instruction is needed. Who sees one of a reader's counts sees
/// all that it had counted before: a delivery that is seen to be done is seen to be taken.
#[derive(Default)]
pub(super) struct Count(AtomicU64);

impl Count {
    #[inline]
    pub(super) fn add_one(&self) {
        self.0.store(self.0.load(Relaxed) + 1, Release);
    }

    pub(super) fn take_one(&self) {
        self.0.store(self.0.load(Relaxed).saturating_sub(1), Release);
    }

    fn get(&self) -> u64 {
        self.0.load(Acquire)
    }
}

/// What one reader has counted. Nobody else writes it.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) taken: Count,
    /// How many it had taken when it had last done with all of them, as far as somebody waited for that.
    rested: Count,
    /// Taken and waiting for its key, right now; whoever handles it in the end counts it as taken.
    pub(super) parked: Count,
    pub(super) delivered: Count,
    pub(super) acked: Count,
    pub(super) nacked: Count,
    pub(super) silent: Count,
    pub(super) refused: Count,
    pub(super) errors: Count,
    pub(super) panics: Count,
    pub(super) released: Count,
    pub(super) stranded: Count,
    pub(super) redelivered: Count,
    pub(super) lost_shutdown: Count,
    pub(super) lost_panic: Count,
    pub(super) lost_undecodable: Count,
    pub(super) lost_malformed: Count,
    pub(super) replied: Count,
    pub(super) reply_refused: Count,
    pub(super) unaddressed: Count,
}

impl Tally {
    /// The reader has done with all that it has taken.
    pub(super) fn rest(&self) {
        self.rested.0.store(self.taken.get(), Release);
    }

    fn has_rested(&self) -> bool {
        self.rested.get() == self.taken.get()
    }

    /// Counts what a handler said, or what its end stands for.
    #[inline]
    pub(super) fn said(&self, outcome: Outcome) {
        match outcome {
            Outcome::Acked => self.acked.add_one(),
            Outcome::Nacked | Outcome::Unheard => self.nacked.add_one(),
            Outcome::Silent | Outcome::Returned => self.silent.add_one(),
        }
    }

    pub(super) fn add_to(&self, stats: &mut Stats) {
        let left = self.delivered.get()
            + self.released.get()
            + self.lost_shutdown.get()
            + self.lost_panic.get()
            + self.lost_undecodable.get()
            + self.lost_malformed.get();
        stats.in_hand += self.taken.get().saturating_sub(left) + self.parked.get();
        stats.delivered += self.delivered.get();
        stats.released += self.released.get();
        stats.stranded += self.stranded.get();
        stats.redelivered += self.redelivered.get();
        stats.errors += self.errors.get();
        stats.panics += self.panics.get();
        stats.settlement.acked += self.acked.get();
        stats.settlement.nacked += self.nacked.get();
        stats.settlement.silent += self.silent.get();
        stats.settlement.refused += self.refused.get();
        stats.lost.shutdown += self.lost_shutdown.get();
        stats.lost.handler_panic += self.lost_panic.get();
        stats.lost.undecodable += self.lost_undecodable.get();
        stats.lost.malformed += self.lost_malformed.get();
        stats.replies.replied += self.replied.get();
        stats.replies.refused += self.reply_refused.get();
        stats.replies.unaddressed += self.unaddressed.get();
    }
}

/// Reads a live source.
pub(super) type Snapshot = Arc<dyn Fn() -> SourceStats + Send + Sync>;

/// The book of one subscription, over the bus's life.
pub(super) struct Book {
    pages: Mutex<Pages>,
    idle: Arc<Idle>,
}

struct Pages {
    /// What is folded in: finished sources and finished readers.
    closed: Stats,
    live: Option<Snapshot>,
    /// Of the live source, to wake its readers.
    desk: Option<Arc<Desk>>,
    readers: Vec<Arc<CachePadded<Tally>>>,
    /// Whether an activation is live.
    active: bool,
    /// Set while an activation is live and there is no source (Y11).
    unsubscribed_since: Option<Instant>,
    /// It has failed for good.
    failed: bool,
    /// What a source gave back to a backend that keeps nothing, for the next source: stranded if none comes (T13).
    owed: u64,
}

/// What remains of a source when it has retired.
#[derive(Clone, Copy)]
pub(super) struct Backlog {
    /// At least once, a backlog is given back; at most once it is lost.
    pub(super) released: bool,
    /// What becomes of it.
    pub(super) owed: Owed,
}

/// Whether a backlog is owed still, and by whom.
#[derive(Clone, Copy)]
pub(super) enum Owed {
    /// It is lost, or kept by a broker.
    No,
    /// A backend that keeps nothing keeps it for the next source.
    ToNextSource,
    /// Nobody will deliver it any more (T13).
    ToNobody,
}

impl Book {
    pub(super) fn new(name: Name, idle: Arc<Idle>) -> Self {
        let closed = Stats::new(name, 0);
        let pages = Pages {
            closed,
            live: None,
            desk: None,
            readers: Vec::new(),
            active: false,
            unsubscribed_since: None,
            failed: false,
            owed: 0,
        };
        Self { pages: Mutex::new(pages), idle }
    }

    /// A reading, with the live source folded in (L10).
    pub(super) fn stats(&self) -> Stats {
        self.pages().stats()
    }

    /// How much was offered so far, if the subscription is at rest: nothing is in hand or on its way, its source is not
    /// awaited, and of its counters `rests` says so. One that has failed for good is at rest.
    pub(super) fn offered_if_at_rest(&self, rests: impl Fn(&Stats) -> bool) -> Option<u64> {
        let pages = self.pages();
        let awaits_its_source = pages.active && pages.live.is_none() && !pages.failed;
        let stats = pages.stats();
        // What has left a reader's hand may still be on its way to be settled or answered.
        let settling = !pages.readers.iter().all(|reader| reader.has_rested());
        let busy = awaits_its_source || settling || stats.in_hand > 0 || stats.unaccounted() != 0;
        let at_rest = !busy && rests(&stats);
        at_rest.then_some(stats.offered)
    }

    /// Readers that have nothing to do say so once more.
    pub(super) fn wake_readers(&self) {
        let desk = self.pages().desk.clone();
        if let Some(desk) = desk {
            desk.calls.notify_waiters();
        }
    }

    /// A new activation is live.
    pub(super) fn activated(&self, generation: u64) {
        let mut pages = self.pages();
        pages.closed.generation = generation;
        pages.active = true;
        pages.failed = false;
        pages.start_clock();
    }

    /// No activation is live any more, and its session is about to close.
    pub(super) fn deactivated(&self) {
        let mut pages = self.pages();
        pages.active = false;
        pages.stop_clock();
        pages.closed.stranded += mem::take(&mut pages.owed);
        drop(pages);
        self.idle.look();
    }

    /// A source is open, and these readers, which share a desk, read it.
    pub(super) fn opened(
        &self,
        live: Snapshot,
        desk: Option<Arc<Desk>>,
        readers: impl Iterator<Item = Arc<CachePadded<Tally>>>,
    ) {
        let mut pages = self.pages();
        pages.stop_clock();
        // It is offered again.
        pages.owed = 0;
        pages.live = Some(live);
        pages.desk = desk;
        pages.readers.extend(readers);
        drop(pages);
        self.idle.look();
    }

    /// The source has retired: its final counters are folded in, once (N12), and its finished readers with them.
    pub(super) fn retired(&self, last: SourceStats, backlog: Backlog) {
        let mut pages = self.pages();
        if pages.live.take().is_none() {
            return;
        }
        pages.desk = None;
        pages.start_clock();
        let Pages { closed, owed, .. } = &mut *pages;
        add_source(closed, last);
        if backlog.released {
            closed.released += last.pending;
        } else {
            closed.lost.retired_queued += last.pending;
        }
        match backlog.owed {
            Owed::No => {}
            Owed::ToNextSource => *owed = last.pending,
            Owed::ToNobody => closed.stranded += last.pending,
        }
        drop(pages);
        self.idle.look();
    }

    /// Folds readers in that nobody but the book holds any more.
    pub(super) fn fold_finished(&self) {
        let mut pages = self.pages();
        let Pages { closed, readers, .. } = &mut *pages;
        readers.retain_mut(|reader| {
            // `get_mut` and not the count: it sees all that the reader wrote before it let go.
            let finished = Arc::get_mut(reader);
            if let Some(reader) = &finished {
                reader.add_to(closed);
            }
            finished.is_none()
        });
    }

    /// A consumer has failed for good (V5).
    pub(super) fn incident(&self) {
        let mut pages = self.pages();
        pages.closed.incidents += 1;
        pages.failed = true;
        drop(pages);
        self.idle.look();
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pages {
    fn stats(&self) -> Stats {
        let mut stats = self.closed.clone();
        // Between the two readings a message may move on; it is then missing from this one or in it twice (L4 holds at
        // quiescent instants).
        for reader in &self.readers {
            reader.add_to(&mut stats);
        }
        if let Some(live) = &self.live {
            let source = live();
            add_source(&mut stats, source);
            stats.pending = source.pending;
        }
        if let Some(since) = self.unsubscribed_since {
            stats.unsubscribed_for += since.elapsed();
        }
        stats
    }

    fn start_clock(&mut self) {
        if self.active && self.live.is_none() && self.unsubscribed_since.is_none() {
            self.unsubscribed_since = Some(Instant::now());
        }
    }

    fn stop_clock(&mut self) {
        let open = self.unsubscribed_since.take().map_or(Duration::ZERO, |since| since.elapsed());
        self.closed.unsubscribed_for += open;
    }
}

fn add_source(stats: &mut Stats, source: SourceStats) {
    stats.offered += source.accepted + source.refused;
    stats.lost.overflow += source.refused + source.evicted;
    stats.exhausted += source.exhausted;
    stats.lease_expired += source.lease_expired;
    stats.delay_shortened += source.delay_shortened;
    stats.interruptions += source.interruptions;
}
