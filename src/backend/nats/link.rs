//! The connection of one session: sending, knowing that the server has heard, and ending.

use std::{
    error::Error,
    future::Future,
    panic::AssertUnwindSafe,
    pin::pin,
    sync::{Arc, Mutex, PoisonError, atomic::Ordering::Relaxed},
    time::Duration,
};

use async_nats::{
    Client, ConnectError, ConnectErrorKind, HeaderMap, Message, PublishErrorKind, Subject, Subscriber,
    connection::State,
};
use bytes::Bytes;
use futures_util::FutureExt;
use tokio::{
    sync::{broadcast, futures::Notified},
    task::unconstrained,
    time::timeout,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    address::Servers,
    drain::TRANSIT,
    options::NatsOptions,
    panicked::panicked,
    replies::Desk,
    signals::{Denied, Signals, observed},
    wire,
};
use crate::{
    contract::{CloseError, Malformed, OpenError, SubscribeError},
    event::Event,
    subject::{Group, Name, Pattern},
};

/// How long the server may take to show that it has heard.
const ECHO: Duration = Duration::from_secs(5);
/// How long each step of a close may take.
const CLOSE: Duration = Duration::from_secs(2);

/// The connection of one session. Dropped, it ends the session's tasks.
#[derive(Debug)]
pub(in crate::backend) struct Link {
    client: Client,
    signals: Arc<Signals>,
    desk: Arc<Desk>,
    writer: wire::Writer,
    /// Reads replies.
    reader: Mutex<wire::Reader>,
    inbox_prefix: String,
    /// The session is closed: nothing is sent any more, and its sources end.
    closed: CancellationToken,
    /// Answers are handed out no more.
    finish: CancellationToken,
    /// Both tasks of the client have ended.
    ended: CancellationToken,
    tasks: TaskTracker,
    /// Ends the client of a session that is dropped.
    end: Mutex<Option<Arc<End>>>,
}

