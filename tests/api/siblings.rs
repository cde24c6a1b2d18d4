//! Whoever is slow, full or failed for good is nobody else's trouble.

use std::num::NonZeroU32;

use tokio::time::Instant;
use tramline::{
    Ack, AtMostOnce, Bus, Delivery, DurableName, Fail, Group, Memory, Running,
    bus::{BusBuilder, ConsumerState, Health, Stats},
    contract::PublishError,
    subject,
};

use crate::support::{Door, balanced, builder, event, many, millis, name, seconds, settle, until};

/// Fills the queue of `one`, whose bound is three, behind a handler that is about to panic; then lets it fail for good.
/// Returns what its ledger says after a stop.
async fn fails_for_good_when_full(bus: Bus<Memory, Running>, door: Door) -> Stats {
    let mut published = 0;
    let full = loop {
        settle().await;
        match bus.publish(&subject!("a"), event("x")).await {
            Ok(()) => published += 1,
            Err(full) => break full,
        }
    };
    assert!(matches!(&full, PublishError::QueueFull { subscription, .. } if *subscription == *"one"), "{full:?}");
    let waiting = {
        let handle = bus.handle();
        tokio::spawn(async move { handle.publish(&subject!("a"), event("waits")).when_room().await })
    };
    settle().await;
    assert!(!waiting.is_finished());
    assert_eq!(bus.stats("good").unwrap().delivered, published, "B8: all or nothing");

    door.admit(1);
    until("it has failed", || bus.status().consumers[0].state == ConsumerState::Failed).await;
    waiting.await.unwrap().expect("V5: nobody waits for what has failed for good");
    for _ in 0..10 {
        bus.publish(&subject!("a"), event("x")).await.expect("V5: a full queue that has failed refuses nobody");
    }
    until("the sibling has all", || bus.stats("good").unwrap().delivered == published + 11).await;
    assert_eq!(bus.health(), Health::Degraded { failed: vec![name("one")] }, "V5");
    let stopped = bus.stop(seconds(1)).await;
    assert!(stopped.report.is_clean(), "{}", stopped.report);
    let stats = stopped.bus.stats("one").unwrap();
    balanced(&stats);
    assert_eq!((stats.incidents, stats.panics, stats.lost.overflow, stats.pending), (1, 1, 1, 0), "{stats}");
    stats
}

#[tokio::test(start_paused = true)]
async fn v5_a_full_failing_queue_of_a_consumer_that_failed_for_good_refuses_nobody_at_most_once() {
    let door = Door::closed();
    let handler = {
        let door = door.clone();
        move |_: Delivery<AtMostOnce>| {
            let door = door.clone();
            async move {
                door.pass().await;
                assert!(std::hint::black_box(false), "for good");
            }
        }
    };
    let one = builder().at_most_once(name("one")).subject(subject!("a")).bound(many(3)).overflow(Fail).handle(handler);
    let bus = one.at_most_once(name("good")).subject(subject!("a")).handle(async |_| {});
    let stats = fails_for_good_when_full(bus.build().unwrap().start().await.unwrap(), door).await;
    // One in hand, three queued, one refused.
    assert_eq!((stats.offered, stats.lost.handler_panic, stats.lost.retired_queued), (5, 1, 3), "{stats}");
}

#[tokio::test(start_paused = true)]
async fn v5_a_full_queue_of_a_consumer_that_failed_for_good_refuses_nobody_at_least_once() {
    let door = Door::closed();
    let handler = {
        let door = door.clone();
        move |_| {
            let door = door.clone();
            async move {
                door.pass().await;
                assert!(std::hint::black_box(false), "for good");
                Ack
            }
        }
    };
    let one = builder()
        .at_least_once(name("one"), DurableName::new("one").unwrap(), NonZeroU32::new(2).unwrap())
        .subject(subject!("a"))
        .allow_volatile()
        .bound(many(3))
        .handle(handler);
    let bus = one.at_most_once(name("good")).subject(subject!("a")).handle(async |_| {});
    let stats = fails_for_good_when_full(bus.build().unwrap().start().await.unwrap(), door).await;
    // One in hand, two queued, one refused; the one in hand came back, and all three are stranded.
    assert_eq!((stats.offered, stats.released, stats.stranded), (5, 4, 3), "{stats}");
}

#[tokio::test(start_paused = true)]
async fn n11_a_slow_member_beside_a_fast_one_loses_nothing_and_holds_nobody_up() {
    let member = |bus: BusBuilder<Memory>, text, takes| {
        bus.at_most_once(name(text))
            .subject(subject!("a"))
            .group(Group::new("g").unwrap())
            .bound(many(4))
            .overflow(Fail)
            .handle(move |_: Delivery<AtMostOnce>| tokio::time::sleep(millis(takes)))
    };
    let bus = member(member(builder(), "slow", 1_000), "fast", 1).build().unwrap().start().await.unwrap();
    let begun = Instant::now();
    for id in 0..400 {
        bus.publish(&subject!("a"), event(id)).when_room().await.expect("one of them has room soon");
    }
    until("there is room again", || bus.stats("slow").unwrap().pending <= 4).await;
    assert!(begun.elapsed() < seconds(2), "the slow one holds nobody up: {:?}", begun.elapsed());
    tokio::time::sleep(seconds(10)).await;
    let stopped = bus.stop(seconds(2)).await.bus;
    let (slow, fast) = (stopped.stats("slow").unwrap(), stopped.stats("fast").unwrap());
    assert_eq!(slow.delivered + fast.delivered, 400, "{slow}{fast}");
    assert_eq!((slow.lost.total(), fast.lost.total()), (0, 0), "{slow}{fast}");
    assert!(slow.delivered <= 6 && slow.delivered >= 1, "{slow}{fast}");
    balanced(&slow);
    balanced(&fast);
}
