//! What the halves of a source, its task and its settlers share.

use std::{
    future::Future,
    pin::{Pin, pin},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
};

use async_nats::{PublishError, connection::State};
use tokio::{
    sync::{Notify, watch},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use super::{
    held::{Handed, Held, Refusal, Terms, Token},
    word::{Verb, Word},
};
use crate::{
    backend::nats::link::Link,
    contract::{FinalReading, Settlement, SourceStats},
};

/// One source.
#[derive(Debug)]
pub(super) struct Shared {
    held: Mutex<Held>,
    link: Arc<Link>,
    /// There is something to do for the task.
    work: Notify,
    /// The source is to end.
    ends: CancellationToken,
    last: watch::Sender<Option<FinalReading>>,
}

impl Shared {
    pub(super) fn new(link: Arc<Link>, terms: Terms) -> Self {
        Self {
            held: Mutex::new(Held::new(terms, Instant::now())),
            link,
            work: Notify::new(),
            ends: CancellationToken::new(),
            last: watch::Sender::new(None),
        }
    }

    pub(super) fn link(&self) -> &Link {
        &self.link
    }

    /// Fires when the source is to end.
    pub(super) fn ends(&self) -> &CancellationToken {
        &self.ends
    }

    /// There is something to do for the task.
    pub(super) fn work(&self) -> &Notify {
        &self.work
    }

    /// Whether the client believes that it is connected.
    pub(super) fn is_up(&self) -> bool {
        self.link.client().connection_state() == State::Connected
    }

    /// Looks at what is held, and wakes who waits for a delivery if there is one now.
    pub(super) fn with<R>(&self, look: impl FnOnce(&mut Held) -> R) -> R {
        let mut held = self.held();
        let result = look(&mut held);
        let waker = held.take_waker();
        drop(held);
        waker.into_iter().for_each(std::task::Waker::wake);
        result
    }

    pub(super) fn stats(&self) -> SourceStats {
        self.held().stats()
    }

    pub(super) fn poll_next(&self, cx: &Context<'_>) -> Poll<Option<Handed>> {
        let now = Instant::now();
        self.then_work(now, |held| held.poll_next(cx, now))
    }

    /// Settles one delivery.
    ///
    /// The server is told, and not waited for: a confirmation would cost a round trip for each message, and what it confirms
    /// is that the word arrived, not that the message was still ours. So a settlement is refused where the link is known to
    /// be down, or the lease is known to be over; one that is lost with its link is as if it had not been made, and the
    /// message comes again.
    pub(super) async fn settle(&self, token: Token, settlement: Settlement) -> Result<(), Refusal> {
        let is_up = self.is_up();
        let begun = Instant::now();
        let Word { address, verb, .. } = self.then_work(begun, |held| held.begin(token, settlement, begun, is_up))?;
        let is_taken = self.send(pin!(self.link.client().publish(address, verb.payload()))).await;
        // The clock is read once a message: only a delay counts from now on, and what else is over by now, the task sees for itself.
        let now = if matches!(verb, Verb::Nak(_)) { Instant::now() } else { begun };
        self.then_work(now, |held| held.finish(token, is_taken, now));
        if is_taken { Ok(()) } else { Err(Refusal::Down) }
    }

    /// Lets a delivery go unjudged, unless it is settled.
    pub(super) fn give_back(&self, token: Token) {
        self.then_work(Instant::now(), |held| held.abandon(token));
    }

    /// Gives a word to the client. Waits only where its buffer is full, and no longer than the link is up.
    pub(super) async fn say(&self, word: &Word) -> bool {
        self.send(pin!(self.link.client().publish(word.address.clone(), word.verb.payload()))).await
    }

    /// The same, with the server to say that it has heard it, and all before it.
    pub(super) async fn say_and_be_heard(&self, word: &Word, reply: String) -> bool {
        let sending = self.link.client().publish_with_reply(word.address.clone(), reply, word.verb.payload());
        self.send(pin!(sending)).await
    }

    /// Pinned, because a future is large, and would be moved several times.
    async fn send(&self, sending: Pin<&mut impl Future<Output = Result<(), PublishError>>>) -> bool {
        if !self.is_up() {
            return false;
        }
        tokio::select! {
            biased;
            sent = sending => sent.is_ok(),
            () = self.link.down() => false,
        }
    }

    /// Ends the source, and waits for its last reading.
    pub(super) async fn end(&self) -> Option<FinalReading> {
        self.ends.cancel();
        let mut last = self.last.subscribe();
        let last = last.wait_for(Option::is_some).await.ok()?;
        last.clone()
    }

    /// The last reading. The first one stays.
    pub(super) fn conclude(&self, reading: FinalReading) {
        self.last.send_if_modified(|last| {
            let is_first = last.is_none();
            last.get_or_insert(reading);
            is_first
        });
    }

    /// Does something that the task may have to follow up.
    fn then_work<R>(&self, now: Instant, act: impl FnOnce(&mut Held) -> R) -> R {
        let mut held = self.held();
        let result = act(&mut held);
        let has_work = held.has_work(now);
        drop(held);
        if has_work {
            self.work.notify_one();
        }
        result
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
