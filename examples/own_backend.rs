//! A backend of one's own, whole: what to implement, in which order, and where the rules of the contract are kept.
//!
//! `Postbox` carries messages within the process, at most once, on exact subjects; a full queue refuses the newcomer.
//! It declares nothing else, so a subscription that asks for more does not compile.
//!
//! ```text
//! cargo run --example own_backend
//! cargo test --features conformance --example own_backend
//! ```
//!
//! Look at the table that it prints: nobody wrote it, it is read from the `impl` lines below. Count nothing in
//! `Queue::offer`, or forget `ended`, and see which rows turn red.

use std::{
    collections::{HashMap, VecDeque},
    error::Error,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    task::{Context, Poll, Waker, ready},
    time::Duration,
};

use futures_core::Stream;
use tokio::task::coop::poll_proceed;
use tramline::{
    Bus, Event, Group, Subject, capabilities,
    contract::{
        AtMostOnceSpec, Backend, Capabilities, CloseError, DeliversAtMostOnce, FinalReading, Incoming, NothingToSettle,
        OpenError, PublishError, RetireError, RetireReason, Session, ShedsNewest, Source, SourceControl, SourceId,
        SourceStats, SubscribeError, Volatile,
    },
    source, subject, subscription,
};

/// First the backend: cheap, stateless, and connected to nothing until `open` (N1).
struct Postbox;

impl Backend for Postbox {
    type Session = Office;
    type Storage = Volatile;
    // Read from the implementations of this file, so it cannot claim what is not there.
    const CAPABILITIES: Capabilities = capabilities!(Postbox);

    async fn open(&self) -> Result<Office, OpenError> {
        Ok(Office { boxes: Mutex::new(Some(HashMap::new())) })
    }
}

// Then what it can do, one trait each. The first one is a mode of delivery.
impl DeliversAtMostOnce for Postbox {
    type Source = Slot;

    async fn at_most_once(office: &Office, spec: AtMostOnceSpec) -> Result<Slot, SubscribeError> {
        let subject = spec.pattern.as_subject().ok_or_else(|| SubscribeError::Setting {
            subscription: spec.name.clone(),
            setting: "pattern",
            value: spec.pattern.to_string(),
            fix: "name one whole subject".to_owned(),
        })?;
        let who = spec.group.ok_or(spec.id);
        let queue = Arc::new(Queue { bound: spec.bound.get(), inside: Mutex::default() });
        let mut boxes = lock(&office.boxes);
        let boxes = boxes.as_mut().ok_or(SubscribeError::Closed)?.entry(subject).or_default();
        boxes.entry(who).or_default().push(Arc::downgrade(&queue));
        Ok(Slot(queue))
    }
}

// What a full queue does here anyway. It may be asked for by name, too.
impl ShedsNewest for Postbox {}

/// Then the session: who gets what, or nothing once it is closed.
struct Office {
    boxes: Mutex<Option<HashMap<Subject, Boxes>>>,
}

/// The members of each group, or a source by itself.
type Boxes = HashMap<Result<Group, SourceId>, Vec<Weak<Queue>>>;

impl Session for Office {
    async fn publish(&self, subject: &Subject, event: Event) -> Result<(), PublishError> {
        // The lock is held while queues are filled, so that nothing enters one after a close (N2, N4).
        let mut boxes = lock(&self.boxes);
        let Some(boxes) = boxes.as_mut().ok_or(PublishError::Closed)?.get_mut(subject) else { return Ok(()) };
        boxes.retain(|_, members| {
            // A source that was retired, or dropped, is out (N7).
            members.retain(|queue| queue.upgrade().is_some_and(|queue| !lock(&queue.inside).ended));
            !members.is_empty()
        });
        for members in boxes.values() {
            // One member gets it: the one with the least pending, which is also charged when all are full (B10).
            let chosen = members.iter().filter_map(Weak::upgrade).min_by_key(|queue| queue.stats().pending);
            if let Some(queue) = chosen {
                queue.offer(subject, &event);
            }
        }
        Ok(())
    }

    async fn close(&self) -> Result<(), CloseError> {
        let boxes = lock(&self.boxes).take().into_iter().flat_map(HashMap::into_values);
        let queues = boxes.flat_map(HashMap::into_values).flatten();
        queues.filter_map(|queue| queue.upgrade()).for_each(|queue| queue.end());
        Ok(())
    }
}

/// Then the source. Its two halves, what readers poll and what their supervisor keeps, are two handles of one queue.
struct Slot(Arc<Queue>);

impl Source for Slot {
    type Settler = NothingToSettle;
    type Deliveries = Self;
    type Control = Self;

    fn split(self) -> (Self, Self) {
        (Self(self.0.clone()), self)
    }
}

