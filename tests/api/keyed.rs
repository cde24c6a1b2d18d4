//! Keyed concurrency: different keys side by side, one key strictly in order.

use std::{
    collections::BTreeMap,
    num::NonZeroU32,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::time::Instant;
use tramline::{
    Ack, AtLeastOnce, AtMostOnce, Backoff, Bus, Delayed, Delivery, DurableName, Event, KeyedBy, Nack, Pattern, Restart,
    Running, Subject,
    bus::{BusBuilder, ConsumerState, Stats},
    contract::{Outcome, PublishError},
    source, subject,
    subscription::{Asks, AtLeastOnceBuilder, AtMostOnceBuilder, Immediate, Keeps, MayForget},
};

use crate::{
    shelf::{Settling, Shelf},
    support::{Door, balanced, builder, event, many, millis, name, seconds, settle, until},
};

/// What handlers did, in order: `+` entered, `-` left.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn note(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
    }

    fn seen(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    #[track_caller]
    fn is(&self, words: &str) {
        assert_eq!(self.seen().join(" "), words);
    }
}

fn keyed_event(id: &str, key: &str) -> Event {
    event(id).to_builder().extension("partitionkey", key).build().unwrap()
}

fn by_attribute() -> KeyedBy {
    KeyedBy::attribute("partitionkey").unwrap()
}

type Most = AtMostOnceBuilder<tramline::Memory, BusBuilder<tramline::Memory>>;
type Least = AtLeastOnceBuilder<Shelf, BusBuilder<Shelf>, Asks<Immediate, MayForget, Keeps>>;

fn at_most_once() -> Most {
    builder().at_most_once(name("one")).pattern(Pattern::new("a.>").unwrap()).concurrency(many(4))
}

fn at_least_once(shelf: &Shelf) -> Least {
    Bus::builder(shelf.clone(), source!("urn:example:test"))
        .at_least_once(name("one"), DurableName::new("one").unwrap(), NonZeroU32::new(3).unwrap())
        .pattern(Pattern::new("a.>").unwrap())
        .allow_volatile()
        .concurrency(many(4))
}

/// The subject of a key.
fn of(key: &str) -> Subject {
    Subject::new(format!("a.{key}")).unwrap()
}

/// A handler that waits at a door.
macro_rules! at_the_door {
    ($log:expr, $door:expr, $ty:ty, $verdict:expr) => {{
        let (log, door) = ($log.clone(), $door.clone());
        move |delivery: $ty| {
            let (log, door) = (log.clone(), door.clone());
            async move {
                let id = delivery.event().id().to_owned();
                log.note(format!("+{id}"));
                door.pass().await;
                log.note(format!("-{id}"));
                let verdict = $verdict;
                verdict(&id, delivery.attempt().get())
            }
        }
    }};
}

#[tokio::test(start_paused = true)]
async fn g2_different_keys_are_handled_side_by_side_and_one_key_in_order() {
    for by in [KeyedBy::subject(), by_attribute()] {
        let (log, door) = (Log::default(), Door::closed());
        let handler = at_the_door!(log, door, Delivery<AtMostOnce>, |_: &str, _| ());
        let bus = at_most_once().keyed(by).handle(handler).build().unwrap().start().await.unwrap();
        for id in ["x1", "x2", "x3", "y1", "z1"] {
            bus.publish(&of(&id[..1]), keyed_event(id, &id[..1])).await.unwrap();
        }
        settle().await;
        log.is("+x1 +y1 +z1");
        assert_eq!(bus.stats("one").unwrap().in_hand, 5, "what waits for its key is in hand");
        door.admit(1);
        settle().await;
        log.is("+x1 +y1 +z1 -x1 +x2");
        door.admit(10);
        settle().await;
        log.is("+x1 +y1 +z1 -x1 +x2 -y1 -z1 -x2 +x3 -x3");
        let stats = bus.stop(seconds(1)).await.bus.stats("one").unwrap();
        balanced(&stats);
        assert_eq!((stats.delivered, stats.in_hand), (5, 0), "{stats}");
    }
}
