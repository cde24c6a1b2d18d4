//! Core NATS: at most once, from publisher to subscriber through a server that keeps nothing.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use tramline::{Bus, Event, Nats, NatsOptions, Payload, responder, source, subject, subscription};
//!
//! #[subscription(pattern = "shop.>", group = "dashboard", bound = 1024, overflow = ShedOldest)]
//! async fn dashboard(event: &Event) {
//!     println!("{} of {}", event.id(), event.source());
//! }
//!
//! #[responder(subject = "price.of", group = "prices", reply = "com.example.quote.v1")]
//! async fn quote(item: Payload<String>) -> u64 {
//!     item.len() as u64 * 100
//! }
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let nats = Nats::from_env()?.options(NatsOptions::from_env()?.name("shop"));
//! let bus = Bus::builder(nats, source!("urn:example:shop")).subscribe(dashboard).subscribe(quote).build()?;
//! // Waits for a server that is not there yet.
//! let bus = bus.start_within(Duration::from_secs(30)).await?;
//! bus.publish_value(&subject!("shop.opened"), "com.example.opened.v1", "good morning").await?;
//! let price: u64 = bus
//!     .request_value(&subject!("price.of"), "com.example.price.v1", "tea")
//!     .within(Duration::from_secs(1))
//!     .await?;
//! println!("tea: {price}");
//! println!("links lost: {}", bus.stats("dashboard").map_or(0, |stats| stats.interruptions));
//! # Ok(())
//! # }
//! ```
//!
//! # What its capabilities mean here
//! They are the list of implementations below.
//!
//! - **At most once**: a server keeps nothing. What is published goes to whoever is subscribed at that moment, and to nobody
//!   later.
//! - **The bound is ours.** A task per source takes messages from the client as they come and puts them into a queue of
//!   exactly the bound; what finds no room is shed there, the newest or the oldest, and counted. The client's own buffer is
//!   only the way there. It holds 131,072 messages of a subscription; should it ever be full, the client drops messages that
//!   nobody can count, and [`interruptions`](crate::contract::SourceStats::interruptions) goes up.
//! - **A subscription is reported as made** once the server has it: what is published anywhere after that arrives. That
//!   takes two round trips.
//! - **Order** is that of the server: one connection, one subscription, one queue.
//! - **A publish** is `Ok` once the client has it while the link is up. That says nothing about who gets it.
//! - **A group** is a name and a pattern (contract B10), while at the server a name alone makes a queue group: it is called
//!   `<group>@<pattern>` there, which is what a client of another kind names to join it.
//!   A member that is full keeps getting its share.
//! - **A request** goes to each group of responders that its subject reaches. Where nobody is subscribed the server says
//!   so at once. A reply that comes after its request has finished is unclaimed. A stream that keeps the subject answers
//!   too, as NATS has it: ask on subjects that no stream keeps.
//! - **Rights that are missing** show when a subscription is made, as an error that names the pattern. A publish that is
//!   denied is denied later: the first one is logged, and from then on, for a few seconds, each is an error.
//! - **A pattern that begins with a wildcard** does not select what NATS sends for itself: subjects that begin with `$` or
//!   with the prefix of inboxes.
//! - **What arrives** in any of the dialects of CloudEvents over NATS is read; what is no event is malformed, and counted.
//!   A message whose headers are not UTF-8 is one that the client cannot read at all: it gives its link up and makes another.
//! - **The largest event** is what the server says, 1 MiB unless it is set up otherwise, with its headers. A larger one is
//!   refused before it is sent.
//!
//! # When something fails
//! - **The link dies.** A source lives on: the client makes the link anew and subscribes again, at once and then after waits
//!   that double from 2 ms to 4 s. What was published meanwhile is lost, and nobody knows how much that is: `interruptions`
//!   goes up by one, however long it takes, and a warning is logged. Publishes and requests are errors at once: nothing is
//!   kept to be sent who knows when. Whether what was under way had arrived is not known.
//! - **The link dies without a word**, as when a cable is drawn: that is noticed after three pings went unanswered, 30
//!   seconds unless [said otherwise](NatsOptions::ping_interval). Until then publishes are `Ok` and lost.
//! - **The server is stopped or killed** and started again: the same. It keeps nothing, so there is nothing for it to forget.
//! - **A handler is slow**: its queue sheds, exactly counted. A process that does not read at all is cut off by the server
//!   after some seconds (its `write_deadline`), which is a link that died.
//! - **No server is there** when the bus starts: an error that names the address, and the bus back; with a budget
//!   ([`start_within`](crate::Bus::start_within)) it is tried again. Wrong credentials are an error at once.
//! - **A close** sees what was published through to the server, for at most some seconds. While the link is down there is
//!   nothing to be seen through, and the client's own task ends when it has a link again.
//!
//! # Configuration
//! From code by [`NatsOptions`], from the environment by [`Nats::from_env`] and [`NatsOptions::from_env`]:
//!
//! | what | code | environment |
//! |---|---|---|
//! | servers, parted by commas | [`Nats::new`] | `NATS_URL`, else `nats://localhost:4222` |
//! | user and password | [`user_and_password`](NatsOptions::user_and_password), or in the address | `NATS_USER`, `NATS_PASSWORD` |
//! | token | [`token`](NatsOptions::token), or in the address | `NATS_TOKEN` |
//! | seed of a key | [`nkey_seed`](NatsOptions::nkey_seed) | `NATS_NKEY_SEED` |
//! | credentials file | [`credentials_file`](NatsOptions::credentials_file) | `NATS_CREDS` |
//! | name of the connection | [`name`](NatsOptions::name) | `NATS_NAME` |
//! | TLS (feature `nats-tls`) | `require_tls`, `tls_first`, or `tls://` in the address | `tls://` in `NATS_URL` |
//! | certificates to trust | `root_certificates` | `NATS_CA` |
//! | own certificate and key | `client_certificate` | `NATS_CERT`, `NATS_KEY` |
//! | wait between attempts to connect again | [`reconnect_delay`](NatsOptions::reconnect_delay) | `NATS_RECONNECT_DELAY_MS` |
//! | how soon a silent link is noticed | [`ping_interval`](NatsOptions::ping_interval) | – |
//! | prefix of reply subjects | [`inbox_prefix`](NatsOptions::inbox_prefix) | – |
//! | events as one JSON document | [`structured`](NatsOptions::structured) | – |
//!
//! No secret is shown by `Debug`, in an error or in a log.

mod address;
pub(in crate::backend) mod drain;
mod kinds;
pub(in crate::backend) mod link;
mod options;
mod panicked;
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
