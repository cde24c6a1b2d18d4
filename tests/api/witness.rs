//! What the handlers of a random schedule see and say, and what must never be seen.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};

use tokio::time::Instant;
use tramline::{
    AtLeastOnce, Backoff, Delayed, Delivery, KeyedBy,
    contract::Outcome,
    subscription::{Extract, Judgement, Parts, Rejection, Verdict},
};

use crate::support::{Context, Door, millis};

/// What becomes of a message: with a number, of its first so many attempts; then it is done.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fate {
    Well,
    /// After so many milliseconds.
    Slow(u64),
    /// When the door lets it through.
    Stalls,
    Declined(u32),
    /// With a delay of its own, in milliseconds.
    DeclinedFor(u32, u64),
    Fails(u32),
    Undecodable(u32),
    Panics(u32),
}

#[derive(Debug, Clone)]
pub(crate) struct Message {
    pub(crate) subject: u8,
    pub(crate) key: Option<u8>,
    pub(crate) fate: Fate,
    /// A backend that keeps nothing delivers it in this activation only.
    pub(crate) activation: u64,
}

/// What is wrong, and what all handlers look at.
pub(crate) struct World {
    pub(crate) messages: Mutex<Vec<Message>>,
    pub(crate) activation: AtomicU64,
    pub(crate) door: Door,
    /// Handlers cannot fail a test, as the bus catches their panics.
    pub(crate) wrong: Mutex<Vec<String>>,
}

/// What one durable identity, one group or one sole subscription at most once has seen of each message.
#[derive(Default)]
pub(crate) struct Reached {
    letters: BTreeMap<usize, Letter>,
    /// The latest message of each key.
    keys: BTreeMap<u8, usize>,
}

struct Letter {
    inside: bool,
    /// The only attempt that may come next, and when.
    next: u32,
    not_before: Instant,
    /// Why it must not come again.
    over: Option<&'static str>,
}

/// What the handlers of one subscription counted.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) entered: u64,
    pub(crate) inside: u64,
    pub(crate) acked: u64,
    pub(crate) nacked: u64,
    pub(crate) failed: u64,
    pub(crate) undecodable: u64,
    pub(crate) panicked: u64,
    pub(crate) cancelled: u64,
    pub(crate) exhausted: u64,
    pub(crate) redelivered: u64,
}

/// Looks on at the handlers of one subscription.
pub(crate) struct Witness {
    pub(crate) name: String,
    pub(crate) world: Arc<World>,
    /// Shared with the other members of its group.
    pub(crate) reached: Arc<Mutex<Reached>>,
    pub(crate) counts: Mutex<Counts>,
    pub(crate) hands: u64,
    /// None at most once.
    pub(crate) max_deliver: Option<u32>,
    pub(crate) backoff: Option<Backoff>,
    pub(crate) keyed: Option<KeyedBy>,
}

impl World {
    pub(crate) fn wrong(&self, what: String) {
        self.wrong.lock().unwrap().push(what);
    }
}

impl Witness {
    pub(crate) fn counts(&self) -> Counts {
        *self.counts.lock().unwrap()
    }

    fn look(&self) -> (MutexGuard<'_, Reached>, MutexGuard<'_, Counts>) {
        (self.reached.lock().unwrap(), self.counts.lock().unwrap())
    }

    fn key(&self, message: &Message) -> Option<u8> {
        match &self.keyed {
            None => None,
            Some(by) if *by == KeyedBy::subject() => Some(message.subject),
            Some(_) => message.key,
        }
    }

    fn enter(&self, number: usize, message: &Message, attempt: u32) {
        let (mut reached, mut counts) = self.look();
        let now = Instant::now();
        counts.entered += 1;
        counts.inside += 1;
        counts.redelivered += u64::from(attempt > 1);
        let wrong = |what: &str| self.world.wrong(format!("{}: {number} at attempt {attempt}: {what}", self.name));
        if counts.inside > self.hands {
            wrong("B7: more side by side than `concurrency`");
        }
        if message.activation != self.world.activation.load(SeqCst) {
            wrong("of an earlier activation");
        }
        if attempt > self.max_deliver.unwrap_or(1) {
            wrong("M2: above max_deliver");
        }
        let fresh = Letter { inside: false, next: 1, not_before: now, over: None };
        let letter = reached.letters.entry(number).or_insert(fresh);
        if letter.inside {
            wrong("handed over twice at once");
        }
        if let Some(why) = letter.over {
            wrong(why);
        }
        if attempt != letter.next {
            wrong(&format!("M4: attempt {} was to come", letter.next));
        }
        if now < letter.not_before {
            wrong(&format!("O3: early by {:?}", letter.not_before - now));
        }
        letter.inside = true;
        if let Some(key) = self.key(message) {
            let latest = reached.keys.entry(key).or_default();
            if *latest > number {
                wrong(&format!("G2: after {latest} of its key"));
            }
            *latest = number;
        }
    }

