//! Supervision: what fails a consumer, when it is started again, and when not.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use tokio::time::Instant;
use tramline::{
    AtMostOnce, Bus, Fail, Payload, Restart, Running,
    bus::{BusState, ConsumerState, Health},
    contract::{Outcome, PublishError, RetireReason},
    subject,
    subscription::{Extract, Judgement},
};

use crate::{
    backends::{Answer, Faults, Faulty},
    support::{
        Door, Handling, balanced, builder, by_hand, event, many, millis, name, one_on, seconds, settle, start, until,
    },
};

/// Panics with a type that a handler may return.
fn fail(text: &str) {
    panic!("{text}");
}

#[tokio::test(start_paused = true)]
async fn l6_what_cannot_be_decoded_is_lost_as_undecodable_and_fails_nothing() {
    let handler = by_hand(name("one"), subject!("a"), |parts| {
        Box::pin(async move {
            let Payload(_) = <Payload<u32> as Extract<'_, _, AtMostOnce>>::extract(&parts)?;
            Ok(Judgement::new(Outcome::Acked))
        })
    });
    let bus = builder().subscribe(handler).build().unwrap().start().await.unwrap();
    bus.publish(&subject!("a"), event("no data")).await.unwrap();
    bus.publish_value(&subject!("a"), "com.example.test.v1", "text").await.unwrap();
    bus.publish_value(&subject!("a"), "com.example.test.v1", &7_u32).await.unwrap();
    until("it is delivered", || bus.stats("one").unwrap().delivered == 1).await;
    let stats = bus.stop(seconds(1)).await.bus.stats("one").unwrap();
    assert_eq!((stats.lost.undecodable, stats.errors, stats.incidents), (2, 0, 0), "{stats}");
    balanced(&stats);
}

#[tokio::test(start_paused = true)]
async fn v3_a_handlers_error_is_counted_and_fails_nothing() {
    let bus = builder()
        .at_most_once(name("one"))
        .subject(subject!("a"))
        .handle(async |_| Err::<(), _>("no luck"))
        .build()
        .unwrap()
        .start()
        .await
        .unwrap();
    for id in 0..3 {
        bus.publish(&subject!("a"), event(id)).await.unwrap();
    }
    until("all are delivered", || bus.stats("one").unwrap().delivered == 3).await;
    assert_eq!(bus.status().consumers[0].state, ConsumerState::Running);
    let stats = bus.stop(seconds(1)).await.bus.stats("one").unwrap();
    assert_eq!((stats.errors, stats.settlement.silent, stats.panics), (3, 3, 0), "{stats}");
    balanced(&stats);
}

async fn faulty(restart: Option<Restart>) -> (Bus<Faulty, Running>, Arc<Faults>) {
    let (backend, faults) = Faulty::new();
    let one = one_on(backend);
    let one = match restart {
        Some(restart) => one.restart(restart),
        None => one,
    };
    let bus = one.handle(async |_| fail("as always")).build().unwrap().start().await.unwrap();
    (bus, faults)
}

