//! What comes back to this session: replies to its requests, and the echoes by which it knows that the server has heard.
//!
//! One subscription to an inbox of the session's own receives all of it. A token at the end of the subject says what it
//! answers. A reply that nobody waits for is unclaimed (contract R4).

use std::{
    fmt::Write,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use async_nats::{Message as Wire, StatusCode, Subject as Address, Subscriber};
use rustc_hash::FxHashMap;
use tokio::{
    sync::{broadcast, oneshot},
    task::consume_budget,
};
use tokio_util::sync::CancellationToken;

use super::{drain::next_batch, signals::Denied};

/// What the token of an echo begins with.
const ECHO: &str = "e";

/// What somebody waits for.
#[derive(Debug)]
pub(in crate::backend) enum Answer {
    /// A reply.
    Message(Wire),
    /// No reply: the echo, or the server's word that nobody is subscribed to the subject.
    Nothing,
    /// The server denied the publish.
    Denied(Denied),
}

/// Who waits for an answer.
#[derive(Debug)]
pub(super) struct Desk {
    /// What the subject of every answer begins with, a dot at its end.
    inbox: String,
    next: AtomicU64,
    waiting: Mutex<FxHashMap<u64, Asked>>,
    unclaimed: AtomicU64,
}

#[derive(Debug)]
struct Asked {
    subject: Address,
    answer: oneshot::Sender<Answer>,
}

impl Desk {
    /// `inbox` is the session's own.
    pub(super) fn new(inbox: &str) -> Self {
        Self {
            inbox: format!("{inbox}."),
            next: AtomicU64::new(0),
            waiting: Mutex::default(),
            unclaimed: AtomicU64::new(0),
        }
    }

    /// The pattern of all answers.
    pub(super) fn pattern(&self) -> String {
        format!("{}*", self.inbox)
    }

    /// A place for one answer to what is sent to `subject`, or where none is named, to the place itself.
    pub(super) fn ask(&self, subject: Option<Address>) -> Waiting<'_> {
        let token = self.next.fetch_add(1, Relaxed);
        let kind = if subject.is_none() { ECHO } else { "" };
        let mut reply = String::with_capacity(self.inbox.len() + kind.len() + 20);
        reply.push_str(&self.inbox);
        reply.push_str(kind);
        // Nothing is refused by a string.
        let _ = write!(reply, "{token}");
        let reply = Address::from(reply);
        let (answer, receiver) = oneshot::channel();
        self.lock().insert(token, Asked { subject: subject.unwrap_or_else(|| reply.clone()), answer });
        Waiting { desk: self, token, reply, receiver, is_over: false }
    }

    /// How many replies came after their request had finished.
    pub(super) fn unclaimed(&self) -> u64 {
        self.unclaimed.load(Relaxed)
    }

    /// Hands answers to those who wait, until the client ends or `finish` says so.
    pub(super) async fn hand_out(
        &self,
        mut answers: Subscriber,
        mut denials: broadcast::Receiver<Denied>,
        finish: &CancellationToken,
    ) {
        let mut batch = Vec::new();
        loop {
            tokio::select! {
                biased;
                () = finish.cancelled() => break,
                denied = denials.recv() => if let Ok(denied) = denied { self.deny(&denied) },
                more = next_batch(&mut answers, &mut batch) => if !more { break },
            }
            batch.drain(..).for_each(|answer| self.hand(answer));
            consume_budget().await;
        }
    }

    fn hand(&self, answer: Wire) {
        let Some(token) = answer.subject.strip_prefix(&self.inbox) else { return };
        let number = token.strip_prefix(ECHO);
        // An echo that nobody waits for any more is no reply.
        let none = number.is_some() || answer.status == Some(StatusCode::NO_RESPONDERS);
        let asked = number.unwrap_or(token).parse().ok().and_then(|number: u64| self.lock().remove(&number));
        match asked {
            Some(asked) => {
                let answer = if none { Answer::Nothing } else { Answer::Message(answer) };
                // Given up while it came: that is as late as any.
                let _ = asked.answer.send(answer).map_err(|answer| self.count(&answer));
            }
            None if none => {}
            None => self.count_unclaimed(),
        }
    }

    /// Nothing that was sent to this subject arrives, so nothing comes back.
    fn deny(&self, denied: &Denied) {
        let Denied::Publish(subject) = denied else { return };
        let mut waiting = self.lock();
        let tokens: Vec<u64> =
            waiting.iter().filter(|(_, asked)| *asked.subject == **subject).map(|(token, _)| *token).collect();
        let asked: Vec<Asked> = tokens.iter().filter_map(|token| waiting.remove(token)).collect();
        drop(waiting);
        for asked in asked {
            // Who has given up needs no answer.
            let _ = asked.answer.send(Answer::Denied(denied.clone()));
        }
    }

    fn count(&self, answer: &Answer) {
        if matches!(answer, Answer::Message(_)) {
            self.count_unclaimed();
        }
    }

    fn count_unclaimed(&self) {
        self.unclaimed.fetch_add(1, Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, FxHashMap<u64, Asked>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place for one answer; dropped, it is given up, and what comes for it is unclaimed.
#[derive(Debug)]
pub(in crate::backend) struct Waiting<'d> {
    desk: &'d Desk,
    token: u64,
    reply: Address,
    receiver: oneshot::Receiver<Answer>,
    /// Nobody will look for the place any more: its answer was handed over, or there will be none.
    is_over: bool,
}

impl Waiting<'_> {
    /// The subject that the answer goes to.
    pub(in crate::backend) fn reply(&self) -> &Address {
        &self.reply
    }

    /// The answer; none if the session hands out no more.
    pub(in crate::backend) async fn answer(&mut self) -> Option<Answer> {
        let answer = (&mut self.receiver).await.ok();
        self.is_over = true;
        answer
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let asked = self.desk.lock().remove(&self.token);
        // It came, and nobody has looked.
        if asked.is_none()
            && let Ok(answer) = self.receiver.try_recv()
        {
            self.desk.count(&answer);
        }
    }
}
