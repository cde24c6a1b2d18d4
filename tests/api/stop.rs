//! Stopping: the order, the reserve, what is given back, and sessions that will not close.

use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use tokio::time::Instant;
use tramline::{
    AtMostOnce, Cancelled, Publisher,
    bus::BusState,
    contract::{Outcome, PublishError},
    subject,
    subscription::{Extract, Judgement},
};

use crate::{
    backends::Faulty,
    support::{
        Door, Handling, balanced, builder, by_hand, event, many, millis, name, one_on, seconds, settle, start, until,
    },
};

#[tokio::test(start_paused = true)]
async fn y7_handlers_in_hand_finish_and_the_backlog_is_not_drained() {
    let door = Door::closed();
    let handler = {
        let door = door.clone();
        move |_| {
            let door = door.clone();
            async move { door.pass().await }
        }
    };
    let bus = builder()
        .at_most_once(name("one"))
        .subject(subject!("a"))
        .handle(handler)
        .build()
        .unwrap()
        .start()
        .await
        .unwrap();
    for id in 0..5 {
        bus.publish(&subject!("a"), event(id)).await.unwrap();
    }
    until("one is in hand", || bus.stats("one").unwrap().in_hand == 1).await;
    let stopping = tokio::spawn(bus.stop(seconds(10)));
    settle().await;
    door.admit(5);
    let stopped = stopping.await.unwrap();
    assert!(stopped.report.is_clean(), "{}", stopped.report);
    let stats = stopped.bus.stats("one").unwrap();
    assert_eq!((stats.delivered, stats.lost.retired_queued, stats.in_hand, stats.pending), (1, 4, 0, 0), "{stats}");
    balanced(&stats);
}

#[tokio::test(start_paused = true)]
async fn y7_handlers_that_still_wait_are_cancelled_when_the_reserve_begins_and_counted_lost_by_shutdown() {
    for (budget, reserve) in [(seconds(4), millis(400)), (millis(200), millis(50)), (seconds(60), seconds(1))] {
        let cut = Arc::new(Mutex::new(None));
        struct Note(Arc<Mutex<Option<Instant>>>);
        impl Drop for Note {
            fn drop(&mut self) {
                *self.0.lock().unwrap() = Some(Instant::now());
            }
        }
        let handler = {
            let cut = cut.clone();
            move |_| {
                let note = Note(cut.clone());
                async move {
                    let _note = note;
                    std::future::pending::<()>().await;
                }
            }
        };
        let bus = builder()
            .at_most_once(name("one"))
            .subject(subject!("a"))
            .handle(handler)
            .build()
            .unwrap()
            .start()
            .await
            .unwrap();
        bus.publish(&subject!("a"), event(0)).await.unwrap();
        until("it is in hand", || bus.stats("one").unwrap().in_hand == 1).await;
        let begun = Instant::now();
        let stopped = bus.stop(budget).await;
        let cut = cut.lock().unwrap().expect("the handler was dropped");
        assert!(cut - begun >= budget - reserve && cut - begun < budget - reserve + millis(2), "{:?}", cut - begun);
        assert!(stopped.report.is_clean(), "{}", stopped.report);
        assert!(stopped.report.took < budget, "{}", stopped.report);
        let stats = stopped.bus.stats("one").unwrap();
        assert_eq!((stats.lost.shutdown, stats.delivered, stats.in_hand), (1, 0, 0), "{stats}");
        balanced(&stats);
    }
}

#[tokio::test(start_paused = true)]
async fn y7_a_handler_that_is_busy_but_yields_is_cancelled_too() {
    let handler = async |_| {
        while std::hint::black_box(true) {
            tokio::task::consume_budget().await;
        }
    };
    let bus = builder()
        .at_most_once(name("one"))
        .subject(subject!("a"))
        .handle(handler)
        .build()
        .unwrap()
        .start()
        .await
        .unwrap();
    bus.publish(&subject!("a"), event(0)).await.unwrap();
    settle().await;
    // Time does not advance by itself beside a busy handler.
    let stopping = tokio::spawn(bus.stop(seconds(1)));
    for _ in 0..10 {
        tokio::time::advance(millis(100)).await;
        settle().await;
    }
    let stopped = stopping.await.unwrap();
    assert!(stopped.report.is_clean(), "{}", stopped.report);
    assert_eq!(stopped.bus.stats("one").unwrap().lost.shutdown, 1);
}

