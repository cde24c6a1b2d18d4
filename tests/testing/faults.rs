//! What is made to go wrong, and that it is counted as what it is.

use std::{panic::AssertUnwindSafe, panic::catch_unwind, time::Duration};

use tramline::{
    contract::PublishError,
    subject,
    testing::{Handled, PublishRefusal},
};

use crate::support::{event, new_job, start};

#[tokio::test(start_paused = true)]
async fn a_failure_is_the_handlers_without_its_being_called() {
    let (test, calls) = start().await;
    test.fail_next("work", 2);
    test.publish(&new_job(), event("x")).await.unwrap();
    test.settled().await;
    let failed = Handled::Failed("the test made the handler fail".to_owned());
    test.delivered_to("work").assert_handled(&[failed.clone(), failed, Handled::Acked]);
    assert_eq!(calls.count(), 1);
    let stats = test.stats("work").unwrap();
    assert_eq!((stats.errors, stats.settlement.silent, stats.redelivered), (2, 2, 2), "{stats}");
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_the_handlers_and_its_consumer_is_restarted() {
    let (test, calls) = start().await;
    test.panic_next("work", 1);
    test.publish(&new_job(), event("x")).await.unwrap();
    test.settled().await;
    let panicked = Handled::Panicked("the test made the handler panic".to_owned());
    test.delivered_to("work").assert_handled(&[panicked, Handled::Acked]);
    assert_eq!((calls.count(), test.stats("work").unwrap().panics), (1, 1));
    assert!(test.health().is_healthy());
}

#[tokio::test(start_paused = true)]
async fn a_lost_acknowledgement_brings_the_message_again_as_the_next_attempt() {
    let (test, calls) = start().await;
    test.redeliver_next("work", 1);
    test.publish(&new_job(), event("x")).await.unwrap();
    test.settled().await;
    let seen = test.delivered_to("work");
    seen.assert_handled(&[Handled::Acked, Handled::Acked]);
    assert_eq!([seen[0].attempt.get(), seen[1].attempt.get()], [1, 2]);
    assert_eq!(calls.count(), 2, "the work is done twice");
    test.published_on("job.done").assert_count(2);
}

#[tokio::test(start_paused = true)]
async fn at_most_once_nothing_comes_again_and_the_kit_says_so() {
    let (test, _) = start().await;
    let panic = catch_unwind(AssertUnwindSafe(|| test.redeliver_next("watch", 1))).unwrap_err();
    let text = panic.downcast_ref::<String>().unwrap();
    assert!(text.contains("`watch` is at most once"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_link_that_is_cut_ends_the_source_and_is_made_again() {
    let (test, _) = start().await;
    test.cut_link("work");
    test.settled().await;
    let cause = test.status().consumers[0].cause.clone().unwrap();
    assert!(cause.contains("the test has cut the link"), "{cause}");
    assert!(test.stats("work").unwrap().unsubscribed_for >= Duration::from_secs(1));
    test.publish(&new_job(), event("x")).await.unwrap();
    test.settled().await;
    test.delivered_to("work").assert_count(1);
}

#[tokio::test(start_paused = true)]
async fn what_was_queued_when_the_link_was_cut_is_lost_at_most_once_and_owed_at_least_once() {
    let (test, _) = start().await;
    test.publish(&new_job(), event("x")).await.unwrap();
    test.publish(&subject!("job.done"), event("y")).await.unwrap();
    // Nobody has had a turn yet.
    test.cut_links();
    test.settled().await;
    test.delivered_to("work").assert_count(1);
    assert_eq!(test.stats("watch").unwrap().lost.retired_queued, 1);
}

#[tokio::test(start_paused = true)]
async fn a_publish_is_refused_as_the_test_says_and_only_there() {
    let (test, _) = start().await;
    for (refusal, arrives) in
        [(PublishRefusal::QueueFull, 0), (PublishRefusal::Unconfirmed, 0), (PublishRefusal::ConfirmationLost, 1)]
    {
        test.forget();
        test.refuse_publishes("job.*", 1, refusal);
        let refused = test.publish(&subject!("job.done"), event("x")).await.unwrap_err();
        match refusal {
            PublishRefusal::QueueFull => assert!(matches!(refused, PublishError::QueueFull { .. })),
            _ => assert!(matches!(refused, PublishError::Unconfirmed { .. })),
        }
        test.settled().await;
        test.delivered_to("watch").assert_count(arrives);
        assert!(test.published().only().refused.is_some());
        test.publish(&subject!("job.done"), event("x")).await.unwrap();
        test.settled().await;
        test.delivered_to("watch").assert_count(arrives + 1);
    }
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_room_gets_it_or_is_told_at_the_deadline() {
    let (test, _) = start().await;
    test.refuse_publishes(">", 1, PublishRefusal::QueueFull);
    test.publish(&subject!("job.done"), event("x")).when_room().await.unwrap_or_else(|error| panic!("{error}"));
    test.refuse_publishes(">", 2, PublishRefusal::QueueFull);
    let late = test.publish(&subject!("job.done"), event("y")).when_room().within(Duration::from_secs(5)).await;
    assert!(matches!(late, Err(PublishError::NoRoomInTime { waited, .. }) if waited.as_secs() == 5), "{late:?}");
}

#[tokio::test(start_paused = true)]
async fn a_publish_of_the_handlers_that_is_refused_declines_its_message() {
    let (test, _) = start().await;
    test.refuse_publishes("job.done", 1, PublishRefusal::Unconfirmed);
    test.publish(&new_job(), event("x")).await.unwrap();
    test.settled().await;
    let seen = test.delivered_to("work");
    assert!(matches!(&seen[0].handled, Handled::Failed(why) if why.contains("did not confirm")), "{seen}");
    assert_eq!(seen[1].handled, Handled::Acked);
}
