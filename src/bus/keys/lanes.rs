//! One lane per key that is at work: what waits behind it, and what it waits for.

use std::{
    collections::{HashMap, VecDeque, hash_map::Entry},
    time::Duration,
};

use tokio::time::Instant;

use super::{away::Away, key::Key};
use crate::contract::{Incoming, Message};

/// How long a message is waited for beyond its delay, and what was given back beyond the next source's opening.
pub(super) const ALLOWANCE: Duration = Duration::from_secs(30);
/// The least time between two looks at all lanes.
const GRAIN: Duration = Duration::from_secs(1);
/// Up to this capacity a line is kept for the next key that needs one.
const SMALL: usize = 16;

/// The lanes of one source.
///
/// **Invariant:** there is a lane for a key exactly while one of its messages is in a handler, waits for it, or is
/// waited for. So there are never more lanes than messages that the bound allows.
/// **Invariant:** a lane that nobody works at begins with a message that is away.
pub(super) struct Lanes<S> {
    lanes: HashMap<Key, Lane<S>>,
    /// Lanes whose first message is to be handled next, and which count as being worked at.
    ready: VecDeque<Key>,
    /// How many messages are here and wait.
    parked: usize,
    /// How many messages are away.
    away: usize,
    /// How many may be away: those of this process count against the bound.
    most_away: usize,
    /// When to look for messages that did not come back.
    next_look: Option<Instant>,
    /// Keys that went on without a message, since the last look.
    missed: Vec<Away>,
    /// Empty lines, for reuse.
    spare: Vec<VecDeque<Slot<S>>>,
    most_spare: usize,
    closed: bool,
}

struct Lane<S> {
    /// Whether a reader has one of its messages, or is about to.
    worked_at: bool,
    /// What comes next, in order.
    line: VecDeque<Slot<S>>,
    /// How many in the line are away.
    away: usize,
}

enum Slot<S> {
    Here(Incoming<S>),
    Away(Away),
}

impl<S> Lanes<S> {
    pub(super) fn new(bound: usize, readers: usize) -> Self {
        Self {
            lanes: HashMap::new(),
            ready: VecDeque::new(),
            parked: 0,
            away: 0,
            most_away: bound,
            next_look: None,
            missed: Vec::new(),
            spare: Vec::new(),
            most_spare: readers,
            closed: false,
        }
    }

    /// Goes on waiting for what an earlier source left away, from now.
    pub(super) fn inherit(&mut self, owed: HashMap<Key, VecDeque<Away>>, now: Instant) {
        for (key, messages) in owed {
            let away = messages.len();
            self.away += away;
            let line = messages
                .into_iter()
                .map(|away| Slot::Away(Away { until: away.until.max(now + ALLOWANCE), ..away }))
                .collect();
            self.lanes.insert(key.clone(), Lane { worked_at: false, line, away });
            self.advance(&key, now, false);
        }
    }

    pub(super) fn parked(&self) -> usize {
        self.parked
    }

