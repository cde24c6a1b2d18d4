//! Panics: wherever they come from, they are caught, counted apart from errors, and siblings never notice.

use std::{fmt, panic::panic_any};

use tramline::{
    Restart,
    bus::ConsumerState,
    contract::Outcome,
    subject,
    subscription::{Judgement, Parts, Rejection},
};

use crate::support::{Handling, balanced, builder, by_hand, event, millis, name, seconds, settle, until};

/// A payload that panics when it is dropped.
struct Explosive;

impl Drop for Explosive {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

/// A panic's payload that panics when it is dropped.
struct Nested;

impl Drop for Nested {
    fn drop(&mut self) {
        panic_any("and again");
    }
}

/// Runs one delivery through a handler that is restarted, and beside it a sibling that must never notice.
async fn one_panic<F>(function: F) -> String
where
    F: for<'d> Fn(Parts<'d, tramline::subscription::Cx<(), tramline::Json>>) -> Handling<'d> + Send + Sync + 'static,
{
    let handler = by_hand(name("bad"), subject!("a"), function).with(|settings| settings.restart(Restart::new()));
    let bus = builder()
        .subscribe(handler)
        .at_most_once(name("good"))
        .subject(subject!("a"))
        .handle(async |_| {})
        .build()
        .unwrap()
        .start()
        .await
        .unwrap();
    bus.publish(&subject!("a"), event(0)).await.unwrap();
    until("it has panicked", || bus.stats("bad").unwrap().panics == 1).await;
    settle().await;
    let status = bus.status();
    let [bad, good] = [0, 1].map(|at| status.consumers[at].clone());
    assert_eq!((bad.state, good.state), (ConsumerState::Unknown, ConsumerState::Running));
    assert!(good.cause.is_none());
    tokio::time::sleep(millis(1_100)).await;
    assert_eq!(bus.status().consumers[0].state, ConsumerState::Running, "restarted");
    assert!(bus.health().is_healthy());
    let stopped = bus.stop(seconds(1)).await;
    assert!(stopped.report.is_clean(), "{}", stopped.report);
    let stats = stopped.bus.stats("bad").unwrap();
    assert_eq!((stats.panics, stats.lost.handler_panic, stats.errors, stats.delivered), (1, 1, 0, 0), "{stats}");
    balanced(&stats);
    let stats = stopped.bus.stats("good").unwrap();
    assert_eq!((stats.delivered, stats.panics), (1, 0), "{stats}");
    bad.cause.expect("a cause").to_string()
}

#[tokio::test(start_paused = true)]
async fn v4_a_panic_in_a_handler_is_caught_and_counted_apart() {
    let cause = one_panic(|_| Box::pin(async { panic!("on purpose {}", 1) })).await;
    assert_eq!(cause, "the handler panicked: on purpose 1");
}

#[tokio::test(start_paused = true)]
async fn v4_a_panic_before_the_handlers_future_exists_is_caught_too() {
    let cause = one_panic(|_| panic!("eager")).await;
    assert_eq!(cause, "the handler panicked: eager");
}

#[tokio::test(start_paused = true)]
async fn v4_a_panic_in_a_destructor_is_caught_too() {
    let cause = one_panic(|_| {
        Box::pin(async {
            let _held = Explosive;
            Ok(Judgement::new(Outcome::Acked))
        })
    })
    .await;
    assert_eq!(cause, "the handler panicked: dropped");
}

#[tokio::test(start_paused = true)]
async fn v4_a_panics_payload_may_panic_when_it_is_dropped() {
    let cause = one_panic(|_| Box::pin(async { panic_any(Nested) })).await;
    assert_eq!(cause, "the handler panicked: a panic without text");
}

#[tokio::test(start_paused = true)]
async fn v4_a_panic_while_a_rejection_is_put_into_words_is_caught_too() {
    #[derive(Debug)]
    struct Unspeakable;
    impl fmt::Display for Unspeakable {
        fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
            panic!("unspeakable");
        }
    }
    impl std::error::Error for Unspeakable {}
    let cause = one_panic(|_| Box::pin(async { Err(Rejection::new(Unspeakable)) })).await;
    assert_eq!(cause, "the handler panicked: unspeakable");
}

#[tokio::test(start_paused = true)]
async fn v4_a_panic_in_a_destructor_during_cancellation_does_not_harm_the_stop() {
    let handler = by_hand(name("bad"), subject!("a"), |_| {
        Box::pin(async {
            let _held = Explosive;
            std::future::pending().await
        })
    });
    let bus = builder().subscribe(handler).build().unwrap().start().await.unwrap();
    bus.publish(&subject!("a"), event(0)).await.unwrap();
    until("it is in hand", || bus.stats("bad").unwrap().in_hand == 1).await;
    let stopped = bus.stop(seconds(1)).await;
    assert!(stopped.report.is_clean(), "{}", stopped.report);
    let stats = stopped.bus.stats("bad").unwrap();
    assert_eq!((stats.lost.handler_panic, stats.panics), (1, 1), "{stats}");
    balanced(&stats);
}
