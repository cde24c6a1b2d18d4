//! Who waits for room in a queue.

use std::{mem, task::Waker};

/// Those who wait, by ticket. Kept under the queue's lock; what it hands out is woken or dropped without it.
#[derive(Debug, Default)]
pub(super) struct Waiters {
    list: Vec<(u64, Waker)>,
    next: u64,
}

impl Waiters {
    /// Remembers the waker under the ticket, or under a new one. Returns the waker that it replaces.
    pub(super) fn register(&mut self, ticket: &mut Option<u64>, waker: &Waker) -> Option<Waker> {
        if let Some((_, old)) = ticket.and_then(|ticket| self.list.iter_mut().find(|(other, _)| *other == ticket)) {
            return Some(mem::replace(old, waker.clone()));
        }
        self.list.push((self.next, waker.clone()));
        *ticket = Some(self.next);
        self.next += 1;
        None
    }

    /// Forgets a ticket, if it is still known.
    pub(super) fn leave(&mut self, ticket: u64) -> Option<Waker> {
        let at = self.list.iter().position(|(other, _)| *other == ticket)?;
        Some(self.list.swap_remove(at).1)
    }

    /// Everybody, to be woken.
    pub(super) fn take(&mut self) -> impl Iterator<Item = Waker> + use<> {
        mem::take(&mut self.list).into_iter().map(|(_, waker)| waker)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}
