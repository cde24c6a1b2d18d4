//! Where a row plays: a fixture, a session on its backend, and names that no other row has.

use std::{
    collections::BTreeMap,
    num::{NonZeroU32, NonZeroUsize},
    sync::Arc,
    time::Duration,
};

use super::{Ability, DeliversIn, DurableFixture, Failure, Fixture, Flood, Plan, Result, Tap, Timing, seen::Seen};
use crate::{
    contract::{
        Backend, Capabilities, DeliversAtLeastOnce, Lease, PublishError, Session, Source, SourceId, StartAt,
        SubscribeError,
    },
    event::{Event, UriReference},
    subject::{Name, Pattern, Subject},
};

/// Where a row plays.
pub struct Stage<F: Fixture> {
    fixture: F,
    backend: F::Backend,
    session: Arc<<F::Backend as Backend>::Session>,
    namespace: String,
    seen: Seen,
    derived: Capabilities,
    sources: u32,
}

impl<F: Fixture> Stage<F> {
    pub(super) async fn open(namespace: String, seen: Seen, derived: Capabilities) -> Result<Self> {
        let fixture = F::open(&namespace).await;
        let backend = fixture.backend();
        let session = open_session(&fixture, &backend, &seen).await?;
        Ok(Self { fixture, backend, session, namespace, seen, derived, sources: 0 })
    }

    /// The session.
    pub fn session(&self) -> &<F::Backend as Backend>::Session {
        &self.session
    }

    /// The session, for a task that runs beside the row.
    pub fn share_session(&self) -> Arc<<F::Backend as Backend>::Session> {
        Arc::clone(&self.session)
    }

    /// The fixture.
    pub fn fixture(&self) -> &F {
        &self.fixture
    }

    /// How long things take.
    pub fn timing(&self) -> Timing {
        self.fixture.timing()
    }

    /// The table that the backend's traits make, whatever table it shows.
    pub fn derived(&self) -> Capabilities {
        self.derived
    }

    /// Writes down what happens, for when the row turns out red.
    pub fn note(&self, what: impl std::fmt::Display) {
        self.seen.note(what);
    }

    /// A subject of this row.
    pub fn subject(&self, tokens: &str) -> Subject {
        Subject::new(format!("{}.{tokens}", self.namespace)).expect("a row's subjects are valid")
    }

    /// A pattern of this row.
    pub fn pattern(&self, tokens: &str) -> Pattern {
        Pattern::new(format!("{}.{tokens}", self.namespace)).expect("a row's patterns are valid")
    }

    /// A small event.
    pub fn event(&self, id: &str) -> Event {
        small_event(&self.namespace, id)
    }

    /// What the events that [`publish`](Stage::publish) makes for a subject have as their source.
    fn source(&self, tokens: &str) -> String {
        format!("{}:{tokens}", self.namespace)
    }

    /// Publishes so many small events to this subject, one after the other, beside what the row does. Their ids are
    /// these and a number, from 0.
    pub fn flood(&self, tokens: &str, ids: &str, count: usize) -> Flood {
        let (subject, source, ids) = (self.subject(tokens), self.source(tokens), ids.to_owned());
        self.note(format_args!("`{ids}0`, and what follows, is published to `{subject}` from here on"));
        let event = move |number| small_event(&source, &format!("{ids}{number}"));
        Flood::begin((self.share_session(), subject), event, count, (self.timing(), self.seen.clone()))
    }

    /// What to subscribe: one pattern, fan-out, a bound of 64, three attempts, and the defaults of everything else.
    pub fn plan(&mut self, tokens: &str) -> Plan {
        let consumer = self.sources;
        self.sources += 1;
        Plan {
            id: SourceId::new(1, consumer, 0),
            name: Name::new(format!("{}-{consumer}", self.namespace)).expect("a row's names are valid"),
            pattern: self.pattern(tokens),
            shared: None,
            bound: NonZeroUsize::new(64).expect("not zero"),
            overflow: None,
            ordered: false,
            max_deliver: NonZeroU32::new(3).expect("not zero"),
            start_at: StartAt::New,
            slow_handler: None,
            ack_wait: None,
        }
    }

