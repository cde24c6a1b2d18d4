//! One durable identity: what it is owed, who has it in hand, and what was counted.

use std::{
    collections::{BTreeMap, VecDeque},
    num::{NonZeroU32, NonZeroUsize},
    sync::{Mutex, MutexGuard},
    task::{Context, Poll, Waker},
};

use tramline::{
    Event, Name, Subject,
    contract::{Outcome, SourceStats},
};

use crate::lock;

/// Names one delivery: no two have the same.
pub(crate) type Token = u64;

#[derive(Debug)]
pub(crate) struct Identity {
    /// The subscription that made it, for errors.
    pub(crate) name: Name,
    pub(crate) subject: Subject,
    bound: usize,
    max_deliver: NonZeroU32,
    inside: Mutex<Inside>,
}

#[derive(Debug, Default)]
struct Inside {
    waiting: VecDeque<Letter>,
    in_hand: BTreeMap<Token, (u64, Letter)>,
    /// The members that are live, and those that are not, by their numbers: the eldest live one answers for what waits.
    members: BTreeMap<u64, Counted>,
    next_token: Token,
    /// Refused while no member was live: the next one answers for it.
    refused: u64,
    given_up: bool,
}

/// What one member has counted.
#[derive(Debug, Default)]
struct Counted {
    handed_over: u64,
    refused: u64,
    exhausted: u64,
    /// The last reading, once it has left.
    last: Option<SourceStats>,
    reader: Option<Waker>,
}

#[derive(Debug)]
pub(crate) struct Letter {
    pub(crate) event: Event,
    pub(crate) attempt: NonZeroU32,
}

impl Identity {
    pub(crate) fn new(name: Name, subject: Subject, bound: NonZeroUsize, max_deliver: NonZeroU32) -> Self {
        Self { name, subject, bound: bound.get(), max_deliver, inside: Mutex::default() }
    }

    /// One more member: its number.
    pub(crate) fn join(&self) -> u64 {
        let mut inside = lock(&self.inside);
        let number = inside.members.last_key_value().map_or(0, |(last, _)| last + 1);
        let refused = std::mem::take(&mut inside.refused);
        inside.members.insert(number, Counted { refused, ..Counted::default() });
        number
    }

    pub(crate) fn is_full(&self) -> bool {
        let inside = lock(&self.inside);
        inside.waiting.len() + inside.in_hand.len() >= self.bound
    }

    /// A newcomer did not get in, and its publisher was told: a loss of the eldest live member's (L1).
    pub(crate) fn refuse(&self) {
        let mut inside = lock(&self.inside);
        match inside.members.values_mut().find(|member| member.last.is_none()) {
            Some(eldest) => eldest.refused += 1,
            None => inside.refused += 1,
        }
    }

    pub(crate) fn is_given_up(&self) -> bool {
        lock(&self.inside).given_up
    }

    pub(crate) fn add(&self, event: Event) {
        let mut inside = lock(&self.inside);
        if !inside.given_up {
            inside.waiting.push_back(Letter { event, attempt: NonZeroU32::MIN });
            wake(inside);
        }
    }

    /// The next letter for a member; none once it has left.
    pub(crate) fn take(&self, number: u64, cx: &Context<'_>) -> Poll<Option<(Token, Letter)>> {
        let mut inside = lock(&self.inside);
        let Inside { waiting, in_hand, members, next_token, .. } = &mut *inside;
        let Some(member) = members.get_mut(&number).filter(|member| member.last.is_none()) else {
            return Poll::Ready(None);
        };
        let Some(letter) = waiting.pop_front() else {
            member.reader = Some(cx.waker().clone());
            return Poll::Pending;
        };
        member.handed_over += 1;
        *next_token += 1;
        let copy = Letter { event: letter.event.clone(), attempt: letter.attempt };
        in_hand.insert(*next_token, (number, letter));
        Poll::Ready(Some((*next_token, copy)))
    }

    /// Whether there was still something to settle.
    pub(crate) fn settle(&self, token: Token, outcome: Outcome) -> bool {
        let mut inside = lock(&self.inside);
        let Some((number, mut letter)) = inside.in_hand.remove(&token) else { return false };
        match outcome {
            Outcome::Acked => return true,
            Outcome::Returned => {}
            // What is declined, in whatever word.
            _ if letter.attempt >= self.max_deliver => {
                if let Some(member) = inside.members.get_mut(&number) {
                    member.exhausted += 1;
                }
                return true;
            }
            _ => letter.attempt = letter.attempt.saturating_add(1),
        }
        inside.waiting.push_back(letter);
        wake(inside);
        true
    }

    pub(crate) fn give_back(&self, token: Token) {
        self.settle(token, Outcome::Returned);
    }

    pub(crate) fn stats(&self, number: u64) -> SourceStats {
        lock(&self.inside).stats(number)
    }

    /// A member leaves: what it has in hand is owed again, and its last reading has what waits. Given up by its last
    /// member, nothing is owed any more.
    pub(crate) fn leave(&self, number: u64, given_up: bool) -> SourceStats {
        let mut inside = lock(&self.inside);
        let last = inside.stats(number);
        let Some(member) = inside.members.get_mut(&number) else { return last };
        if member.last.is_some() {
            return last;
        }
        member.last = Some(last);
        member.reader.take().into_iter().for_each(Waker::wake);
        let back: Vec<_> =
            inside.in_hand.iter().filter(|(_, (who, _))| *who == number).map(|(token, _)| *token).collect();
        for token in back.into_iter().rev() {
            if let Some((_, letter)) = inside.in_hand.remove(&token) {
                inside.waiting.push_front(letter);
            }
        }
        if given_up && inside.members.values().all(|member| member.last.is_some()) {
            inside.waiting.clear();
            inside.given_up = true;
        }
        wake(inside);
        last
    }

    /// The session closes: every member leaves, and nothing is owed any more.
    pub(crate) fn end(&self) {
        let numbers: Vec<u64> = lock(&self.inside).members.keys().copied().collect();
        for number in numbers {
            self.leave(number, true);
        }
    }
}

impl Inside {
    fn stats(&self, number: u64) -> SourceStats {
        let mut stats = SourceStats::default();
        let Some(member) = self.members.get(&number) else { return stats };
        if let Some(last) = member.last {
            return last;
        }
        let eldest = self.members.iter().find(|(_, member)| member.last.is_none()).map(|(number, _)| *number);
        stats.pending = if eldest == Some(number) { self.waiting.len() as u64 } else { 0 };
        stats.accepted = member.handed_over + stats.pending;
        stats.refused = member.refused;
        stats.refused = member.refused;
        stats.exhausted = member.exhausted;
        stats
    }
}

/// Wakes who waits for a letter, after the lock was given up.
fn wake(mut inside: MutexGuard<'_, Inside>) {
    let readers: Vec<Waker> = inside.members.values_mut().filter_map(|member| member.reader.take()).collect();
    drop(inside);
    readers.into_iter().for_each(Waker::wake);
}
