//! JetStream: a log on NATS servers, at least once from a durable consumer.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use tramline::{AtLeastOnce, Bus, Delayed, Delivery, JetStream, Payload, Settled, source, subject, subscription};
//!
//! #[subscription(
//!     subject = "shop.order.placed", mode = AtLeastOnce, durable = "billing", max_deliver = 5, concurrency = 4,
//!     backoff(initial = "100ms", max = "1m", multiplier = 2.0), restart,
//! )]
//! async fn billing(item: Payload<String>, delivery: Delivery<AtLeastOnce<Delayed>>) -> Settled {
//!     if item.is_empty() { delivery.nack() } else { delivery.ack() }
//! }
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Made by its operator: nats stream add SHOP --subjects "shop.>" --storage file --defaults
//! let stream = JetStream::from_env("SHOP")?;
//! let bus = Bus::builder(stream, source!("urn:example:shop")).subscribe(billing).build()?;
//! let bus = bus.start_within(Duration::from_secs(30)).await?;
//! // `Ok` once the stream has it.
//! bus.publish_value(&subject!("shop.order.placed"), "com.example.order.v1", "tea").await?;
//! tokio::signal::ctrl_c().await?;
//! // What is in hand is finished, and what is not is given back.
//! bus.stop(Duration::from_secs(10)).await;
//! # Ok(())
//! # }
//! ```
//!
//! # What its capabilities mean here
//! They are the list of implementations below.
//!
//! - **The stream is the operator's.** It is bound to, and never created, changed or deleted. Opening checks that it exists,
//!   keeps its messages in files, and confirms publishes; subscribing, that it keeps all that the pattern selects. What is
//!   wrong is refused with the `nats` command that mends it.
//! - **A durable identity is a pull consumer** of that name. It is made once, compared at each opening by pattern, start
//!   position, `max_deliver`, `ack_wait` and mode, and never deleted, not by giving up either: that is the operator's, too.
//!   Of two processes that open a new one at once, with different settings, one is refused; with the same ones, they share
//!   it.
//! - **A source holds at most its bound**: what is asked for, in the window, in hand, or waits out a delay. A message that was
//!   declined for later keeps its place until then, although it waits at the server, so that a subscription with a small
//!   bound that declines much fetches little (contract B4). The window is the bound or the
//!   [prefetch](JetStream::prefetch), whichever is less; an attempt costs little here, so it is wide.
//! - **An attempt is a send.** A message that is given back has spent one, and is not judged by it: the server allows
//!   1,000,000,000 attempts more than `max_deliver`, which nothing runs out of, and the source ends a message that is declined
//!   at `max_deliver` or later, and counts it. A message that ends its process each time is never declined, so it comes again
//!   with each lease: delete it from the stream. Where an operator lowers the consumer's `max_deliver`, the server gives up
//!   what was sent so often, and says so once, to whoever listens: one of the sources of the identity counts that as
//!   exhausted, with a warning. Where there is none at that moment, or the user may not subscribe to
//!   `$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.>`, nobody counts it. What an operator deletes, purges or terminates, or the
//!   stream's limits discard, is not counted either: that is not this subscription's doing.
//! - **A lease** begins when the source receives a message, and is extended by heartbeats, in the window too, until the message
//!   is settled or `max_processing_time` has passed. Then it is handed on; after its last attempt it is exhausted. Under
//!   `Redeliver` nothing is extended, and a lease is over here slightly before it is at the server. It is 30 seconds unless
//!   the subscription says `ack_wait`: so long a message waits whose process was killed.
//! - **A settlement** is sent and not confirmed. It is refused where the link is known to be down, the lease is over, or the
//!   source has ended. One that is lost on its way is as if it had not been made: the message comes again. If it comes to the
//!   source that had it acknowledged, it is acknowledged again and handled by nobody; the latest 8,192 are remembered.
//! - **A delay** is kept by the server, without a limit.
//! - **A publish** waits for the stream's confirmation; many at once wait side by side. Published again to the same subject,
//!   an event is told by its source and id and kept once, within the stream's duplicate window, two minutes unless the
//!   operator says otherwise.
//! - **Order** is that of first deliveries (contract G1); what comes again may come after what was behind it.
//! - **Replays**: a new identity may begin at the oldest message that the stream keeps.
//! - **At most once** is [core NATS](super::nats) on the stream's subjects: what is published reaches whoever is there.
//! - **Requests are not answered.** To NATS a stream is a subscriber of its subjects, and it confirms whatever has a reply
//!   address: each request would be answered by the stream, and one that nobody serves would not be told so. Ask over a bus
//!   on [core NATS](super::nats), on subjects that no stream keeps.
//!
//! # When something fails
//! - **The link dies.** A source lives on. What it holds stays its own until the lease ends, and is settled over the new
//!   link; what a longer outage hands on counts as lease expired, and its settlement as refused. A publish that is under way,
//!   and each until the link is there again, is an error at once: `Unconfirmed`, since the stream may have it.
//! - **The server is stopped and started again.** Nothing is lost, and attempts go on; a busy server may forget the last of
//!   them, and the last acknowledgements, as one that is killed does. A delay is forgotten: what waited for
//!   three seconds came back after 2.1 to 2.3, with the server's start.
//! - **The server is killed** (`kill -9`). What it confirmed is there; of what it heard last it forgets some: on 2.9
//!   the acknowledgements of the last 50 ms, on 2.15 those of the last 150 ms. Such a message comes again, with an attempt
//!   that may be one lower than it was; if it comes to the source that had it acknowledged, nobody handles it again. A
//!   publish that was not confirmed and is tried again may be kept twice. Under load 2.15 has once forgotten a whole
//!   consumer, which is then as if it was deleted.
//! - **The consumer or the stream is deleted.** The source ends with that as its cause; a subscription with `restart` makes
//!   the consumer anew, from its `start_at`, and waits for the stream.
//! - **The stream is full** and discards what is new, or the server's disk is: each publish is an error that says so.
//! - **A process is killed.** What it held comes to another member, or to the next process, when its lease ends.
//! - **A retire** gives back what is held, in order, and what the open pull still brings. That takes up to a quarter
//!   of a second, and up to a second where the server is late.
//! - **A pull ends in the moment in which something is declined or given back.** A server before 2.10.15 may forget that
//!   message until its lease ends, and send the latest message once more, numbered as a first attempt; a later one sends the
//!   declined message after the others that were.
//! - **A message has headers that are not UTF-8.** The client cannot read it and gives the link up over it, and the server sends
//!   it again with each lease. Where the link goes down twice within two leases a source asks for one
//!   message at a time, so that no other is lost with it. Delete such a message from the stream.
//!
//! # Configuration
//! That of [core NATS](super::nats#configuration), from code by [`options`](JetStream::options) and from the environment by
//! [`JetStream::from_env`]; the stream's name is given in code. The user of the server needs to publish to the subjects that
//! the service publishes to, to `$JS.API.STREAM.INFO.<stream>`, `$JS.API.CONSUMER.INFO.<stream>.*`,
//! `$JS.API.CONSUMER.CREATE.<stream>.>`, `$JS.API.CONSUMER.MSG.NEXT.<stream>.>` and `$JS.ACK.<stream>.>`, and to subscribe to
//! `_INBOX.>`, and better to `$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.<stream>.*`, too.

