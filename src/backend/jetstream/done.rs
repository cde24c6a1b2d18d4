//! What was acknowledged last, so that it is not handled again when its acknowledgement is lost with a link or a server.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;

/// How many are remembered. An acknowledgement is lost within the time in which it is on its way, or is written by the server.
const MOST: usize = 8 * 1024;

/// Places in the stream.
#[derive(Debug, Default)]
pub(super) struct Done {
    latest: VecDeque<u64>,
    all: FxHashSet<u64>,
}

impl Done {
    pub(super) fn has(&self, sequence: u64) -> bool {
        self.all.contains(&sequence)
    }
}

impl Extend<u64> for Done {
    fn extend<I: IntoIterator<Item = u64>>(&mut self, sequences: I) {
        for sequence in sequences {
            if !self.all.insert(sequence) {
                continue;
            }
            self.latest.push_back(sequence);
            if self.latest.len() > MOST
                && let Some(oldest) = self.latest.pop_front()
            {
                self.all.remove(&oldest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_are_remembered_and_no_more_than_that() {
        let mut done = Done::default();
        done.extend(0..2 * MOST as u64);
        done.extend([2 * MOST as u64 - 1]);
        assert_eq!((done.latest.len(), done.all.len()), (MOST, MOST));
        assert!(done.has(2 * MOST as u64 - 1) && !done.has(0));
    }
}
