//! How far the waits go, and that one without an end says so.

use std::{future::pending, panic::AssertUnwindSafe};

use futures_util::FutureExt;
use tokio::time::Instant;
use tramline::{
    Bus, Name, source, subject,
    testing::{Handled, StandIn, TestBus},
};

use crate::support::{event, new_job, start};

#[tokio::test(start_paused = true)]
async fn settled_goes_through_every_delay_and_handled_through_none() {
    let (test, _) = start().await;
    let begun = Instant::now();
    test.publish(&new_job(), event("declined")).await.unwrap();
    test.handled().await;
    assert_eq!(begun.elapsed().as_secs(), 0);
    test.delivered_to("work").assert_handled(&[Handled::Nacked { delay: None }]);
    assert_eq!(test.stats("work").unwrap().pending, 1, "it waits out its delay");

    // Others are not held up, and are waited for beside it.
    test.publish(&new_job(), event("x")).await.unwrap();
    test.handled().await;
    assert_eq!(begun.elapsed().as_secs(), 0);
    test.delivered_to("watch").assert_count(1);

    test.settled().await;
    assert_eq!(begun.elapsed().as_secs(), 2 * 60 * 60, "two delays of an hour between three attempts");
    assert_eq!(test.stats("work").unwrap().exhausted, 1);
    test.handled().await;
}

#[tokio::test(start_paused = true)]
async fn handled_waits_for_what_is_queued_though_a_delay_of_before_a_restart_has_not_passed() {
    let (test, _) = start().await;
    test.publish(&new_job(), event("declined")).await.unwrap();
    test.handled().await;
    // Nothing survives this in memory, and so nothing waits out that delay any more.
    let test = test.restart().await.unwrap();
    test.publish(&new_job(), event("x")).await.unwrap();
    test.handled().await;
    test.delivered_to("work").assert_handled(&[Handled::Nacked { delay: None }, Handled::Acked]);
}

#[tokio::test(start_paused = true)]
async fn a_wait_without_an_end_fails_and_says_what_it_waited_for() {
    let wired = Bus::builder(StandIn::new(), source!("urn:example:test"))
        .at_most_once(Name::new("stuck").unwrap())
        .subject(subject!("a"))
        .handle(|_| pending::<()>());
    let test: TestBus = TestBus::start(wired).await.unwrap();
    test.publish(&subject!("a"), event("x")).await.unwrap();
    let panic = AssertUnwindSafe(test.settled()).catch_unwind().await.unwrap_err();
    let text = panic.downcast_ref::<String>().unwrap();
    assert!(text.contains("not settled after a day") && text.contains("stuck"), "{text}");
}

#[tokio::test]
async fn where_time_is_not_paused_the_waits_are_told_too() {
    let (test, _) = start().await;
    for id in ["1", "2", "3"] {
        test.publish(&new_job(), event(id)).await.unwrap();
    }
    test.settled().await;
    test.delivered_to("watch").assert_count(3);
}