impl Stream for Slot {
    type Item = Incoming<NothingToSettle>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        // A stream that is always ready would starve the timers of its thread.
        let turn = ready!(poll_proceed(cx));
        let mut inside = lock(&self.0.inside);
        if inside.ended {
            return Poll::Ready(None);
        }
        let Some((subject, event)) = inside.waiting.pop_front() else {
            inside.reader = Some(cx.waker().clone());
            return Poll::Pending;
        };
        inside.stats.pending -= 1;
        turn.made_progress();
        Poll::Ready(Some(Incoming::new(subject, event, NothingToSettle)))
    }
}

impl SourceControl for Slot {
    fn snapshot(&self) -> SourceStats {
        self.0.stats()
    }

    async fn retire(&self, _reason: RetireReason) -> Result<FinalReading, RetireError> {
        self.0.end();
        Ok(FinalReading::new(self.0.stats()))
    }
}

/// Last the queue: bounded (B1), and every message that does not get through it is counted (L2).
struct Queue {
    bound: usize,
    inside: Mutex<Inside>,
}

#[derive(Default)]
struct Inside {
    waiting: VecDeque<(Subject, Event)>,
    stats: SourceStats,
    reader: Option<Waker>,
    /// From here on nothing enters, nothing leaves, and the counters never change again (N7).
    ended: bool,
}

impl Queue {
    fn offer(&self, subject: &Subject, event: &Event) {
        let mut inside = lock(&self.inside);
        if inside.ended {
            return;
        }
        if inside.waiting.len() == self.bound {
            inside.stats.refused += 1;
            return;
        }
        inside.stats.accepted += 1;
        inside.stats.pending += 1;
        inside.waiting.push_back((subject.clone(), event.clone()));
        wake(inside);
    }

    fn end(&self) {
        let mut inside = lock(&self.inside);
        inside.ended = true;
        wake(inside);
    }

    fn stats(&self) -> SourceStats {
        lock(&self.inside).stats
    }
}

/// Wakes the reader, if it sleeps, after the lock was given up.
fn wake(mut inside: MutexGuard<'_, Inside>) {
    let reader = inside.reader.take();
    drop(inside);
    reader.into_iter().for_each(Waker::wake);
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A subscription does not know which backend it will be on.
#[subscription(subject = "letter.arrived", bound = 4)]
async fn letters(event: &Event) {
    println!("letter.arrived: {}", event.id());
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    println!("{}", Postbox::CAPABILITIES);
    let bus = Bus::builder(Postbox, source!("urn:example:post")).subscribe(letters).build()?.start().await?;
    for id in ["first", "second", "third"] {
        bus.publish(&subject!("letter.arrived"), letter(id)?).await?;
    }
    bus.idle().await;
    print!("\n{}", bus.stop(Duration::from_secs(1)).await.bus.ledger());
    Ok(())
}

fn letter(id: &str) -> Result<Event, Box<dyn Error>> {
    Ok(Event::builder(id, source!("urn:example:post"), "com.example.letter.arrived.v1").text("Dear reader,").build()?)
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use tramline::subject::{Name, Pattern};

    use super::*;

    #[test]
    fn it_runs() {
        main().expect("the example runs");
    }

    #[test]
    fn it_declares_what_it_implements_and_no_more() {
        let capabilities = Postbox::CAPABILITIES;
        assert!(capabilities.at_most_once() && capabilities.sheds_newest());
        assert!(!capabilities.at_least_once() && !capabilities.matches_patterns() && !capabilities.sheds_oldest());
    }

    #[tokio::test]
    async fn b1_a_source_that_nobody_holds_any_more_leaves_nothing_behind() {
        let office = Postbox.open().await.expect("it does no I/O");
        let name = Name::new("letters").expect("a name");
        let bound = NonZeroUsize::new(2).expect("not zero");
        let spec = AtMostOnceSpec::new(SourceId::new(1, 0, 0), name, Pattern::from(subject!("a")), bound);
        drop(Postbox::at_most_once(&office, spec).await.expect("subscribed"));
        office.publish(&subject!("a"), letter("1").expect("an event")).await.expect("taken");
        assert!(lock(&office.boxes).as_ref().expect("it is open").values().all(HashMap::is_empty));
    }
}

/// One test for each row of the contract.
#[cfg(all(test, feature = "conformance"))]
mod conformance {
    use tramline::conformance::Fixture;

    use super::Postbox;

    struct PostboxFixture;

    impl Fixture for PostboxFixture {
        type Backend = Postbox;

        async fn open(_namespace: &str) -> Self {
            Self
        }

        fn backend(&self) -> Postbox {
            Postbox
        }
    }

    tramline::conformance! { volatile: PostboxFixture }
}
