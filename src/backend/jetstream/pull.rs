//! The task of one source: it pulls, sends heartbeats, gives back, and ends the source.
//!
//! One pull is open at a time, for as much as there is room for. It is short, so that a retire that waits for its end does not
//! wait for long: a pull that is taken back would leave what the server has just sent to its lease.

use std::{error::Error, num::NonZeroUsize, pin::pin, sync::Arc, time::Duration};

use async_nats::{Message as Wire, Subscriber};
use futures_util::{FutureExt, StreamExt, stream::ReadyChunks};
use serde_json::json;
use tokio::time::{Instant, sleep_until, timeout};

use super::{
    api::Api,
    arrival::{Came, Status, sort},
    consumer::{self, Identity, Unreadable},
    held::Held,
    shared::Shared,
    word::{Word, nanoseconds},
};
use crate::{
    backend::nats::{link::End, signals::Denied, wire::Reader},
    contract::FinalReading,
};

/// How long a pull is open at the server.
const OPEN: Duration = Duration::from_millis(250);
/// How much later its end is to be heard of.
const GRACE: Duration = Duration::from_millis(500);
/// How long to wait before a pull that follows one that failed.
const PAUSE: Duration = Duration::from_millis(250);
/// How long the server may take to say what there is of the consumer.
const ANSWER: Duration = Duration::from_secs(1);
/// How long it may fail to say so, over a link that is up.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often to look whether a link is up again.
const RETRY: Duration = Duration::from_millis(50);
/// How many bytes a pull brings at most, and more where one message may have as many. A server closes a connection to which more
/// is on its way than it holds, 64 MiB unless configured otherwise, and over the next one all of it would come again. A message
/// that is larger still, from when the server took larger ones, is asked for alone.
const BYTES: usize = 8 * 1024 * 1024;
/// How much is taken in at a time.
const BATCH: usize = 64;

/// Why a source ended by itself (contract N8).
#[derive(Debug, thiserror::Error)]
pub(super) enum Cause {
    #[error("the consumer `{consumer}` of the stream `{stream}` is gone ({said})")]
    Gone { consumer: String, stream: String, said: String },
    #[error("the consumer `{consumer}` of the stream `{stream}` was deleted and made anew")]
    Another { consumer: String, stream: String },
    #[error("the consumer `{consumer}` of the stream `{stream}` takes no pulls from here: {said}")]
    Refused { consumer: String, stream: String, said: String },
    #[error("the server has not answered for the consumer `{consumer}` of the stream `{stream}` for {PATIENCE:?}")]
    Silent { consumer: String, stream: String },
    #[error(transparent)]
    Denied(Denied),
    #[error("the NATS client has ended")]
    Client,
    #[error("the source's task has ended")]
    Task,
}

/// The task's own state.
pub(super) struct Pulling {
    shared: Arc<Shared>,
    /// A session that is dropped waits with its end until this task has given back what it holds.
    _until_then: Option<Arc<End>>,
    api: Api,
    identity: Identity,
    inbox: ReadyChunks<Subscriber>,
    reader: Reader,
    /// Where pulls are answered to, without the number of the pull.
    reply: String,
    /// What the server gives up.
    deaths: Subscriber,
    /// The number of the latest thing that was asked.
    number: u64,
    /// Where the open pull is answered to.
    pull: String,
    /// Where the latest heartbeats are answered to, and when they were sent.
    beat: Option<(String, Instant)>,
    /// The latest pull has brought nothing yet.
    is_empty: bool,
    /// The next message is larger than a pull brings.
    is_vast: bool,
    /// That has been said.
    has_warned: bool,
    /// By when the open pull has ended, whatever is heard of it.
    closes: Instant,
    /// No pull before this.
    pause: Instant,
    silence: Silence,
    /// How often the client had connected when that was looked at last.
    connects: u64,
    /// Also where the runtime is gone before the task has begun.
    _concluded: Concluding,
}

impl Pulling {
    /// `inbox` receives what comes to `reply` and one more token, `deaths` what the server gives up.
    pub(super) fn new(
        shared: Arc<Shared>,
        api: Api,
        identity: Identity,
        inbox: Subscriber,
        reply: String,
        deaths: Subscriber,
    ) -> Self {
        let now = Instant::now();
        let mut pulling = Self {
            _until_then: shared.link().last_words(),
            _concluded: Concluding(Arc::clone(&shared)),
            shared,
            api,
            identity,
            inbox: inbox.ready_chunks(BATCH),
            reader: Reader::default(),
            reply,
            deaths,
            number: 0,
            pull: String::new(),
            beat: None,
            is_empty: true,
            is_vast: false,
            has_warned: false,
            closes: now,
            pause: now,
            silence: Silence::default(),
            connects: 0,
        };
        pulling.connects = pulling.count_connects();
        pulling
    }

