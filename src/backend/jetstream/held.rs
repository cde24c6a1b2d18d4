//! What one source holds of its consumer's messages, and what it has to tell the server: a state without I/O.
//!
//! A message takes a place from the pull that asks for it until it is settled; one that is declined for later keeps its place
//! until its delay is over, and one that is to be given back until that is said. There are as many places as the bound
//! (contract B4), so what one source has at the broker's expense is bounded too.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, VecDeque, hash_map::Entry::Occupied},
    mem,
    num::{NonZeroU32, NonZeroUsize},
    task::{Context, Poll, Waker},
    time::Duration,
};

use async_nats::Subject as Address;
use rustc_hash::FxHashMap;
use tokio::time::Instant;

use self::slots::Slots;
pub(super) use self::slots::Token;
use super::{
    done::Done,
    lease::{Lease, Standing, after},
    word::{Verb, Word},
};
use crate::{
    backend::nats::drain::TRANSIT,
    contract::{Malformed, Message, Outcome, Settlement, SourceStats},
};

/// When a message that there was no place for comes again: later than the longest that a pull is open.
const LATER: Duration = Duration::from_secs(1);

/// How many messages one pull may bring: half of what the client holds of a subscription on its way here. More than it holds, it
/// drops, and no server has a number for the largest bound.
const MOST: usize = TRANSIT / 2;

/// How long after an outage a first attempt may be another one. Longer than a server takes to send all of it again.
const DOUBT: Duration = Duration::from_secs(60);

/// What a subscription asks of its source.
#[derive(Debug, Clone, Copy)]
pub(super) struct Terms {
    /// How many places there are.
    pub(super) bound: NonZeroUsize,
    /// How many messages may wait in front of the bus, no more than the bound (B6).
    pub(super) window: NonZeroUsize,
    pub(super) max_deliver: NonZeroU32,
    pub(super) lease: Lease,
    /// Whether the server may send what it has sent before, acknowledged or not, as if for the first time.
    pub(super) miscounts: bool,
}

/// A message as the server sent it.
#[derive(Debug)]
pub(super) struct Arrival {
    pub(super) message: Result<Message, Malformed>,
    /// Where its settlement goes.
    pub(super) address: Address,
    /// Its place in the stream.
    pub(super) sequence: u64,
    /// When it was stored there, as the server counts time.
    pub(super) stored: u64,
    /// How often the server has sent it.
    pub(super) attempt: NonZeroU32,
}

/// One delivery, as it leaves for the bus.
#[derive(Debug)]
pub(super) struct Handed {
    pub(super) token: Token,
    pub(super) message: Result<Message, Malformed>,
    pub(super) attempt: NonZeroU32,
}

/// Why a settlement is refused (contract T6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    #[error("its source has ended: the message was given back, or is handed on when its lease ends")]
    Ended,
    #[error("its lease is over: the message is handed on")]
    Lapsed,
    #[error("the link to the NATS server is down: the message comes again")]
    Down,
}

#[derive(Debug)]
enum State {
    Queued(Result<Message, Malformed>),
    InHand,
    /// Its settlement is on its way to the client.
    Settling(Verb),
    /// The source has ended, and nobody judges it any more.
    Left,
}

#[derive(Debug)]
struct Entry {
    address: Address,
    sequence: u64,
    stored: u64,
    attempt: NonZeroU32,
    received: Instant,
    /// When the server last granted or extended its lease, as far as that is known.
    renewed: Instant,
    /// When the latest heartbeat was sent.
    beaten: Instant,
    state: State,
}

/// What one source holds.
#[derive(Debug)]
pub(super) struct Held {
    terms: Terms,
    entries: Slots,
    /// The token of the latest attempt at a message, by its place in the stream.
    latest: FxHashMap<u64, Token>,
    queue: VecDeque<Token>,
    /// When the delays of what was declined are over.
    resting: BinaryHeap<Reverse<Instant>>,
    /// What was acknowledged or terminated last.
    done: Done,
    /// Until then a first attempt may be another one at what is done: the server has been away.
    doubt: Instant,
    /// When there was a new link last.
    linked: Option<Instant>,
    /// Until then one message is asked for at a time: the last ones may have taken the link down.
    careful: Instant,
    /// What is to be said as soon as the link is up.
    words: VecDeque<Word>,
    /// How many messages the open pull may still bring.
    asked: usize,
    settling: usize,
    /// Messages that left the queue and were not handed over: their leases had ended (E8). Each stays pending until another
    /// message takes its place, or the source retires.
    left: u64,
    handed_over: u64,
    exhausted: u64,
    lease_expired: u64,
    /// When leases are looked at next.
    look: Instant,
    ended: bool,
    /// What the server has given up last. It does not say when that was stored.
    dead: Done,
    waker: Option<Waker>,
}