mod api;
mod arrival;
mod consumer;
mod done;
mod held;
mod lease;
mod pull;
mod session;
mod shared;
mod source;
mod stream;
mod word;

use std::{num::NonZeroUsize, time::Duration};

pub use self::{
    session::JetStreamSession,
    source::{JetStreamDeliveries, JetStreamSettler, JetStreamSource, JetStreamSourceControl},
};
use super::nats::{Nats, NatsOptions, NatsSource};
use crate::{
    capabilities,
    contract::{
        AtLeastOnceSpec, AtMostOnceSpec, Backend, Capabilities, DelaysRedelivery, DeliversAtLeastOnce,
        DeliversAtMostOnce, KeepsForHandler, Lease, MatchesPatterns, OpenError, Orders, Persistent, QueuePlace,
        Replays, ShedsNewest, ShedsOldest, SubscribeError, SurvivesRestart,
    },
};

/// How many messages wait in front of the bus at most, unless said otherwise: the default of a bound.
const PREFETCH: NonZeroUsize = NonZeroUsize::new(256).expect("not zero");

/// A stream of JetStream.
///
/// ```
/// use tramline::{JetStream, NatsOptions, contract::Backend};
///
/// let orders = JetStream::new("nats://localhost:4222", "ORDERS").options(NatsOptions::new().name("billing"));
/// println!("{orders:?}\n{}", JetStream::CAPABILITIES);
/// ```
#[derive(Debug, Clone)]
pub struct JetStream {
    core: Nats,
    stream: String,
    prefetch: NonZeroUsize,
}