    /// Works until the source ends, and concludes it.
    pub(super) async fn run(mut self) {
        let shared = Arc::clone(&self.shared);
        let cause = self.work().await;
        if let Some(cause) = &cause {
            tracing::warn!(
                name: "source_ends",
                target: "tramline",
                consumer = self.identity.consumer(),
                reason = %cause,
                "a JetStream source ends by itself"
            );
        }
        self.leave().await;
        let reading = FinalReading::new(shared.stats());
        shared.conclude(match cause {
            Some(cause) => reading.ended_by(cause),
            None => reading,
        });
    }

    /// Until it is told to end, or why it cannot go on.
    async fn work(&mut self) -> Option<Cause> {
        let shared = Arc::clone(&self.shared);
        let mut denials = shared.link().denials();
        loop {
            let mut wakes = self.upkeep().await;
            if let Err(cause) = self.pull().await {
                return Some(cause);
            }
            let now = Instant::now();
            if !shared.is_up() {
                wakes = wakes.min(now + RETRY);
            } else if shared.with(|held| held.is_pulling()) {
                wakes = wakes.min(self.closes);
            } else if self.pause > now {
                wakes = wakes.min(self.pause);
            }
            tokio::select! {
                biased;
                () = shared.ends().cancelled() => return None,
                () = shared.link().closed().cancelled() => return None,
                batch = self.inbox.next() => match batch {
                    Some(batch) => if let Err(cause) = self.take_in(batch).await { return Some(cause) },
                    None => return Some(Cause::Client),
                },
                denied = denials.publishing(|subject| self.identity.is_spoken_to_at(subject)) => {
                    return Some(Cause::Denied(denied));
                }
                Some(death) = self.deaths.next() => self.note(&death),
                () = shared.work().notified() => {}
                () = sleep_until(wakes) => {}
            }
        }
    }

    /// The server has given a message up. Nobody said so of it, here or elsewhere: whoever had it last is gone, or somebody
    /// has changed the consumer.
    fn note(&self, death: &Wire) {
        let Ok(Death { stream_seq, deliveries }) = serde_json::from_slice(&death.payload) else { return };
        if self.shared.with(|held| held.is_dead(stream_seq)) {
            let consumer = self.identity.consumer();
            tracing::warn!(
                name: "server_gives_up",
                target: "tramline",
                consumer,
                sequence = stream_seq,
                deliveries,
                "the server has given a message up: it sent it as often as it may"
            );
        }
    }

    /// Heartbeats, and whatever else the server is to be told. Says when there is something to do again.
    async fn upkeep(&mut self) -> Instant {
        let (connects, is_up) = (self.count_connects(), self.shared.is_up());
        let is_anew = std::mem::replace(&mut self.connects, connects) != connects;
        let now = Instant::now();
        if is_anew || !is_up {
            self.silence = Silence::default();
        }
        let (heartbeats, words, wakes) = self.shared.with(|held| {
            if is_anew {
                held.link_is_made(now);
            }
            if is_anew || !is_up {
                held.link_is_new(now);
            }
            let heartbeats = held.look(now, is_up);
            let words = if is_up { held.words(now) } else { Vec::new() };
            (heartbeats, words, held.wakes(now))
        });
        self.beat(&heartbeats, now).await;
        // What the link does not take is lost with it: the lease decides.
        for word in words {
            if self.shared.say(&word).await {
                self.shared.with(|held| held.said(&word));
            }
        }
        wakes
    }

    /// Sends heartbeats. The answer to the last one is the answer to all.
    async fn beat(&mut self, heartbeats: &[Word], now: Instant) {
        let Some((last, others)) = heartbeats.split_last() else { return };
        for word in others {
            self.shared.say(word).await;
        }
        self.number += 1;
        let reply = format!("{}.{}", self.reply, self.number);
        self.beat = Some((reply.clone(), now));
        self.shared.say_and_be_heard(last, reply).await;
    }

