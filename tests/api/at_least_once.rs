//! At least once: what the handler says arrives at the backend as a settlement, and what is refused is counted.

use std::{
    num::NonZeroU32,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};

use tokio::time::Instant;
use tramline::{
    Ack, AtLeastOnce, Backoff, Bus, Delayed, Delivery, DurableName, Nack, Restart, Running,
    bus::{BusBuilder, ConsumerState, Stats},
    contract::{Outcome, Settlement},
    source, subject,
    subscription::{Asks, AtLeastOnceBuilder, Immediate, Keeps, MayForget, Settled},
};

use crate::{
    shelf::{Settling, Shelf},
    support::{Door, balanced, event, name, seconds, settle, start, until},
};

type Waiting = AtLeastOnceBuilder<Shelf, BusBuilder<Shelf>, Asks<Immediate, MayForget, Keeps>>;

/// A subscription with three attempts, in the making.
fn one(shelf: &Shelf) -> Waiting {
    Bus::builder(shelf.clone(), source!("urn:example:test"))
        .at_least_once(name("one"), DurableName::new("one").unwrap(), NonZeroU32::new(3).unwrap())
        .subject(subject!("a"))
        .allow_volatile()
}

fn backoff() -> Backoff {
    Backoff::new(seconds(1), seconds(60), 10.0).unwrap()
}

