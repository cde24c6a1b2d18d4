//! Stopping: the order, the reserve, what is given back, and sessions that will not close.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use futures_util::FutureExt;
use tokio::time::Instant;
use tramline::{
    AtMostOnce, Bus, Cancelled, Fail, Publisher, Subject,
    bus::{BusState, StartError},
    contract::{Outcome, PublishError, RetireReason},
    source, subject,
    subscription::{Extract, Judgement},
};

use crate::{
    backends::{Answer, Faulty, set},
    support::{Door, Handling, balanced, builder, by_hand, event, many, millis, name, seconds, settle, until},
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
    let bus = Bus::builder(backend, source!("urn:example:test"))
        .at_most_once(name("one"))
        .subject(subject!("a"))
        .handle(|_| std::future::pending::<()>())
        .build()
        .unwrap()
        .start()
        .await
        .unwrap();
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
    let bus = Bus::builder(backend, source!("urn:example:test"))
        .at_most_once(name("one"))
        .subject(subject!("a"))
        .handle(|_| std::future::pending::<()>())
        .build()
        .unwrap()
        .start()
        .await
        .unwrap();
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
    let bus = Bus::builder(backend, source!("urn:example:test"))
        .at_most_once(name("one"))
        .subject(subject!("a"))
        .handle(async |_| {})
        .build()
        .unwrap();
    let bus = runtime.block_on(bus.start()).unwrap();
    drop(bus);
    runtime.block_on(until("everything is released", || faults.nothing_is_left()));
}

#[tokio::test(start_paused = true)]
async fn y8_a_session_that_would_not_close_is_closed_behind_the_back_every_quarter_second() {
    let (backend, faults) = Faulty::new();
    let bus = Bus::builder(backend, source!("urn:example:test"))
        .at_most_once(name("one"))
        .subject(subject!("a"))
        .handle(async |_| {})
        .build()
        .unwrap()
        .start()
        .await
        .unwrap();
    set(&faults.close, Answer::Refused);
    let stopped = bus.stop(seconds(1)).await;
    assert!(!stopped.report.session_closed && !stopped.report.is_clean());
    assert!(stopped.report.to_string().ends_with("; the session is not closed yet"), "{}", stopped.report);
    assert_eq!(stopped.report.took, seconds(1));
    assert_eq!(
        stopped.bus.status().cause.as_deref(),
        Some("the session did not close within the budget"),
        "it is on the board"
    );
    let before = faults.closes.load(SeqCst);
    tokio::time::sleep(seconds(10)).await;
    let closes = faults.closes.load(SeqCst) - before;
    assert!((39..=40).contains(&closes), "every 250 ms, and a little for the timer: {closes}");

    let begun = Instant::now();
    let not_started = stopped.bus.start_within(seconds(2)).await.unwrap_err();
    assert_eq!(begun.elapsed(), seconds(2));
    assert!(matches!(not_started.error, StartError::PredecessorOpen { generation: 1, .. }), "{not_started}");
    assert_eq!(
        not_started.to_string(),
        "the session of activation 1 has not closed within 2s: sessions come one after the other"
    );
    assert_eq!(faults.sessions.load(SeqCst), 1, "no second one was opened");

    let starting = tokio::spawn(not_started.bus.start_within(seconds(10)));
    tokio::time::sleep(seconds(1)).await;
    set(&faults.close, Answer::Fine);
    let bus = starting.await.unwrap().expect("its predecessor has closed");
    assert_eq!(bus.status().generation, 2);
    bus.stop(seconds(1)).await;
    settle().await;
    assert!(faults.nothing_is_left());
}