    /// Opens a pull, if there is room and none is open.
    async fn pull(&mut self) -> Result<(), Cause> {
        let now = Instant::now();
        if !self.shared.is_up() || now < self.pause {
            return Ok(());
        }
        if self.shared.with(|held| held.is_pulling()) && now >= self.closes {
            // The server of version 2.9 says nothing of a pull on a consumer that is gone.
            self.shared.with(Held::pull_is_over);
            self.check("a pull was not answered").await?;
        }
        let most = if self.is_vast { NonZeroUsize::MIN } else { NonZeroUsize::MAX };
        let wanted = |held: &mut Held| held.wanted(now).map(|count| count.min(most)).inspect(|count| held.pull(*count));
        let Some(count) = self.shared.with(wanted) else {
            return Ok(());
        };
        self.is_empty = true;
        self.number += 1;
        self.closes = now + OPEN + GRACE;
        // None is no limit.
        let bytes = if std::mem::take(&mut self.is_vast) { 0 } else { self.most_bytes() };
        let pull = json!({ "batch": count, "max_bytes": bytes, "expires": nanoseconds(OPEN) }).to_string();
        self.pull = format!("{}.{}", self.reply, self.number);
        let sent =
            self.shared.link().client().publish_with_reply(self.identity.pulls(), self.pull.clone(), pull.into());
        if !matches!(timeout(GRACE, sent).await, Ok(Ok(()))) {
            self.shared.with(Held::pull_is_over);
            self.pause = now + PAUSE;
        }
        Ok(())
    }

    fn most_bytes(&self) -> usize {
        // A message is counted with its subjects, too.
        BYTES.max(2 * self.shared.link().client().max_payload())
    }

    async fn take_in(&mut self, batch: Vec<Wire>) -> Result<(), Cause> {
        match self.sort(batch) {
            None | Some(Status::Over | Status::Idle) => Ok(()),
            Some(Status::Full) => {
                self.is_vast = self.is_empty;
                if self.is_vast && !std::mem::replace(&mut self.has_warned, true) {
                    tracing::warn!(
                        name: "too_large_to_pull",
                        target: "tramline",
                        consumer = self.identity.consumer(),
                        limit = self.most_bytes(),
                        "a message has more bytes than a pull brings, and is asked for alone"
                    );
                }
                Ok(())
            }
            Some(Status::Broken(said)) => {
                tracing::debug!(
                    name: "pull_ends",
                    target: "tramline",
                    consumer = self.identity.consumer(),
                    reason = %said,
                    "a pull was ended"
                );
                self.pause = Instant::now() + PAUSE;
                Ok(())
            }
            Some(Status::Gone(said)) => self.check(&said).await,
            Some(Status::Refused(said)) => {
                let (consumer, stream) = self.identity.names();
                Err(Cause::Refused { consumer, stream, said })
            }
        }
    }

    /// Takes messages in, and says how the open pull has ended, if it has.
    fn sort(&mut self, batch: Vec<Wire>) -> Option<Status> {
        let (mut ended, mut heard) = (None, None);
        let mut arrivals = Vec::with_capacity(batch.len());
        for message in batch {
            if let Some((_, sent)) = self.beat.take_if(|(reply, _)| **reply == *message.subject) {
                heard = Some(sent);
                continue;
            }
            let is_open = *self.pull == *message.subject;
            match sort(message, &mut self.reader) {
                Came::Message(arrival) => arrivals.push(arrival),
                // What is said of an older pull is too late to matter.
                Came::Status(status) if is_open && status != Status::Idle => ended = Some(status),
                Came::Status(_) | Came::Foreign => {}
            }
        }
        let now = Instant::now();
        if heard.is_some()
            || !arrivals.is_empty()
            || matches!(ended, Some(Status::Over | Status::Full | Status::Broken(_)))
        {
            self.silence = Silence::default();
        }
        self.is_empty &= arrivals.is_empty();
        self.shared.with(|held| {
            heard.into_iter().for_each(|sent| held.heard(sent));
            arrivals.into_iter().for_each(|arrival| held.take_in(arrival, now));
            if ended.is_some() {
                held.pull_is_over();
            }
        });
        ended
    }

