//! What was settled for good or given up last, so that it is not handled or counted again.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

/// How many are remembered. A word is lost within the time in which it is on its way, or is written by the server.
pub(super) const MOST: usize = 8 * 1024;

/// Places in the stream, each with the time when what was there was stored: a server that lost the end of its stream in a crash
/// of its machine gives a place to another message.
#[derive(Debug, Default)]
pub(super) struct Done {
    latest: VecDeque<u64>,
    all: FxHashMap<u64, u64>,
}

impl Done {
    pub(super) fn has(&self, sequence: u64, stored: u64) -> bool {
        self.all.get(&sequence) == Some(&stored)
    }

    pub(super) fn add(&mut self, sequence: u64, stored: u64) {
        if self.all.insert(sequence, stored).is_some() {
            return;
        }
        self.latest.push_back(sequence);
        if self.latest.len() > MOST
            && let Some(oldest) = self.latest.pop_front()
        {
            self.all.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_are_remembered_and_no_more_than_that() {
        let mut done = Done::default();
        let last = 2 * MOST as u64 - 1;
        (0..=last).for_each(|sequence| done.add(sequence, 7));
        done.add(last, 8);
        assert_eq!((done.latest.len(), done.all.len()), (MOST, MOST));
        assert!(done.has(last, 8) && !done.has(last, 7) && done.has(last - 1, 7) && !done.has(0, 7));
    }
}