#[tokio::test(start_paused = true)]
async fn n7_a_source_that_does_not_retire_goes_with_its_session_and_is_folded_in_once() {
    let (backend, faults) = Faulty::new();
    let bus = Bus::builder(backend, source!("urn:example:test"))
        .at_most_once(name("one"))
        .subject(subject!("a"))
        .handle(|_| std::future::pending::<()>())
        .build()
        .unwrap()
        .start()
        .await
        .unwrap();
    for id in 0..5 {
        bus.publish(&subject!("a"), event(id)).await.unwrap();
    }
    until("one is in hand", || bus.stats("one").unwrap().in_hand == 1).await;
    set(&faults.retire, Answer::Refused);
    let stopped = bus.stop(seconds(2)).await;
    assert_eq!(stopped.report.not_retired, [name("one")]);
    assert!(stopped.report.to_string().contains("; the source of `one` did not retire"), "{}", stopped.report);
    assert!(stopped.report.took <= seconds(2));
    set(&faults.retire, Answer::Fine);
    tokio::time::sleep(seconds(1)).await;
    let stats = stopped.bus.stats("one").unwrap();
    assert_eq!((stats.lost.shutdown, stats.lost.retired_queued, stats.pending), (1, 4, 0), "{stats}");
    balanced(&stats);
    assert_eq!(*faults.retired.lock().unwrap(), [(name("one"), RetireReason::Stopping)]);
    let bus = stopped.bus.start().await.expect("starts");
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn n7_a_backend_that_panics_while_retiring_or_closing_is_asked_again() {
    let (backend, faults) = Faulty::new();
    let bus = Bus::builder(backend, source!("urn:example:test"))
        .at_most_once(name("one"))
        .subject(subject!("a"))
        .handle(|_| std::future::pending::<()>())
        .build()
        .unwrap()
        .start()
        .await
        .unwrap();
    for id in 0..3 {
        bus.publish(&subject!("a"), event(id)).await.unwrap();
    }
    until("one is in hand", || bus.stats("one").unwrap().in_hand == 1).await;
    set(&faults.retire, Answer::Panics);
    set(&faults.close, Answer::Panics);
    let stopped = bus.stop(seconds(1)).await;
    assert_eq!(stopped.report.not_retired, [name("one")]);
    assert!(!stopped.report.session_closed, "{}", stopped.report);
    set(&faults.close, Answer::Fine);
    let not_started = stopped.bus.start_within(seconds(1)).await.unwrap_err();
    assert!(matches!(not_started.error, StartError::PredecessorOpen { .. }), "its source is still live");
    set(&faults.retire, Answer::Fine);
    let bus = not_started.bus.start_within(seconds(1)).await.unwrap();
    let stats = bus.stats("one").unwrap();
    assert_eq!((stats.offered, stats.lost.shutdown, stats.lost.retired_queued), (3, 1, 2), "{stats}");
    balanced(&stats);
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn y8_a_close_that_hangs_is_tried_again() {
    let (backend, faults) = Faulty::new();
    let bus = Bus::builder(backend, source!("urn:example:test")).build().unwrap().start().await.unwrap();
    set(&faults.close, Answer::Never);
    let stopped = bus.stop(seconds(1)).await;
    assert!(!stopped.report.session_closed);
    set(&faults.close, Answer::Fine);
    let bus = stopped.bus.start_within(seconds(60)).await.expect("its predecessor has closed after all");
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn y6_a_publish_that_never_ends_bounds_nothing_but_its_own_report() {
    let (backend, faults) = Faulty::new();
    let bus = Bus::builder(backend, source!("urn:example:test")).build().unwrap().start().await.unwrap();
    let handle = bus.handle();
    set(&faults.publish, Answer::Never);
    let subject = subject!("a");
    let mut stuck = Box::pin(handle.publish(&subject, event(0)).into_future());
    assert!(stuck.as_mut().now_or_never().is_none());
    let stopped = bus.stop(seconds(2)).await;
    assert!(stopped.report.took <= seconds(2));
    assert!(!stopped.report.publishes_finished);
    assert!(stopped.report.session_closed, "the session had its share of the reserve: {}", stopped.report);
    assert!(stopped.report.to_string().contains("; a publish was still under way"), "{}", stopped.report);
    let bus = stopped.bus.start().await.expect("the kept publish holds no session open");
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn b9_when_room_waits_until_there_is_room_and_tries_again() {
    let door = Door::closed();
    let seen = Arc::new(AtomicUsize::new(0));
    let bus = full_at_two(&door, &seen).await;
    let full = bus.publish(&subject!("a"), event("refused")).await;
    assert!(matches!(&full, Err(PublishError::QueueFull { subscription, .. }) if subscription.as_str() == "one"));
    let handle = bus.handle();
    let waiting: Vec<_> = (0..3)
        .map(|id| {
            let handle = handle.clone();
            tokio::spawn(async move { handle.publish(&subject!("a"), event(id)).when_room().await })
        })
        .collect();
    settle().await;
    assert!(waiting.iter().all(|waiting| !waiting.is_finished()));
    for admitted in 1..=3 {
        door.admit(1);
        settle().await;
        assert_eq!(waiting.iter().filter(|waiting| waiting.is_finished()).count(), admitted, "one each");
    }
    door.admit(10);
    until("all are handled", || seen.load(SeqCst) == 6).await;
    for waiting in waiting {
        waiting.await.unwrap().unwrap();
    }
    let stopped = bus.stop(seconds(1)).await;
    let stats = stopped.bus.stats("one").unwrap();
    assert_eq!(stats.delivered, 6);
    balanced(&stats);
}

#[tokio::test(start_paused = true)]
async fn b9_when_room_is_cut_off_by_stopping_and_ends_at_its_deadline() {
    let bus = full_at_two(&Door::closed(), &Arc::default()).await;
    let begun = Instant::now();
    let late = bus.publish(&subject!("a"), event(0)).when_room().within(seconds(3)).await;
    assert_eq!(begun.elapsed(), seconds(3));
    assert_eq!(late.unwrap_err().to_string(), "no room in the queue of subscription `one` within 3s");
    let handle = bus.handle();
    let waiting = tokio::spawn(async move { handle.publish(&subject!("a"), event(1)).when_room().await });
    settle().await;
    let begun = Instant::now();
    let stopping = tokio::spawn(bus.stop(seconds(10)));
    assert!(matches!(waiting.await.unwrap(), Err(PublishError::NotReady)));
    assert_eq!(begun.elapsed(), seconds(0), "at the beginning of the stop");
    balanced(&stopping.await.unwrap().bus.stats("one").unwrap());
}

/// A bus whose one subscription fails when full, has one message in hand, and two in its queue of two.
async fn full_at_two(door: &Door, seen: &Arc<AtomicUsize>) -> Bus<tramline::Memory, tramline::Running> {
    let handler = {
        let (door, seen) = (door.clone(), seen.clone());
        move |_| {
            let (door, seen) = (door.clone(), seen.clone());
            async move {
                door.pass().await;
                seen.fetch_add(1, SeqCst);
            }
        }
    };
    let bus = builder()
        .at_most_once(name("one"))
        .subject(subject!("a"))
        .bound(many(2))
        .overflow(Fail)
        .handle(handler)
        .build()
        .unwrap()
        .start()
        .await
        .unwrap();
    let subject: Subject = subject!("a");
    bus.publish(&subject, event("x")).await.unwrap();
    until("it is in hand", || bus.stats("one").unwrap().in_hand == 1).await;
    for id in ["y", "z"] {
        bus.publish(&subject, event(id)).await.unwrap();
    }
    bus
}