#[tokio::test(start_paused = true)]
async fn y7_cancelled_fires_when_stopping_begins_and_y13_handlers_publish_until_they_have_finished() {
    let kept = Arc::new(Mutex::new(None));
    let handler = {
        let kept = kept.clone();
        by_hand(name("in"), subject!("in"), move |parts| -> Handling<'_> {
            let kept = kept.clone();
            Box::pin(async move {
                let cancelled = <Cancelled as Extract<'_, _, AtMostOnce>>::extract(&parts)?;
                let publisher = <Publisher as Extract<'_, _, AtMostOnce>>::extract(&parts)?;
                cancelled.cancelled().await;
                assert!(cancelled.is_cancelled());
                tokio::time::sleep(seconds(1)).await;
                publisher.publish(&subject!("out"), event("late")).await.expect("Y13: still admitted");
                *kept.lock().unwrap() = Some(publisher);
                Ok(Judgement::new(Outcome::Acked))
            })
        })
    };
    let bus = builder()
        .subscribe(handler)
        .at_most_once(name("out"))
        .subject(subject!("out"))
        .handle(async |_| {})
        .build()
        .unwrap()
        .start()
        .await
        .unwrap();
    let handle = bus.handle();
    bus.publish(&subject!("in"), event(0)).await.unwrap();
    until("it is in hand", || bus.stats("in").unwrap().in_hand == 1).await;
    let stopping = tokio::spawn(bus.stop(seconds(10)));
    settle().await;
    let refused = handle.publish(&subject!("out"), event(1)).await;
    assert!(matches!(refused, Err(PublishError::NotReady)), "publishes from outside are refused at once");
    assert!(!handle.is_ready());
    let stopped = stopping.await.unwrap();
    assert!(stopped.report.is_clean(), "{}", stopped.report);
    assert!(stopped.report.took < millis(1_100), "{}", stopped.report);
    let [of_in, of_out] = ["in", "out"].map(|name| stopped.bus.stats(name).unwrap());
    assert_eq!((of_in.delivered, of_in.panics), (1, 0), "{of_in}");
    assert_eq!(of_out.offered, 1, "the backend took it: {of_out}");
    balanced(&of_in);
    balanced(&of_out);
    let publisher = kept.lock().unwrap().take().unwrap();
    let refused = publisher.publish(&subject!("out"), event(2)).await;
    assert!(matches!(refused, Err(PublishError::NotReady)), "the handlers have finished");
}

#[tokio::test(start_paused = true)]
async fn y7_a_stop_without_a_budget_accounts_for_everything() {
    let bus = builder()
        .at_most_once(name("one"))
        .subject(subject!("a"))
        .concurrency(many(4))
        .handle(|_| std::future::pending::<()>())
        .build()
        .unwrap()
        .start()
        .await
        .unwrap();
    for id in 0..10 {
        bus.publish(&subject!("a"), event(id)).await.unwrap();
    }
    until("four are in hand", || bus.stats("one").unwrap().in_hand == 4).await;
    let stopped = bus.stop(seconds(0)).await;
    let stats = stopped.bus.stats("one").unwrap();
    balanced(&stats);
    settle().await;
    let stats = stopped.bus.stats("one").unwrap();
    assert_eq!((stats.in_hand, stats.lost.shutdown, stats.lost.retired_queued), (0, 4, 6), "{stats}");
    balanced(&stats);
    let bus = stopped.bus.start().await.unwrap();
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn y7_a_stop_goes_on_when_its_future_is_dropped() {
    let (backend, faults) = Faulty::new();
    let bus = start(one_on(backend).handle(|_| std::future::pending::<()>())).await;
    let handle = bus.handle();
    bus.publish(&subject!("a"), event(0)).await.unwrap();
    settle().await;
    assert!(bus.stop(seconds(1)).now_or_never().is_none());
    tokio::time::sleep(seconds(1)).await;
    assert_eq!(handle.status().state, BusState::Dormant);
    assert!(faults.nothing_is_left());
    balanced(&handle.stats("one").unwrap());
}

#[tokio::test(start_paused = true)]
async fn y12_a_bus_that_is_dropped_while_it_runs_releases_everything() {
    let (backend, faults) = Faulty::new();
    let bus = start(one_on(backend).handle(|_| std::future::pending::<()>())).await;
    let handle = bus.handle();
    for id in 0..3 {
        bus.publish(&subject!("a"), event(id)).await.unwrap();
    }
    until("it is in hand", || bus.stats("one").unwrap().in_hand == 1).await;
    drop(bus);
    tokio::time::sleep(seconds(6)).await;
    assert!(faults.nothing_is_left());
    let stats = handle.stats("one").unwrap();
    assert_eq!((stats.lost.shutdown, stats.lost.retired_queued, stats.in_hand), (1, 2, 0), "{stats}");
    balanced(&stats);
    assert_eq!(handle.status().state, BusState::Dormant);
}

#[test]
fn y12_a_bus_may_be_dropped_outside_of_its_runtime() {
    let (backend, faults) = Faulty::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let bus = one_on(backend).handle(async |_| {}).build().unwrap();
    let bus = runtime.block_on(bus.start()).unwrap();
    drop(bus);
    runtime.block_on(until("everything is released", || faults.nothing_is_left()));
}
