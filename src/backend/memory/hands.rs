//! What the sources of one durable identity have in hand, by token.

use super::owed::Offer;

/// Settles one attempt: where it lies, and a stamp that is never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token {
    place: usize,
    stamp: u64,
}

/// The messages in hand. Grows to the most that were in hand at once, which the bound limits, and allocates no more.
#[derive(Debug, Default)]
pub(super) struct Hands {
    places: Vec<Option<InHand>>,
    /// The places that are empty.
    free: Vec<usize>,
    stamps: u64,
}

#[derive(Debug)]
struct InHand {
    stamp: u64,
    /// The source's number.
    source: u64,
    offer: Offer,
}

impl Hands {
    pub(super) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    pub(super) fn put(&mut self, source: u64, offer: Offer) -> Token {
        self.stamps += 1;
        let stamp = self.stamps;
        let held = Some(InHand { stamp, source, offer });
        let place = match self.free.pop() {
            Some(place) => {
                self.places[place] = held;
                place
            }
            None => {
                self.places.push(held);
                self.places.len() - 1
            }
        };
        Token { place, stamp }
    }

    /// What the token stands for, if it is still in hand, with the number of its source.
    pub(super) fn take(&mut self, token: Token) -> Option<(u64, Offer)> {
        let place = self.places.get_mut(token.place)?;
        let InHand { source, offer, .. } = place.take_if(|held| held.stamp == token.stamp)?;
        self.free.push(token.place);
        Some((source, offer))
    }

    /// Takes everything out of the hands of one source, in the order in which it was handed over.
    pub(super) fn take_all(&mut self, source: u64) -> Vec<Offer> {
        let mut taken: Vec<_> = Vec::new();
        for (at, place) in self.places.iter_mut().enumerate() {
            if let Some(held) = place.take_if(|held| held.source == source) {
                self.free.push(at);
                taken.push(held);
            }
        }
        taken.sort_unstable_by_key(|held| held.stamp);
        taken.into_iter().map(|held| held.offer).collect()
    }
}
