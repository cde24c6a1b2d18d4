//! Who is subscribed: groups, fan-out and durable identities, as they come and go.

use std::{
    collections::{BTreeMap, HashMap, hash_map::Entry},
    sync::Arc,
};

use super::{
    group::Members,
    owed::{Owed, Seat},
    queue::{Item, Queue},
    requests::Request,
    route::{Table, Target},
};
use crate::{
    contract::{AtLeastOnceSpec, Message, Overflow, SubscribeError},
    subject::{DurableName, Group, Name, Pattern},
};

#[derive(Debug, Default)]
pub(super) struct Membership {
    /// By a number that grows: the order in which they came into being.
    targets: BTreeMap<u64, Joined>,
    groups: HashMap<(Group, Pattern), u64>,
    durables: HashMap<DurableName, u64>,
    next: u64,
}

/// What messages of one pattern go to.
#[derive(Debug)]
struct Joined {
    pattern: Pattern,
    group: Option<Group>,
    kind: Kind,
}

#[derive(Debug)]
pub(super) enum Kind {
    /// A subscription, or the members of a group. Never empty.
    Queues(Vec<Arc<Queue>>),
    /// The members of a group that answers requests. Never empty.
    Responders(Vec<Arc<Queue<Request>>>),
    /// A durable identity, with sources or without.
    Durable(Arc<Owed>),
}

/// What is carried to sources that have a queue each.
pub(super) trait Member: Item {
    /// The queues, if they carry this.
    fn of(kind: &mut Kind) -> Option<&mut Vec<Arc<Queue<Self>>>>;

    fn first(queue: Arc<Queue<Self>>) -> Kind;
}

impl Member for Message {
    fn of(kind: &mut Kind) -> Option<&mut Vec<Arc<Queue>>> {
        if let Kind::Queues(queues) = kind { Some(queues) } else { None }
    }

    fn first(queue: Arc<Queue>) -> Kind {
        Kind::Queues(vec![queue])
    }
}

impl Member for Request {
    fn of(kind: &mut Kind) -> Option<&mut Vec<Arc<Queue<Self>>>> {
        if let Kind::Responders(queues) = kind { Some(queues) } else { None }
    }

    fn first(queue: Arc<Queue<Self>>) -> Kind {
        Kind::Responders(vec![queue])
    }
}

impl Membership {
    /// Adds a source that delivers at most once; returns its target.
    pub(super) fn join<T: Member>(
        &mut self,
        pattern: Pattern,
        group: Option<Group>,
        queue: &Arc<Queue<T>>,
    ) -> Result<u64, SubscribeError> {
        let next = self.next;
        if let Some(group) = &group {
            let target = *self.groups.entry((group.clone(), pattern.clone())).or_insert(next);
            if let Some(Joined { kind, .. }) = self.targets.get_mut(&target) {
                let Some(queues) = T::of(kind) else { return Err(mixed(queue.name(), group)) };
                if let Some(first) = queues.first() {
                    agrees(first, queue)?;
                }
                queues.push(Arc::clone(queue));
                return Ok(target);
            }
        }
        self.next += 1;
        self.targets.insert(next, Joined { pattern, group, kind: T::first(Arc::clone(queue)) });
        Ok(next)
    }

    /// Opens a source of a durable identity; the answer is true if the identity came into being by that.
    pub(super) fn open(&mut self, spec: AtLeastOnceSpec) -> Result<(Arc<Owed>, Arc<Seat>, bool), SubscribeError> {
        let AtLeastOnceSpec { name, pattern, durable, max_deliver, bound, .. } = spec;
        match self.durables.entry(durable) {
            Entry::Occupied(known) => {
                let Some(Joined { pattern: existing, kind: Kind::Durable(owed), .. }) = self.targets.get(known.get())
                else {
                    return Err(SubscribeError::Closed);
                };
                let reopened = |field, existing: String, asked: String| {
                    Err(SubscribeError::Reopened { durable: known.key().to_string(), field, existing, asked })
                };
                if *existing != pattern {
                    return reopened("pattern", existing.to_string(), pattern.to_string());
                }
                if owed.max_deliver() != max_deliver {
                    return reopened("max_deliver", owed.max_deliver().to_string(), max_deliver.to_string());
                }
                if owed.bound() != bound {
                    return reopened("bound", owed.bound().to_string(), bound.to_string());
                }
                Ok((Arc::clone(owed), owed.open(name), false))
            }
            Entry::Vacant(vacant) => {
                let owed = Arc::new(Owed::new(name.clone(), bound, max_deliver));
                vacant.insert(self.next);
                self.targets.insert(self.next, Joined { pattern, group: None, kind: Kind::Durable(Arc::clone(&owed)) });
                self.next += 1;
                let seat = owed.open(name);
                Ok((owed, seat, true))
            }
        }
    }

