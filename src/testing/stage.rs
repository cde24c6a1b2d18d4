//! What a stand-in, the bus on it and the test share: what was seen, and what is to go wrong.
//!
//! **Invariant:** nothing is awaited, dropped or called under the lock that is a user's.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use tokio::time::Instant;

use super::{
    link::{Link, Wire},
    seen::{Handled, Seen, TestDelivery, TestPublish},
};
use crate::{
    backend::memory::MemorySession,
    bus::watch::{Arrival, CameTo, Watcher},
    contract::PublishError,
    event::Event,
    subject::{Name, Pattern, Subject},
    subscription::Judgement,
};

/// The stage that a test plays on.
#[derive(Default)]
pub(super) struct Stage(Mutex<Props>);

#[derive(Default)]
struct Props {
    deliveries: Vec<TestDelivery>,
    publishes: Vec<TestPublish>,
    subscriptions: BTreeMap<Name, Cue>,
    refusals: Vec<Refusing>,
    /// Of a stand-in for what survives a restart: what it keeps.
    kept: Option<Arc<MemorySession>>,
    wires: Vec<Weak<Wire>>,
}

/// What is known of one subscription, and what is to happen to it next.
#[derive(Default)]
pub(super) struct Cue {
    pub(super) at_least_once: bool,
    pub(super) fail: u32,
    pub(super) panic: u32,
    pub(super) lose_acknowledgement: u32,
    /// When the delays of what it declined are over.
    held: Vec<Instant>,
    link: Weak<Link>,
}

/// Publishes that are still to be refused.
struct Refusing {
    pattern: Pattern,
    left: u32,
    refusal: PublishRefusal,
}

/// How a publish is refused; see [`TestBus::refuse_publishes`](super::TestBus::refuse_publishes).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PublishRefusal {
    /// [`PublishError::QueueFull`]: nobody got the event. Where room is awaited, it comes at once, or with a deadline never.
    QueueFull,
    /// [`PublishError::Unconfirmed`], and nobody got the event.
    Unconfirmed,
    /// [`PublishError::Unconfirmed`], though everybody got the event: only the confirmation was lost.
    ConfirmationLost,
}

/// What [`PublishRefusal::Unconfirmed`] and [`PublishRefusal::ConfirmationLost`] have for a source.
#[derive(Debug, thiserror::Error)]
#[error("the test refused it")]
struct TheTestRefused;

impl PublishRefusal {
    /// What the publisher is told.
    pub(super) fn error(self, event: Event) -> PublishError {
        match self {
            Self::QueueFull => PublishError::QueueFull { subscription: queue_of_the_test(), event },
            Self::Unconfirmed | Self::ConfirmationLost => PublishError::Unconfirmed { source: TheTestRefused.into() },
        }
    }
}

/// The subscription that is said to be full.
pub(super) fn queue_of_the_test() -> Name {
    Name::new("refused-by-the-test").expect("it is a valid name")
}

impl Stage {
    /// A subscription has got a source.
    pub(super) fn opened(&self, name: &Name, at_least_once: bool, link: &Arc<Link>) {
        let mut props = self.props();
        let cue = props.subscriptions.entry(name.clone()).or_default();
        cue.at_least_once = at_least_once;
        cue.link = Arc::downgrade(link);
    }

    /// What is known of a subscription.
    ///
    /// # Panics
    /// If there is none of this name; the message has those there are.
    #[track_caller]
    pub(super) fn with<T>(&self, name: &str, then: impl FnOnce(&mut Cue) -> T) -> T {
        let mut props = self.props();
        if let Some(cue) = props.subscriptions.iter_mut().find_map(|(known, cue)| (*known == *name).then_some(cue)) {
            return then(cue);
        }
        let known: Vec<_> = props.subscriptions.keys().map(|name| format!("`{name}`")).collect();
        drop(props);
        panic!("there is no subscription `{name}`: there are {}", known.join(", "));
    }

    pub(super) fn links(&self) -> Vec<Arc<Link>> {
        self.props().subscriptions.values().filter_map(|cue| cue.link.upgrade()).collect()
    }

    /// Whether the bus still has to see that the link to a subscription was cut.
    pub(super) fn is_being_cut(&self, name: &Name) -> bool {
        let link = self.props().subscriptions.get(name).and_then(Cue::link);
        link.is_some_and(|link| link.is_being_cut())
    }

