//! What is seen of deliveries and publishes, and how it is printed.

use std::{panic::AssertUnwindSafe, panic::catch_unwind, time::Duration};

use tramline::{subject, testing::Handled};

use crate::support::{event, new_job, start};

#[tokio::test(start_paused = true)]
async fn a_delivery_is_seen_with_its_subscription_event_attempt_and_verdict() {
    let (test, calls) = start().await;
    test.publish(&new_job(), event("x")).await.unwrap();
    test.settled().await;
    let seen = test.delivered_to("work").only();
    assert_eq!(seen.subscription.as_str(), "work");
    assert_eq!((seen.subject, seen.event, seen.attempt.get()), (new_job(), event("x"), 1));
    assert_eq!(seen.handled, Handled::Acked);
    assert_eq!(calls.count(), 1, "with the service's own state");
    assert_eq!(
        test.deliveries().to_string(),
        "  work: job.new, com.example.job.v1 x, attempt 1: acked\n  watch: job.done, com.example.job.v1 x, attempt 1: acked\n"
    );
}

#[tokio::test(start_paused = true)]
async fn a_publish_is_seen_whoever_made_it_and_a_request_too() {
    let (test, _) = start().await;
    test.publish(&new_job(), event("x")).await.unwrap();
    test.settled().await;
    let reply = test.request(&subject!("job.count"), event("how many")).within(Duration::from_secs(1)).await.unwrap();
    assert_eq!(test.value::<u32>(&reply), 1);
    assert!(
        matches!(&test.delivered_to("counter").only().handled, Handled::Replied(event) if event.data() == reply.data())
    );

    test.published().assert_count(3);
    assert!(!test.published_on("job.done").only().requested);
    assert!(test.published_on("job.count").only().requested);
    test.forget();
    test.published().assert_count(0);
    test.deliveries().assert_count(0);
}

#[tokio::test(start_paused = true)]
async fn an_assertion_that_fails_prints_what_was_seen() {
    let (test, _) = start().await;
    test.publish(&new_job(), event("x")).await.unwrap();
    test.settled().await;
    let seen = test.delivered_to("work");
    let failures: [&dyn Fn(); 3] = [
        &|| {
            seen.assert_count(2);
        },
        &|| {
            seen.assert_handled(&[Handled::CutOff]);
        },
        &|| drop(test.deliveries().only()),
    ];
    for fails in failures {
        let panic = catch_unwind(AssertUnwindSafe(fails)).unwrap_err();
        let text = panic.downcast_ref::<String>().unwrap();
        assert!(text.contains("work: job.new, com.example.job.v1 x, attempt 1: acked"), "{text}");
    }
    let panic = catch_unwind(AssertUnwindSafe(|| test.delivered_to("wrok"))).unwrap_err();
    let text = panic.downcast_ref::<String>().unwrap();
    assert_eq!(text, "there is no subscription `wrok`: there are `counter`, `watch`, `work`");
}
