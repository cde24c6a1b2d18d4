//! Random schedules against the order of keys: whatever handlers do, one key is never overtaken, and nothing stays behind.

use std::{
    collections::BTreeMap,
    num::NonZeroU32,
    sync::{Arc, Mutex},
    time::Duration,
};

use proptest::{collection::vec, prelude::*};
use tramline::{
    AtLeastOnce, AtMostOnce, Backoff, Bus, Delayed, Delivery, DurableName, Event, KeyedBy, Memory, Restart,
    contract::Backend, source, subject,
};

use crate::{
    model::{cases, paused},
    shelf::Shelf,
    support::{balanced, builder, event, many, millis, name, seconds, settle},
};

/// What becomes of a message.
#[derive(Debug, Clone, Copy)]
enum Fate {
    Well,
    /// Declined this often, with the backoff.
    Declined(u32),
    /// Declined this often, to come back at once.
    AtOnce(u32),
    /// The handler panics at the first attempt.
    Panics,
}

#[derive(Debug, Clone)]
struct Message {
    /// None where the event has no key.
    key: Option<u8>,
    fate: Fate,
    /// How long its handler takes, in milliseconds.
    takes: u64,
    /// How long after the one before it is published.
    after: u64,
}

fn messages() -> impl Strategy<Value = Vec<Message>> {
    let fate = prop_oneof![
        6 => Just(Fate::Well), 3 => (1..4_u32).prop_map(Fate::Declined), 2 => (1..4_u32).prop_map(Fate::AtOnce), 1 => Just(Fate::Panics),
    ];
    let key = prop_oneof![6 => (0..3_u8).prop_map(Some), 1 => Just(None)];
    let message = (key, fate, 0..40_u64, prop_oneof![3 => Just(0), 1 => 0..60_u64]);
    vec(message.prop_map(|(key, fate, takes, after)| Message { key, fate, takes, after }), 1..60)
}

fn published(number: usize, message: &Message) -> Event {
    let event = event(number);
    match message.key {
        None => event,
        Some(key) => event.to_builder().extension("tenant", i32::from(key)).build().unwrap(),
    }
}

/// What handlers saw.
#[derive(Default)]
struct Seen {
    inside: BTreeMap<Option<u8>, usize>,
    most: usize,
    /// Number and attempt of each message, in the order of entering.
    entered: BTreeMap<Option<u8>, Vec<(usize, u32)>>,
}

impl Seen {
    fn enter(&mut self, key: Option<u8>, number: usize, attempt: u32) {
        *self.inside.entry(key).or_default() += 1;
        assert!(key.is_none() || self.inside[&key] == 1, "two of one key side by side");
        self.most = self.most.max(self.inside.values().sum());
        self.entered.entry(key).or_default().push((number, attempt));
    }

    /// Every message of a key comes after all attempts of the one before it.
    fn check(&self, hands: usize) -> Result<(), TestCaseError> {
        prop_assert!(self.most <= hands);
        for (key, entered) in &self.entered {
            prop_assert!(key.is_none() || entered.is_sorted_by(|a, b| a < b), "{:?}: {:?}", key, entered);
        }
        Ok(())
    }
}

/// Leaves also when the handler is cut off.
struct Inside(Arc<Mutex<Seen>>, Option<u8>);

impl Drop for Inside {
    fn drop(&mut self) {
        *self.0.lock().unwrap().inside.get_mut(&self.1).unwrap() -= 1;
    }
}

async fn handle(seen: Arc<Mutex<Seen>>, messages: Arc<Vec<Message>>, event: Event, attempt: u32) -> Fate {
    let number: usize = event.id().parse().unwrap();
    let Message { key, fate, takes, .. } = messages[number];
    seen.lock().unwrap().enter(key, number, attempt);
    let _inside = Inside(seen, key);
    tokio::time::sleep(millis(takes)).await;
    assert!(!(matches!(fate, Fate::Panics) && attempt == 1), "on purpose");
    fate
}

fn keyed() -> KeyedBy {
    KeyedBy::attribute("tenant").unwrap()
}

async fn publish<B: Backend>(bus: &Bus<B, tramline::Running>, messages: &[Message]) {
    for (number, message) in messages.iter().enumerate() {
        tokio::time::sleep(millis(message.after)).await;
        bus.publish(&subject!("a"), published(number, message)).await.unwrap();
    }
}