    /// Takes a queue out; false if it was not in.
    pub(super) fn leave<T: Member>(&mut self, target: u64, queue: &Arc<Queue<T>>) -> bool {
        let Some(queues) = self.targets.get_mut(&target).and_then(|joined| T::of(&mut joined.kind)) else {
            return false;
        };
        let Some(at) = queues.iter().position(|other| Arc::ptr_eq(other, queue)) else { return false };
        queues.remove(at);
        if queues.is_empty()
            && let Some(Joined { pattern, group: Some(group), .. }) = self.targets.remove(&target)
        {
            self.groups.remove(&(group, pattern));
        }
        true
    }

    /// Takes a durable identity out; false if it was not in.
    pub(super) fn give_up(&mut self, owed: &Arc<Owed>) -> bool {
        let target = self.targets.iter().find_map(|(target, joined)| match &joined.kind {
            Kind::Durable(other) if Arc::ptr_eq(other, owed) => Some(*target),
            _ => None,
        });
        let Some(target) = target else { return false };
        self.durables.retain(|_, other| *other != target);
        self.targets.remove(&target).is_some()
    }

    pub(super) fn table(&self) -> Table {
        Table::new(self.targets.values().filter_map(|joined| {
            let (overflow, target) = match &joined.kind {
                Kind::Queues(queues) if joined.group.is_none() => {
                    let only = queues.first()?;
                    (only.overflow(), Target::One(Arc::clone(only)))
                }
                Kind::Queues(queues) => (queues.first()?.overflow(), Target::Group(Members::new(queues))),
                Kind::Responders(queues) => (queues.first()?.overflow(), Target::Responders(Members::new(queues))),
                // What is owed cannot be shed, with a named policy or without (contract B8).
                Kind::Durable(owed) => (Overflow::Fail, Target::Durable(Arc::clone(owed))),
            };
            Some((&joined.pattern, overflow, target))
        }))
    }

    /// Ends everything.
    pub(super) fn close(self) {
        for joined in self.targets.into_values() {
            match joined.kind {
                Kind::Queues(queues) => retire_all(&queues),
                Kind::Responders(queues) => retire_all(&queues),
                Kind::Durable(owed) => owed.close().see_to(),
            }
        }
    }
}

fn retire_all<T: Item>(queues: &[Arc<Queue<T>>]) {
    for queue in queues {
        queue.retire();
    }
}

/// A member that answers and one that does not would take each other's messages.
#[cold]
fn mixed(subscription: &Name, group: &Group) -> SubscribeError {
    SubscribeError::Setting {
        subscription: subscription.clone(),
        setting: "group",
        value: group.to_string(),
        fix: "of the members of a group on one pattern either all answer requests or none does: give it another group"
            .to_owned(),
    }
}

/// Members of a group have one bound and one policy (contract B10).
fn agrees<T: Item>(first: &Queue<T>, queue: &Queue<T>) -> Result<(), SubscribeError> {
    let refusal = |setting, value: String, expected: String| SubscribeError::Setting {
        subscription: queue.name().clone(),
        setting,
        value,
        fix: format!("the other members of its group have `{setting} = {expected}`: give all of them the same"),
    };
    if first.bound() != queue.bound() {
        return Err(refusal("bound", queue.bound().to_string(), first.bound().to_string()));
    }
    if first.overflow() != queue.overflow() {
        return Err(refusal("overflow", queue.overflow().to_string(), first.overflow().to_string()));
    }
    Ok(())
}
