//! At least once on several threads and in real time: handlers that block, contention, and ten thousand in hand.

use std::{
    collections::BTreeMap,
    num::NonZeroU32,
    sync::{Arc, Mutex},
    time::Instant,
};

use tramline::{
    AtLeastOnce, Delivery, DurableName, Memory, Nack,
    bus::{BusBuilder, ConsumerState},
    subject,
    subscription::{Asks, AtLeastOnceBuilder, Immediate, Keeps, MayForget, Settled},
};

use crate::{
    support::{MEASURING, balanced, builder, event, many, millis, name, seconds, soon, start},
    threads::Barrier,
};

type Waiting = AtLeastOnceBuilder<Memory, BusBuilder<Memory>, Asks<Immediate, MayForget, Keeps>>;

fn one(max_deliver: u32) -> Waiting {
    builder()
        .at_least_once(name("one"), DurableName::new("one").unwrap(), NonZeroU32::new(max_deliver).unwrap())
        .subject(subject!("a"))
        .allow_volatile()
}

/// Blocks its thread for the events that say so; acknowledges all but those that say `nack`.
fn blocking(
    barrier: &Barrier,
) -> impl Fn(Delivery<AtLeastOnce>) -> std::future::Ready<Settled> + Send + Sync + 'static {
    let barrier = barrier.clone();
    move |delivery| {
        let declines = delivery.event().id().ends_with("nack");
        if delivery.event().id().starts_with("block") {
            barrier.block();
        }
        std::future::ready(if declines { delivery.nack() } else { delivery.ack() })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn y7_at_least_once_a_disowned_delivery_is_in_hand_until_it_returns_and_its_settlement_is_refused() {
    for (id, stranded) in [("block", 2), ("block, nack", 3)] {
        let barrier = Barrier::default();
        let bus = one(3).handle(blocking(&barrier)).at_most_once(name("good")).subject(subject!("a"));
        let bus = start(bus.handle(async |_| {})).await;
        for id in [id, "more", "more"] {
            bus.publish(&subject!("a"), event(id)).await.unwrap();
        }
        soon("it blocks", || bus.stats("one").unwrap().in_hand == 1).await;
        soon("the sibling goes on", || bus.stats("good").unwrap().delivered == 3).await;

        let stopped = bus.stop(millis(300)).await;
        assert!(stopped.report.took < millis(400), "{}", stopped.report);
        assert_eq!(stopped.report.disowned, [name("one")]);
        let stats = stopped.bus.stats("one").unwrap();
        assert_eq!((stats.offered, stats.in_hand, stats.released, stats.stranded), (3, 1, 2, 2), "the truth: {stats}");
        balanced(&stats);

        let bus = stopped.bus.start().await.expect("siblings can be started");
        let states: Vec<_> = bus.status().consumers.iter().map(|consumer| consumer.state).collect();
        assert_eq!(states, [ConsumerState::Quarantined, ConsumerState::Running]);
        // A quarantined consumer has no source, and in memory no identity.
        bus.publish(&subject!("a"), event("x")).await.unwrap();
        soon("the sibling goes on", || bus.stats("good").unwrap().delivered == 4).await;
        assert_eq!(bus.stats("one").unwrap().offered, 3, "no source, no offer");

        barrier.open();
        let mut changes = bus.status_changes();
        changes.wait_for(|status| status.consumers[0].state == ConsumerState::Running).await.unwrap();
        let stats = bus.stats("one").unwrap();
        assert_eq!((stats.in_hand, stats.delivered, stats.settlement.refused), (0, 1, 1), "T6: {stats}");
        assert_eq!(stats.stranded, stranded, "T13, a decline that was refused: {stats}");
        bus.publish(&subject!("a"), event("y")).await.unwrap();
        soon("it is back", || bus.stats("one").unwrap().settlement.acked + stranded == 4).await;
        let stopped = bus.stop(seconds(1)).await;
        assert!(stopped.report.is_clean(), "{}", stopped.report);
        balanced(&stopped.bus.stats("one").unwrap());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn b7_a_blocked_hand_holds_only_itself_up_at_least_once() {
    let barrier = Barrier::default();
    let bus = start(one(3).concurrency(many(4)).handle(blocking(&barrier))).await;
    bus.publish(&subject!("a"), event("block, nack")).await.unwrap();
    soon("it blocks", || bus.stats("one").unwrap().in_hand == 1).await;
    for id in 0..300 {
        bus.publish(&subject!("a"), event(id)).when_room().await.unwrap();
        soon("others are handled", || bus.stats("one").unwrap().settlement.acked == id + 1).await;
    }
    barrier.open();
    // Open now, it blocks nobody at its further attempts.
    soon("it has run out of attempts", || bus.stats("one").unwrap().exhausted == 1).await;
    let stopped = bus.stop(seconds(1)).await;
    assert!(stopped.report.is_clean(), "{}", stopped.report);
    let stats = stopped.bus.stats("one").unwrap();
    assert_eq!((stats.settlement.acked, stats.settlement.nacked, stats.stranded), (300, 3, 0), "{stats}");
    balanced(&stats);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn m2_under_contention_every_message_comes_to_its_end_and_none_is_in_two_hands() {
    for concurrency in [2, 3, 16] {
        // Attempts by message, and what is wrong with them.
        let seen = Arc::<Mutex<(BTreeMap<u64, u32>, Vec<String>)>>::default();
        let handler = {
            let seen = seen.clone();
            move |delivery: Delivery<AtLeastOnce>| {
                let (id, attempt): (u64, _) = (delivery.event().id().parse().unwrap(), delivery.attempt().get());
                let (attempts, wrong) = &mut *seen.lock().unwrap();
                let before = attempts.insert(id, attempt).unwrap_or_default();
                if before + 1 != attempt {
                    wrong.push(format!("{id}: {attempt} after {before}"));
                }
                async move {
                    if id.is_multiple_of(3) {
                        tokio::task::yield_now().await;
                    }
                    if u64::from(attempt) <= id % 5 { delivery.nack() } else { delivery.ack() }
                }
            }
        };
        let bus = start(one(4).concurrency(many(concurrency)).bound(many(16)).handle(handler)).await;
        let publishers: Vec<_> = (0..4)
            .map(|lane| {
                let handle = bus.handle();
                tokio::spawn(async move {
                    for id in (lane..4_000).step_by(4) {
                        handle.publish(&subject!("a"), event(id)).when_room().await.unwrap();
                    }
                })
            })
            .collect();
        for publisher in publishers {
            publisher.await.unwrap();
        }
        // Of five, one is declined four times, which are all of its attempts.
        soon("all have ended", || {
            let stats = bus.stats("one").unwrap();
            (stats.settlement.acked, stats.exhausted) == (3_200, 800)
        })
        .await;
        let stats = bus.stop(seconds(1)).await.bus.stats("one").unwrap();
        balanced(&stats);
        assert_eq!((stats.stranded, stats.settlement.refused, stats.redelivered), (0, 0, 800 * 9), "{stats}");
        assert_eq!(seen.lock().unwrap().1, [""; 0]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn y7_a_stop_with_ten_thousand_deliveries_at_least_once_in_hand_keeps_its_budget_and_accounts_for_all() {
    let _alone = MEASURING.lock().await;
    let handler = |_| async {
        std::future::pending::<()>().await;
        Nack
    };
    let bus = start(one(3).concurrency(many(10_000)).bound(many(12_000)).handle(handler)).await;
    let begun = Instant::now();
    for id in 0..12_000 {
        bus.publish(&subject!("a"), event(id)).await.unwrap();
    }
    soon("all hands are full", || bus.stats("one").unwrap().in_hand == 10_000).await;
    let filled = begun.elapsed();
    // A tenth of it is the reserve, in which a debug build on a busy machine has to give all of them back.
    let budget = seconds(5);
    let stopped = bus.stop(budget).await;
    assert!(stopped.report.is_clean(), "{}", stopped.report);
    assert!(stopped.report.took <= budget, "{}", stopped.report);
    let stats = stopped.bus.stats("one").unwrap();
    // Those in hand were given back, and so offered again; then all were released with their source.
    assert_eq!((stats.offered, stats.released, stats.in_hand, stats.pending), (22_000, 22_000, 0, 0), "{stats}");
    assert_eq!((stats.stranded, stats.exhausted, stats.settlement.refused), (12_000, 0, 0), "{stats}");
    balanced(&stats);
    println!("10,000 taken in {filled:?}; {}, 500 ms of the budget being the reserve", stopped.report);
    // The bus goes on as new.
    let bus = stopped.bus.start().await.unwrap();
    assert_eq!(bus.stats("one").unwrap().offered, 22_000, "nothing came over");
    drop(bus);
}
