//! Where what is held lies: a vector of slots, each found by its index in one step, because a message is looked up several times
//! on its way.

use super::Entry;

/// Says which message is meant. No two of one source are alike, so that of a message that is gone finds nothing. Ordered by
/// when they came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::backend::jetstream) struct Token {
    serial: u64,
    slot: usize,
}

/// As many as were ever taken at a time.
#[derive(Debug, Default)]
pub(super) struct Slots {
    slots: Vec<Option<(u64, Entry)>>,
    free: Vec<usize>,
    latest: u64,
}

impl Slots {
    pub(super) fn insert(&mut self, entry: Entry) -> Token {
        self.latest += 1;
        let serial = self.latest;
        let filled = Some((serial, entry));
        let reused = self.free.pop().and_then(|free| Some((free, self.slots.get_mut(free)?)));
        let slot = if let Some((free, slot)) = reused {
            *slot = filled;
            free
        } else {
            self.slots.push(filled);
            self.slots.len() - 1
        };
        Token { slot, serial }
    }

    pub(super) fn get(&self, token: Token) -> Option<&Entry> {
        match self.slots.get(token.slot)? {
            Some((serial, entry)) if *serial == token.serial => Some(entry),
            _ => None,
        }
    }

    pub(super) fn get_mut(&mut self, token: Token) -> Option<&mut Entry> {
        match self.slots.get_mut(token.slot)? {
            Some((serial, entry)) if *serial == token.serial => Some(entry),
            _ => None,
        }
    }

    pub(super) fn remove(&mut self, token: Token) -> Option<Entry> {
        let slot = self.slots.get_mut(token.slot)?;
        let (_, entry) = slot.take_if(|(serial, _)| *serial == token.serial)?;
        self.free.push(token.slot);
        Some(entry)
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Token, &Entry)> {
        self.slots.iter().enumerate().filter_map(|(slot, filled)| {
            filled.as_ref().map(|(serial, entry)| (Token { slot, serial: *serial }, entry))
        })
    }

    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut Entry> {
        self.slots.iter_mut().flatten().map(|(_, entry)| entry)
    }
}