    /// The message leaves its handler: it is over, or comes back.
    fn leave(&self, number: usize, attempt: u32, way: &Way) {
        let (mut reached, mut counts) = self.look();
        let Some(letter) = reached.letters.get_mut(&number) else { return };
        counts.inside -= 1;
        letter.inside = false;
        let declined = match way {
            Way::Acked => {
                counts.acked += 1;
                letter.over = Some("delivered after Ack");
                None
            }
            Way::Cancelled => {
                counts.cancelled += 1;
                letter.not_before = Instant::now();
                None
            }
            Way::Declined(own) => {
                counts.nacked += 1;
                Some(*own)
            }
            Way::Failed => {
                counts.failed += 1;
                Some(None)
            }
            Way::Undecodable => {
                counts.undecodable += 1;
                Some(None)
            }
            Way::Panicked => {
                counts.panicked += 1;
                Some(None)
            }
        };
        match (self.max_deliver, declined) {
            (None, _) => letter.over = Some("M1: delivered again at most once"),
            (Some(_), None) => {}
            (Some(max), Some(_)) if attempt >= max => {
                counts.exhausted += 1;
                letter.over = Some("M2: delivered after the last attempt");
            }
            (Some(_), Some(own)) => {
                // O1, in the words of the contract.
                let scheduled = self.backoff.map_or(Duration::ZERO, |_| {
                    millis(BACKOFF.0).mul_f64(BACKOFF.2.powi(attempt.cast_signed() - 1)).min(millis(BACKOFF.1))
                });
                letter.next = attempt + 1;
                letter.not_before = Instant::now() + own.unwrap_or(scheduled);
            }
        }
    }

    /// Handles one delivery as the message's fate wills.
    pub(crate) async fn handle(self: Arc<Self>, parts: Parts<'_, Context>) -> Result<Judgement, Rejection> {
        let number: usize = parts.event().id().parse().unwrap();
        let attempt = parts.attempt().get();
        let message = self.world.messages.lock().unwrap()[number].clone();
        self.enter(number, &message, attempt);
        if !self.world.wrong.lock().unwrap().is_empty() {
            // The schedule has failed; a message that comes again and again would keep it from saying so.
            std::future::pending::<()>().await;
        }
        let mut inside = Inside { witness: &self, number, attempt, way: Way::Cancelled };
        let judgement = match message.fate {
            Fate::Slow(time) => {
                tokio::time::sleep(millis(time)).await;
                None
            }
            Fate::Stalls => {
                self.world.door.pass().await;
                None
            }
            Fate::Declined(times) if attempt <= times => {
                inside.way = Way::Declined(None);
                Some(Judgement::new(Outcome::Nacked))
            }
            Fate::DeclinedFor(times, delay) if attempt <= times => {
                let own = self.max_deliver.and(self.backoff).map(|_| millis(delay));
                inside.way = Way::Declined(own);
                Some(match own {
                    None => Judgement::new(Outcome::Nacked),
                    Some(delay) => {
                        let delivery = Delivery::<AtLeastOnce<Delayed>>::extract(&parts)?;
                        Verdict::<AtLeastOnce<Delayed>>::judge(delivery.nack_after(delay))
                    }
                })
            }
            Fate::Fails(times) if attempt <= times => {
                inside.way = Way::Failed;
                Some(Judgement::failed(&"on purpose"))
            }
            Fate::Undecodable(times) if attempt <= times => {
                inside.way = Way::Undecodable;
                return Err(Rejection::new("on purpose"));
            }
            Fate::Panics(times) if attempt <= times => {
                inside.way = Way::Panicked;
                std::panic::resume_unwind(Box::new("on purpose"));
            }
            _ => None,
        };
        Ok(judgement.unwrap_or_else(|| {
            inside.way = Way::Acked;
            Judgement::new(Outcome::Acked)
        }))
    }
}

/// The schedule of subscriptions that have one: initial and max in milliseconds, multiplier.
pub(crate) const BACKOFF: (u64, u64, f64) = (100, 5_000, 7.0);

enum Way {
    Acked,
    /// With its own delay, if it has one.
    Declined(Option<Duration>),
    Failed,
    Undecodable,
    Panicked,
    Cancelled,
}

/// Leaves in every way, also when the handler is cut off.
struct Inside<'w> {
    witness: &'w Witness,
    number: usize,
    attempt: u32,
    way: Way,
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.witness.leave(self.number, self.attempt, &self.way);
    }
}
