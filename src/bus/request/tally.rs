//! Counting requests: one row per name, written by whoever asks, and what sessions say of replies that nobody waited for.

use std::sync::{
    Arc, Mutex, OnceLock, Weak,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use super::{RequestLedger, RequestStats};
use crate::{
    bus::{activation::Activation, core::lock},
    contract::{Backend, RequestError},
    event::Event,
    subject::Name,
};

/// How many undeclared names are remembered as logged. A program that makes its names up at run time is told so often,
/// and its memory does not grow.
const MOST_LOGGED: usize = 64;

/// The requests of a bus, over all activations (contract R5).
pub(in crate::bus) struct RequestBook {
    named: Box<[(Name, Row)]>,
    unnamed: Row,
    /// Undeclared names that were logged.
    logged: Mutex<Vec<String>>,
}

/// The counters of one name.
#[derive(Default)]
pub(super) struct Row {
    sent: AtomicU64,
    in_flight: AtomicU64,
    answered: AtomicU64,
    no_responders: AtomicU64,
    no_reply: AtomicU64,
    failed: AtomicU64,
}

/// A request that was sent, and what becomes of it; counted once, when this is dropped.
pub(super) struct InFlight<'r> {
    row: &'r Row,
    /// Where it is counted. Unless something is known, the caller has given up.
    end: fn(&Row) -> &AtomicU64,
}

impl RequestBook {
    pub(in crate::bus) fn new(names: Vec<Name>) -> Self {
        let named = names.into_iter().map(|name| (name, Row::default())).collect();
        Self { named, unnamed: Row::default(), logged: Mutex::default() }
    }

    pub(super) fn unnamed(&self) -> &Row {
        &self.unnamed
    }

    /// The row of this name, or the unnamed one if it is not declared.
    pub(super) fn row(&self, name: &str) -> &Row {
        let declared = self.named.iter().find(|(declared, _)| declared.as_str() == name);
        let Some((_, row)) = declared else {
            self.log(name);
            return &self.unnamed;
        };
        row
    }

    #[cold]
    fn log(&self, name: &str) {
        let mut logged = lock(&self.logged);
        if logged.len() < MOST_LOGGED && !logged.iter().any(|known| known == name) {
            logged.push(name.to_owned());
            drop(logged);
            tracing::warn!(
                name: "undeclared",
                target: "tramline",
                request = name,
                "request name `{name}` is not declared, so its requests are counted without a name: add it to `request_names`"
            );
        }
    }

    pub(in crate::bus) fn ledger(&self, unclaimed: u64) -> RequestLedger {
        RequestLedger {
            named: self.named.iter().map(|(name, row)| row.stats(Some(name.clone()))).collect(),
            unnamed: self.unnamed.stats(None),
            unclaimed,
        }
    }
}

impl Row {
    /// One more is on its way.
    pub(super) fn send(&self) -> InFlight<'_> {
        self.sent.fetch_add(1, Relaxed);
        self.in_flight.fetch_add(1, Relaxed);
        InFlight { row: self, end: |row| &row.no_reply }
    }

    fn stats(&self, name: Option<Name>) -> RequestStats {
        RequestStats {
            name,
            sent: self.sent.load(Relaxed),
            answered: self.answered.load(Relaxed),
            no_responders: self.no_responders.load(Relaxed),
            no_reply: self.no_reply.load(Relaxed),
            failed: self.failed.load(Relaxed),
            in_flight: self.in_flight.load(Relaxed),
        }
    }
}

impl InFlight<'_> {
    /// It has come to an end (contract R3). What a backend refuses although it was asked to send it, such as an event
    /// that is too large, failed on its way.
    pub(super) fn ended(mut self, reply: &Result<Event, RequestError>) {
        self.end = match reply {
            Ok(_) => |row| &row.answered,
            Err(RequestError::NoResponders) => |row| &row.no_responders,
            Err(RequestError::NoReply { .. }) => |row| &row.no_reply,
            Err(_) => |row| &row.failed,
        };
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        (self.end)(self.row).fetch_add(1, Relaxed);
        self.row.in_flight.fetch_sub(1, Relaxed);
    }
}

/// Replies that arrived after their request had finished, over all sessions (contract R4, R11).
pub(in crate::bus) struct Unclaimed<B: Backend> {
    /// Known once a request was made: only then does the backend answer any.
    read: OnceLock<fn(&B::Session) -> u64>,
    sessions: Mutex<Sessions<B>>,
}

struct Sessions<B: Backend> {
    /// What those that are closed have counted. A request that outlives its session may add to it.
    closed: u64,
    /// The one that is not, if there is one: they come one after the other.
    open: Weak<Activation<B>>,
}

impl<B: Backend> Unclaimed<B> {
    pub(in crate::bus) fn new() -> Self {
        Self { read: OnceLock::new(), sessions: Mutex::new(Sessions { closed: 0, open: Weak::new() }) }
    }

    /// How to read a session.
    pub(super) fn read_with(&self, read: fn(&B::Session) -> u64) {
        self.read.get_or_init(|| read);
    }

    pub(in crate::bus) fn opened(&self, activation: &Arc<Activation<B>>) {
        lock(&self.sessions).open = Arc::downgrade(activation);
    }

    /// From here on its count changes only with a request that is dropped, and has a reply that it did not read.
    pub(in crate::bus) fn closed(&self, activation: &Activation<B>) {
        let counted = activation.unclaimed.get_or_init(AtomicU64::default);
        let mut sessions = lock(&self.sessions);
        sessions.open = Weak::new();
        self.count(&mut sessions, activation, counted);
    }

    /// A request on this activation, to be dropped after what waits for its reply.
    pub(super) fn watch<'a>(&'a self, activation: &'a Activation<B>) -> Watch<'a, B> {
        Watch { unclaimed: self, activation }
    }

    /// Adds what a closed session has counted since it was last looked at.
    fn count(&self, sessions: &mut Sessions<B>, activation: &Activation<B>, counted: &AtomicU64) {
        let now = self.of(activation);
        sessions.closed += now - counted.swap(now, Relaxed);
    }

    pub(in crate::bus) fn total(&self) -> u64 {
        let sessions = lock(&self.sessions);
        sessions.closed + sessions.open.upgrade().map_or(0, |activation| self.of(&activation))
    }

    fn of(&self, activation: &Activation<B>) -> u64 {
        self.read.get().map_or(0, |read| read(&activation.session))
    }
}

/// Looks again at a session that was closed before the request ended.
pub(super) struct Watch<'a, B: Backend> {
    unclaimed: &'a Unclaimed<B>,
    activation: &'a Activation<B>,
}

impl<B: Backend> Drop for Watch<'_, B> {
    fn drop(&mut self) {
        if let Some(counted) = self.activation.unclaimed.get() {
            self.unclaimed.count(&mut lock(&self.unclaimed.sessions), self.activation, counted);
        }
    }
}