    /// Asks whether the consumer is still there, and still the same.
    async fn check(&mut self, said: &str) -> Result<(), Cause> {
        let now = Instant::now();
        self.pause = now + PAUSE;
        let (consumer, stream) = self.identity.names();
        let said = said.to_owned();
        let api = self.api.clone();
        let reading = timeout(ANSWER, consumer::read(&api, &stream, &consumer));
        // Whatever ends the source, the next turn finds out.
        let Some(answer) = self.meanwhile(reading).await else { return Ok(()) };
        match answer {
            Ok(Ok(Some(info))) if self.identity.is(&info) => {
                self.silence = Silence::default();
                Ok(())
            }
            Ok(Ok(Some(_))) => Err(Cause::Another { consumer, stream }),
            Ok(Ok(None)) => Err(Cause::Gone { consumer, stream, said }),
            Ok(Err(error @ Unreadable::NoStream(_))) => Err(Cause::Gone { consumer, stream, said: error.to_string() }),
            Ok(Err(_)) | Err(_) if self.shared.is_up() && self.silence.is_too_long(now) => {
                Err(Cause::Silent { consumer, stream })
            }
            Ok(Err(_)) | Err(_) => Ok(()),
        }
    }

    /// Waits for something, and goes on to extend leases and to give back. None where the source is to end first.
    async fn meanwhile<T>(&mut self, something: impl Future<Output = T>) -> Option<T> {
        let shared = Arc::clone(&self.shared);
        let mut something = pin!(something);
        loop {
            let wakes = self.upkeep().await;
            tokio::select! {
                biased;
                () = shared.ends().cancelled() => return None,
                () = shared.link().closed().cancelled() => return None,
                done = &mut something => return Some(done),
                batch = self.inbox.next() => drop(self.sort(batch?)),
                () = shared.work().notified() => {}
                () = sleep_until(wakes) => {}
            }
        }
    }

    /// Waits until the open pull is over, keeping what it brings, and gives all of it back.
    async fn leave(&mut self) {
        let shared = Arc::clone(&self.shared);
        shared.with(Held::end);
        let latest = Instant::now() + OPEN + GRACE;
        if shared.is_up() {
            // Another source of the identity is to hear of what dies from now on.
            let _ = timeout(GRACE, self.deaths.unsubscribe()).await;
        }
        while let Some(Some(death)) = self.deaths.next().now_or_never() {
            self.note(&death);
        }
        loop {
            self.upkeep().await;
            let now = Instant::now();
            let is_pulling = |held: &mut Held| held.is_pulling() && now < self.closes;
            if now >= latest || shared.with(|held| held.is_settled() && !is_pulling(held)) {
                break;
            }
            tokio::select! {
                biased;
                batch = self.inbox.next() => match batch {
                    Some(batch) => drop(self.sort(batch)),
                    None => break,
                },
                () = shared.work().notified() => {}
                () = sleep_until(latest.min(now + RETRY)) => {}
            }
        }
        if shared.is_up() && shared.with(|held| held.is_pulling()) {
            // Its end is late, and so may be what it brought: after a round trip all of that is here.
            let _ = timeout(GRACE, shared.link().heard()).await;
            while let Some(Some(batch)) = self.inbox.next().now_or_never() {
                self.sort(batch);
            }
        }
        shared.with(Held::release);
        self.upkeep().await;
        if shared.is_up() {
            let _ = timeout(GRACE, self.inbox.get_mut().unsubscribe()).await;
            // So that what is said after this retire is said after what it gave back.
            let _ = timeout(GRACE, shared.link().heard()).await;
        }
    }

    fn count_connects(&self) -> u64 {
        self.shared.link().client().statistics().connects.load(std::sync::atomic::Ordering::Relaxed)
    }
}

/// What the server says of a message that it gives up.
#[derive(serde::Deserialize)]
struct Death {
    stream_seq: u64,
    deliveries: u64,
}

/// Since when the server has not answered for the consumer, and has not answered a pull either.
#[derive(Debug, Default)]
struct Silence(Option<Instant>);

impl Silence {
    /// Takes note that it does not answer at this moment.
    fn is_too_long(&mut self, now: Instant) -> bool {
        now.saturating_duration_since(*self.0.get_or_insert(now)) >= PATIENCE
    }
}

/// Concludes the source when its task is gone, however it went.
struct Concluding(Arc<Shared>);

impl Drop for Concluding {
    fn drop(&mut self) {
        self.0.with(Held::end);
        self.0.conclude(FinalReading::new(self.0.stats()).ended_by(Box::<dyn Error + Send + Sync>::from(Cause::Task)));
    }
}
