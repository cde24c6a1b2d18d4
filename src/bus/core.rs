//! What a bus, its handles and its tasks share.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use arc_swap::ArcSwapOption;
use tokio::{task::JoinSet, time::Instant};
use tokio_util::sync::CancellationToken;

use super::{
    RequestLedger,
    activation::Activation,
    consumer::{Consumer, Observers},
    ledger::{Ledger, Stats},
    reader::ReaderEnd,
    request::{RequestBook, Unclaimed},
    status::Board,
    tally::Book,
};
use crate::{contract::Backend, event::UriReference, subject::Name, subscription::Settings};

/// What a bus, its handles and its tasks share, over all activations.
pub(super) struct Core<B: Backend> {
    pub(super) backend: B,
    pub(super) source: UriReference,
    /// The activation that is live.
    pub(super) activation: ArcSwapOption<Activation<B>>,
    pub(super) board: Board,
    pub(super) observers: Observers,
    /// Fires when the bus has been ready for the first time (Y3).
    pub(super) ready: CancellationToken,
    /// Fires when the predecessor's session has closed, which may be behind the caller's back (Y8).
    pub(super) predecessor: Mutex<CancellationToken>,
    generation: AtomicU64,
    /// The next consumer's number: never used again, also if its subscribe failed (N10).
    next_index: AtomicU32,
    records: Mutex<Vec<Arc<Record<B>>>>,
    pub(super) requests: RequestBook,
    pub(super) unclaimed: Unclaimed<B>,
}

/// One subscription of a bus.
pub(super) struct Record<B: Backend> {
    pub(super) index: u32,
    pub(super) settings: Settings,
    pub(super) consumer: Box<dyn Consumer<B>>,
    pub(super) book: Book,
    /// Readers whose handler has not yielded (Y7).
    pub(super) disowned: Mutex<Option<JoinSet<ReaderEnd>>>,
}

impl<B: Backend> Core<B> {
    pub(super) fn new(
        backend: B,
        source: UriReference,
        subscriptions: Vec<(Settings, Box<dyn Consumer<B>>)>,
        request_names: Vec<Name>,
        observers: Observers,
    ) -> Self {
        let board = Board::new(subscriptions.iter().map(|(settings, _)| settings.name.clone()));
        let next_index = AtomicU32::new(0);
        let index = || next_index.fetch_add(1, Relaxed);
        let record = |(settings, consumer)| Record::new(index(), settings, consumer, &observers);
        let records = subscriptions.into_iter().map(record);
        let records = records.map(Arc::new).collect();
        // There is no predecessor yet.
        let closed = CancellationToken::new();
        closed.cancel();
        Self {
            backend,
            source,
            activation: ArcSwapOption::empty(),
            board,
            observers,
            ready: CancellationToken::new(),
            predecessor: Mutex::new(closed),
            generation: AtomicU64::new(0),
            next_index,
            records: Mutex::new(records),
            requests: RequestBook::new(request_names),
            unclaimed: Unclaimed::new(),
        }
    }

    /// The generation of the last successful start.
    pub(super) fn generation(&self) -> u64 {
        self.generation.load(Relaxed)
    }

    /// A number for one more consumer.
    pub(super) fn index(&self) -> u32 {
        self.next_index.fetch_add(1, Relaxed)
    }

    /// An activation is live from now on.
    pub(super) fn started(&self, activation: &Arc<Activation<B>>) {
        let generation = activation.generation;
        self.generation.store(generation, Relaxed);
        self.unclaimed.opened(activation);
        for record in self.records().iter() {
            record.book.activated(generation);
        }
    }

    /// Nothing is left of a subscription that was not confirmed (Y9).
    pub(super) fn forget(&self, record: &Arc<Record<B>>) {
        self.records().retain(|known| !Arc::ptr_eq(known, record));
        self.board.remove(&record.settings.name);
        self.observers.idle.look();
    }

    pub(super) fn records(&self) -> MutexGuard<'_, Vec<Arc<Record<B>>>> {
        lock(&self.records)
    }

    pub(super) fn ledger(&self) -> Ledger {
        let records = self.records().clone();
        Ledger {
            subscriptions: records.iter().map(|record| record.book.stats()).collect(),
            requests: self.request_ledger(),
        }
    }

    pub(super) fn request_ledger(&self) -> RequestLedger {
        self.requests.ledger(self.unclaimed.total())
    }

    pub(super) fn stats(&self, name: &str) -> Option<Stats> {
        let record = self.records().iter().find(|record| record.settings.name.as_str() == name).cloned();
        record.map(|record| record.book.stats())
    }
}

impl<B: Backend> Record<B> {
    pub(super) fn new(index: u32, settings: Settings, consumer: Box<dyn Consumer<B>>, observers: &Observers) -> Self {
        let book = Book::new(settings.name.clone(), observers.idle.clone());
        Self { index, settings, consumer, book, disowned: Mutex::new(None) }
    }

    /// Whether a handler that was disowned still runs.
    pub(super) fn has_disowned(&self) -> bool {
        let mut disowned = lock(&self.disowned);
        if let Some(readers) = &mut *disowned {
            while readers.try_join_next().is_some() {}
        }
        disowned.take_if(|readers| readers.is_empty());
        disowned.is_some()
    }
}

/// This long from now, or what is as good as never: adding a duration without end would panic.
pub(super) fn after(budget: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(budget).unwrap_or_else(|| now + Duration::from_secs(60 * 60 * 24 * 365 * 30))
}

/// Locks what no panic can leave half done.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
