//! Keyed concurrency: different keys side by side, one key strictly in order.

use std::{
    num::NonZeroU32,
    sync::{Arc, Mutex},
};

use tramline::{
    Ack, AtLeastOnce, AtMostOnce, Backoff, Bus, Delayed, Delivery, DurableName, Event, Fail, KeyedBy, Nack, Pattern,
    Restart, Running, State, Subject,
    bus::{BusBuilder, ConsumerState, Stats},
    contract::Outcome,
    source, subscription,
    subscription::{Asks, AtLeastOnceBuilder, AtMostOnceBuilder, Immediate, Keeps, MayForget},
};

use crate::{
    shelf::{Settling, Shelf},
    support::{Door, balanced, builder, event, many, name, seconds, settle, until},
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

    /// What was seen of the events whose names begin so.
    #[track_caller]
    fn of(&self, key: &str, words: &str) {
        let of_key = self.seen().into_iter().filter(|word| word[1..].starts_with(key)).collect::<Vec<_>>();
        assert_eq!(of_key.join(" "), words);
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

async fn publish<B: tramline::contract::Backend>(bus: &Bus<B, Running>, ids: &[&str]) {
    for id in ids {
        bus.publish(&of(&id[..1]), keyed_event(id, &id[..1])).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn g2_different_keys_are_handled_side_by_side_and_one_key_in_order() {
    for by in [KeyedBy::subject(), by_attribute()] {
        let (log, door) = (Log::default(), Door::closed());
        let handler = at_the_door!(log, door, Delivery<AtMostOnce>, |_: &str, _| ());
        let bus = at_most_once().keyed(by).handle(handler).build().unwrap().start().await.unwrap();
        publish(&bus, &["x1", "x2", "x3", "y1", "z1"]).await;
        settle().await;
        assert_eq!(log.seen().len(), 3);
        log.of("x", "+x1");
        assert_eq!(bus.stats("one").unwrap().in_hand, 5, "what waits for its key is in hand");
        door.admit(3);
        settle().await;
        log.of("x", "+x1 -x1 +x2");
        door.admit(10);
        settle().await;
        log.of("x", "+x1 -x1 +x2 -x2 +x3 -x3");
        let stats = bus.stop(seconds(1)).await.bus.stats("one").unwrap();
        balanced(&stats);
        assert_eq!((stats.delivered, stats.in_hand), (5, 0), "{stats}");
    }
}

#[tokio::test(start_paused = true)]
async fn g3_an_event_without_the_attribute_is_its_own_key() {
    let (log, door) = (Log::default(), Door::closed());
    let handler = at_the_door!(log, door, Delivery<AtMostOnce>, |_: &str, _| ());
    let bus = at_most_once().keyed(by_attribute()).handle(handler).build().unwrap().start().await.unwrap();
    for id in ["1", "2", "3", "4", "5"] {
        bus.publish(&of("x"), event(id)).await.unwrap();
    }
    settle().await;
    assert_eq!(log.seen().len(), 4, "as many as there are hands: {:?}", log.seen());
    door.admit(5);
    settle().await;
    balanced(&bus.stop(seconds(1)).await.bus.stats("one").unwrap());
}

#[tokio::test(start_paused = true)]
async fn g2_a_declined_key_holds_only_itself_back_over_its_delay() {
    let (shelf, log, door) = (Shelf::default(), Log::default(), Door::closed());
    let handler = at_the_door!(log, door, Delivery<AtLeastOnce<Delayed>>, |id: &str, attempt| match (id, attempt) {
        ("x1", 1) => Err("not now"),
        _ => Ok(Ack),
    });
    let backoff = Backoff::new(seconds(10), seconds(10), 1.0).unwrap();
    let bus = at_least_once(&shelf).keyed(KeyedBy::subject()).backoff(backoff).handle(handler).build().unwrap();
    let bus = bus.start().await.unwrap();
    door.admit(100);
    publish(&bus, &["x1", "x2", "y1", "y2"]).await;
    tokio::time::sleep(seconds(9)).await;
    publish(&bus, &["x3", "y3"]).await;
    settle().await;
    log.of("x", "+x1 -x1");
    log.of("y", "+y1 -y1 +y2 -y2 +y3 -y3");
    assert_eq!(bus.stats("one").unwrap().in_hand, 2, "x2 and x3 wait");
    tokio::time::sleep(seconds(2)).await;
    log.of("x", "+x1 -x1 +x1 -x1 +x2 -x2 +x3 -x3");
    stopped(bus).await;
}

#[tokio::test(start_paused = true)]
async fn g2_what_comes_back_at_once_comes_first() {
    let (shelf, log, door) = (Shelf::default(), Log::default(), Door::closed());
    let handler = at_the_door!(log, door, Delivery<AtLeastOnce>, |id: &str, attempt| match (id, attempt) {
        ("x1", 1 | 2) => Err(Nack),
        _ => Ok(Ack),
    }
    .map_err(|_| "no"));
    let bus = at_least_once(&shelf).keyed(KeyedBy::subject()).handle(handler).build().unwrap().start().await.unwrap();
    publish(&bus, &["x1", "x2", "x3"]).await;
    settle().await;
    door.admit(100);
    settle().await;
    log.of("x", "+x1 -x1 +x1 -x1 +x1 -x1 +x2 -x2 +x3 -x3");
    stopped(bus).await;
}

#[tokio::test(start_paused = true)]
async fn g2_a_message_that_runs_out_of_attempts_lets_its_key_go_on() {
    let (shelf, log, door) = (Shelf::default(), Log::default(), Door::closed());
    let handler =
        at_the_door!(log, door, Delivery<AtLeastOnce>, |id: &str, _| if id == "x1" { Err("never") } else { Ok(Ack) });
    let bus = at_least_once(&shelf).keyed(KeyedBy::subject()).handle(handler).build().unwrap().start().await.unwrap();
    door.admit(100);
    publish(&bus, &["x1", "x2"]).await;
    settle().await;
    log.of("x", "+x1 -x1 +x1 -x1 +x1 -x1 +x2 -x2");
    assert_eq!(stopped(bus).await.exhausted, 1);
}

#[tokio::test(start_paused = true)]
async fn g2_a_message_that_does_not_come_back_lets_its_key_go_on_after_a_while() {
    let (shelf, log, door) = (Shelf::default(), Log::default(), Door::closed());
    shelf.look().settling = Settling::Forgets;
    let handler =
        at_the_door!(log, door, Delivery<AtLeastOnce>, |id: &str, _| if id == "x1" { Err("no") } else { Ok(Ack) });
    let bus = at_least_once(&shelf).keyed(KeyedBy::subject()).handle(handler).build().unwrap().start().await.unwrap();
    door.admit(100);
    publish(&bus, &["x1", "x2"]).await;
    tokio::time::sleep(seconds(29)).await;
    log.of("x", "+x1 -x1");
    tokio::time::sleep(seconds(2)).await;
    log.of("x", "+x1 -x1 +x2 -x2");
    stopped(bus).await;
}

#[tokio::test(start_paused = true)]
async fn g2_what_cannot_be_declined_and_is_gone_is_not_waited_for() {
    let (shelf, log, door) = (Shelf::default(), Log::default(), Door::closed());
    shelf.look().settling = Settling::Refused;
    let handler = at_the_door!(log, door, Delivery<AtLeastOnce>, |_: &str, _| Nack);
    let bus = at_least_once(&shelf).keyed(KeyedBy::subject()).handle(handler).build().unwrap().start().await.unwrap();
    door.admit(100);
    publish(&bus, &["x1", "x2"]).await;
    settle().await;
    log.of("x", "+x1 -x1 +x2 -x2");
    assert_eq!(stopped(bus).await.stranded, 2);
}

#[tokio::test(start_paused = true)]
async fn g3_queued_and_waiting_for_its_key_together_never_exceed_the_bound() {
    for bound in [1, 2, 3, 16] {
        let (log, door) = (Log::default(), Door::closed());
        let handler = at_the_door!(log, door, Delivery<AtMostOnce>, |_: &str, _| ());
        let one = at_most_once().bound(many(bound)).keyed(KeyedBy::subject());
        let bus = one.handle(handler).build().unwrap().start().await.unwrap();
        publish(&bus, &["x0"]).await;
        settle().await;
        for _ in 0..50 {
            publish(&bus, &["x1"]).await;
            settle().await;
            let stats = bus.stats("one").unwrap();
            let waiting = stats.in_hand - 1 + stats.pending;
            // With a bound of 1, one more is in the hand of a reader, as it would be without keys.
            assert!(waiting <= (bound as u64).max(2), "{stats}");
        }
        let stats = bus.stats("one").unwrap();
        assert_eq!(stats.lost.overflow, 50 - (bound as u64).max(2), "{stats}");
        // Another key is not taken while there is no room: that is the bound's price.
        door.admit(100);
        until("all are handled", || bus.stats("one").unwrap().pending == 0).await;
        settle().await;
        let stats = bus.stop(seconds(1)).await.bus.stats("one").unwrap();
        assert_eq!((stats.in_hand, stats.pending), (0, 0));
        balanced(&stats);
    }
}

#[tokio::test(start_paused = true)]
async fn y7_what_waits_for_its_key_is_handled_in_order_while_there_is_time() {
    let (log, door) = (Log::default(), Door::closed());
    let handler = at_the_door!(log, door, Delivery<AtMostOnce>, |_: &str, _| ());
    let bus = at_most_once().keyed(KeyedBy::subject()).handle(handler).build().unwrap().start().await.unwrap();
    publish(&bus, &["x1", "x2", "x3", "y1"]).await;
    settle().await;
    let stopping = tokio::spawn(bus.stop(seconds(10)));
    settle().await;
    door.admit(100);
    let stopped = stopping.await.unwrap();
    assert!(stopped.report.is_clean() && stopped.report.took < seconds(1), "{}", stopped.report);
    log.of("x", "+x1 -x1 +x2 -x2 +x3 -x3");
    let stats = stopped.bus.stats("one").unwrap();
    balanced(&stats);
    assert_eq!((stats.delivered, stats.in_hand), (4, 0), "{stats}");
}

#[tokio::test(start_paused = true)]
async fn l6_what_still_waits_for_its_key_at_the_cut_off_is_lost_or_released() {
    let (log, door) = (Log::default(), Door::closed());
    let handler = at_the_door!(log, door, Delivery<AtMostOnce>, |_: &str, _| ());
    let bus = at_most_once().keyed(KeyedBy::subject()).handle(handler).build().unwrap().start().await.unwrap();
    publish(&bus, &["x1", "x2", "x3"]).await;
    settle().await;
    let stopped = bus.stop(seconds(1)).await;
    assert!(stopped.report.is_clean(), "{}", stopped.report);
    let stats = stopped.bus.stats("one").unwrap();
    balanced(&stats);
    assert_eq!((stats.lost.shutdown, stats.in_hand), (3, 0), "{stats}");
    log.of("x", "+x1");

    let shelf = Shelf::default();
    let handler = at_the_door!(log, door, Delivery<AtLeastOnce>, |_: &str, _| Ack);
    let bus = at_least_once(&shelf).keyed(KeyedBy::subject()).handle(handler).build().unwrap().start().await.unwrap();
    publish(&bus, &["x1", "x2", "x3"]).await;
    settle().await;
    let stopped = bus.stop(seconds(1)).await;
    assert!(stopped.report.is_clean(), "{}", stopped.report);
    let stats = stopped.bus.stats("one").unwrap();
    balanced(&stats);
    // Returned, they come to the source's queue again, which is then released with them.
    assert_eq!((stats.released, stats.in_hand, stats.pending), (6, 0, 0), "{stats}");
    assert!(shelf.settled().iter().all(|(_, _, settlement)| settlement.outcome == Outcome::Returned));
    assert_eq!(shelf.settled().iter().map(|(id, ..)| id.as_str()).collect::<Vec<_>>(), ["x1", "x2", "x3"]);
}

#[tokio::test(start_paused = true)]
async fn y7_what_waits_behind_a_declined_message_is_given_back_at_once() {
    let (shelf, log, door) = (Shelf::default(), Log::default(), Door::closed());
    let handler = at_the_door!(log, door, Delivery<AtLeastOnce<Delayed>>, |_: &str, _| Nack);
    let backoff = Backoff::new(seconds(100), seconds(100), 1.0).unwrap();
    let bus = at_least_once(&shelf).keyed(KeyedBy::subject()).backoff(backoff).handle(handler).build().unwrap();
    let bus = bus.start().await.unwrap();
    door.admit(100);
    publish(&bus, &["x1", "x2", "x3"]).await;
    settle().await;
    log.of("x", "+x1 -x1");
    let stopped = bus.stop(seconds(10)).await;
    assert!(stopped.report.is_clean() && stopped.report.took < seconds(1), "{}", stopped.report);
    log.of("x", "+x1 -x1");
    let stats = stopped.bus.stats("one").unwrap();
    balanced(&stats);
    assert_eq!((stats.delivered, stats.in_hand, stats.pending), (1, 0, 0), "{stats}");
}

#[tokio::test(start_paused = true)]
async fn v3_others_finish_after_a_panic_and_order_holds_over_the_restart() {
    let (shelf, log, door) = (Shelf::default(), Log::default(), Door::closed());
    let handler = at_the_door!(log, door, Delivery<AtLeastOnce<Delayed>>, |id: &str, attempt| {
        assert!(id != "x1" || attempt > 1, "on purpose");
        Ack
    });
    let backoff = Backoff::new(seconds(10), seconds(10), 1.0).unwrap();
    let bus = at_least_once(&shelf).keyed(KeyedBy::subject()).backoff(backoff).restart(Restart::new()).handle(handler);
    let bus = bus.build().unwrap().start().await.unwrap();
    publish(&bus, &["x1", "x2", "x3", "y1", "y2"]).await;
    settle().await;
    door.admit(1);
    settle().await;
    // Whichever went through the door first: x1 panics sooner or later.
    door.admit(100);
    tokio::time::sleep(seconds(60)).await;
    log.of("x", "+x1 -x1 +x1 -x1 +x2 -x2 +x3 -x3");
    log.of("y", "+y1 -y1 +y2 -y2");
    let stats = stopped(bus).await;
    assert_eq!((stats.panics, stats.settlement.acked), (1, 5), "{stats}");
}

#[tokio::test(start_paused = true)]
async fn v3_at_most_once_what_waits_is_handled_by_those_that_are_left() {
    let (log, door) = (Log::default(), Door::closed());
    let handler = at_the_door!(log, door, Delivery<AtMostOnce>, |id: &str, _| assert!(id != "x1", "on purpose"));
    let bus = at_most_once().keyed(KeyedBy::subject()).restart(Restart::new()).handle(handler);
    let bus = bus.build().unwrap().start().await.unwrap();
    publish(&bus, &["x1", "x2", "x3"]).await;
    settle().await;
    door.admit(100);
    until("it restarts", || bus.status().consumers[0].state == ConsumerState::Unknown).await;
    log.of("x", "+x1 -x1 +x2 -x2 +x3 -x3");
    let stats = bus.stop(seconds(1)).await.bus.stats("one").unwrap();
    balanced(&stats);
    assert_eq!((stats.delivered, stats.panics, stats.in_hand), (2, 1, 0), "{stats}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[allow(clippy::await_holding_lock, reason = "it blocks handlers, on purpose, and not this task")]
async fn g2_a_handler_that_blocks_its_thread_stops_only_its_key() {
    let (log, held) = (Log::default(), Arc::new(Mutex::new(())));
    let guard = held.lock().unwrap();
    let handler = {
        let (log, held) = (log.clone(), held.clone());
        move |delivery: Delivery<AtMostOnce>| {
            let (log, held) = (log.clone(), held.clone());
            async move {
                if delivery.event().id().starts_with('x') {
                    drop(held.lock().unwrap());
                }
                log.note(format!("+{}", delivery.event().id()));
            }
        }
    };
    let bus = at_most_once().concurrency(many(3)).keyed(KeyedBy::subject()).handle(handler).build().unwrap();
    let bus = bus.start().await.unwrap();
    publish(&bus, &["x1", "x2"]).await;
    for round in 0..100 {
        publish(&bus, &["y1", "z1", "x3"]).await;
        let expected = (round + 1) * 2;
        crate::support::soon("the others go on", || log.seen().len() == expected).await;
    }
    drop(guard);
    crate::support::soon("all are handled", || {
        let stats = bus.stats("one").unwrap();
        stats.in_hand == 0 && stats.pending == 0
    })
    .await;
    let stats = bus.stop(seconds(5)).await.bus.stats("one").unwrap();
    balanced(&stats);
    assert_eq!(stats.delivered, stats.offered, "{stats}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn g2_a_key_is_in_order_on_several_threads_and_no_message_is_left_lying() {
    const MESSAGES: u64 = 20_000;
    let seen = Arc::new(Mutex::new(vec![Vec::new(); 7]));
    let handler = {
        let seen = seen.clone();
        move |delivery: Delivery<AtMostOnce>| {
            let seen = seen.clone();
            async move {
                let number: u64 = delivery.event().id().parse().unwrap();
                if number.is_multiple_of(5) {
                    tokio::task::yield_now().await;
                }
                seen.lock().unwrap()[usize::try_from(number % 7).unwrap()].push(number);
            }
        }
    };
    let one = at_most_once().bound(many(8)).concurrency(many(3)).overflow(Fail).keyed(by_attribute());
    let bus = one.handle(handler).build().unwrap().start().await.unwrap();
    for number in 0..MESSAGES {
        let event = event(number).to_builder().extension("partitionkey", i32::try_from(number % 7).unwrap());
        bus.publish(&of("x"), event.build().unwrap()).when_room().await.unwrap();
    }
    crate::support::soon("all are handled", || bus.stats("one").unwrap().delivered == MESSAGES).await;
    balanced(&bus.stop(seconds(5)).await.bus.stats("one").unwrap());
    for numbers in &*seen.lock().unwrap() {
        assert!(numbers.is_sorted(), "{numbers:?}");
    }
}

#[subscription(pattern = "a.>", keyed = subject, concurrency = 2)]
async fn by_subject(event: &Event, State(log): State<Log>) {
    log.note(format!("+{}", event.id()));
    tokio::time::sleep(seconds(1)).await;
}

#[subscription(pattern = "a.>", keyed = "partitionkey", concurrency = 2)]
async fn by_partition(event: &Event, State(log): State<Log>) {
    log.note(format!("+{}", event.id()));
    tokio::time::sleep(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn g2_the_attribute_says_the_same() {
    for number in [0, 1] {
        let log = Log::default();
        let bus = builder().state(log.clone());
        let bus = if number == 0 { bus.subscribe(by_subject) } else { bus.subscribe(by_partition) };
        let bus = bus.build().unwrap().start().await.unwrap();
        publish(&bus, &["x1", "x2", "y1"]).await;
        settle().await;
        log.of("x", "+x1");
        log.of("y", "+y1");
        bus.stop(seconds(5)).await;
        log.of("x", "+x1 +x2");
    }
}

async fn stopped(bus: Bus<Shelf, Running>) -> Stats {
    let stopped = bus.stop(seconds(2)).await;
    assert!(stopped.report.is_clean(), "{}", stopped.report);
    let stats = stopped.bus.stats("one").unwrap();
    balanced(&stats);
    assert_eq!((stats.in_hand, stats.pending), (0, 0), "{stats}");
    stats
}

#[tokio::test(start_paused = true)]
async fn g2_a_key_waits_for_a_message_that_came_back_while_every_hand_was_busy() {
    let log = Log::default();
    let handler = {
        let log = log.clone();
        move |delivery: Delivery<AtLeastOnce<Delayed>>| {
            let log = log.clone();
            async move {
                let id = delivery.event().id().to_owned();
                log.note(format!("+{id}"));
                match (&*id, delivery.attempt().get()) {
                    ("x1", 1) => return delivery.nack(),
                    // Longer than a late message is waited for.
                    ("y1", _) => tokio::time::sleep(seconds(100)).await,
                    _ => {}
                }
                delivery.ack()
            }
        }
    };
    let backoff = Backoff::new(seconds(1), seconds(1), 1.0).unwrap();
    let bus = builder()
        .at_least_once(name("one"), DurableName::new("one").unwrap(), NonZeroU32::new(3).unwrap())
        .pattern(Pattern::new("a.>").unwrap())
        .allow_volatile()
        .keyed(KeyedBy::subject())
        .backoff(backoff);
    let bus = bus.handle(handler).build().unwrap().start().await.unwrap();
    publish(&bus, &["x1", "y1", "x2"]).await;
    tokio::time::sleep(seconds(200)).await;
    log.of("x", "+x1 +x1 +x2");
    balanced(&bus.stop(seconds(1)).await.bus.stats("one").unwrap());
}