impl Held {
    pub(super) fn new(terms: Terms, now: Instant) -> Self {
        Self {
            terms,
            entries: Slots::default(),
            latest: FxHashMap::default(),
            queue: VecDeque::new(),
            resting: BinaryHeap::new(),
            done: Done::default(),
            doubt: now,
            linked: None,
            careful: now,
            words: VecDeque::new(),
            asked: 0,
            settling: 0,
            left: 0,
            handed_over: 0,
            exhausted: 0,
            lease_expired: 0,
            look: now + terms.lease.pace(),
            ended: false,
            dead: Done::default(),
            waker: None,
        }
    }

    pub(super) fn stats(&self) -> SourceStats {
        let mut stats = SourceStats::default();
        stats.pending = self.queue.len() as u64 + self.left;
        stats.accepted = self.handed_over + stats.pending;
        stats.exhausted = self.exhausted;
        stats.lease_expired = self.lease_expired;
        stats
    }

    /// How many messages to ask for now. None as long as a pull is open, or half of the window is full.
    pub(super) fn wanted(&mut self, now: Instant) -> Option<NonZeroUsize> {
        self.rest(now);
        let (window, waiting) = (self.terms.window.get(), self.queue.len());
        let most = if now < self.careful { 1 } else { MOST };
        if self.ended || self.asked > 0 || 2 * waiting > window {
            return None;
        }
        NonZeroUsize::new(self.room().min(window.saturating_sub(waiting)).min(most))
    }

    /// A pull is open that may bring so many.
    pub(super) fn pull(&mut self, count: NonZeroUsize) {
        self.asked = count.get();
    }

    /// There is a new link. If there was one a lease ago, the client may have given that up over a message that it cannot read, and
    /// the server sends that again with each lease, and before all that was lost behind it: alone, it takes nothing with it.
    pub(super) fn link_is_made(&mut self, now: Instant) {
        let lease = self.terms.lease;
        let two_leases = |since| lease.granted(lease.granted(since));
        if self.linked.replace(now).is_some_and(|last| now <= two_leases(last)) {
            self.careful = two_leases(now);
        }
    }

    /// The link has been made anew, and may lead to a server that forgot what it heard last.
    pub(super) fn link_is_new(&mut self, now: Instant) {
        self.pull_is_over();
        self.doubt = after(now, DOUBT);
    }

    /// The open pull brings nothing more.
    pub(super) fn pull_is_over(&mut self) {
        self.asked = 0;
    }

    /// Whether a pull is open.
    pub(super) fn is_pulling(&self) -> bool {
        self.asked > 0
    }

    /// Takes a message in. One that there is no place for is given back, to come again when no pull of before is open any
    /// more: it would come again to that.
    pub(super) fn take_in(&mut self, arrival: Arrival, now: Instant) {
        let Arrival { message, address, sequence, stored, attempt } = arrival;
        self.asked = self.asked.saturating_sub(1);
        if let Some(older) = self.latest.get(&sequence).copied().filter(|older| !self.is_settling(*older)) {
            self.expire(older);
        }
        let may_be_done = attempt > NonZeroU32::MIN || now < self.doubt || self.terms.miscounts;
        if may_be_done && self.done.has(sequence, stored) {
            // The word for it went down with a link, or with the server, and the number of attempts with it.
            let until = self.terms.lease.granted(now);
            self.words.push_back(Word { address, verb: Verb::Ack, until, ends: None });
            return;
        }
        if self.room() == 0 {
            let until = self.terms.lease.granted(now);
            self.words.push_back(Word { address, verb: Verb::Nak(LATER), until, ends: None });
            return;
        }
        let state = if self.ended { State::Left } else { State::Queued(message) };
        let entry = Entry { address, sequence, stored, attempt, received: now, renewed: now, beaten: now, state };
        let token = self.entries.insert(entry);
        self.latest.insert(sequence, token);
        if !self.ended {
            self.queue.push_back(token);
            self.left = self.left.saturating_sub(1);
        }
    }

    /// Who waits for a delivery, if there is one, or none will come any more.
    pub(super) fn take_waker(&mut self) -> Option<Waker> {
        if self.queue.is_empty() && !self.ended { None } else { self.waker.take() }
    }

