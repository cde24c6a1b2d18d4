//! One lifetime of the backend: who is subscribed, and the way of a publish.

use std::{
    collections::{BTreeMap, HashMap},
    future::poll_fn,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU8, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use arc_swap::{ArcSwap, Guard};
use smallvec::SmallVec;
use tokio::{
    task::coop::consume_budget,
    time::{Instant, timeout_at},
};

use super::{
    group::Members,
    queue::{Queue, queue},
    route::{Charge, NoRoom, Reached, Table, Target},
    source::MemorySource,
};
use crate::{
    contract::{AtMostOnceSpec, CloseError, Overflow, PublishError, Session, SubscribeError},
    event::Event,
    subject::{Group, Pattern, Subject},
};

/// One lifetime of [`Memory`](super::Memory): closing or dropping it ends its sources and forgets everything.
#[derive(Debug)]
pub struct MemorySession {
    routing: Arc<Routing>,
}

impl MemorySession {
    pub(super) fn new() -> Self {
        let routing = Routing {
            state: AtomicU8::new(CURRENT),
            table: ArcSwap::from_pointee(Table::default()),
            membership: Mutex::new(Membership::default()),
        };
        Self { routing: Arc::new(routing) }
    }

    pub(super) fn subscribe(&self, spec: AtMostOnceSpec) -> Result<MemorySource, SubscribeError> {
        // The policy without a name: at most once, a message that finds no room is shed (contract B8).
        let overflow = spec.overflow.unwrap_or(Overflow::ShedNewest);
        let (queue, receiver) = queue(spec.name.clone(), spec.bound, overflow);
        let target = self.routing.join(spec, &queue)?;
        Ok(MemorySource::new(Arc::clone(&self.routing), target, queue, receiver))
    }

    #[inline]
    pub(super) fn publish_at_once(&self, subject: &Subject, event: Event) -> Result<(), Event> {
        let Ok(table) = self.routing.table() else { return Err(event) };
        match table.publish(subject, event, Charge::Nothing) {
            Ok(Reached::Nobody(event)) if self.routing.is_closed() => Err(event),
            Ok(_) => Ok(()),
            Err(full) => Err(full.event),
        }
    }

    pub(super) async fn publish_when_room(
        &self,
        subject: &Subject,
        mut event: Event,
        within: Option<Duration>,
    ) -> Result<(), PublishError> {
        // A deadline that no clock reaches is none.
        let deadline = within.and_then(|within| Some((within, Instant::now().checked_add(within)?)));
        loop {
            consume_budget().await;
            // When another publisher was quicker, once more.
            let full = match self.routing.table()?.publish(subject, event, Charge::Nothing) {
                Ok(reached) => return self.reached(&reached),
                Err(full) => full,
            };
            match deadline {
                None => self.room(subject).await?,
                Some((waited, at)) => match timeout_at(at, self.room(subject)).await {
                    Ok(room) => room?,
                    Err(_) => {
                        let NoRoom { subscription, event } = full;
                        return Err(PublishError::NoRoomInTime { subscription, event, waited });
                    }
                },
            }
            event = full.event;
        }
    }

    /// Waits until the failing subscriptions that the subject reaches have room, or the session is closed.
    async fn room(&self, subject: &Subject) -> Result<(), PublishError> {
        loop {
            let Some(full) = self.routing.table()?.without_room(subject) else { return Ok(()) };
            let mut room = Room(full.into_iter().map(|queue| (queue, None)).collect());
            poll_fn(|cx| room.poll(cx)).await;
        }
    }

    /// A publish that reached nobody may have met a close.
    #[inline]
    fn reached(&self, reached: &Reached) -> Result<(), PublishError> {
        match reached {
            Reached::Nobody(_) if self.routing.is_closed() => Err(PublishError::Closed),
            _ => Ok(()),
        }
    }
}

impl Session for MemorySession {
    #[inline]
    async fn publish(&self, subject: &Subject, event: Event) -> Result<(), PublishError> {
        // A publisher in a loop gives its consumers a turn, as with any channel of tokio's.
        consume_budget().await;
        match self.routing.table()?.publish(subject, event, Charge::Refusal) {
            Ok(reached) => self.reached(&reached),
            Err(NoRoom { subscription, event }) => Err(PublishError::QueueFull { subscription, event }),
        }
    }

    async fn close(&self) -> Result<(), CloseError> {
        self.routing.close();
        Ok(())
    }
}

impl Drop for MemorySession {
    fn drop(&mut self) {
        self.routing.close();
    }
}

/// The table is that of the members.
const CURRENT: u8 = 0;
/// Members came or went since the table was made. The next publish makes it anew, once for all of them, so that n
/// subscribes in a row cost n and not n².
const STALE: u8 = 1;
/// There are no members, and never will be.
const CLOSED: u8 = 2;

/// Who is subscribed, twice: as members under a lock, for those who come and go, and as a table for publishers.
#[derive(Debug)]
pub(super) struct Routing {
    /// Written under the lock of the members only.
    state: AtomicU8,
    table: ArcSwap<Table>,
    membership: Mutex<Membership>,
}

#[derive(Debug, Default)]
struct Membership {
    /// By a number that grows: the order in which they came into being.
    targets: BTreeMap<u64, Joined>,
    groups: HashMap<(Group, Pattern), u64>,
    next: u64,
}

/// A subscription or a group of them.
#[derive(Debug)]
struct Joined {
    pattern: Pattern,
    group: Option<Group>,
    /// One, or the members of the group. Never empty.
    queues: Vec<Arc<Queue>>,
}

impl Routing {
    fn join(&self, spec: AtMostOnceSpec, queue: &Arc<Queue>) -> Result<u64, SubscribeError> {
        let mut membership = self.lock();
        if self.is_closed() {
            return Err(SubscribeError::Closed);
        }
        let joined = membership.join(spec, queue)?;
        self.state.store(STALE, Ordering::Release);
        Ok(joined)
    }

    /// Takes a queue out of the routing. Repeated, it does nothing.
    pub(super) fn leave(&self, target: u64, queue: &Arc<Queue>) {
        let mut membership = self.lock();
        if membership.leave(target, queue) {
            self.state.store(STALE, Ordering::Release);
        }
    }

    fn close(&self) {
        let mut membership = self.lock();
        self.state.store(CLOSED, Ordering::Release);
        let last = std::mem::take(&mut *membership);
        self.table.store(Arc::default());
        drop(membership);
        for queue in last.targets.values().flat_map(|joined| &joined.queues) {
            queue.retire();
        }
    }

    fn is_closed(&self) -> bool {
        self.state.load(Ordering::Acquire) == CLOSED
    }

    /// The table of the members as they are now.
    #[inline]
    fn table(&self) -> Result<Guard<Arc<Table>>, PublishError> {
        if self.state.load(Ordering::Acquire) != CURRENT {
            self.renew()?;
        }
        Ok(self.table.load())
    }

    #[cold]
    fn renew(&self) -> Result<(), PublishError> {
        let membership = self.lock();
        match self.state.load(Ordering::Relaxed) {
            CLOSED => Err(PublishError::Closed),
            STALE => {
                self.table.store(Arc::new(membership.table()));
                self.state.store(CURRENT, Ordering::Release);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Membership> {
        self.membership.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Membership {
    fn join(&mut self, spec: AtMostOnceSpec, queue: &Arc<Queue>) -> Result<u64, SubscribeError> {
        let next = self.next;
        if let Some(group) = &spec.group {
            let target = *self.groups.entry((group.clone(), spec.pattern.clone())).or_insert(next);
            if let Some(joined) = self.targets.get_mut(&target) {
                joined.agrees(&spec, queue)?;
                joined.queues.push(Arc::clone(queue));
                return Ok(target);
            }
        }
        self.next += 1;
        let joined = Joined { pattern: spec.pattern, group: spec.group, queues: vec![Arc::clone(queue)] };
        self.targets.insert(next, joined);
        Ok(next)
    }

    fn leave(&mut self, target: u64, queue: &Arc<Queue>) -> bool {
        let Some(joined) = self.targets.get_mut(&target) else { return false };
        let Some(at) = joined.queues.iter().position(|other| Arc::ptr_eq(other, queue)) else { return false };
        joined.queues.remove(at);
        if joined.queues.is_empty()
            && let Some(Joined { pattern, group: Some(group), .. }) = self.targets.remove(&target)
        {
            self.groups.remove(&(group, pattern));
        }
        true
    }

    fn table(&self) -> Table {
        Table::new(self.targets.values().filter_map(|joined| {
            let first = joined.queues.first()?;
            let target = match joined.group {
                None => Target::One(Arc::clone(first)),
                Some(_) => Target::Group(Members::new(&joined.queues)),
            };
            Some((&joined.pattern, first.overflow(), target))
        }))
    }
}

impl Joined {
    /// Members of a group have one bound and one policy (contract B10).
    fn agrees(&self, spec: &AtMostOnceSpec, queue: &Queue) -> Result<(), SubscribeError> {
        let Some(first) = self.queues.first() else { return Ok(()) };
        let refusal = |setting, value: String, expected: String| SubscribeError::Setting {
            subscription: spec.name.clone(),
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
}

/// Waits until one of these queues has room; dropped, it waits no longer.
struct Room(SmallVec<[(Arc<Queue>, Option<u64>); 2]>);

impl Room {
    fn poll(&mut self, cx: &Context<'_>) -> Poll<()> {
        let mut room = false;
        for (queue, ticket) in &mut self.0 {
            room |= queue.await_room(ticket, cx.waker());
        }
        if room { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        for (queue, ticket) in &self.0 {
            if let Some(ticket) = ticket {
                queue.leave(*ticket);
            }
        }
    }
}
