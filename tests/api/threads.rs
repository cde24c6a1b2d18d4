//! Handlers that block their thread: disowned, in hand, quarantined. In real time, on several threads.

use std::{
    sync::{Arc, Condvar, Mutex},
    time::Instant,
};

use tramline::{
    AtMostOnce, Delivery, Restart,
    bus::{BusState, ConsumerState},
    subject,
};

use crate::support::{MEASURING, balanced, builder, event, many, millis, name, seconds, soon};

/// What blocks threads until it is opened.
#[derive(Clone, Default)]
pub(crate) struct Barrier(Arc<(Mutex<bool>, Condvar)>);

impl Barrier {
    pub(crate) fn block(&self) {
        let (open, opened) = &*self.0;
        // Not for ever, or a test that fails would hang.
        drop(opened.wait_timeout_while(open.lock().unwrap(), seconds(30), |open| !*open).unwrap());
    }

    pub(crate) fn open(&self) {
        *self.0.0.lock().unwrap() = true;
        self.0.1.notify_all();
    }
}

/// Blocks its thread for the events that say so.
fn blocking(barrier: &Barrier) -> impl Fn(Delivery<AtMostOnce>) -> std::future::Ready<()> + Send + Sync + 'static {
    let barrier = barrier.clone();
    move |delivery| {
        if delivery.event().id() == "block" {
            barrier.block();
        }
        std::future::ready(())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn y7_a_handler_that_never_yields_is_disowned_and_its_subscription_quarantined_until_it_returns() {
    let barrier = Barrier::default();
    let bus = builder()
        .at_most_once(name("bad"))
        .subject(subject!("a"))
        .handle(blocking(&barrier))
        .at_most_once(name("good"))
        .subject(subject!("a"))
        .handle(async |_| {})
        .build()
        .unwrap()
        .start()
        .await
        .unwrap();
    bus.publish(&subject!("a"), event("block")).await.unwrap();
    bus.publish(&subject!("a"), event("more")).await.unwrap();
    soon("it blocks", || bus.stats("bad").unwrap().in_hand == 1).await;
    soon("the sibling goes on", || bus.stats("good").unwrap().delivered == 2).await;

    // A tenth of it is for giving back and closing, which takes a while on a machine with much else to do.
    let stopped = bus.stop(seconds(2)).await;
    assert!(stopped.report.took < seconds(4), "{}", stopped.report);
    assert_eq!(stopped.report.disowned, [name("bad")]);
    assert!(stopped.report.session_closed && !stopped.report.is_clean(), "{}", stopped.report);
    assert!(stopped.report.to_string().contains("; a handler of `bad` does not yield"), "{}", stopped.report);
    let stats = stopped.bus.stats("bad").unwrap();
    assert_eq!((stats.in_hand, stats.lost.retired_queued, stats.delivered), (1, 1, 0), "the truth: {stats}");
    balanced(&stats);

    let bus = stopped.bus.start().await.expect("siblings can be started");
    let states: Vec<_> = bus.status().consumers.iter().map(|consumer| consumer.state).collect();
    assert_eq!(states, [ConsumerState::Quarantined, ConsumerState::Running]);
    bus.publish(&subject!("a"), event("x")).await.unwrap();
    soon("the sibling goes on", || bus.stats("good").unwrap().delivered == 3).await;
    assert_eq!(bus.stats("bad").unwrap().offered, 2, "no source, no offer");
    assert!(bus.health().is_healthy());

    // A stop in quarantine keeps it there.
    let stopped = bus.stop(seconds(2)).await;
    assert_eq!(stopped.report.disowned, [name("bad")]);
    let bus = stopped.bus.start().await.unwrap();
    assert_eq!(bus.status().consumers[0].state, ConsumerState::Quarantined);

    barrier.open();
    let mut changes = bus.status_changes();
    changes.wait_for(|status| status.consumers[0].state == ConsumerState::Running).await.unwrap();
    let stats = bus.stats("bad").unwrap();
    assert_eq!((stats.in_hand, stats.delivered), (0, 1), "delivered when it returned: {stats}");
    assert!(!stats.unsubscribed_for.is_zero(), "Y11: {stats}");
    bus.publish(&subject!("a"), event("y")).await.unwrap();
    soon("it goes on", || bus.stats("bad").unwrap().delivered == 2).await;
    let stopped = bus.stop(seconds(1)).await;
    assert!(stopped.report.is_clean(), "{}", stopped.report);
    balanced(&stopped.bus.stats("bad").unwrap());
    assert_eq!(stopped.bus.status().state, BusState::Dormant);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn b7_a_handler_that_blocks_stops_only_itself_and_not_its_side_by_side_siblings() {
    let barrier = Barrier::default();
    let bus = builder()
        .at_most_once(name("one"))
        .subject(subject!("a"))
        .concurrency(many(4))
        .handle(blocking(&barrier))
        .build()
        .unwrap()
        .start()
        .await
        .unwrap();
    bus.publish(&subject!("a"), event("block")).await.unwrap();
    soon("it blocks", || bus.stats("one").unwrap().in_hand == 1).await;
    for id in 0..300 {
        bus.publish(&subject!("a"), event(id)).when_room().await.unwrap();
        soon("others are handled", || bus.stats("one").unwrap().delivered == id + 1).await;
    }
    let stopped = bus.stop(millis(300)).await;
    assert_eq!(stopped.report.disowned, [name("one")]);
    let stats = stopped.bus.stats("one").unwrap();
    assert_eq!((stats.in_hand, stats.delivered), (1, 300), "{stats}");
    barrier.open();
    soon("it has returned", || stopped.bus.stats("one").unwrap().in_hand == 0).await;
    balanced(&stopped.bus.stats("one").unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn v3_a_consumer_that_failed_beside_a_blocked_handler_is_stopped_within_the_budget() {
    let barrier = Barrier::default();
    let handler = {
        let barrier = barrier.clone();
        move |delivery: Delivery<AtMostOnce>| {
            match delivery.event().id() {
                "block" => barrier.block(),
                _ => panic!("beside it"),
            }
            async {}
        }
    };
    let bus = builder()
        .at_most_once(name("one"))
        .subject(subject!("a"))
        .concurrency(many(2))
        .restart(Restart::new())
        .handle(handler)
        .build()
        .unwrap()
        .start()
        .await
        .unwrap();
    bus.publish(&subject!("a"), event("block")).await.unwrap();
    soon("it blocks", || bus.stats("one").unwrap().in_hand == 1).await;
    bus.publish(&subject!("a"), event("panic")).await.unwrap();
    soon("one has panicked", || bus.stats("one").unwrap().panics == 1).await;
    let begun = Instant::now();
    let stopped = bus.stop(millis(300)).await;
    assert!(begun.elapsed() < millis(450), "{}", stopped.report);
    assert_eq!(stopped.report.disowned, [name("one")], "{} {:?}", stopped.report, stopped.bus.status());
    balanced(&stopped.bus.stats("one").unwrap());
    barrier.open();
    soon("it has returned", || stopped.bus.stats("one").unwrap().delivered == 1).await;
    let bus = stopped.bus.start().await.unwrap();
    assert_eq!(bus.status().consumers[0].state, ConsumerState::Running);
    bus.stop(seconds(1)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b7_under_contention_no_wake_up_is_lost_and_every_message_is_handled_once() {
    let sum = Arc::new(std::sync::atomic::AtomicU64::new(0));
    for concurrency in [2, 3, 16] {
        let handler = {
            let sum = sum.clone();
            move |delivery: Delivery<AtMostOnce>| {
                let (id, sum): (u64, _) = (delivery.event().id().parse().unwrap(), sum.clone());
                async move {
                    if id.is_multiple_of(3) {
                        tokio::task::yield_now().await;
                    }
                    sum.fetch_add(id, std::sync::atomic::Ordering::SeqCst);
                }
            }
        };
        let bus = builder()
            .at_most_once(name("one"))
            .subject(subject!("a"))
            .concurrency(many(concurrency))
            .bound(many(8))
            .overflow(tramline::Fail)
            .handle(handler)
            .build()
            .unwrap()
            .start()
            .await
            .unwrap();
        let publishers: Vec<_> = (0..4)
            .map(|lane| {
                let handle = bus.handle();
                tokio::spawn(async move {
                    for id in (lane..8_000).step_by(4) {
                        handle.publish(&subject!("a"), event(id)).when_room().await.unwrap();
                        if id % 64 < 4 {
                            // So that readers fall asleep now and then.
                            tokio::task::yield_now().await;
                        }
                    }
                })
            })
            .collect();
        for publisher in publishers {
            publisher.await.unwrap();
        }
        soon("all are handled", || bus.stats("one").unwrap().delivered == 8_000).await;
        assert_eq!(sum.swap(0, std::sync::atomic::Ordering::SeqCst), (0..8_000).sum::<u64>());
        // One at a time, so that every single wake-up counts.
        for id in 0..200 {
            bus.publish(&subject!("a"), event(id)).await.unwrap();
            soon("it is handled", || bus.stats("one").unwrap().delivered == 8_001 + id).await;
        }
        sum.store(0, std::sync::atomic::Ordering::SeqCst);
        let stopped = bus.stop(seconds(1)).await;
        let stats = stopped.bus.stats("one").unwrap();
        assert_eq!((stats.delivered, stats.pending, stats.in_hand), (8_200, 0, 0), "{stats}");
        balanced(&stats);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn y7_a_stop_with_ten_thousand_deliveries_in_hand_keeps_its_budget_and_accounts_for_all() {
    let _alone = MEASURING.lock().await;
    let bus = builder()
        .at_most_once(name("one"))
        .subject(subject!("a"))
        .concurrency(many(10_000))
        .bound(many(10_000))
        .overflow(tramline::Fail)
        .handle(|_| std::future::pending::<()>())
        .build()
        .unwrap()
        .start()
        .await
        .unwrap();
    let begun = Instant::now();
    for id in 0..10_000 {
        bus.publish(&subject!("a"), event(id)).await.unwrap();
    }
    soon("all are in hand", || bus.stats("one").unwrap().in_hand == 10_000).await;
    let filled = begun.elapsed();
    // A tenth of it is the reserve, in which a debug build on a busy machine has to give all of them back.
    let budget = seconds(5);
    let stopped = bus.stop(budget).await;
    assert!(stopped.report.is_clean(), "{}", stopped.report);
    assert!(stopped.report.took <= budget, "{}", stopped.report);
    let stats = stopped.bus.stats("one").unwrap();
    assert_eq!((stats.lost.shutdown, stats.in_hand), (10_000, 0), "{stats}");
    balanced(&stats);
    println!("10,000 taken in {filled:?}; {}, 500 ms of the budget being the reserve", stopped.report);
}