/// Why something was not sent.
#[derive(Debug, thiserror::Error)]
pub(in crate::backend) enum NotSent {
    #[error("the session is closed")]
    Closed,
    #[error("the session was closed meanwhile: whether it arrives is not known")]
    Late,
    #[error("the link to the NATS server is down; the client goes on trying to make it anew")]
    Down,
    #[error(transparent)]
    Denied(#[from] Denied),
    #[error("the message has {size} bytes, and the server takes at most {limit}")]
    TooLarge { size: usize, limit: usize },
    #[error("the NATS server did not answer within {0:?}")]
    Silent(Duration),
    #[error("the NATS client did not take it")]
    Client(#[source] Box<dyn Error + Send + Sync>),
}

impl Link {
    /// Connects, and waits until the server has the inbox that answers come to.
    pub(in crate::backend) async fn open(url: &str, options: &NatsOptions) -> Result<Arc<Self>, OpenError> {
        let servers = Servers::parse(url)?;
        options.check_inbox()?;
        let signals = Arc::new(Signals::new());
        let ended = CancellationToken::new();
        let connect = observed(options.connect(&servers).await?, &signals, &ended, options.delay());
        let connected = AssertUnwindSafe(connect.subscription_capacity(TRANSIT).connect(servers.addresses()));
        let connected = connected.catch_unwind().await;
        let connected = connected.map_err(|panic| panicked(&servers, &*panic, NatsOptions::has_tls()))?;
        let client = connected.map_err(|error| not_connected(&servers, options, error))?;
        let desk = Arc::new(Desk::new(&client.new_inbox()));
        let end = Mutex::new(Some(Arc::new(End(client.clone()))));
        let link = Self {
            client,
            signals,
            desk,
            writer: wire::Writer::new(options.content_mode()),
            reader: Mutex::default(),
            inbox_prefix: options.inbox().to_owned(),
            closed: CancellationToken::new(),
            finish: CancellationToken::new(),
            ended,
            tasks: TaskTracker::new(),
            end,
        };
        match link.receive_answers().await {
            Ok(()) => Ok(Arc::new(link)),
            Err(NotSent::Denied(_)) => Err(OpenError::Setting {
                setting: "inbox_prefix",
                value: options.inbox().to_owned(),
                fix: format!(
                    "the server denies subscribing below it: grant the user `subscribe` on `{}.>`, or name a prefix that it has",
                    options.inbox()
                ),
            }),
            Err(error) => Err(OpenError::Unreachable { source: format!("{servers}: {error}").into() }),
        }
    }

    /// Subscribes to the inbox of this session.
    async fn receive_answers(&self) -> Result<(), NotSent> {
        let pattern = self.desk.pattern();
        let denials = self.signals.denials();
        let subscribed = self.client.subscribe(pattern.clone()).await;
        let answers = subscribed.map_err(|error| NotSent::Client(error.into()))?;
        let (desk, heard, finish) = (Arc::clone(&self.desk), self.signals.denials(), self.finish.clone());
        // It holds nothing of the link, and ends with it.
        tokio::spawn(async move { desk.hand_out(answers, heard, &finish).await });
        self.confirmed(&pattern, denials).await.map(drop)
    }

    /// Subscribes, and returns once the server has the subscription, with what tells of denials from then on.
    ///
    /// Dropped half way it leaves nothing subscribed: the subscriber unsubscribes when it is dropped.
    pub(super) async fn subscribe(
        &self,
        name: &Name,
        pattern: &Pattern,
        group: Option<&Group>,
    ) -> Result<(Subscriber, broadcast::Receiver<Denied>), SubscribeError> {
        let unconfirmed = |error: NotSent| match error {
            NotSent::Closed => SubscribeError::Closed,
            NotSent::Denied(_) => SubscribeError::Setting {
                subscription: name.clone(),
                setting: "pattern",
                value: pattern.to_string(),
                fix: "the server denies subscribing to it: grant its user `subscribe` on it".to_owned(),
            },
            error => SubscribeError::Unconfirmed { source: error.into() },
        };
        self.ready().map_err(unconfirmed)?;
        let denials = self.signals.denials();
        let subscribed = match group {
            Some(group) => self.client.queue_subscribe(pattern.to_string(), queue_group(group, pattern)).await,
            None => self.client.subscribe(pattern.to_string()).await,
        };
        let subscriber = subscribed.map_err(|error| SubscribeError::Unconfirmed { source: error.into() })?;
        let confirmed = tokio::select! {
            biased;
            () = self.closed.cancelled() => Err(NotSent::Closed),
            confirmed = self.confirmed(pattern.as_str(), denials) => confirmed,
        };
        Ok((subscriber, confirmed.map_err(unconfirmed)?))
    }

    /// Waits until the server has a subscription that was sent, or has denied it.
    async fn confirmed(
        &self,
        pattern: &str,
        mut denials: broadcast::Receiver<Denied>,
    ) -> Result<broadcast::Receiver<Denied>, NotSent> {
        let heard = async {
            self.heard().await?;
            // A denial comes by another way than the echo, and before it. A second round trip is its turn.
            self.heard().await
        };
        tokio::select! {
            biased;
            denied = denied_subscribing(&mut denials, pattern) => return Err(denied.into()),
            heard = heard => heard?,
        }
        Ok(denials)
    }

    /// Returns once the server has all that was sent before, by one round trip: a message to this session itself.
    ///
    /// A flush would not do: it empties the client's buffer. Nor would a request to an unused inbox, which a
    /// subscription to `>` receives.
    pub(in crate::backend) async fn heard(&self) -> Result<(), NotSent> {
        let down = self.signals.down();
        let mut waiting = self.desk.ask(None);
        let subject = waiting.reply().clone();
        let echo = async {
            self.hand_to_client(subject, None, Default::default).await?;
            // To be denied that publish is an answer too, and in its turn.
            waiting.answer().await.map(drop).ok_or(NotSent::Closed)
        };
        if self.client.connection_state() != State::Connected {
            return Err(NotSent::Down);
        }
        tokio::select! {
            biased;
            heard = timeout(ECHO, echo) => heard.unwrap_or(Err(NotSent::Silent(ECHO))),
            () = down => Err(NotSent::Down),
        }
    }

    /// Sends an event, with a reply address if it is a request.
    pub(in crate::backend) async fn send(
        &self,
        subject: Subject,
        reply: Option<Subject>,
        event: &Event,
    ) -> Result<(), NotSent> {
        self.ready()?;
        if let Some(denied) = self.signals.is_denied(&subject) {
            return Err(denied.into());
        }
        // Pinned, because a future is large, and would be moved.
        let sending = pin!(self.hand_to_client(subject, reply, || self.writer().write(event)));
        tokio::select! {
            biased;
            sent = sending => sent?,
            // The client's buffer is full.
            () = self.closed.cancelled() => return Err(NotSent::Closed),
            () = self.signals.down() => return Err(NotSent::Down),
        }
        // What the client had before the session was closed is seen through by the close.
        if self.closed.is_cancelled() { Err(NotSent::Late) } else { Ok(()) }
    }

    /// Reads a reply. Whoever finds somebody else at it reads by itself, without what was seen before.
    pub(super) fn read(&self, reply: Message) -> Result<Event, Malformed> {
        match self.reader.try_lock() {
            Ok(mut reader) => reader.event(reply),
            Err(_) => wire::Reader::default().event(reply),
        }
    }

    async fn hand_to_client(
        &self,
        subject: Subject,
        reply: Option<Subject>,
        write: impl Fn() -> (HeaderMap, Bytes),
    ) -> Result<(), NotSent> {
        let (headers, payload) = write();
        let limit = self.client.max_payload();
        if let Some(size) = wire::too_large(&headers, &payload, limit) {
            return Err(NotSent::TooLarge { size, limit });
        }
        let sent = match reply {
            Some(reply) => self.client.publish_with_reply_and_headers(subject, reply, headers, payload).await,
            None => self.client.publish_with_headers(subject, headers, payload).await,
        };
        sent.map_err(|error| {
            not_taken(error, self.closed.is_cancelled(), || {
                let (headers, payload) = write();
                (wire::size(&headers, &payload), self.client.max_payload())
            })
        })
    }

    /// Whether something could be sent now.
    pub(in crate::backend) fn ready(&self) -> Result<(), NotSent> {
        if self.closed.is_cancelled() {
            Err(NotSent::Closed)
        } else if self.client.connection_state() != State::Connected {
            // The client would keep it, and send it who knows when.
            Err(NotSent::Down)
        } else {
            Ok(())
        }
    }

    /// Ends the sources, sees what was published through to the server, and ends the client.
    ///
    /// While the link is down the client cannot be ended: it ends as soon as it has a link again.
    pub(in crate::backend) async fn close(&self) -> Result<(), CloseError> {
        self.closed.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        if self.client.connection_state() == State::Connected
            && !self.ended.is_cancelled()
            && !matches!(timeout(CLOSE, self.heard()).await, Ok(Ok(())))
        {
            tracing::warn!(
                name: "unflushed",
                target: "tramline",
                "a NATS session closes without knowing whether what it published last has arrived"
            );
        }
        // An error says that the client has ended already.
        let _ = timeout(CLOSE, self.client.drain()).await;
        let ended = timeout(CLOSE, self.ended.cancelled()).await.is_ok();
        self.finish.cancel();
        if ended || self.client.connection_state() != State::Connected {
            Ok(())
        } else {
            Err(CloseError::new("the NATS client did not end"))
        }
    }

    /// Ends what the session has without waiting for it: sources that somebody still holds would keep the client.
    pub(in crate::backend) fn abandon(&self) {
        self.closed.cancel();
        self.finish.cancel();
        drop(self.end.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    /// Keeps the client of a session that is dropped until this is dropped, too: for a task that has something to say then.
    /// None once the session is dropped.
    #[allow(dead_code, reason = "for JetStream, which is a feature of its own")]
    pub(in crate::backend) fn last_words(&self) -> Option<Arc<End>> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How often messages were lost that nobody could count: the link was down, or the client too slow.
    pub(super) fn interruptions(&self) -> u64 {
        // The client says so over a channel that it does not wait for. How often it has connected is a number that it
        // counts itself, and that is late by one while the link is down.
        let connects = self.client.statistics().connects.load(Relaxed);
        self.signals.disconnects().max(connects.saturating_sub(1)) + self.signals.slow()
    }

    /// The client, for what only streams need.
    #[allow(dead_code, reason = "core NATS needs nothing else of it")]
    pub(in crate::backend) fn client(&self) -> &Client {
        &self.client
    }

    /// Writes events.
    pub(in crate::backend) fn writer(&self) -> &wire::Writer {
        &self.writer
    }

    /// What the subjects of replies begin with.
    pub(super) fn inbox_prefix(&self) -> &str {
        &self.inbox_prefix
    }

    /// Ready once the link goes down after this call.
    pub(in crate::backend) fn down(&self) -> Notified<'_> {
        self.signals.down()
    }

    /// Hears of what the server denies from now on.
    #[allow(dead_code, reason = "for JetStream, which is a feature of its own")]
    pub(in crate::backend) fn denials(&self) -> Denials {
        Denials(self.signals.denials())
    }

    /// Ready once it is known that what is sent to this subject after this call may not arrive: the link went down, or the server
    /// denied it. One wait for both, because each publish that is confirmed has it.
    #[allow(dead_code, reason = "for JetStream, which is a feature of its own")]
    pub(in crate::backend) fn trouble<'l>(&'l self, subject: &'l str) -> impl Future<Output = NotSent> + 'l {
        let (before, mut next) = (self.signals.disconnects(), self.signals.trouble());
        async move {
            loop {
                next.await;
                next = self.signals.trouble();
                if self.signals.disconnects() != before {
                    return NotSent::Down;
                }
                if let Some(denied) = self.signals.is_denied(subject) {
                    return denied.into();
                }
            }
        }
    }

    /// Whether the server has denied publishing to this subject just now.
    #[allow(dead_code, reason = "for JetStream, which is a feature of its own")]
    pub(in crate::backend) fn is_denied(&self, subject: &str) -> Option<Denied> {
        self.signals.is_denied(subject)
    }

    /// The places for answers.
    pub(super) fn desk(&self) -> &Desk {
        &self.desk
    }

    /// Fires when the session is closed.
    pub(in crate::backend) fn closed(&self) -> &CancellationToken {
        &self.closed
    }

    /// Tasks that end when the session is closed, and that its close waits for.
    pub(in crate::backend) fn tasks(&self) -> &TaskTracker {
        &self.tasks
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.abandon();
    }
}

/// Ends the client with the last who holds it.
#[derive(Debug)]
pub(in crate::backend) struct End(Client);

impl Drop for End {
    fn drop(&mut self) {
        // An error says that it has ended already. Where its buffer is full, it ends with the last who holds it.
        let _ = unconstrained(self.0.drain()).now_or_never();
    }
}

/// What the server denies, one after the other.
#[derive(Debug)]
#[allow(dead_code, reason = "for JetStream, which is a feature of its own")]
pub(in crate::backend) struct Denials(broadcast::Receiver<Denied>);

impl Denials {
    /// Ready once the server denies publishing to a subject like this.
    #[allow(dead_code, reason = "for JetStream, which is a feature of its own")]
    pub(in crate::backend) async fn publishing(&mut self, is_it: impl Fn(&str) -> bool) -> Denied {
        use broadcast::error::RecvError;
        loop {
            match self.0.recv().await {
                Ok(Denied::Publish(denied)) if is_it(&denied) => return Denied::Publish(denied),
                Ok(_) | Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return std::future::pending().await,
            }
        }
    }
}

/// Waits until the server denies subscribing to this pattern.
pub(super) async fn denied_subscribing(denials: &mut broadcast::Receiver<Denied>, pattern: &str) -> Denied {
    use broadcast::error::RecvError;
    loop {
        match denials.recv().await {
            Ok(denied @ Denied::Subscribe(_)) if denied.subject() == pattern => return denied,
            Ok(_) | Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return std::future::pending().await,
        }
    }
}

/// The name of a group at the server: there a name alone makes a group, over all patterns; here a group is a name and a
/// pattern (contract B10).
fn queue_group(group: &Group, pattern: &Pattern) -> String {
    format!("{group}@{pattern}")
}

/// Why the client did not take something; `sizes` are the message's and the most that the server takes.
fn not_taken(error: async_nats::PublishError, is_closed: bool, sizes: impl FnOnce() -> (usize, usize)) -> NotSent {
    match error.kind() {
        // The client has ended.
        PublishErrorKind::Send if is_closed => NotSent::Closed,
        // The limit has shrunk since it was looked at.
        PublishErrorKind::MaxPayloadExceeded => {
            let (size, limit) = sizes();
            NotSent::TooLarge { size, limit }
        }
        _ => NotSent::Client(error.into()),
    }
}

fn not_connected(servers: &Servers, options: &NatsOptions, error: ConnectError) -> OpenError {
    match error.kind() {
        ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication => OpenError::Setting {
            setting: "credentials",
            value: options.identity(servers).to_string(),
            fix: format!("{servers} refuses them: give those of a user that it knows"),
        },
        _ => OpenError::Unreachable { source: NotConnected { servers: servers.to_string(), error }.into() },
    }
}

/// No server could be connected to.
#[derive(Debug, thiserror::Error)]
#[error("cannot connect to {servers}")]
struct NotConnected {
    servers: String,
    #[source]
    error: ConnectError,
}

#[cfg(test)]
mod tests;
