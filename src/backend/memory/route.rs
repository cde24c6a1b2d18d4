//! Which queues a subject reaches, and how one event gets into them.
//!
//! A table is immutable; publishers share it without a lock. For each literal subject that somebody subscribes to it
//! holds the whole route, what wildcards and groups select there included, so that a publish is one look-up. Subjects
//! that only wildcards select are walked.

use std::{sync::Arc, task::Waker};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{
    asked::Asked,
    group::Members,
    owed::{self, Owed},
    queue::{Admission, Full, Queue, Slot, Wake},
    requests::{Request, offer},
};
use crate::{
    contract::{Message, Overflow},
    event::Event,
    subject::{Name, Pattern, PatternIndex, Subject},
};

/// One queue, the group that stands for several, the queue of a durable identity, or a group that answers requests.
#[derive(Debug)]
pub(super) enum Target {
    One(Arc<Queue>),
    Group(Members),
    Durable(Arc<Owed>),
    Responders(Members<Request>),
}

/// A target whose answers have another type than those of a subscription at most once.
enum Other<'t> {
    Durable(&'t Owed),
    Responders(&'t Members<Request>),
}

impl Target {
    /// Asks to put one message in. What answers with another type comes back on another way, so that the way at most
    /// once stays short.
    #[inline]
    fn admit(&self) -> Result<Admission<Slot<'_>, Full<'_>>, Other<'_>> {
        match self {
            Self::One(queue) => Ok(queue.admit()),
            Self::Group(members) => Ok(members.admit()),
            Self::Durable(owed) => Err(Other::Durable(owed)),
            Self::Responders(members) => Err(Other::Responders(members)),
        }
    }

    /// The queues to wait for, if there is no room in this target; one is enough.
    fn without_room(&self) -> Option<SmallVec<[Awaited; 2]>> {
        match self {
            Self::One(queue) => (!queue.has_room()).then(|| SmallVec::from_iter([Awaited::Queue(Arc::clone(queue))])),
            Self::Group(members) => {
                let full = !members.iter().any(|queue| queue.has_room());
                full.then(|| members.iter().cloned().map(Awaited::Queue).collect())
            }
            Self::Durable(owed) => {
                (!owed.has_room()).then(|| SmallVec::from_iter([Awaited::Durable(Arc::clone(owed))]))
            }
            // They shed, and nobody waits for them.
            Self::Responders(_) => None,
        }
    }
}

/// A queue in which room is waited for.
#[derive(Debug)]
pub(super) enum Awaited {
    Queue(Arc<Queue>),
    Durable(Arc<Owed>),
}

impl Awaited {
    /// Whether there is room, or nothing any more to wait for; if not, the waker is registered.
    pub(super) fn await_room(&self, ticket: &mut Option<u64>, waker: &Waker) -> bool {
        match self {
            Self::Queue(queue) => queue.await_room(ticket, waker),
            Self::Durable(owed) => owed.await_room(ticket, waker),
        }
    }

    pub(super) fn leave(&self, ticket: u64) {
        match self {
            Self::Queue(queue) => queue.leave(ticket),
            Self::Durable(owed) => owed.leave(ticket),
        }
    }
}

/// Positions in [`Table::targets`], in ascending order.
type Route = SmallVec<[u32; 4]>;

/// Who is subscribed to what.
///
/// **Invariant:** targets that fail when full come first, then the others, each part in the order in which the targets
/// came into being. A route is in ascending order. So all publishers take the locks of failing targets, of which they
/// hold several, in one order, whatever table they see.
#[derive(Debug, Default)]
pub(super) struct Table {
    targets: Box<[Target]>,
    /// The first target that does not fail when full.
    shedding: u32,
    literals: FxHashMap<Subject, Route>,
    wildcards: PatternIndex<u32>,
    any_wildcard: bool,
}

/// Whether a queue that fails when full counts a newcomer that finds no room. One that waits for room is no refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Charge {
    Refusal,
    Nothing,
}

impl Charge {
    /// What becomes of a publish that found this queue full.
    fn full(self, full: Full<'_>, event: Event) -> NoRoom {
        let subscription = match self {
            Self::Refusal => full.refuse().clone(),
            Self::Nothing => full.name().clone(),
        };
        NoRoom { subscription, event }
    }

    /// The same for a durable identity.
    #[cold]
    fn owed_full(self, full: owed::Full<'_>, event: Event) -> NoRoom {
        let subscription = match self {
            Self::Refusal => full.refuse(),
            Self::Nothing => full.name(),
        };
        NoRoom { subscription, event }
    }
}