async fn at_least_once(messages: Vec<Message>, hands: usize, stop: Option<(u64, u64)>) -> Result<(), TestCaseError> {
    let (shelf, seen, messages) = (Shelf::default(), Arc::<Mutex<Seen>>::default(), Arc::new(messages));
    let handler = {
        let (seen, messages) = (seen.clone(), messages.clone());
        move |delivery: Delivery<AtLeastOnce<Delayed>>| {
            let (seen, messages) = (seen.clone(), messages.clone());
            async move {
                let attempt = delivery.attempt().get();
                match handle(seen, messages, delivery.event().clone(), attempt).await {
                    Fate::Declined(times) if attempt <= times => delivery.nack(),
                    Fate::AtOnce(times) if attempt <= times => delivery.nack_after(Duration::ZERO).unwrap(),
                    _ => delivery.ack(),
                }
            }
        }
    };
    let bus = Bus::builder(shelf.clone(), source!("urn:example:test"))
        .at_least_once(name("one"), DurableName::new("one").unwrap(), NonZeroU32::new(3).unwrap())
        .subject(subject!("a"))
        .allow_volatile()
        .concurrency(many(hands))
        .keyed(keyed())
        .backoff(Backoff::new(millis(100), seconds(5), 7.0).unwrap())
        .restart(Restart::new())
        .handle(handler);
    let bus = bus.build().unwrap().start().await.unwrap();
    publish(&bus, &messages).await;
    if let Some((after, budget)) = stop {
        tokio::time::sleep(millis(after)).await;
        let stopped = bus.stop(millis(budget)).await;
        settle().await;
        seen.lock().unwrap().check(hands)?;
        let stats = stopped.bus.stats("one").unwrap();
        prop_assert_eq!((stats.in_hand, stats.pending), (0, 0), "{}", stats);
        balanced(&stats);
        return Ok(());
    }
    tokio::time::sleep(seconds(10_000)).await;
    seen.lock().unwrap().check(hands)?;
    let stats = bus.stats("one").unwrap();
    prop_assert_eq!((stats.in_hand, stats.pending), (0, 0), "{}", stats);
    balanced(&stats);
    // All that were seen came to an end.
    let entered = seen.lock().unwrap().entered.values().flatten().map(|(number, _)| *number).collect::<Vec<_>>();
    let distinct = entered.iter().collect::<std::collections::BTreeSet<_>>().len() as u64;
    prop_assert_eq!(stats.settlement.acked + stats.exhausted, distinct, "{}", stats);
    Ok(())
}

async fn at_most_once(messages: Vec<Message>, hands: usize, stop: Option<(u64, u64)>) -> Result<(), TestCaseError> {
    let (seen, messages) = (Arc::<Mutex<Seen>>::default(), Arc::new(messages));
    let handler = {
        let (seen, messages) = (seen.clone(), messages.clone());
        move |delivery: Delivery<AtMostOnce>| {
            let (seen, messages) = (seen.clone(), messages.clone());
            async move {
                let _ = handle(seen, messages, delivery.event().clone(), 1).await;
            }
        }
    };
    let one = builder().at_most_once(name("one")).subject(subject!("a")).concurrency(many(hands)).keyed(keyed());
    let bus: Bus<Memory> = one.restart(Restart::new()).handle(handler).build().unwrap();
    let bus = bus.start().await.unwrap();
    publish(&bus, &messages).await;
    let (after, budget) = stop.unwrap_or((100_000, 1_000));
    tokio::time::sleep(millis(after)).await;
    let stopped = bus.stop(millis(budget)).await;
    settle().await;
    seen.lock().unwrap().check(hands)?;
    let stats = stopped.bus.stats("one").unwrap();
    prop_assert_eq!((stats.in_hand, stats.pending), (0, 0), "{}", stats);
    balanced(&stats);
    if stop.is_none() {
        prop_assert_eq!(
            stats.delivered + stats.panics + stats.lost.retired_queued + stats.lost.shutdown,
            stats.offered,
            "{}",
            stats
        );
    }
    Ok(())
}

fn stops() -> impl Strategy<Value = Option<(u64, u64)>> {
    prop_oneof![1 => Just(None), 1 => (0..300_u64, prop_oneof![Just(0), Just(60), Just(1_000)]).prop_map(Some)]
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn g2_a_key_is_in_order_over_declines_delays_and_restarts(messages in messages(), hands in 1..5_usize, stop in stops()) {
        paused(at_least_once(messages, hands, stop))?;
    }

    #[test]
    fn g2_a_key_is_in_order_at_most_once(messages in messages(), hands in 1..5_usize, stop in stops()) {
        paused(at_most_once(messages, hands, stop))?;
    }
}