impl JetStream {
    /// Connects to this server, or to one of several, parted by commas, when it is opened, and binds to this stream.
    #[must_use]
    pub fn new(url: impl Into<String>, stream: impl Into<String>) -> Self {
        Self::on(Nats::new(url), stream)
    }

    /// Connects as the environment says ([`Nats::from_env`]), and binds to this stream.
    ///
    /// # Errors
    /// [`OpenError::Setting`]: the variables contradict each other, or one is not UTF-8.
    pub fn from_env(stream: impl Into<String>) -> Result<Self, OpenError> {
        Ok(Self::on(Nats::from_env()?, stream))
    }

    fn on(core: Nats, stream: impl Into<String>) -> Self {
        Self { core, stream: stream.into(), prefetch: PREFETCH }
    }

    /// Connects with these options.
    #[must_use]
    pub fn options(self, options: NatsOptions) -> Self {
        Self { core: self.core.options(options), ..self }
    }

    /// How many messages of a subscription wait in front of the bus at most, if its bound is not less (contract B6). 256
    /// unless said otherwise. More of them spare round trips; fewer leave more to other members.
    #[must_use]
    pub const fn prefetch(mut self, prefetch: NonZeroUsize) -> Self {
        self.prefetch = prefetch;
        self
    }
}

impl Backend for JetStream {
    type Session = JetStreamSession;
    type Storage = Persistent;

    const CAPABILITIES: Capabilities = capabilities!(JetStream);

    async fn open(&self) -> Result<JetStreamSession, OpenError> {
        if self.stream.is_empty() || self.stream.contains(|c: char| c.is_whitespace() || ".*>/\\".contains(c)) {
            return Err(OpenError::Setting {
                setting: "stream",
                value: self.stream.clone(),
                fix: "a stream's name is not empty and has no white space, dot, wildcard or slash".to_owned(),
            });
        }
        JetStreamSession::open(self.core.open().await?, &self.stream, self.prefetch).await
    }
}

impl DeliversAtLeastOnce for JetStream {
    type Source = JetStreamSource;

    const LEASE: Lease = Lease::Extendable;
    const QUEUE: QueuePlace = QueuePlace::Elsewhere;
    const RETURNS_ATTEMPT: bool = false;

    async fn at_least_once(
        session: &JetStreamSession,
        spec: AtLeastOnceSpec,
    ) -> Result<JetStreamSource, SubscribeError> {
        session.subscribe(spec).await
    }
}

/// A restart sends what was in hand again: that is an attempt, and whoever had it may be gone. Delays are forgotten. A server
/// that is killed forgets what it heard in the last tenth of a second or so.
impl SurvivesRestart for JetStream {
    const LOSES_LAST_FAILURE: bool = true;
    const CAN_SPEND_UNSEEN_ATTEMPT: bool = true;
    const FORGETS_DELAY: bool = true;
}

impl KeepsForHandler for JetStream {}

impl DelaysRedelivery for JetStream {
    const LONGEST_DELAY: Option<Duration> = None;
}

impl Replays for JetStream {}

impl MatchesPatterns for JetStream {}

/// First deliveries are sent in the order of the stream (contract G1).
impl Orders for JetStream {}

impl DeliversAtMostOnce for JetStream {
    type Source = NatsSource;

    const QUEUE: QueuePlace = QueuePlace::Own;

    async fn at_most_once(session: &JetStreamSession, spec: AtMostOnceSpec) -> Result<NatsSource, SubscribeError> {
        Nats::at_most_once(session.core(), spec).await
    }
}

impl ShedsNewest for JetStream {}

impl ShedsOldest for JetStream {}
