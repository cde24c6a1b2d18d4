//! Core NATS: at most once, from publisher to subscriber through a server that keeps nothing.
//!
//! What it can do is the list of implementations below. What that means here:
//!
//! - **The bound is ours.** A task per source takes messages from the client as they come and puts them into a queue of
//!   exactly the bound; what finds no room is shed there, and counted. The client's own buffer is only the way there. It
//!   holds 131,072 messages of a subscription; should it ever be full, the client drops messages that nobody can count,
//!   and [`interruptions`](crate::contract::SourceStats::interruptions) goes up.
//! - **A subscription is reported as made** once the server has it: what is published anywhere after that arrives. That
//!   takes two round trips.
//! - **A publish** is `Ok` once the client has it while the link is up. When it is down, it is an error at once: nothing is
//!   kept to be sent who knows when.
//! - **When the link dies** a source lives on: the client makes the link anew and subscribes again. What was published
//!   meanwhile is lost, and nobody knows how much that is: `interruptions` goes up, and a warning is logged.
//! - **A group** is a name and a pattern (contract B10), while at the server a name alone makes a queue group: it is called
//!   `<group>@<pattern>` there. A member that is full keeps getting its share.
//! - **A request** goes to each group of responders that its subject reaches. Where nobody is subscribed the server says
//!   so at once. A reply that comes after its request has finished is unclaimed.
//! - **Rights that are missing** show when a subscription is made, as an error that names the pattern. A publish that is
//!   denied is denied later: the first one is logged, and from then on, for a few seconds, each is an error.
//! - **A pattern that begins with a wildcard** does not select what NATS sends for itself: subjects that begin with `$` or
//!   with the prefix of inboxes.
//! - **What arrives** in any of the dialects of CloudEvents over NATS is read; what is no event is malformed, and counted.
//! - **A close** sees what was published through to the server, for at most some seconds. While the link is down there is
//!   nothing to be seen through, and the client's own task ends when it has a link again.

mod address;
mod drain;
mod kinds;
pub(in crate::backend) mod link;
mod options;
mod queue;
mod replies;
mod requests;
mod session;
pub(in crate::backend) mod signals;
mod source;
#[cfg(feature = "nats-tls")]
mod tls;
pub(in crate::backend) mod wire;

use std::{fmt, time::Duration};

pub use self::{
    options::NatsOptions,
    requests::{NatsReplier, NatsRequestDeliveries, NatsRequests, NatsResponderControl},
    session::NatsSession,
    source::{NatsDeliveries, NatsSource, NatsSourceControl},
};
use crate::{
    capabilities,
    contract::{
        AnswersRequests, AtMostOnceSpec, Backend, Capabilities, DeliversAtMostOnce, MatchesPatterns, OpenError, Orders,
        QueuePlace, RequestError, ResponderSpec, ShedsNewest, ShedsOldest, SubscribeError, Volatile,
    },
    event::Event,
    subject::Subject,
};

/// Where `from_env` connects unless `NATS_URL` says otherwise.
const LOCAL: &str = "nats://localhost:4222";

/// Core NATS.
///
/// It delivers at most once; [JetStream](https://docs.nats.io/nats-concepts/jetstream) on the same servers is another
/// backend.
///
/// ```
/// use tramline::{Nats, NatsOptions, contract::Backend};
///
/// let nats = Nats::new("nats://localhost:4222").options(NatsOptions::new().name("billing"));
/// println!("{nats:?}\n{}", Nats::CAPABILITIES);
/// ```
#[derive(Clone)]
pub struct Nats {
    url: String,
    options: NatsOptions,
}

impl Nats {
    /// Connects to this server when it is opened; to one of several, of one cluster, parted by commas. An address may hold
    /// a user and a password, or a token: `nats://user:password@host:4222`.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), options: NatsOptions::new() }
    }

    /// Connects as the environment says: to `NATS_URL`, or else to `nats://localhost:4222`, with the options of
    /// [`NatsOptions::from_env`].
    ///
    /// # Errors
    /// [`OpenError::Setting`]: the variables contradict each other, or one is not UTF-8.
    pub fn from_env() -> Result<Self, OpenError> {
        let url = options::text("NATS_URL", std::env::var_os("NATS_URL"))?;
        Ok(Self { url: url.unwrap_or_else(|| LOCAL.to_owned()), options: NatsOptions::from_env()? })
    }

    /// Connects with these options.
    #[must_use]
    pub fn options(self, options: NatsOptions) -> Self {
        Self { options, ..self }
    }
}

impl fmt::Debug for Nats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = address::without_credentials(&self.url);
        f.debug_struct("Nats").field("url", &url).field("options", &self.options).finish()
    }
}

impl Backend for Nats {
    type Session = NatsSession;
    type Storage = Volatile;

    const CAPABILITIES: Capabilities = capabilities!(Nats);

    async fn open(&self) -> Result<NatsSession, OpenError> {
        Ok(NatsSession::new(link::Link::open(&self.url, &self.options).await?))
    }
}

impl DeliversAtMostOnce for Nats {
    type Source = NatsSource;

    const QUEUE: QueuePlace = QueuePlace::Own;

    async fn at_most_once(session: &NatsSession, spec: AtMostOnceSpec) -> Result<NatsSource, SubscribeError> {
        session.subscribe(spec).await
    }
}

impl ShedsNewest for Nats {}

impl ShedsOldest for Nats {}

impl MatchesPatterns for Nats {}

/// One connection, one subscription, one queue: each keeps order.
impl Orders for Nats {}

impl AnswersRequests for Nats {
    type Requests = NatsRequests;
    type Replier = NatsReplier;

    async fn responder(session: &NatsSession, spec: ResponderSpec) -> Result<NatsRequests, SubscribeError> {
        session.respond(spec).await
    }

    async fn request(
        session: &NatsSession,
        subject: &Subject,
        event: Event,
        within: Duration,
    ) -> Result<Event, RequestError> {
        session.request(subject, &event, within).await
    }

    fn unclaimed(session: &NatsSession) -> u64 {
        session.unclaimed()
    }
}