#[tokio::test(start_paused = true)]
async fn v2_waits_double_from_one_second_to_thirty() {
    let (bus, faults) = faulty(Some(Restart::new())).await;
    let mut waits = Vec::new();
    for run in 2..=8 {
        bus.publish(&subject!("a"), event(run)).await.unwrap();
        let begun = Instant::now();
        while faults.opened("one") < run {
            tokio::time::sleep(millis(10)).await;
        }
        waits.push(begun.elapsed().as_secs());
        settle().await;
    }
    assert_eq!(waits, [1, 2, 4, 8, 16, 30, 30]);
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn v2_n_restarts_allow_n_plus_one_runs_and_v5_then_it_has_failed_for_good() {
    let (bus, faults) = faulty(Some(Restart::new().max_restarts(2))).await;
    for _ in 0..3 {
        bus.publish(&subject!("a"), event(0)).await.unwrap();
        tokio::time::sleep(seconds(5)).await;
    }
    assert_eq!(faults.opened("one"), 3);
    let status = bus.status();
    assert_eq!((status.state, status.consumers[0].state), (BusState::Running, ConsumerState::Failed));
    assert_eq!(status.consumers[0].cause.as_deref(), Some("the handler panicked: as always"));
    assert_eq!(bus.health(), status.health());
    assert_eq!(bus.health().to_string(), "degraded: one");
    assert!(bus.handle().is_ready(), "H1");
    bus.publish(&subject!("a"), event(1)).await.unwrap();
    let retired: Vec<_> = faults.retired.lock().unwrap().iter().map(|(_, reason)| *reason).collect();
    assert_eq!(retired, [RetireReason::Restarting, RetireReason::Restarting, RetireReason::GivenUp]);
    let bus = bus.stop(seconds(1)).await.bus;
    let stats = bus.stats("one").unwrap();
    assert_eq!((stats.incidents, stats.panics, stats.offered), (1, 3, 3), "{stats}");
    balanced(&stats);

    assert!(matches!(bus.health(), Health::Degraded { .. }), "the board outlives the activation");
    let bus = bus.start().await.unwrap();
    assert!(bus.health().is_healthy(), "a new activation tries anew");
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn v2_a_run_of_thirty_seconds_begins_the_count_anew() {
    let (bus, faults) = faulty(Some(Restart::new().max_restarts(1))).await;
    for run in 1..=4 {
        assert_eq!(faults.opened("one"), run);
        tokio::time::sleep(seconds(31)).await;
        bus.publish(&subject!("a"), event(run)).await.unwrap();
        tokio::time::sleep(millis(1_100)).await;
    }
    assert!(bus.health().is_healthy());
    bus.publish(&subject!("a"), event(0)).await.unwrap();
    tokio::time::sleep(seconds(3)).await;
    assert!(!bus.health().is_healthy(), "two short runs in a row");
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn v2_a_subscribe_that_takes_long_and_fails_is_no_long_run() {
    let (bus, faults) = faulty(Some(Restart::new().max_restarts(1))).await;
    faults.subscribe("one", Answer::RefusedLate);
    bus.publish(&subject!("a"), event(0)).await.unwrap();
    tokio::time::sleep(seconds(62)).await;
    assert!(!bus.health().is_healthy(), "V3: subscribing again failed, which is the second failure");
    let status = bus.status();
    assert_eq!(
        status.consumers[0].cause.as_deref(),
        Some("the broker did not confirm the subscription: the test says so")
    );
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn v3_a_backend_that_panics_while_subscribing_again_fails_the_consumer_and_kills_nothing() {
    let (bus, faults) = faulty(Some(Restart::new().max_restarts(1))).await;
    faults.subscribe("one", Answer::Panics);
    bus.publish(&subject!("a"), event(0)).await.unwrap();
    tokio::time::sleep(seconds(5)).await;
    let one = bus.status().consumers[0].clone();
    assert_eq!(one.state, ConsumerState::Failed);
    assert_eq!(one.cause.as_deref(), Some("the backend panicked while subscribing: the backend panics"));
    let stopped = bus.stop(seconds(1)).await;
    assert!(stopped.report.is_clean(), "{}", stopped.report);
    assert_eq!(stopped.bus.stats("one").unwrap().incidents, 1);
}

#[tokio::test(start_paused = true)]
async fn v2_waiting_for_a_restart_is_cut_short_by_stopping() {
    let (bus, _) = faulty(Some(Restart::new().initial(seconds(1_000)).max(seconds(1_000)))).await;
    bus.publish(&subject!("a"), event(0)).await.unwrap();
    until("it has panicked", || bus.stats("one").unwrap().panics == 1).await;
    settle().await;
    tokio::time::sleep(seconds(7)).await;
    let stopped = bus.stop(seconds(10)).await;
    assert_eq!(stopped.report.took, seconds(0));
    let stats = stopped.bus.stats("one").unwrap();
    assert_eq!(stats.unsubscribed_for.as_secs(), 7, "Y11: {stats}");
    balanced(&stats);
}

#[tokio::test(start_paused = true)]
async fn v1_without_a_policy_the_first_failure_is_the_last() {
    let (bus, faults) = faulty(None).await;
    bus.publish(&subject!("a"), event(0)).await.unwrap();
    tokio::time::sleep(seconds(60)).await;
    assert_eq!((faults.opened("one"), bus.stats("one").unwrap().incidents), (1, 1));
    assert_eq!(bus.health().to_string(), "degraded: one");
    let stopped = bus.stop(seconds(1)).await;
    let unsubscribed = stopped.bus.stats("one").unwrap().unsubscribed_for;
    assert_eq!(unsubscribed.as_secs(), 60, "Y11: a failed one has no source either");
}

#[tokio::test(start_paused = true)]
async fn n8_a_source_that_ends_itself_fails_the_consumer_with_its_cause() {
    let (backend, faults) = Faulty::new();
    let bus = start(one_on(backend).concurrency(many(3)).restart(Restart::new()).handle(async |_| {})).await;
    faults.end("one");
    settle().await;
    let one = bus.status().consumers[0].clone();
    assert_eq!((one.state, one.cause.as_deref()), (ConsumerState::Unknown, Some("its source ended: the link died")));
    tokio::time::sleep(millis(1_100)).await;
    assert_eq!(bus.status().consumers[0].state, ConsumerState::Running);
    bus.publish(&subject!("a"), event(0)).await.unwrap();
    until("it is delivered", || bus.stats("one").unwrap().delivered == 1).await;
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn v5_a_failed_consumers_full_queue_refuses_nobody() {
    let bus = builder()
        .at_most_once(name("bad"))
        .subject(subject!("a"))
        .bound(many(2))
        .overflow(Fail)
        .handle(async |_| {
            tokio::time::sleep(seconds(1)).await;
            fail("slowly");
        })
        .at_most_once(name("good"))
        .subject(subject!("a"))
        .handle(async |_| {})
        .build()
        .unwrap()
        .start()
        .await
        .unwrap();
    bus.publish(&subject!("a"), event(0)).await.unwrap();
    until("it is in hand", || bus.stats("bad").unwrap().in_hand == 1).await;
    for id in 1..=2 {
        bus.publish(&subject!("a"), event(id)).await.unwrap();
    }
    assert!(matches!(bus.publish(&subject!("a"), event(3)).await, Err(PublishError::QueueFull { .. })));
    tokio::time::sleep(seconds(2)).await;
    assert_eq!(bus.health().to_string(), "degraded: bad");
    for id in 4..=9 {
        bus.publish(&subject!("a"), event(id)).await.expect("its queue is gone");
    }
    until("the sibling goes on", || bus.stats("good").unwrap().delivered == 9).await;
    let stopped = bus.stop(seconds(1)).await;
    let stats = stopped.bus.stats("bad").unwrap();
    assert_eq!((stats.lost.handler_panic, stats.lost.retired_queued, stats.lost.overflow), (1, 2, 1), "{stats}");
    balanced(&stats);
    balanced(&stopped.bus.stats("good").unwrap());
}

/// Three handlers at once, of which the first to pass the door panics.
async fn three(door: &Door, panicked: &Arc<AtomicUsize>) -> Bus<tramline::Memory, Running> {
    let handler = {
        let (door, panicked) = (door.clone(), panicked.clone());
        move |_| {
            let (door, panicked) = (door.clone(), panicked.clone());
            async move {
                door.pass().await;
                assert!(panicked.fetch_add(1, SeqCst) > 0, "the first one");
            }
        }
    };
    let bus = builder()
        .at_most_once(name("one"))
        .subject(subject!("a"))
        .concurrency(many(3))
        .handle(handler)
        .build()
        .unwrap()
        .start()
        .await
        .unwrap();
    for id in 0..6 {
        bus.publish(&subject!("a"), event(id)).await.unwrap();
    }
    until("three are in hand", || bus.stats("one").unwrap().in_hand == 3).await;
    door.admit(1);
    until("one has panicked", || bus.stats("one").unwrap().panics == 1).await;
    settle().await;
    bus
}

#[tokio::test(start_paused = true)]
async fn v3_other_handlers_of_a_failed_consumer_finish_first() {
    let (door, panicked) = (Door::closed(), Arc::default());
    let bus = three(&door, &panicked).await;
    tokio::time::sleep(seconds(29)).await;
    assert_eq!(bus.stats("one").unwrap().in_hand, 2, "they have their time");
    door.admit(2);
    settle().await;
    let stats = bus.stats("one").unwrap();
    assert_eq!((stats.delivered, stats.lost.handler_panic, stats.lost.retired_queued), (2, 1, 3), "{stats}");
    balanced(&stats);
    assert_eq!(bus.status().consumers[0].state, ConsumerState::Failed);
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn v3_after_thirty_seconds_the_other_handlers_are_cancelled() {
    let (door, panicked) = (Door::closed(), Arc::default());
    let bus = three(&door, &panicked).await;
    tokio::time::sleep(millis(29_900)).await;
    assert_eq!(bus.stats("one").unwrap().in_hand, 2);
    tokio::time::sleep(millis(200)).await;
    let stats = bus.stats("one").unwrap();
    assert_eq!((stats.in_hand, stats.lost.shutdown, stats.lost.retired_queued), (0, 2, 3), "{stats}");
    balanced(&stats);
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn v3_a_stop_cuts_the_time_of_a_failing_consumer_short() {
    let (door, panicked) = (Door::closed(), Arc::default());
    let bus = three(&door, &panicked).await;
    let stopped = bus.stop(seconds(2)).await;
    assert!(stopped.report.is_clean(), "{}", stopped.report);
    assert!(stopped.report.took < seconds(2));
    let stats = stopped.bus.stats("one").unwrap();
    assert_eq!((stats.lost.shutdown, stats.incidents), (2, 1), "{stats}");
    balanced(&stats);
}

#[tokio::test(start_paused = true)]
async fn y7_a_failing_consumers_handlers_learn_that_they_are_to_stop() {
    let (told, panicking) = (Arc::new(Mutex::new(None)), Arc::new(AtomicUsize::new(0)));
    let handler = {
        let (told, panicking) = (told.clone(), panicking.clone());
        by_hand(name("one"), subject!("a"), move |parts| -> Handling<'_> {
            let (told, panicking) = (told.clone(), panicking.clone());
            Box::pin(async move {
                let cancelled = <tramline::Cancelled as Extract<'_, _, AtMostOnce>>::extract(&parts)?;
                if panicking.fetch_add(1, SeqCst) == 1 {
                    tokio::time::sleep(seconds(1)).await;
                    panic!("the second");
                }
                cancelled.cancelled().await;
                *told.lock().unwrap() = Some(Instant::now());
                Ok(Judgement::new(Outcome::Acked))
            })
        })
        .with(|settings| settings.concurrency(many(2)))
    };
    let bus = builder().subscribe(handler).build().unwrap().start().await.unwrap();
    let begun = Instant::now();
    for id in 0..2 {
        bus.publish(&subject!("a"), event(id)).await.unwrap();
    }
    tokio::time::sleep(seconds(3)).await;
    assert_eq!((told.lock().unwrap().expect("told") - begun).as_secs(), 1);
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn l5_interruptions_of_all_sources_are_added_up_and_are_beside_the_identity() {
    let (backend, faults) = Faulty::new();
    let bus = one_on(backend).restart(Restart::new()).handle(async |_| {}).build().unwrap().start().await.unwrap();
    bus.publish(&subject!("a"), event(0)).await.unwrap();
    until("it is delivered", || bus.stats("one").unwrap().delivered == 1).await;
    faults.interruptions.store(2, SeqCst);
    let stats = bus.stats("one").unwrap();
    assert_eq!(stats.interruptions, 2, "of the source that lives");
    balanced(&stats);

    faults.end("one");
    tokio::time::sleep(seconds(2)).await;
    until("another source runs", || bus.status().consumers[0].state == ConsumerState::Running).await;
    assert_eq!(faults.opened("one"), 2);
    faults.interruptions.store(3, SeqCst);
    let stats = bus.stop(seconds(1)).await.bus.stats("one").unwrap();
    assert_eq!(stats.interruptions, 5, "of the source that ended, and of the next");
    balanced(&stats);
    assert!(stats.to_string().contains("beside it: interruptions 5"), "{stats}");
}