    pub(super) fn next_look(&self) -> Option<Instant> {
        self.next_look
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Takes a delivery in: gives it back if it is to be handled now, else keeps it in its lane.
    pub(super) fn sort(&mut self, key: Key, incoming: Incoming<S>) -> Option<Incoming<S>> {
        let lane = match self.lanes.entry(key) {
            Entry::Vacant(vacant) => {
                let line = self.spare.pop().unwrap_or_default();
                vacant.insert(Lane { worked_at: true, line, away: 0 });
                return Some(incoming);
            }
            Entry::Occupied(occupied) => occupied.into_mut(),
        };
        if let Some(at) = lane.place_of(&incoming) {
            lane.away -= 1;
            self.away -= 1;
            if at == 0 && !lane.worked_at {
                lane.line.pop_front();
                lane.worked_at = true;
                return Some(incoming);
            }
            lane.line[at] = Slot::Here(incoming);
        } else {
            lane.line.push_back(Slot::Here(incoming));
        }
        self.parked += 1;
        None
    }

    /// The first message of a lane that can go on.
    pub(super) fn next_ready(&mut self) -> Option<Incoming<S>> {
        let key = self.ready.pop_front()?;
        let lane = self.lanes.get_mut(&key)?;
        let Some(Slot::Here(incoming)) = lane.line.pop_front() else {
            unreachable!("a lane is ready only for a message that is here, and stays so")
        };
        if lane.line.capacity() > SMALL && lane.line.len() < lane.line.capacity() / 4 {
            lane.line.shrink_to(lane.line.len() * 2);
        }
        self.parked -= 1;
        Some(incoming)
    }

    /// A message of this key is done with, or, with `again`, is waited for.
    pub(super) fn conclude(&mut self, key: &Key, again: Option<Away>, now: Instant) {
        let Some(lane) = self.lanes.get_mut(key) else { return };
        lane.worked_at = false;
        if let Some(away) = again {
            if let Some(at) = lane.returned(&away) {
                // It came back before its reader was told that it had settled it.
                if let Some(returned) = lane.line.remove(at) {
                    lane.line.push_front(returned);
                }
            } else if self.away < self.most_away {
                lane.line.push_front(Slot::Away(away));
                lane.away += 1;
                self.away += 1;
            } else {
                self.missed.push(away);
            }
        }
        self.advance(key, now, false);
    }

    /// Lets lanes go on whose message did not come back in time; to be called when the source has been asked and has
    /// nothing. What was missed since the last time is handed out.
    pub(super) fn look(&mut self, now: Instant) -> Vec<Away> {
        if self.next_look.is_some_and(|at| at <= now) {
            self.next_look = None;
            let waiting = self.lanes.iter().filter(|(_, lane)| !lane.worked_at).map(|(key, _)| key.clone());
            for key in waiting.collect::<Vec<_>>() {
                self.advance(&key, now, true);
            }
        }
        std::mem::take(&mut self.missed)
    }

    /// Nothing is handled any more: gives what is here out, each lane in order, and says what each waits for instead.
    pub(super) fn close(
        &mut self,
        come_back: bool,
        until: Instant,
    ) -> (Vec<Incoming<S>>, HashMap<Key, VecDeque<Away>>) {
        self.closed = true;
        self.ready.clear();
        let (mut here, mut owed) = (Vec::with_capacity(self.parked), HashMap::new());
        for (key, lane) in self.lanes.drain() {
            let mut waited_for = VecDeque::new();
            for slot in lane.line {
                match slot {
                    Slot::Here(incoming) => {
                        if let (true, Ok(message)) = (come_back, &incoming.message) {
                            waited_for.push_back(Away::new(&message.subject, &message.event, incoming.attempt, until));
                        }
                        here.push(incoming);
                    }
                    Slot::Away(away) => waited_for.push_back(away),
                }
            }
            if !waited_for.is_empty() {
                owed.insert(key, waited_for);
            }
        }
        (self.parked, self.away, self.next_look) = (0, 0, None);
        (here, owed)
    }

    /// Looks at what comes next in a lane that nobody works at. Only one that is `asked` about goes on without a message that
    /// is late: elsewhere nobody knows whether the source has it by now.
    fn advance(&mut self, key: &Key, now: Instant, asked: bool) {
        let Some(lane) = self.lanes.get_mut(key) else { return };
        loop {
            match lane.line.front() {
                Some(Slot::Here(_)) => {
                    lane.worked_at = true;
                    self.ready.push_back(key.clone());
                    return;
                }
                Some(Slot::Away(away)) if !asked || away.until > now => {
                    let at = away.until.max(now + GRAIN);
                    self.next_look = Some(self.next_look.map_or(at, |earlier| earlier.min(at)));
                    return;
                }
                Some(Slot::Away(_)) => {
                    lane.away -= 1;
                    self.away -= 1;
                    if let Some(Slot::Away(away)) = lane.line.pop_front() {
                        self.missed.push(away);
                    }
                }
                None => break,
            }
        }
        if let Some(lane) = self.lanes.remove(key)
            && (1..=SMALL).contains(&lane.line.capacity())
            && self.spare.len() < self.most_spare
        {
            self.spare.push(lane.line);
        }
    }
}

impl<S> Lane<S> {
    /// The place that is kept for this delivery, if it was away.
    fn place_of(&self, incoming: &Incoming<S>) -> Option<usize> {
        let Ok(message) = &incoming.message else { return None };
        let mut left = self.away;
        for (at, slot) in self.line.iter().enumerate() {
            if left == 0 {
                return None;
            }
            if let Slot::Away(away) = slot {
                if away.is(&message.subject, &message.event) {
                    return Some(at);
                }
                left -= 1;
            }
        }
        None
    }

