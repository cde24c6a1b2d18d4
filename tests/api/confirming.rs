//! A backend that only takes what is published: it writes it down, and confirms it when a test says.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use tramline::{
    Event, Subject, capabilities,
    contract::{Backend, Capabilities, CloseError, OpenError, PublishError, Session, Volatile},
};

/// What a test sets and looks at.
pub(crate) struct Confirmations {
    /// How long it takes to confirm the event (counted in the order of arrival), and whether it is confirmed at all.
    plan: Box<dyn Fn(usize) -> (Duration, bool) + Send + Sync>,
    pub(crate) arrived: Mutex<Vec<(Subject, Event)>>,
    waiting: AtomicUsize,
    /// The most that were waited for at a time.
    pub(crate) most: AtomicUsize,
}

impl Confirmations {
    pub(crate) fn ids(&self) -> Vec<String> {
        self.arrived.lock().unwrap().iter().map(|(_, event)| event.id().to_owned()).collect()
    }

    /// The only event that has arrived.
    #[track_caller]
    pub(crate) fn only(&self) -> Event {
        let arrived = self.arrived.lock().unwrap();
        let [(_, event)] = &arrived[..] else { panic!("{} have arrived", arrived.len()) };
        event.clone()
    }

    pub(crate) fn last(&self) -> (Subject, Event) {
        self.arrived.lock().unwrap().last().expect("one has arrived").clone()
    }
}

pub(crate) struct Confirming(Arc<Confirmations>);

impl Confirming {
    /// Confirms each event after so long, or refuses it.
    pub(crate) fn after(
        plan: impl Fn(usize) -> (Duration, bool) + Send + Sync + 'static,
    ) -> (Self, Arc<Confirmations>) {
        let confirmations = Arc::new(Confirmations {
            plan: Box::new(plan),
            arrived: Mutex::default(),
            waiting: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
        });
        (Self(confirmations.clone()), confirmations)
    }

    pub(crate) fn at_once() -> (Self, Arc<Confirmations>) {
        Self::after(|_| (Duration::ZERO, true))
    }
}

pub(crate) struct ConfirmingSession(Arc<Confirmations>);

impl Backend for Confirming {
    type Session = ConfirmingSession;
    type Storage = Volatile;

    const CAPABILITIES: Capabilities = capabilities!(Confirming);

    async fn open(&self) -> Result<ConfirmingSession, OpenError> {
        Ok(ConfirmingSession(self.0.clone()))
    }
}

impl Session for ConfirmingSession {
    async fn publish(&self, subject: &Subject, event: Event) -> Result<(), PublishError> {
        let index = {
            let mut arrived = self.0.arrived.lock().unwrap();
            arrived.push((subject.clone(), event));
            arrived.len() - 1
        };
        let (delay, confirms) = (self.0.plan)(index);
        self.0.most.fetch_max(self.0.waiting.fetch_add(1, SeqCst) + 1, SeqCst);
        if delay > Duration::ZERO {
            tokio::time::sleep(delay).await;
        }
        self.0.waiting.fetch_sub(1, SeqCst);
        if confirms { Ok(()) } else { Err(PublishError::Unconfirmed { source: format!("not {index}").into() }) }
    }

    async fn close(&self) -> Result<(), CloseError> {
        Ok(())
    }
}
