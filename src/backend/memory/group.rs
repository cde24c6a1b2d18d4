//! The members of a group: each message goes to exactly one of them.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use smallvec::SmallVec;

use super::queue::{Admission, Full, Item, Queue, Slot};
use crate::contract::Message;

/// Competing members of one group and pattern (contract B10).
///
/// **Invariant:** while it chooses, a publisher holds the lock of at most one member. It may hold locks of targets that
/// come before this one, so it waits here without holding anything that a holder here could wait for.
#[derive(Debug)]
pub(super) struct Members<T: Item = Message> {
    members: Box<[Arc<Queue<T>>]>,
    /// Where the search begins, so that equals take turns. Two publishers may lose one of two steps.
    turn: AtomicUsize,
}

impl<T: Item> Members<T> {
    pub(super) fn new(members: &[Arc<Queue<T>>]) -> Self {
        Self { members: members.into(), turn: AtomicUsize::new(0) }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<Queue<T>>> {
        self.members.iter()
    }

    /// The least loaded member that has room; if none has, the least loaded one.
    pub(super) fn admit(&self) -> Admission<Slot<'_, T>, Full<'_, T>> {
        if let [only] = &*self.members {
            return only.admit();
        }
        let Some(first) = self.by_turn().min_by_key(|at| self.members[*at].load()) else { return Admission::Gone };
        if let room @ Admission::Room(_) = self.members[first].admit() {
            self.turn.store(first + 1, Ordering::Relaxed);
            return room;
        }
        self.admit_around()
    }

    /// The same, when the one that seemed least loaded is full or gone.
    #[cold]
    fn admit_around(&self) -> Admission<Slot<'_, T>, Full<'_, T>> {
        let mut order: SmallVec<[(u64, usize); 8]> = self.by_turn().map(|at| (self.members[at].load(), at)).collect();
        order.sort_by_key(|(load, _)| *load);
        for (_, at) in &order {
            if let room @ Admission::Room(_) = self.members[*at].admit() {
                return room;
            }
        }
        // All were full, or gone: whoever is not gone is asked once more, to be charged.
        order
            .iter()
            .map(|(_, at)| self.members[*at].admit())
            .find(|admission| !matches!(admission, Admission::Gone))
            .unwrap_or(Admission::Gone)
    }

    fn by_turn(&self) -> impl Iterator<Item = usize> {
        let count = self.members.len();
        let turn = self.turn.load(Ordering::Relaxed).min(count);
        (turn..count).chain(0..turn)
    }
}