    /// A name that members of this row share, and no other row has: a group's, or a durable identity's.
    pub fn shared(&self, name: &str) -> String {
        format!("{}-{name}", self.namespace)
    }

    /// The same plan with the shortest lease that there is, so that what a lease decides is decided soon. Where the backend
    /// has no leases, the same plan.
    pub fn with_short_lease(&self, plan: Plan) -> Plan
    where
        F::Backend: DeliversAtLeastOnce,
    {
        match <F::Backend as DeliversAtLeastOnce>::LEASE {
            Lease::None => plan,
            Lease::Fixed | Lease::Extendable => plan.ack_wait(self.timing().lease),
        }
    }

    /// Subscribes.
    ///
    /// # Errors
    /// It was refused.
    pub async fn subscribe<M>(&self, plan: Plan) -> Result<Tap<<F::Backend as DeliversIn<M>>::Source>>
    where
        F::Backend: DeliversIn<M>,
    {
        let (name, pattern) = (plan.name.clone(), plan.pattern.clone());
        let subscribed = self.try_subscribe::<M>(plan).await?;
        subscribed.map_err(|error| Failure::error(format_args!("`{name}` could not subscribe to `{pattern}`"), &error))
    }

    /// Subscribes, which may be refused.
    ///
    /// # Errors
    /// No answer came within the fixture's patience.
    pub async fn try_subscribe<M>(
        &self,
        plan: Plan,
    ) -> Result<std::result::Result<Tap<<F::Backend as DeliversIn<M>>::Source>, SubscribeError>>
    where
        F::Backend: DeliversIn<M>,
    {
        let (name, pattern) = (plan.name.clone(), plan.pattern.clone());
        let subscribing = <F::Backend as DeliversIn<M>>::subscribe(&self.session, plan);
        let subscribed = self.within("subscribing", subscribing).await?;
        self.note(format_args!(
            "`{name}` subscribed to `{pattern}`{}",
            if subscribed.is_ok() { "" } else { ": refused" }
        ));
        Ok(subscribed.map(|source| self.look_at(source, name)))
    }

    pub(super) fn look_at<S: Source>(&self, source: S, name: Name) -> Tap<S> {
        Tap::new(source, name, self.timing(), self.seen.clone())
    }

    /// Subscribes to this pattern in mode `M`, with the defaults of [`plan`](Stage::plan).
    ///
    /// # Errors
    /// It was refused.
    pub async fn tap<M>(&mut self, tokens: &str) -> Result<Tap<<F::Backend as DeliversIn<M>>::Source>>
    where
        F::Backend: DeliversIn<M>,
    {
        let plan = self.plan(tokens);
        self.subscribe::<M>(plan).await
    }

