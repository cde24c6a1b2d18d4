//! Sessions, sources and publishes that outlast a stop's budget.

use std::sync::atomic::Ordering::SeqCst;

use futures_util::FutureExt;
use tokio::time::Instant;
use tramline::{Bus, bus::StartError, contract::RetireReason, source, subject};

use crate::{
    backends::{Answer, Faulty, set},
    support::{balanced, event, name, one_on, seconds, settle, start, until},
};

#[tokio::test(start_paused = true)]
async fn y8_a_session_that_would_not_close_is_closed_behind_the_back_every_quarter_second() {
    let (backend, faults) = Faulty::new();
    let bus = start(one_on(backend).handle(async |_| {})).await;
    set(&faults.close, Answer::Refused);
    let stopped = bus.stop(seconds(1)).await;
    assert!(!stopped.report.session_closed && !stopped.report.is_clean());
    assert!(stopped.report.to_string().ends_with("; the session is not closed yet"), "{}", stopped.report);
    assert_eq!(stopped.report.took, seconds(1));
    assert_eq!(
        stopped.bus.status().cause.as_deref(),
        Some("stopped in 1s; the session is not closed yet"),
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
    let bus = start(one_on(backend).handle(|_| std::future::pending::<()>())).await;
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
    let bus = start(one_on(backend).handle(|_| std::future::pending::<()>())).await;
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