/// Outcome and delay of each settlement, in order.
fn said(shelf: &Shelf) -> Vec<(u32, Outcome, Duration)> {
    shelf.settled().iter().map(|(_, attempt, Settlement { outcome, delay, .. })| (*attempt, *outcome, *delay)).collect()
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
async fn t1_an_ack_reaches_the_backend_after_the_handler_has_returned() {
    let shelf = Shelf::default();
    let bus = start(one(&shelf).handle(async |_| Ack)).await;
    bus.publish(&subject!("a"), event("x")).await.unwrap();
    until("it is settled", || !shelf.settled().is_empty()).await;
    assert_eq!(said(&shelf), [(1, Outcome::Acked, Duration::ZERO)]);
    let stats = stopped(bus).await;
    assert_eq!((stats.offered, stats.delivered, stats.settlement.acked), (1, 1, 1), "{stats}");
}

#[tokio::test(start_paused = true)]
async fn o1_a_nack_gets_the_backoff_of_its_attempt_and_m2_attempts_are_bounded() {
    let shelf = Shelf::default();
    let bus = start(one(&shelf).backoff(backoff()).handle(async |_| Nack)).await;
    bus.publish(&subject!("a"), event("x")).await.unwrap();
    tokio::time::sleep(seconds(100)).await;
    assert_eq!(
        said(&shelf),
        [(1, Outcome::Nacked, seconds(1)), (2, Outcome::Nacked, seconds(10)), (3, Outcome::Nacked, seconds(60))]
    );
    let stats = stopped(bus).await;
    assert_eq!((stats.offered, stats.delivered, stats.settlement.nacked), (3, 3, 3), "{stats}");
    assert_eq!((stats.exhausted, stats.redelivered, stats.errors), (1, 2, 0), "M5: {stats}");
}

#[tokio::test(start_paused = true)]
async fn t3_an_error_is_silent_and_counted_and_gets_the_backoff() {
    let shelf = Shelf::default();
    let bus = start(one(&shelf).backoff(backoff()).handle(async |_| Err::<Ack, _>("no luck"))).await;
    bus.publish(&subject!("a"), event("x")).await.unwrap();
    until("it is settled", || !shelf.settled().is_empty()).await;
    assert_eq!(said(&shelf), [(1, Outcome::Silent, seconds(1))]);
    let stats = stopped(bus).await;
    assert_eq!((stats.errors, stats.settlement.silent, stats.delivered), (1, 1, 1), "{stats}");
}

#[tokio::test(start_paused = true)]
async fn t12_nack_after_overrides_the_backoff_and_a_delay_above_the_ceiling_gives_the_delivery_back() {
    let shelf = Shelf::default();
    let errors = Arc::new(Mutex::new(Vec::new()));
    let handler = {
        let errors = errors.clone();
        move |delivery: Delivery<AtLeastOnce<Delayed>>| {
            let errors = errors.clone();
            async move {
                let settled: Settled = match delivery.attempt().get() {
                    1 => delivery.nack_after(seconds(7)).expect("below the ceiling"),
                    2 => delivery.nack_after(Duration::ZERO).expect("at once"),
                    _ => {
                        let too_long = delivery.nack_after(seconds(61)).expect_err("above the ceiling");
                        errors.lock().unwrap().push(too_long.to_string());
                        too_long.delivery.nack()
                    }
                };
                settled
            }
        }
    };
    let bus = start(one(&shelf).backoff(backoff()).handle(handler)).await;
    bus.publish(&subject!("a"), event("x")).await.unwrap();
    tokio::time::sleep(seconds(10)).await;
    assert_eq!(
        said(&shelf),
        [(1, Outcome::Nacked, seconds(7)), (2, Outcome::Nacked, Duration::ZERO), (3, Outcome::Nacked, seconds(60)),]
    );
    assert_eq!(
        *errors.lock().unwrap(),
        ["a delay of 61s is above the subscription's ceiling of 60s: raise `max_nack_delay`"]
    );
    stopped(bus).await;
}

#[tokio::test(start_paused = true)]
async fn t12_the_ceiling_is_max_nack_delay_where_there_is_one() {
    let shelf = Shelf::default();
    let handler = async |delivery: Delivery<AtLeastOnce<Delayed>>| delivery.nack_after(seconds(100));
    let bus = start(one(&shelf).backoff(backoff()).max_nack_delay(seconds(100)).handle(handler)).await;
    bus.publish(&subject!("a"), event("x")).await.unwrap();
    until("it is settled", || !shelf.settled().is_empty()).await;
    assert_eq!(said(&shelf), [(1, Outcome::Nacked, seconds(100))]);
    stopped(bus).await;
}

#[tokio::test(start_paused = true)]
async fn t15_a_panic_is_silent_on_the_wire_released_in_the_ledger_and_runs_out_of_attempts() {
    let shelf = Shelf::default();
    let handler = async |_| {
        assert!(std::hint::black_box(false), "poison");
        Ack
    };
    let bus = start(one(&shelf).backoff(backoff()).restart(Restart::new()).handle(handler)).await;
    bus.publish(&subject!("a"), event("x")).await.unwrap();
    tokio::time::sleep(seconds(200)).await;
    assert_eq!(
        said(&shelf),
        [(1, Outcome::Silent, seconds(1)), (2, Outcome::Silent, seconds(10)), (3, Outcome::Silent, seconds(60))]
    );
    assert_eq!(bus.status().consumers[0].state, ConsumerState::Running);
    let stats = stopped(bus).await;
    assert_eq!((stats.panics, stats.released, stats.delivered, stats.exhausted), (3, 3, 0, 1), "{stats}");
    assert_eq!((stats.settlement.acked, stats.settlement.silent, stats.stranded), (0, 0, 0), "{stats}");
}

#[tokio::test(start_paused = true)]
async fn q10_what_is_no_valid_event_is_silent_with_a_backoff_and_runs_out_of_attempts() {
    let shelf = Shelf::default();
    let bus = start(one(&shelf).backoff(backoff()).handle(async |_| Ack)).await;
    shelf.look().garble = true;
    bus.publish(&subject!("a"), event("x")).await.unwrap();
    shelf.look().garble = false;
    bus.publish(&subject!("a"), event("y")).await.unwrap();
    tokio::time::sleep(seconds(100)).await;
    assert_eq!(
        said(&shelf),
        [
            (1, Outcome::Silent, seconds(1)),
            (1, Outcome::Acked, Duration::ZERO),
            (2, Outcome::Silent, seconds(10)),
            (3, Outcome::Silent, seconds(60)),
        ],
        "the next good one is delivered meanwhile"
    );
    let stats = stopped(bus).await;
    assert_eq!((stats.delivered, stats.errors, stats.settlement.silent, stats.exhausted), (4, 3, 3, 1), "{stats}");
    assert_eq!(stats.lost.total(), 0, "{stats}");
}

#[tokio::test(start_paused = true)]
async fn t6_what_the_backend_refuses_is_counted_and_t13_a_refused_decline_is_stranded() {
    let shelf = Shelf::default();
    shelf.look().settling = Settling::Refused;
    let handler = async |delivery: Delivery<AtLeastOnce>| match delivery.event().id() {
        "acked" => delivery.ack(),
        _ => delivery.nack(),
    };
    let bus = start(one(&shelf).handle(handler)).await;
    for id in ["acked", "nacked", "acked"] {
        bus.publish(&subject!("a"), event(id)).await.unwrap();
    }
    until("all are settled", || shelf.settled().len() == 3).await;
    let stats = stopped(bus).await;
    assert_eq!((stats.settlement.acked, stats.settlement.nacked, stats.settlement.refused), (2, 1, 3), "T7: {stats}");
    assert_eq!((stats.delivered, stats.stranded), (3, 1), "{stats}");
}

#[tokio::test(start_paused = true)]
async fn t8_a_settlement_that_hangs_is_refused_at_the_end_of_the_budget_and_disowns_nobody() {
    let shelf = Shelf::default();
    shelf.look().settling = Settling::Never;
    let bus = start(one(&shelf).handle(async |_| Nack)).await;
    bus.publish(&subject!("a"), event("x")).await.unwrap();
    until("it is being settled", || !shelf.settled().is_empty()).await;
    assert_eq!(bus.stats("one").unwrap().in_hand, 0, "the handler has said what it had to say");
    let begun = Instant::now();
    let stats = stopped(bus).await;
    assert!(begun.elapsed() < seconds(2));
    assert_eq!((stats.settlement.nacked, stats.settlement.refused, stats.stranded), (1, 1, 1), "{stats}");
}

#[tokio::test(start_paused = true)]
async fn t2_handlers_cancelled_by_a_stop_give_their_messages_back_unjudged() {
    let shelf = Shelf::default();
    let handler = |_| async {
        std::future::pending::<()>().await;
        Ack
    };
    let bus = start(one(&shelf).backoff(backoff()).handle(handler)).await;
    for id in ["x", "y"] {
        bus.publish(&subject!("a"), event(id)).await.unwrap();
    }
    until("it is in hand", || bus.stats("one").unwrap().in_hand == 1).await;
    let stats = stopped(bus).await;
    assert_eq!(said(&shelf), [(1, Outcome::Returned, Duration::ZERO)], "no delay: nobody declined it");
    // x was taken, given back and so offered again; x and y were in the queue when the session closed.
    assert_eq!((stats.offered, stats.released, stats.delivered), (3, 3, 0), "{stats}");
    assert_eq!(stats.stranded, 2, "T13: owed when the session of a volatile backend closed: {stats}");
}

#[tokio::test(start_paused = true)]
async fn n7_a_restarting_consumers_backlog_is_kept_for_the_next_source() {
    let shelf = Shelf::default();
    let runs = Arc::new(AtomicU32::new(0));
    let handler = {
        let runs = runs.clone();
        move |_| {
            let first = runs.fetch_add(1, SeqCst) == 0;
            async move {
                assert!(!first, "the first one");
                Ack
            }
        }
    };
    let bus = start(one(&shelf).restart(Restart::new()).handle(handler)).await;
    for id in ["x", "y", "z"] {
        bus.publish(&subject!("a"), event(id)).await.unwrap();
    }
    tokio::time::sleep(seconds(2)).await;
    let stats = stopped(bus).await;
    // x was given up by its panic and offered again; then all three were released with the first source and offered by
    // the second.
    assert_eq!((stats.delivered, stats.offered, stats.released), (3, 7, 4), "{stats}");
    assert_eq!((stats.panics, stats.stranded, stats.exhausted), (1, 0, 0), "{stats}");
}

#[tokio::test(start_paused = true)]
async fn t13_a_backlog_kept_for_a_source_that_never_comes_is_stranded() {
    let shelf = Shelf::default();
    let handler = async |_| {
        assert!(std::hint::black_box(false), "poison");
        Ack
    };
    let bus = start(one(&shelf).restart(Restart::new().initial(seconds(50)).max(seconds(50))).handle(handler)).await;
    for id in ["x", "y", "z"] {
        bus.publish(&subject!("a"), event(id)).await.unwrap();
    }
    tokio::time::sleep(seconds(2)).await;
    let stats = stopped(bus).await;
    // The stop opens a source once more, which offers and releases them again, to count what came meanwhile too.
    assert_eq!((stats.offered, stats.released, stats.stranded), (7, 7, 3), "{stats}");
}

#[tokio::test(start_paused = true)]
async fn t13_what_a_consumer_that_failed_for_good_is_owed_is_stranded() {
    let shelf = Shelf::default();
    let handler = async |_| {
        assert!(std::hint::black_box(false), "poison");
        Ack
    };
    let bus = start(one(&shelf).handle(handler)).await;
    for id in ["x", "y", "z"] {
        bus.publish(&subject!("a"), event(id)).await.unwrap();
    }
    settle().await;
    let stats = stopped(bus).await;
    assert_eq!((stats.incidents, stats.released, stats.stranded), (1, 4, 3), "{stats}");
}

#[tokio::test(start_paused = true)]
async fn t6_a_backend_that_panics_while_it_settles_has_refused_and_the_consumer_lives() {
    let shelf = Shelf::default();
    shelf.look().settling = Settling::Panics;
    let bus = start(one(&shelf).restart(Restart::new()).handle(async |_| Ack)).await;
    bus.publish(&subject!("a"), event("x")).await.unwrap();
    settle().await;
    let stats = bus.stats("one").unwrap();
    assert_eq!((stats.delivered, stats.settlement.acked, stats.settlement.refused), (1, 1, 1), "{stats}");
    assert_eq!(bus.status().consumers[0].state, ConsumerState::Running);
    shelf.look().settling = Settling::Fine;
    bus.publish(&subject!("a"), event("y")).await.unwrap();
    until("it is delivered", || bus.stats("one").unwrap().delivered == 2).await;
    stopped(bus).await;
}

#[tokio::test(start_paused = true)]
async fn t1_nothing_more_is_taken_while_a_settlement_is_under_way_at_concurrency_one() {
    let (shelf, door) = (Shelf::default(), Door::closed());
    shelf.look().settling = Settling::Never;
    door.admit(5);
    let bus = start(one(&shelf).handle(move |_| {
        let door = door.clone();
        async move {
            door.pass().await;
            Ack
        }
    }))
    .await;
    for id in ["x", "y"] {
        bus.publish(&subject!("a"), event(id)).await.unwrap();
    }
    settle().await;
    let stats = bus.stats("one").unwrap();
    assert_eq!((stats.delivered, stats.pending), (1, 1), "{stats}");
    stopped(bus).await;
}