    /// Publishes small events of these ids, one after the other. What is published to another subject has another source,
    /// so that a broker that tells duplicates takes no two of a row's events for one (Q8), as long as no subject gets an
    /// id twice.
    ///
    /// # Errors
    /// One was refused.
    pub async fn publish<'i>(&self, tokens: &str, ids: impl IntoIterator<Item = &'i str>) -> Result {
        for id in ids {
            self.publish_event(tokens, small_event(&self.source(tokens), id)).await?;
        }
        Ok(())
    }

    /// Publishes an event.
    ///
    /// # Errors
    /// It was refused.
    pub async fn publish_event(&self, tokens: &str, event: Event) -> Result {
        let id = event.id().to_owned();
        let published = self.try_publish(tokens, event).await;
        published.map_err(|error| Failure::error(format_args!("publishing `{id}` was refused"), &error))
    }

    /// Publishes an event that may be refused.
    ///
    /// # Errors
    /// As the backend answers.
    pub async fn try_publish(&self, tokens: &str, event: Event) -> std::result::Result<(), PublishError> {
        let (subject, id) = (self.subject(tokens), event.id().to_owned());
        let published = self.session.publish(&subject, event).await;
        match &published {
            Ok(()) => self.note(format_args!("published `{id}` to `{subject}`")),
            Err(error) => self.note(format_args!("publishing `{id}` to `{subject}` was refused: {error}")),
        }
        published
    }

    /// What comes to these taps, which take turns, each acknowledged: so many deliveries, and then whatever comes while
    /// the fixture watches. How often each came, by the tap's place and the event's id.
    ///
    /// # Errors
    /// A stream ended, what came is malformed, or a settlement was refused.
    pub async fn gather<S: Source>(
        &self,
        taps: &mut [Tap<S>],
        expected: usize,
    ) -> Result<BTreeMap<(usize, String), usize>> {
        let timing = self.timing();
        let mut got = BTreeMap::new();
        for count in 0.. {
            let wait = if count < expected { timing.patience } else { timing.quiet };
            let Some((at, delivery)) = Tap::first_of(taps, count, wait).await? else { break };
            *got.entry((at, delivery.id().to_owned())).or_default() += 1;
            delivery.ack().await?;
        }
        Ok(got)
    }

    /// Closes the session.
    ///
    /// # Errors
    /// It did not close.
    pub async fn close(&self) -> Result {
        let closed = self.within("closing the session", self.session.close()).await?;
        closed.map_err(|error| Failure::error("the session did not close", &error))?;
        self.note("the session is closed");
        Ok(())
    }

    /// Closes the session and opens another one of the same backend value.
    ///
    /// # Errors
    /// The one did not close, or the other not open.
    pub async fn reopen(&mut self) -> Result {
        self.close().await?;
        self.session = open_session(&self.fixture, &self.backend, &self.seen).await?;
        Ok(())
    }

    /// The same, of another backend value.
    ///
    /// # Errors
    /// As of [`reopen`](Stage::reopen).
    pub async fn reopen_elsewhere(&mut self) -> Result {
        self.backend = self.fixture.backend();
        self.reopen().await
    }

    /// Waits for what has to come.
    ///
    /// # Errors
    /// It did not, within the fixture's patience.
    pub async fn within<O>(&self, what: &str, future: impl Future<Output = O>) -> Result<O> {
        let patience = self.timing().patience;
        tokio::time::timeout(patience, future)
            .await
            .map_err(|_| Failure::seen(format!("{what} did not come to an end within {patience:?}")))
    }

    /// Lets what runs beside the row go on for so many steps.
    pub async fn give_way(&self, steps: usize) {
        for _ in 0..steps {
            tokio::task::yield_now().await;
        }
    }

    /// Lets time pass.
    pub async fn pass(&self, time: Duration) {
        tokio::time::sleep(time).await;
        self.note(format_args!("{time:?} have passed"));
    }
}

impl<F: DurableFixture> Stage<F> {
    /// Restarts the storage under an open session, and opens another session.
    ///
    /// # Errors
    /// The new session did not open.
    pub async fn restart(&mut self) -> Result {
        self.fixture.restart().await;
        self.note("the storage was restarted");
        self.renew().await
    }

    /// Kills the storage under an open session, if the fixture can, and opens another session.
    ///
    /// # Errors
    /// The new session did not open.
    pub async fn crash(&mut self) -> Result<Ability> {
        if self.fixture.crash().await == Ability::NotHere {
            return Ok(Ability::NotHere);
        }
        self.note("the storage was killed, and started again");
        self.renew().await?;
        Ok(Ability::Done)
    }

    /// Gives the session of before a restart up, and opens another one.
    async fn renew(&mut self) -> Result {
        // What a session says that has lost its broker is no matter.
        let _ = tokio::time::timeout(self.timing().patience, self.session.close()).await;
        self.backend = self.fixture.backend();
        self.session = open_session(&self.fixture, &self.backend, &self.seen).await?;
        Ok(())
    }
}

async fn open_session<F: Fixture>(
    fixture: &F,
    backend: &F::Backend,
    seen: &Seen,
) -> Result<Arc<<F::Backend as Backend>::Session>> {
    let session = tokio::time::timeout(fixture.timing().patience, backend.open()).await;
    let session = session.map_err(|_| Failure::seen("the session did not open in time"))?;
    let session = session.map_err(|error| Failure::error("the session did not open", &error))?;
    seen.note("a session is open");
    Ok(Arc::new(session))
}

/// An event of this row, with data that says whose it is.
fn small_event(source: &str, id: &str) -> Event {
    let source = UriReference::new(format!("urn:tramline:conformance:{source}"));
    Event::builder(id, source.expect("it is a URI"), "tramline.conformance")
        .text(format!("the data of {id}"))
        .build()
        .expect("a row's events are valid")
}