    /// Whether the next acknowledgement is to be lost.
    pub(super) fn loses_acknowledgement(&self, name: &Name) -> bool {
        let mut props = self.props();
        props.subscriptions.get_mut(name).is_some_and(|cue| one_less(&mut cue.lose_acknowledgement))
    }

    /// A message is held back until then.
    pub(super) fn hold(&self, name: &Name, until: Instant) {
        if let Some(cue) = self.props().subscriptions.get_mut(name) {
            cue.held.push(until);
        }
    }

    /// How many messages of a subscription wait for a delay to pass.
    pub(super) fn held(&self, name: &Name) -> u64 {
        let now = Instant::now();
        let mut props = self.props();
        let Some(cue) = props.subscriptions.get_mut(name) else { return 0 };
        cue.held.retain(|until| *until > now);
        cue.held.len() as u64
    }

    pub(super) fn refuse(&self, pattern: Pattern, left: u32, refusal: PublishRefusal) {
        self.props().refusals.push(Refusing { pattern, left, refusal });
    }

    /// Whether this publish is to be refused.
    pub(super) fn refusal(&self, subject: &Subject) -> Option<PublishRefusal> {
        let mut props = self.props();
        let refusing = props.refusals.iter_mut().find(|one| one.left > 0 && one.pattern.matches(subject))?;
        refusing.left -= 1;
        Some(refusing.refusal)
    }

    pub(super) fn published(&self, publish: TestPublish) {
        self.props().publishes.push(publish);
    }

    pub(super) fn deliveries(&self, of: Option<&str>) -> Seen<TestDelivery> {
        let props = self.props();
        let wanted = |delivery: &&TestDelivery| of.is_none_or(|name| delivery.subscription == *name);
        Seen::new(props.deliveries.iter().filter(wanted).cloned().collect())
    }

    pub(super) fn publishes(&self, on: Option<&Pattern>) -> Seen<TestPublish> {
        let props = self.props();
        let wanted = |publish: &&TestPublish| on.is_none_or(|pattern| pattern.matches(&publish.subject));
        Seen::new(props.publishes.iter().filter(wanted).cloned().collect())
    }

    pub(super) fn forget(&self) {
        let mut props = self.props();
        let seen = (std::mem::take(&mut props.deliveries), std::mem::take(&mut props.publishes));
        drop(props);
        drop(seen);
    }

    /// What is kept over the sessions; this, if there is nothing yet.
    pub(super) fn kept(&self, fresh: MemorySession) -> Arc<MemorySession> {
        self.props().kept.get_or_insert_with(|| Arc::new(fresh)).clone()
    }

    /// A session is open. Unless what it carries is kept, nothing waits out a delay of an earlier one.
    pub(super) fn connected(&self, wire: &Arc<Wire>, kept: bool) {
        let mut props = self.props();
        if !kept {
            props.subscriptions.values_mut().for_each(|cue| cue.held.clear());
        }
        props.wires.retain(|wire| wire.strong_count() > 0);
        props.wires.push(Arc::downgrade(wire));
    }

    pub(super) fn wires(&self) -> Vec<Arc<Wire>> {
        self.props().wires.iter().filter_map(Weak::upgrade).collect()
    }

    fn props(&self) -> MutexGuard<'_, Props> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Cue {
    pub(super) fn link(&self) -> Option<Arc<Link>> {
        self.link.upgrade()
    }
}

impl Watcher for Stage {
    fn before(&self, arrival: &Arrival<'_>) -> Option<Judgement> {
        let mut props = self.props();
        let cue = props.subscriptions.get_mut(arrival.subscription)?;
        let panics = one_less(&mut cue.panic);
        let fails = !panics && one_less(&mut cue.fail);
        drop(props);
        assert!(!panics, "the test made the handler panic");
        fails.then(|| Judgement::failed(&"the test made the handler fail"))
    }

    fn after(&self, arrival: &Arrival<'_>, came_to: CameTo<'_>) {
        let delivery = TestDelivery {
            subscription: arrival.subscription.clone(),
            subject: arrival.subject.clone(),
            event: arrival.event.clone(),
            attempt: arrival.attempt,
            handled: Handled::new(&came_to),
            at: Instant::now(),
        };
        self.props().deliveries.push(delivery);
    }
}

fn one_less(count: &mut u32) -> bool {
    let any = *count > 0;
    *count = count.saturating_sub(1);
    any
}
