//! Starting: what a start that fails, hangs or is dropped leaves behind, and what it tells.

use std::sync::atomic::Ordering::SeqCst;

use futures_util::FutureExt;
use tramline::{
    Bus,
    bus::{BusBuilder, BusState, ConsumerState, StartError},
    contract::PublishError,
    source, subject,
};

use crate::{
    backends::{Answer, Faulty, set},
    support::{event, millis, name, seconds, settle, until},
};

fn faulty(backend: Faulty) -> BusBuilder<Faulty> {
    Bus::builder(backend, source!("urn:example:test"))
}

fn two(backend: Faulty) -> BusBuilder<Faulty> {
    faulty(backend)
        .at_most_once(name("one"))
        .subject(subject!("a"))
        .handle(async |_| {})
        .at_most_once(name("two"))
        .subject(subject!("b"))
        .handle(async |_| {})
}

#[tokio::test(start_paused = true)]
async fn y2_a_backend_that_does_not_open_gives_the_bus_back_and_the_cause_is_on_the_board() {
    let (backend, faults) = Faulty::new();
    let bus = two(backend).build().unwrap();
    set(&faults.open, Answer::Refused);
    let not_started = bus.start().await.unwrap_err();
    assert!(matches!(not_started.error, StartError::Open { .. }), "{not_started}");
    // What a `main` that returns it prints.
    assert_eq!(
        format!("{not_started:?}"),
        "the bus did not start: the backend did not open a session: the broker cannot be reached: the test says so"
    );
    let status = not_started.bus.status();
    assert_eq!((status.state, status.generation), (BusState::Dormant, 0));
    assert_eq!(
        status.cause.as_deref(),
        Some("the backend did not open a session: the broker cannot be reached: the test says so")
    );
    assert!(faults.nothing_is_left());

    set(&faults.open, Answer::Fine);
    let bus = not_started.bus.start().await.expect("starts after all");
    assert_eq!((bus.status().generation, bus.status().cause), (1, None));
    bus.stop(seconds(1)).await;
    settle().await;
    assert!(faults.nothing_is_left());
}

