//! One lifetime of the backend: who is subscribed, and the way of a publish.

use std::{
    future::{Future, poll_fn},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU8, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use arc_swap::{ArcSwap, Guard};
use smallvec::SmallVec;
use tokio::{
    task::coop::{consume_budget, poll_proceed},
    time::{Instant, timeout_at},
};

use super::{
    asked::{Asked, Desk},
    durable::MemoryDurableSource,
    membership::{Member, Membership},
    owed::{Owed, Seat},
    queue::{Queue, queue},
    requests::MemoryRequests,
    route::{Awaited, Charge, NoRoom, Reached, Table},
    source::{MemorySource, Place},
};
use crate::{
    contract::{
        AtLeastOnceSpec, AtMostOnceSpec, CloseError, Overflow, PublishError, RequestError, ResponderSpec, RetireReason,
        Session, SourceStats, SubscribeError,
    },
    event::Event,
    subject::{Group, Pattern, Subject},
};

/// One lifetime of [`Memory`](super::Memory): closing or dropping it ends its sources and forgets everything.
#[derive(Debug)]
pub struct MemorySession {
    routing: Arc<Routing>,
    desk: Arc<Desk>,
}

impl MemorySession {
    pub(super) fn new() -> Self {
        let routing = Routing {
            state: AtomicU8::new(CURRENT),
            table: ArcSwap::from_pointee(Table::default()),
            membership: Mutex::new(Membership::default()),
        };
        Self { routing: Arc::new(routing), desk: Arc::default() }
    }

    pub(super) fn subscribe(&self, spec: AtMostOnceSpec) -> Result<MemorySource, SubscribeError> {
        // The policy without a name: at most once, a message that finds no room is shed (contract B8).
        let overflow = spec.overflow.unwrap_or(Overflow::ShedNewest);
        let (queue, receiver) = queue(spec.name, spec.bound, overflow, ());
        Ok(MemorySource::new(self.routing.join(spec.pattern, spec.group, queue)?, receiver))
    }

    pub(super) fn subscribe_durable(&self, spec: AtLeastOnceSpec) -> Result<MemoryDurableSource, SubscribeError> {
        let (owed, seat) = self.routing.open(spec)?;
        Ok(MemoryDurableSource::new(Arc::clone(&self.routing), owed, seat))
    }

    pub(super) fn respond(&self, spec: ResponderSpec) -> Result<MemoryRequests, SubscribeError> {
        let ResponderSpec { name, pattern, group, bound, failure, .. } = spec;
        let (queue, receiver) = queue(name, bound, Overflow::ShedNewest, failure);
        Ok(MemoryRequests::new(self.routing.join(pattern, Some(group), queue)?, receiver))
    }

    pub(super) async fn request(
        &self,
        subject: &Subject,
        event: Event,
        within: Duration,
    ) -> Result<Event, RequestError> {
        consume_budget().await;
        let waiting = self.desk.request();
        let closing = self.desk.closing();
        self.send(subject, event, waiting.asked())?;
        waiting.reply(closing, within).await
    }

    fn send(&self, subject: &Subject, event: Event, asked: &Arc<Asked>) -> Result<(), RequestError> {
        let table = self.routing.table().map_err(|_| RequestError::Closed)?;
        match table.request(subject, event, asked) {
            Ok(Reached::Everybody) => Ok(()),
            // Who is not there any more may have gone with the session.
            Ok(Reached::Nobody(_)) if self.routing.is_closed() => Err(RequestError::Closed),
            Ok(Reached::Nobody(_)) => Err(RequestError::NoResponders),
            Err(NoRoom { subscription, .. }) => Err(RequestError::QueueFull { subscription }),
        }
    }

    pub(super) fn unclaimed(&self) -> u64 {
        self.desk.unclaimed()
    }

    #[inline]
    fn publish_now(&self, subject: &Subject, event: Event) -> Result<(), PublishError> {
        match self.routing.table()?.publish(subject, event, Charge::Refusal) {
            Ok(reached) => self.reached(&reached),
            Err(NoRoom { subscription, event }) => Err(PublishError::QueueFull { subscription, event }),
        }
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

    fn end(&self) {
        // Requesters first: what they hear of is the close, and not that a responder stops because of it.
        self.desk.close();
        self.routing.close();
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
    fn publish(&self, subject: &Subject, event: Event) -> impl Future<Output = Result<(), PublishError>> + Send {
        let mut event = Some(event);
        poll_fn(move |cx| {
            // A publisher in a loop gives its consumers a turn, as with any channel of tokio's.
            ready!(poll_proceed(cx)).made_progress();
            let event = event.take().expect("a publish is not polled after it was ready");
            Poll::Ready(self.publish_now(subject, event))
        })
    }

    async fn close(&self) -> Result<(), CloseError> {
        self.end();
        Ok(())
    }
}

impl Drop for MemorySession {
    fn drop(&mut self) {
        self.end();
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

impl Routing {
    fn join<T: Member>(
        self: &Arc<Self>,
        pattern: Pattern,
        group: Option<Group>,
        queue: Arc<Queue<T>>,
    ) -> Result<Place<T>, SubscribeError> {
        let mut membership = self.lock();
        if self.is_closed() {
            return Err(SubscribeError::Closed);
        }
        let target = membership.join(pattern, group, &queue)?;
        self.state.store(STALE, Ordering::Release);
        Ok(Place::new(Arc::clone(self), target, queue))
    }

    /// Takes a queue out of the routing. Repeated, it does nothing.
    pub(super) fn leave<T: Member>(&self, target: u64, queue: &Arc<Queue<T>>) {
        let mut membership = self.lock();
        if membership.leave(target, queue) {
            self.state.store(STALE, Ordering::Release);
        }
    }

    fn open(&self, spec: AtLeastOnceSpec) -> Result<(Arc<Owed>, Arc<Seat>), SubscribeError> {
        let mut membership = self.lock();
        if self.is_closed() {
            return Err(SubscribeError::Closed);
        }
        let (owed, seat, is_new) = membership.open(spec)?;
        if is_new {
            self.state.store(STALE, Ordering::Release);
        }
        Ok((owed, seat))
    }

    /// Ends a source of a durable identity, and the identity with it where it is given up. Under the lock, so that
    /// nobody opens a source of an identity that is on its way out.
    pub(super) fn retire(&self, owed: &Arc<Owed>, seat: &Seat, reason: RetireReason) -> SourceStats {
        let mut membership = self.lock();
        let (last, given_up, after) = owed.retire(seat, reason);
        if given_up && membership.give_up(owed) {
            self.state.store(STALE, Ordering::Release);
        }
        drop(membership);
        after.see_to();
        last
    }

    fn close(&self) {
        let mut membership = self.lock();
        self.state.store(CLOSED, Ordering::Release);
        let last = std::mem::take(&mut *membership);
        self.table.store(Arc::default());
        drop(membership);
        last.close();
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

/// Waits until one of these queues has room; dropped, it waits no longer.
struct Room(SmallVec<[(Awaited, Option<u64>); 2]>);

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
