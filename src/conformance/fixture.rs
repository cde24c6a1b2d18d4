//! What the suite asks of who brings a backend: a fresh one, and the faults that only its owner can cause.

use std::{future::Future, time::Duration};

use super::Proof;
use crate::{
    contract::{Backend, SurvivesRestart, Volatile},
    subject::Subject,
};

/// Makes backends for the suite, a fresh one for each row.
///
/// Two methods are enough where there is no broker: [`open`](Fixture::open) and [`backend`](Fixture::backend). With a
/// broker, [`timing`](Fixture::timing) says how long things take there, and the others do what only the broker's owner
/// can; each names the row that asks for it. A row that needs what a fixture leaves out does not apply, or is red where
/// the backend's declarations say that it must (a queue that lives elsewhere can lose its link).
///
/// Rows run side by side, also on one server. Each gets a namespace of its own, one token, which begins every subject and
/// is in every name that the row uses; where the broker is shared, nothing else is needed to keep rows apart.
pub trait Fixture: Sized + Send + Sync + 'static {
    /// The backend to prove.
    type Backend: Backend;

    /// Makes whatever one row needs: a server, a stream that covers `namespace.>`, or nothing at all. It fails loudly:
    /// what is missing is a panic that says how to get it.
    fn open(namespace: &str) -> impl Future<Output = Self> + Send;

    /// A backend that connects to it when it is opened. Called more than once in a row, also where there is no runtime
    /// (row `constructor_acquires_nothing`); all of them are on the same broker.
    fn backend(&self) -> Self::Backend;

    /// How long things take there.
    fn timing(&self) -> Timing {
        Timing::default()
    }

    /// The largest event that the broker carries, in bytes as it counts them, or none where it carries whatever fits into
    /// memory (row `payload_limit`).
    fn payload_limit(&self) -> Option<usize> {
        None
    }

    /// How many connections the broker has now from backends of this fixture, told apart from those of rows that run
    /// beside this one, as by the client's name; none where there is no broker, or none that can tell (row
    /// `constructor_acquires_nothing`).
    fn connections(&self) -> impl Future<Output = Option<usize>> + Send {
        async { None }
    }

    /// Whether a Boolean or an Integer in an extension keeps its kind on the way. False where the broker's format writes
    /// it as text and does not say what it was: then text is what may come back (row `event_round_trip`, contract Q2).
    fn keeps_extension_kinds(&self) -> bool {
        true
    }

    /// Puts a message on the broker that is no valid event, as a client that knows nothing of tramline would (row
    /// `malformed_is_counted`). Without a broker there is nobody who could.
    fn publish_foreign(&self, _subject: &Subject) -> impl Future<Output = Ability> + Send {
        async { Ability::NotHere }
    }

    /// Cuts the link between the backend and its broker, and lets it be made again at once (row `link_death_is_seen`).
    fn cut_link(&self) -> impl Future<Output = Ability> + Send {
        async { Ability::NotHere }
    }

    /// Deletes, behind the backend's back, what the broker keeps for the subscriptions of this row: consumers, or queues
    /// (row `consumer_deleted_under_us`).
    fn delete_consumers(&self) -> impl Future<Output = Ability> + Send {
        async { Ability::NotHere }
    }

    /// Hears what a row's test came to, green or not applicable: to hold a table to it that says so. If this panics, the
    /// test fails.
    fn proved(_proof: &Proof) {}
}

/// Owns the storage of a backend that survives a restart, and restarts it.
///
/// [`backend`](Fixture::backend) connects to that storage, before a restart and after it. Rows go on with the session and
/// the sources that they have while it goes down, and open another session afterwards.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say how its storage is restarted",
    label = "asks for a fixture that restarts its storage",
    note = "implement `tramline::conformance::DurableFixture` for it, or write `volatile: ..` for a backend that keeps nothing"
)]
pub trait DurableFixture: Fixture<Backend: SurvivesRestart> {
    /// A bare connection, or whatever else a real restart ends (row D9).
    type Witness: Send + Sync;

    /// Connects a witness.
    fn witness(&self) -> impl Future<Output = Self::Witness> + Send;

    /// Whether the witness has seen its end. Asked after a restart only.
    fn has_ended(&self, witness: &mut Self::Witness) -> impl Future<Output = bool> + Send;

    /// Stops the storage, keeping its contents, and starts it again. Where that is somebody else's service, it restarts
    /// every client instead.
    fn restart(&mut self) -> impl Future<Output = ()> + Send;

    /// Ends the storage without letting it finish anything, and starts it again.
    fn crash(&mut self) -> impl Future<Output = Ability> + Send {
        async { Ability::NotHere }
    }

    /// Which fields the backend refuses when a durable identity is reopened with another value (contract I4).
    fn refused_on_reopening(&self) -> &'static [Field] {
        Field::ALL
    }
}

/// Whether a fixture can do what it was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ability {
    /// It is done.
    Done,
    /// It is not to be had here.
    NotHere,
}

/// A field of a durable identity (contract I4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Field {
    /// The subjects it selects.
    Pattern,
    /// Where it began.
    StartAt,
    /// How many attempts a message has.
    MaxDeliver,
    /// The lease.
    AckWait,
}

impl Field {
    /// Every field.
    pub const ALL: &'static [Self] = &[Self::Pattern, Self::StartAt, Self::MaxDeliver, Self::AckWait];

    /// The field as [`SubscribeError::Reopened`](crate::contract::SubscribeError::Reopened) names it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pattern => "pattern",
            Self::StartAt => "start_at",
            Self::MaxDeliver => "max_deliver",
            Self::AckWait => "ack_wait",
        }
    }
}

/// How long things take at one broker. What must not come early is measured to the millisecond; what is late is red only
/// once [`patience`](Timing::patience) is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timing {
    /// The shortest lease that the broker grants and keeps to. 200 ms unless said otherwise.
    pub lease: Duration,
    /// How long one watches before saying that nothing comes. 100 ms unless said otherwise; at least a round trip.
    pub quiet: Duration,
    /// How long one waits for what has to come. 10 s unless said otherwise.
    pub patience: Duration,
}

impl Timing {
    /// The same, with another lease.
    #[must_use]
    pub const fn lease(self, lease: Duration) -> Self {
        Self { lease, ..self }
    }

    /// The same, watching for longer or shorter.
    #[must_use]
    pub const fn quiet(self, quiet: Duration) -> Self {
        Self { quiet, ..self }
    }

    /// The same, with more or less patience.
    #[must_use]
    pub const fn patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }
}

impl Default for Timing {
    fn default() -> Self {
        Self { lease: Duration::from_millis(200), quiet: Duration::from_millis(100), patience: Duration::from_secs(10) }
    }
}

/// Storage that the volatile entry of the suite can prove: it keeps nothing.
#[diagnostic::on_unimplemented(
    message = "this fixture's backend survives a restart, and `volatile` cannot prove that it does",
    label = "asks for a backend that keeps nothing",
    note = "write `surviving: ..`, and implement `tramline::conformance::DurableFixture` for the fixture"
)]
pub trait KeepsNothing {}

impl KeepsNothing for Volatile {}

/// Asks that a fixture's backend keeps nothing.
#[doc(hidden)]
pub const fn volatile_entry<F: Fixture>()
where
    <F::Backend as Backend>::Storage: KeepsNothing,
{
}

/// Asks that a fixture restarts its storage.
#[doc(hidden)]
pub const fn surviving_entry<F: DurableFixture>() {}
