//! A backend as somebody else would write it: it knows tramline by its public API, and declares little.
//!
//! [`Spool`] delivers at least once within the process, on exact subjects. It keeps nothing across a restart, has no
//! lease, holds no delay, and at the bound it tells the publisher. Every identity has one queue, which its members share.

mod identity;

use std::{
    collections::HashMap,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
};

use futures_core::Stream;
use tokio::task::coop::poll_proceed;
use tramline::{
    DurableName, Event, Subject, capabilities,
    contract::{
        AtLeastOnceSpec, Backend, Capabilities, CloseError, DeliversAtLeastOnce, FinalReading, Incoming,
        KeepsForHandler, Lease, OpenError, Orders, PublishError, QueuePlace, RetireError, RetireReason, Session,
        Settle, SettleError, Settlement, Source, SourceControl, SourceStats, SubscribeError, Volatile,
    },
};

use crate::identity::{Identity, Letter, Token};

/// The backend.
#[derive(Debug, Clone, Copy, Default)]
pub struct Spool;

/// Where identities and what they are owed are kept, until it is closed.
#[derive(Debug)]
pub struct SpoolSession {
    identities: Mutex<Option<HashMap<DurableName, Arc<Identity>>>>,
}

impl Backend for Spool {
    type Session = SpoolSession;
    type Storage = Volatile;

    const CAPABILITIES: Capabilities = capabilities!(Spool);

    async fn open(&self) -> Result<SpoolSession, OpenError> {
        Ok(SpoolSession { identities: Mutex::new(Some(HashMap::new())) })
    }
}

impl Session for SpoolSession {
    async fn publish(&self, subject: &Subject, event: Event) -> Result<(), PublishError> {
        let identities = lock(&self.identities);
        let identities = identities.as_ref().ok_or(PublishError::Closed)?;
        let reached: Vec<_> = identities.values().filter(|identity| identity.subject == *subject).collect();
        // All or nothing: what is owed is never shed (B8). Only publishes add, and they hold the lock.
        if let Some(full) = reached.iter().find(|identity| identity.is_full()) {
            full.refuse();
            return Err(PublishError::QueueFull { subscription: full.name.clone(), event });
        }
        reached.iter().for_each(|identity| identity.add(event.clone()));
        Ok(())
    }

    async fn close(&self) -> Result<(), CloseError> {
        let identities = lock(&self.identities).take();
        identities.into_iter().flatten().for_each(|(_, identity)| identity.end());
        Ok(())
    }
}

impl DeliversAtLeastOnce for Spool {
    type Source = Member;

    const LEASE: Lease = Lease::None;
    const QUEUE: QueuePlace = QueuePlace::Own;
    const RETURNS_ATTEMPT: bool = true;

    async fn at_least_once(session: &SpoolSession, spec: AtLeastOnceSpec) -> Result<Member, SubscribeError> {
        let subject = spec.pattern.as_subject().ok_or_else(|| SubscribeError::Setting {
            subscription: spec.name.clone(),
            setting: "pattern",
            value: spec.pattern.to_string(),
            fix: "name one whole subject".to_owned(),
        })?;
        let mut identities = lock(&session.identities);
        let identities = identities.as_mut().ok_or(SubscribeError::Closed)?;
        identities.retain(|_, identity| !identity.is_given_up());
        let identity = identities
            .entry(spec.durable.clone())
            .or_insert_with(|| Arc::new(Identity::new(spec.name.clone(), subject, spec.bound, spec.max_deliver)));
        Ok(Member { number: identity.join(), identity: identity.clone() })
    }
}

// There is no lease: a delivery is its handler's until it is settled.
impl KeepsForHandler for Spool {}

// One queue in the order of publication.
impl Orders for Spool {}

/// One source of an identity: both of its halves.
#[derive(Debug)]
pub struct Member {
    identity: Arc<Identity>,
    number: u64,
}

impl Source for Member {
    type Settler = Receipt;
    type Deliveries = Self;
    type Control = Self;

    fn split(self) -> (Self, Self) {
        (Self { identity: self.identity.clone(), number: self.number }, self)
    }
}

impl Stream for Member {
    type Item = Incoming<Receipt>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let turn = ready!(poll_proceed(cx));
        let taken = ready!(self.identity.take(self.number, cx));
        turn.made_progress();
        Poll::Ready(taken.map(|(token, Letter { event, attempt, .. })| {
            let receipt = Receipt(Some((self.identity.clone(), token)));
            Incoming::new(self.identity.subject.clone(), event, receipt).attempt(attempt)
        }))
    }
}

impl SourceControl for Member {
    fn snapshot(&self) -> SourceStats {
        self.identity.stats(self.number)
    }

    async fn retire(&self, reason: RetireReason) -> Result<FinalReading, RetireError> {
        Ok(FinalReading::new(self.identity.leave(self.number, reason == RetireReason::GivenUp)))
    }
}

/// Settles one delivery. Dropped, it gives the message back (T4).
#[derive(Debug)]
pub struct Receipt(Option<(Arc<Identity>, Token)>);

impl Settle for Receipt {
    async fn settle(mut self, settlement: Settlement) -> Result<(), SettleError> {
        let settled = self.0.take().is_some_and(|(identity, token)| identity.settle(token, settlement.outcome));
        if settled { Ok(()) } else { Err(SettleError::new("the source has retired, or the session is closed")) }
    }
}

impl Drop for Receipt {
    fn drop(&mut self) {
        if let Some((identity, token)) = self.0.take() {
            identity.give_back(token);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