#[tokio::test(start_paused = true)]
async fn y2_a_broker_that_cannot_be_reached_is_tried_again_as_long_as_the_budget_lasts() {
    let (backend, faults) = Faulty::new();
    let bus = two(backend).build().unwrap();
    let handle = bus.handle();
    set(&faults.open, Answer::Refused);
    let starting = tokio::spawn(bus.start_within(seconds(20)));
    tokio::time::sleep(seconds(10)).await;
    let status = handle.status();
    assert_eq!(status.state, BusState::Starting);
    assert_eq!(status.cause.as_deref(), Some("the broker cannot be reached: the test says so"), "a sign of life");
    set(&faults.open, Answer::Fine);
    let bus = starting.await.unwrap().expect("starts once the broker is there");
    assert_eq!(bus.status().cause, None);

    let stopped = bus.stop(seconds(1)).await;
    set(&faults.open, Answer::Refused);
    let begun = tokio::time::Instant::now();
    let not_started = stopped.bus.start_within(seconds(20)).await.unwrap_err();
    assert!(matches!(not_started.error, StartError::Open { .. }), "it says why, and not only that time is up");
    let took = begun.elapsed();
    assert!(took > seconds(17) && took <= seconds(20), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn y2_one_subscription_that_is_refused_fails_the_start_and_leaves_nothing() {
    let (backend, faults) = Faulty::new();
    let bus = two(backend).build().unwrap();
    faults.subscribe("two", Answer::Refused);
    let not_started = bus.start().await.unwrap_err();
    assert!(
        matches!(&not_started.error, StartError::Subscribe { subscription, .. } if subscription.as_str() == "two"),
        "{not_started}"
    );
    settle().await;
    assert!(faults.nothing_is_left(), "the other one's source is gone too");
    assert!(!not_started.bus.handle().is_ready());
    let stats = not_started.bus.stats("one").unwrap();
    assert_eq!((stats.generation, stats.unsubscribed_for), (0, seconds(0)), "no activation was live");

    faults.subscribe("two", Answer::Fine);
    let bus = not_started.bus.start().await.expect("starts after all");
    bus.publish(&subject!("b"), event(0)).await.unwrap();
    until("it is delivered", || bus.stats("two").unwrap().delivered == 1).await;
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn y2_a_start_that_gets_no_answer_fails_within_its_budget_and_names_what_it_waited_for() {
    let (backend, faults) = Faulty::new();
    let bus = two(backend).build().unwrap();
    set(&faults.open, Answer::Never);
    let begun = tokio::time::Instant::now();
    let not_started = bus.start_within(seconds(3)).await.unwrap_err();
    assert_eq!(begun.elapsed(), seconds(3));
    assert_eq!(
        not_started.to_string(),
        "the bus did not start within 3s: it was waiting for the broker; start it with a larger budget"
    );

    set(&faults.open, Answer::Fine);
    faults.subscribe("one", Answer::Never);
    let not_started = not_started.bus.start_within(seconds(3)).await.unwrap_err();
    assert_eq!(
        not_started.to_string(),
        "the bus did not start within 3s: it was waiting for subscription `one`; start it with a larger budget"
    );
    settle().await;
    assert!(faults.nothing_is_left());
}

#[tokio::test(start_paused = true)]
async fn y2_a_backend_that_panics_while_subscribing_fails_the_start_and_leaves_nothing() {
    let (backend, faults) = Faulty::new();
    faults.subscribe("two", Answer::Panics);
    let not_started = two(backend).build().unwrap().start().await.unwrap_err();
    assert_eq!(not_started.to_string(), "the backend panicked while subscribing `two`");
    settle().await;
    assert!(faults.nothing_is_left());
}

#[tokio::test(start_paused = true)]
async fn y2_a_start_that_is_dropped_half_way_releases_everything() {
    let (backend, faults) = Faulty::new();
    let bus = two(backend).build().unwrap();
    let handle = bus.handle();
    faults.subscribe("two", Answer::Never);
    let mut starting = Box::pin(bus.start());
    assert!(starting.as_mut().now_or_never().is_none());
    settle().await;
    assert!(starting.as_mut().now_or_never().is_none());
    assert_eq!(faults.sessions.load(SeqCst), 1, "it was half way");
    assert_eq!(handle.status().state, BusState::Starting);
    drop(starting);
    settle().await;
    assert!(faults.nothing_is_left());
    assert_eq!(handle.status().state, BusState::Dormant);
}

#[test]
fn y2_a_start_may_be_dropped_outside_of_its_runtime() {
    let (backend, faults) = Faulty::new();
    let bus = two(backend).build().unwrap();
    faults.subscribe("two", Answer::Never);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut starting = Box::pin(bus.start());
    runtime.block_on(async {
        assert!(starting.as_mut().now_or_never().is_none());
        settle().await;
        assert!(starting.as_mut().now_or_never().is_none());
    });
    drop(starting);
    runtime.block_on(async {
        settle().await;
        until("everything is released", || faults.nothing_is_left()).await;
    });
}

#[tokio::test(start_paused = true)]
async fn y3_ready_is_a_latch_and_readiness_is_not() {
    let (backend, _) = Faulty::new();
    let bus = two(backend).build().unwrap();
    let handle = bus.handle();
    assert!(handle.ready().now_or_never().is_none());
    assert!(!handle.is_ready());
    let bus = bus.start().await.unwrap();
    assert!(handle.ready().now_or_never().is_some());
    assert!(handle.is_ready());
    let stopped = bus.stop(seconds(1)).await;
    assert!(handle.ready().now_or_never().is_some(), "it never reopens");
    assert!(!handle.is_ready(), "H1");
    assert!(matches!(handle.publish(&subject!("a"), event(0)).await, Err(PublishError::NotReady)), "Y5: in the gap");
    let bus = stopped.bus.start().await.unwrap();
    handle.publish(&subject!("a"), event(0)).await.unwrap();
    bus.stop(seconds(1)).await;
    assert!(matches!(handle.publish(&subject!("a"), event(0)).await, Err(PublishError::NotReady)), "Y5: after");
}

#[tokio::test(start_paused = true)]
async fn y4_whoever_waits_for_the_next_change_misses_none_that_lasts() {
    let (backend, faults) = Faulty::new();
    let bus = two(backend).build().unwrap();
    let mut changes = bus.status_changes();
    assert_eq!(changes.current().state, BusState::Dormant);
    assert!(changes.changed().now_or_never().is_none(), "nothing has changed");
    faults.subscribe("two", Answer::Never);
    let starting = tokio::spawn(bus.start_within(seconds(5)));
    let status = changes.wait_for(|status| status.state == BusState::Starting).await.unwrap();
    assert_eq!(status.generation, 0);
    let status = changes.wait_for(|status| status.cause.is_some()).await.unwrap();
    assert_eq!(status.state, BusState::Dormant);

    faults.subscribe("two", Answer::Fine);
    let bus = starting.await.unwrap().unwrap_err().bus.start().await.unwrap();
    // The change came before anybody waited.
    let status = changes.changed().await.unwrap();
    assert_eq!((status.state, status.generation), (BusState::Running, 1));
    assert!(status.consumers.iter().all(|consumer| consumer.state == ConsumerState::Running));
    drop(bus.stop(seconds(1)).await);
    let last = changes.wait_for(|status| status.state == BusState::Dormant).await.unwrap();
    assert!(last.consumers.iter().all(|consumer| consumer.state == ConsumerState::Stopped));
    settle().await;
    assert!(changes.changed().await.is_none(), "the bus is gone");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn y4_whoever_sees_a_bus_running_can_publish_on_it() {
    for round in 0..200 {
        let (backend, _) = Faulty::new();
        let bus = two(backend).build().unwrap();
        let (handle, mut changes) = (bus.handle(), bus.status_changes());
        let watching = tokio::spawn(async move {
            changes.wait_for(|status| status.state == BusState::Running).await.unwrap();
            handle.publish(&subject!("a"), event(round)).await
        });
        let bus = bus.start().await.unwrap();
        watching.await.unwrap().expect("running means that publishing is possible");
        bus.stop(seconds(1)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn n10_generations_grow_by_one_per_successful_start_and_attempts_by_one_per_source() {
    let (backend, faults) = Faulty::new();
    let mut bus = faulty(backend)
        .at_most_once(name("one"))
        .subject(subject!("a"))
        .restart(tramline::Restart::new())
        .handle(async |_| {})
        .build()
        .unwrap();
    for generation in 1..=3 {
        set(&faults.open, Answer::Refused);
        bus = bus.start().await.unwrap_err().bus;
        set(&faults.open, Answer::Fine);
        let running = bus.start().await.unwrap();
        assert_eq!(running.status().generation, generation);
        faults.end("one");
        tokio::time::sleep(millis(1_500)).await;
        bus = running.stop(seconds(1)).await.bus;
    }
    let ids: Vec<_> =
        faults.ids.lock().unwrap().iter().map(|(_, id)| (id.activation, id.consumer, id.attempt)).collect();
    assert_eq!(ids, [(1, 0, 0), (1, 0, 1), (2, 0, 0), (2, 0, 1), (3, 0, 0), (3, 0, 1)]);
}

#[tokio::test(start_paused = true)]
async fn budgets_without_end_are_taken() {
    let (backend, _) = Faulty::new();
    let bus = two(backend).build().unwrap().start_within(std::time::Duration::MAX).await.unwrap();
    bus.publish(&subject!("a"), event(0)).when_room().within(std::time::Duration::MAX).await.unwrap();
    let stopped = bus.stop(std::time::Duration::MAX).await;
    assert!(stopped.report.is_clean());
}