/// A queue that fails when full was full, and nobody has the event.
#[derive(Debug)]
pub(super) struct NoRoom {
    pub(super) subscription: Name,
    pub(super) event: Event,
}

/// What became of an event that nobody refused.
#[derive(Debug)]
pub(super) enum Reached {
    /// It is in, or was counted where it was shed.
    Everybody,
    /// Nobody is subscribed, or those who are were retired since the table was made.
    Nobody(Event),
}

impl Table {
    /// Makes the table of these targets, which come in the order in which they came into being.
    pub(super) fn new<'a>(targets: impl Iterator<Item = (&'a Pattern, Overflow, Target)>) -> Self {
        let mut targets: Vec<_> = targets.collect();
        targets.sort_by_key(|(_, overflow, _)| *overflow != Overflow::Fail);
        let position = |at: usize| u32::try_from(at).expect("fewer than 2^32 subscriptions");
        let shedding = position(targets.partition_point(|(_, overflow, _)| *overflow == Overflow::Fail));

        let mut literals: FxHashMap<Subject, Route> = FxHashMap::default();
        let mut wildcards = PatternIndex::new();
        for (at, (pattern, ..)) in targets.iter().enumerate() {
            match pattern.as_subject() {
                Some(subject) => literals.entry(subject).or_default().push(position(at)),
                None => wildcards.insert(pattern, position(at)),
            }
        }
        let any_wildcard = !wildcards.is_empty();
        if any_wildcard {
            for (subject, route) in &mut literals {
                wildcards.for_each_match(subject, |at| route.push(*at));
                route.sort_unstable();
            }
        }
        let targets = targets.into_iter().map(|(.., target)| target).collect();
        Self { targets, shedding, literals, wildcards, any_wildcard }
    }

    /// Hands the event to every target that the subject reaches, or, if one that fails when full is full, to none
    /// (contract B8).
    #[inline]
    pub(super) fn publish(&self, subject: &Subject, event: Event, charge: Charge) -> Result<Reached, NoRoom> {
        self.with_route(subject, |route| match route {
            [] => Ok(Reached::Nobody(event)),
            [one] => match &self.targets[*one as usize] {
                Target::One(queue) => match queue.admit() {
                    Admission::Room(slot) => {
                        slot.put(Message { subject: subject.clone(), event }).now();
                        Ok(Reached::Everybody)
                    }
                    Admission::Gone => Ok(Reached::Nobody(event)),
                    Admission::Full(full) => self.one_is_full(*one, full, subject, event, charge),
                },
                other => self.publish_to_other(*one, other, subject, event, charge),
            },
            several => self.publish_to_several(several, subject, event, charge, None),
        })
    }

    /// The same for a request: who answers gets it with its reply address, the others get it as a publish. A queue that
    /// sheds it has not received it.
    pub(super) fn request(&self, subject: &Subject, event: Event, asked: &Arc<Asked>) -> Result<Reached, NoRoom> {
        self.with_route(subject, |route| {
            // The usual case: nobody but those who answer.
            if let [one] = route
                && let Target::Responders(members) = &self.targets[*one as usize]
            {
                return Ok(offer(members, subject, event, Some(asked)));
            }
            self.publish_to_several(route, subject, event, Charge::Refusal, Some(asked))
        })
    }

    /// The queues to wait for before the subject's failing targets have room; none if they have.
    pub(super) fn without_room(&self, subject: &Subject) -> Option<SmallVec<[Awaited; 2]>> {
        self.with_route(subject, |route| self.targets_of(route).0.find_map(Target::without_room))
    }

    #[inline]
    fn with_route<T>(&self, subject: &Subject, then: impl FnOnce(&[u32]) -> T) -> T {
        match self.literals.get(subject) {
            Some(route) => then(route),
            None => self.walk(subject, then),
        }
    }

    /// Apart, so that the way of a literal stays short.
    #[inline(never)]
    fn walk<T>(&self, subject: &Subject, then: impl FnOnce(&[u32]) -> T) -> T {
        let mut route: SmallVec<[u32; 16]> = SmallVec::new();
        if self.any_wildcard {
            self.wildcards.for_each_match(subject, |at| route.push(*at));
            route.sort_unstable();
        }
        then(&route)
    }

    /// The targets that fail when full, and the others.
    fn targets_of<'t>(
        &'t self,
        route: &'t [u32],
    ) -> (impl Iterator<Item = &'t Target>, impl Iterator<Item = &'t Target>) {
        let (failing, shedding) = route.split_at(route.partition_point(|at| *at < self.shedding));
        let targets = |part: &'t [u32]| part.iter().map(|at| &self.targets[*at as usize]);
        (targets(failing), targets(shedding))
    }

    /// The only target is at its bound.
    #[inline(never)]
    fn one_is_full(
        &self,
        at: u32,
        full: Full<'_>,
        subject: &Subject,
        event: Event,
        charge: Charge,
    ) -> Result<Reached, NoRoom> {
        if at < self.shedding {
            return Err(charge.full(full, event));
        }
        full.shed(Message { subject: subject.clone(), event });
        Ok(Reached::Everybody)
    }

    /// The only target is not one queue. Apart, so that the way to that stays short.
    #[inline(never)]
    fn publish_to_other(
        &self,
        at: u32,
        target: &Target,
        subject: &Subject,
        event: Event,
        charge: Charge,
    ) -> Result<Reached, NoRoom> {
        let message = |event| Message { subject: subject.clone(), event };
        match target.admit() {
            Ok(Admission::Room(slot)) => slot.put(message(event)).now(),
            Ok(Admission::Gone) => return Ok(Reached::Nobody(event)),
            Ok(Admission::Full(full)) => return self.one_is_full(at, full, subject, event, charge),
            Err(Other::Durable(owed)) => match owed.admit() {
                Admission::Room(slot) => slot.put(message(event)).for_each(Waker::wake),
                Admission::Gone => return Ok(Reached::Nobody(event)),
                Admission::Full(full) => return Err(charge.owed_full(full, event)),
            },
            Err(Other::Responders(members)) => return Ok(offer(members, subject, event, None)),
        }
        Ok(Reached::Everybody)
    }

    #[inline(never)]
    fn publish_to_several(
        &self,
        route: &[u32],
        subject: &Subject,
        event: Event,
        charge: Charge,
        asked: Option<&Arc<Asked>>,
    ) -> Result<Reached, NoRoom> {
        let message = || Message { subject: subject.clone(), event: event.clone() };
        let (failing, shedding) = self.targets_of(route);
        let mut reached = false;

        // Room in all of them, under all of their locks: nothing is reserved that might have to be rolled back, so no
        // other publisher sees a queue fuller than it is.
        let mut slots: SmallVec<[Slot<'_>; 16]> = SmallVec::new();
        let mut durable: SmallVec<[owed::Slot<'_>; 4]> = SmallVec::new();
        for target in failing {
            let admission = match target.admit() {
                Ok(admission) => admission,
                Err(Other::Responders(_)) => continue,
                Err(Other::Durable(owed)) => {
                    match owed.admit() {
                        Admission::Room(slot) => durable.push(slot),
                        Admission::Gone => {}
                        Admission::Full(full) => {
                            drop((slots, durable));
                            return Err(charge.owed_full(full, event));
                        }
                    }
                    continue;
                }
            };
            match admission {
                Admission::Room(slot) => slots.push(slot),
                Admission::Gone => {}
                Admission::Full(full) => {
                    // Not under the other locks: what is dropped with the event is the caller's.
                    drop((slots, durable));
                    return Err(charge.full(full, event));
                }
            }
        }
        // The wakes come last: waking takes a while, and the locks of the further queues are held until then.
        let mut wakes: SmallVec<[Wake; 16]> = SmallVec::new();
        for slot in slots {
            reached = true;
            let wake = slot.put(message());
            if wake.is_due() {
                wakes.push(wake);
            }
        }
        if !durable.is_empty() {
            reached = true;
            let mut wakers: SmallVec<[Waker; 4]> = SmallVec::new();
            for slot in durable {
                wakers.extend(slot.put(message()));
            }
            wakers.into_iter().for_each(Waker::wake);
        }
        wakes.into_iter().for_each(Wake::now);

        for target in shedding {
            reached |= match target.admit() {
                Ok(Admission::Room(slot)) => {
                    slot.put(message()).now();
                    true
                }
                Ok(Admission::Gone) => false,
                Ok(Admission::Full(full)) => full.shed(message()) || asked.is_none(),
                Err(Other::Responders(members)) => {
                    matches!(offer(members, subject, event.clone(), asked), Reached::Everybody)
                }
                // It fails when full, and is not among these.
                Err(Other::Durable(_)) => false,
            }
        }
        Ok(if reached { Reached::Everybody } else { Reached::Nobody(event) })
    }
}