    /// Where this message stands in the line, if it has come back already.
    fn returned(&self, away: &Away) -> Option<usize> {
        self.line.iter().position(|slot| match slot {
            Slot::Here(Incoming { message: Ok(Message { subject, event, .. }), attempt, .. }) => {
                *attempt >= away.attempt && away.is(subject, event)
            }
            _ => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        event::{Event, UriReference},
        subject::Subject,
    };

    fn message(key: usize, id: usize) -> (Key, Incoming<()>) {
        let subject = Subject::new(format!("key.{key}")).expect("valid");
        let source = UriReference::new("urn:example:test").expect("valid");
        let event = Event::builder(id.to_string(), source, "com.example.v1").build().expect("valid");
        (Key::Subject(subject.clone()), Incoming::new(subject, event, ()))
    }

    /// Takes a message in; whether it is to be handled now.
    fn sorted(lanes: &mut Lanes<()>, key: usize, id: usize) -> bool {
        let (key, incoming) = message(key, id);
        lanes.sort(key, incoming).is_some()
    }

    fn away(key: usize, id: usize, until: Instant) -> (Key, Away) {
        let (key, incoming) = message(key, id);
        let Message { subject, event } = incoming.message.expect("an event");
        (key, Away::new(&subject, &event, incoming.attempt, until))
    }

    #[test]
    fn g3_the_number_of_keys_leaves_nothing_behind() {
        let (mut lanes, now) = (Lanes::new(64, 4), Instant::now());
        for key in 0..2_000 {
            assert!(sorted(&mut lanes, key, 0));
            for id in 1..64 {
                assert!(!sorted(&mut lanes, key, id));
            }
            let (key, _) = message(key, 0);
            for _ in 1..64 {
                lanes.conclude(&key, None, now);
                assert!(lanes.next_ready().is_some());
            }
            lanes.conclude(&key, None, now);
        }
        assert_eq!((lanes.lanes.len(), lanes.ready.len(), lanes.parked, lanes.away), (0, 0, 0, 0));
        assert!(lanes.lanes.capacity() < 64 && lanes.spare.len() <= 4);
        assert!(lanes.spare.iter().all(|line| line.capacity() <= SMALL));
    }

    #[test]
    fn g3_a_line_that_was_long_gives_its_memory_back() {
        let (mut lanes, now) = (Lanes::new(1_000, 4), Instant::now());
        assert_eq!((0..1_000).filter(|id| sorted(&mut lanes, 0, *id)).count(), 1);
        let (key, _) = message(0, 0);
        for _ in 0..990 {
            lanes.conclude(&key, None, now);
            assert!(lanes.next_ready().is_some());
        }
        assert!(lanes.lanes[&key].line.capacity() <= 64, "{}", lanes.lanes[&key].line.capacity());
    }

    #[test]
    fn g3_no_more_than_the_bound_are_waited_for() {
        let (mut lanes, now) = (Lanes::new(8, 4), Instant::now());
        for key in 0..100 {
            assert!(sorted(&mut lanes, key, 0));
            let (key, away) = away(key, 0, now + ALLOWANCE);
            lanes.conclude(&key, Some(away), now);
        }
        assert_eq!((lanes.lanes.len(), lanes.away), (8, 8));
        assert_eq!(lanes.look(now).len(), 92, "the others go on, and it is said");
        assert_eq!(lanes.look(now + ALLOWANCE).len(), 8);
        assert!(lanes.lanes.is_empty() && lanes.next_look().is_none());
    }

    #[test]
    fn g2_what_comes_back_before_its_reader_knows_comes_first() {
        let (mut lanes, now) = (Lanes::new(8, 4), Instant::now());
        assert!(sorted(&mut lanes, 0, 0));
        // The others, and then the first one again: its settlement was quicker than its reader.
        assert!(!sorted(&mut lanes, 0, 1) && !sorted(&mut lanes, 0, 0));
        let (key, first) = away(0, 0, now + ALLOWANCE);
        lanes.conclude(&key, Some(first), now);
        for id in ["0", "1"] {
            let incoming = lanes.next_ready().expect("the next");
            assert_eq!(incoming.message.expect("an event").event.id(), id);
            lanes.conclude(&key, None, now);
        }
        assert!(lanes.lanes.is_empty() && lanes.away == 0);
    }

    #[test]
    fn g2_what_was_given_back_keeps_its_place_with_the_next_source() {
        let (mut lanes, now) = (Lanes::new(8, 4), Instant::now());
        assert!(sorted(&mut lanes, 0, 0));
        assert!(!sorted(&mut lanes, 0, 1) && !sorted(&mut lanes, 0, 2));
        let (key, first) = away(0, 0, now + ALLOWANCE);
        lanes.conclude(&key, Some(first), now);
        let (here, owed) = lanes.close(true, now + ALLOWANCE);
        assert_eq!(here.len(), 2);
        let mut next = Lanes::new(8, 4);
        next.inherit(owed, now);
        // A newcomer, and then the old ones in the wrong order.
        assert!(!sorted(&mut next, 0, 3) && !sorted(&mut next, 0, 2) && !sorted(&mut next, 0, 1));
        assert!(sorted(&mut next, 0, 0));
        for id in ["1", "2", "3"] {
            next.conclude(&key, None, now);
            let incoming = next.next_ready().expect("the next");
            assert_eq!(incoming.message.expect("an event").event.id(), id);
        }
        next.conclude(&key, None, now);
        assert!(next.lanes.is_empty());
    }
}