    /// The next delivery; none once the source has ended.
    pub(super) fn poll_next(&mut self, cx: &Context<'_>, now: Instant) -> Poll<Option<Handed>> {
        while let Some(token) = self.queue.front().copied() {
            if self.is_over(token, now) {
                continue;
            }
            self.queue.pop_front();
            if let Some(entry) = self.entries.get_mut(token)
                && let State::Queued(message) = mem::replace(&mut entry.state, State::InHand)
            {
                self.handed_over += 1;
                return Poll::Ready(Some(Handed { token, message, attempt: entry.attempt }));
            }
        }
        if self.ended {
            return Poll::Ready(None);
        }
        match &mut self.waker {
            Some(waker) => waker.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        Poll::Pending
    }

    /// Begins a settlement: what to tell the server. [`finish`](Held::finish) says what became of it.
    pub(super) fn begin(
        &mut self,
        token: Token,
        settlement: Settlement,
        now: Instant,
        is_up: bool,
    ) -> Result<Word, Refusal> {
        if self.ended {
            return Err(Refusal::Ended);
        }
        if self.is_over(token, now) {
            return Err(Refusal::Lapsed);
        }
        if !is_up {
            self.give_back(token);
            return Err(Refusal::Down);
        }
        let Some(entry) = self.entries.get_mut(token) else { return Err(Refusal::Lapsed) };
        let verb = match settlement.outcome {
            Outcome::Acked => Verb::Ack,
            // Nobody judged it, so the last attempt is not the last either (T2).
            Outcome::Returned => Verb::Nak(Duration::ZERO),
            // Nacked, Silent, and whatever is yet to come (T5).
            _ if entry.attempt >= self.terms.max_deliver => Verb::Term,
            _ => Verb::Nak(settlement.delay),
        };
        entry.state = State::Settling(verb);
        self.settling += 1;
        let until = self.terms.lease.granted(entry.renewed);
        Ok(Word { address: entry.address.clone(), verb, until, ends: None })
    }

    /// The client has a settlement, or did not take it.
    pub(super) fn finish(&mut self, token: Token, is_taken: bool, now: Instant) {
        let Some(Entry { state: State::Settling(verb), .. }) = self.entries.get(token) else { return };
        let verb = *verb;
        if !is_taken {
            return self.abandon(token);
        }
        let entry = self.remove(token);
        if let (Verb::Ack | Verb::Term, Some(entry)) = (verb, entry) {
            self.done.add(entry.sequence, entry.stored);
        }
        match verb {
            Verb::Term => self.exhausted += 1,
            Verb::Nak(delay) if !delay.is_zero() => self.resting.push(Reverse(after(now, delay))),
            _ => {}
        }
    }

    /// Lets a message in hand go unjudged (T4). Does nothing if it is settled.
    pub(super) fn abandon(&mut self, token: Token) {
        match self.entries.get_mut(token) {
            // With the rest of what is left.
            Some(entry) if self.ended => {
                self.settling -= usize::from(matches!(entry.state, State::Settling(_)));
                entry.state = State::Left;
            }
            _ => self.give_back(token),
        }
    }

    fn give_back(&mut self, token: Token) {
        if let Some(Entry { address, renewed, .. }) = self.remove(token) {
            let until = self.terms.lease.granted(renewed);
            self.words.push_back(Word { address, verb: Verb::Nak(Duration::ZERO), until, ends: None });
        }
    }

    /// Looks at all leases, if it is time to: the heartbeats to send. They count once the server has
    /// [heard](Held::heard) them: a link may be dead for a while before anybody knows (E5).
    pub(super) fn look(&mut self, now: Instant, is_up: bool) -> Vec<Word> {
        let mut heartbeats = Vec::new();
        if now < self.look {
            return heartbeats;
        }
        let lease = self.terms.lease;
        self.look = now + lease.pace();
        let tokens: Vec<Token> = self.entries.iter().map(|(token, _)| token).collect();
        for token in tokens {
            if self.is_over(token, now) {
                continue;
            }
            let Some(entry) = self.entries.get_mut(token) else { continue };
            if is_up && lease.is_due(entry.beaten, now) {
                entry.beaten = now;
                let until = lease.granted(entry.renewed);
                heartbeats.push(Word { address: entry.address.clone(), verb: Verb::Progress, until, ends: None });
            }
            // A settlement that is under way ends no sooner for being looked at.
            if !matches!(entry.state, State::Settling(_)) {
                self.look = self.look.min(lease.ends(entry.received, entry.renewed));
            }
        }
        heartbeats
    }

    /// The server has heard the heartbeats that were sent until then.
    pub(super) fn heard(&mut self, sent: Instant) {
        for entry in self.entries.values_mut().filter(|entry| entry.beaten <= sent) {
            entry.renewed = entry.renewed.max(entry.beaten);
        }
    }

    /// When there is something to do, whatever happens.
    pub(super) fn wakes(&mut self, now: Instant) -> Instant {
        self.rest(now);
        self.resting.peek().map_or(self.look, |Reverse(over)| self.look.min(*over))
    }

    /// Whether there is something to do now.
    pub(super) fn has_work(&mut self, now: Instant) -> bool {
        !self.words.is_empty() || self.wanted(now).is_some() || (self.ended && self.settling == 0)
    }

    /// What is to be said, in the order in which it came up, without what is too late to say.
    pub(super) fn words(&mut self, now: Instant) -> Vec<Word> {
        self.words.drain(..).filter(|word| now < word.until).collect()
    }

    /// One of them was said.
    pub(super) fn said(&mut self, word: &Word) {
        if let Some((sequence, stored)) = word.ends {
            self.exhausted += 1;
            self.done.add(sequence, stored);
        }
    }

    /// The server has given a message up, and hands it to nobody any more. Whether that is news: it may say so again.
    pub(super) fn is_dead(&mut self, sequence: u64) -> bool {
        let is_news = !self.dead.has(sequence, 0);
        if is_news {
            self.dead.add(sequence, 0);
            self.exhausted += 1;
            if let Some(token) = self.latest.get(&sequence).copied().filter(|token| !self.is_settling(*token)) {
                self.expire(token);
            }
        }
        is_news
    }

    /// Ends the source: nothing is handed over any more, and settlements are refused.
    pub(super) fn end(&mut self) {
        if mem::replace(&mut self.ended, true) {
            return;
        }
        self.left += self.queue.len() as u64;
        self.queue.clear();
        for entry in self.entries.values_mut() {
            if !matches!(entry.state, State::Settling(_)) {
                entry.state = State::Left;
            }
        }
    }

    /// Gives all of it back, in the order of the stream. Not before the pull is over: it would come again to that.
    pub(super) fn release(&mut self) {
        let left = self.entries.iter().filter(|(_, entry)| matches!(entry.state, State::Left));
        let mut left: Vec<(u64, Token)> = left.map(|(token, entry)| (entry.sequence, token)).collect();
        left.sort_unstable();
        left.into_iter().for_each(|(_, token)| self.give_back(token));
    }

    /// Whether no settlement is under way.
    pub(super) fn is_settled(&self) -> bool {
        self.settling == 0
    }

    /// Frees the places of what waited out a delay.
    fn rest(&mut self, now: Instant) {
        while self.resting.peek().is_some_and(|Reverse(over)| *over <= now) {
            self.resting.pop();
        }
    }

    /// How many places are free.
    fn room(&self) -> usize {
        let taken = self.entries.len() + self.resting.len() + self.words.len() + self.asked;
        self.terms.bound.get().saturating_sub(taken)
    }

    fn is_settling(&self, token: Token) -> bool {
        matches!(self.entries.get(token), Some(Entry { state: State::Settling(_), .. }))
    }

    /// Whether a message is not its receiver's any more; then it is not held any more either.
    fn is_over(&mut self, token: Token, now: Instant) -> bool {
        let Some(entry) = self.entries.get(token) else { return true };
        let lease = self.terms.lease;
        let standing = lease.standing(entry.received, entry.renewed, now);
        if standing == Standing::Held || matches!(entry.state, State::Settling(_)) {
            return false;
        }
        // The handler had it all this time: that was an attempt. What nobody was handed was none.
        let is_last = matches!(entry.state, State::InHand) && entry.attempt >= self.terms.max_deliver;
        let verb = match standing {
            _ if is_last && (standing == Standing::Spent || lease.is_fixed()) => Some(Verb::Term),
            Standing::Spent => Some(Verb::Nak(Duration::ZERO)),
            _ => None,
        };
        let (address, until) = (entry.address.clone(), lease.granted(entry.renewed));
        let ends = (verb == Some(Verb::Term)).then_some((entry.sequence, entry.stored));
        self.expire(token);
        self.words.extend(verb.map(|verb| Word { address, verb, until, ends }));
        true
    }

    fn expire(&mut self, token: Token) {
        let Some(entry) = self.remove(token) else { return };
        self.lease_expired += 1;
        if matches!(entry.state, State::Queued(_)) {
            self.queue.retain(|queued| *queued != token);
            self.left += 1;
        }
    }

    fn remove(&mut self, token: Token) -> Option<Entry> {
        let entry = self.entries.remove(token)?;
        self.settling -= usize::from(matches!(entry.state, State::Settling(_)));
        if let Occupied(latest) = self.latest.entry(entry.sequence)
            && *latest.get() == token
        {
            latest.remove();
        }
        Some(entry)
    }
}

mod slots;
#[cfg(test)]
mod tests;
