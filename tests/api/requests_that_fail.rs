//! Requests that nobody answers, and requests in flight when a bus stops.

use futures_util::{future::join_all, poll};
use serde::Serialize;
use tokio::time::Instant;
use tramline::{
    AtMostOnce, Delivery, Fail, Handle, Publisher, Subject, Topic,
    bus::{ConsumerState, RequestStats},
    contract::{FAILURE_ATTRIBUTE, FailureReason, Outcome, PublishError, Reply, RequestError},
    subject,
    subscription::{Extract, Judgement},
};

use crate::{
    asked::{Asked, settled},
    support::{Door, Handling, balanced, builder, by_hand, event, many, millis, name, seconds, settle, start, until},
};

static PRICE_OF: Subject = subject!("price.of");

/// A question that knows where it goes.
#[derive(Serialize, Topic)]
#[topic(subject = "a", event_type = "t")]
struct Question;

/// Answered, no responders, no reply, failed.
fn ends(stats: &RequestStats) -> [u64; 4] {
    [stats.answered, stats.no_responders, stats.no_reply, stats.failed]
}

#[tokio::test(start_paused = true)]
async fn r3_without_a_responder_the_answer_is_prompt() {
    let bus = Asked::default().start().await;
    let begun = Instant::now();
    let asked = bus.request(&PRICE_OF, event(1)).within(seconds(60)).await;
    assert!(matches!(asked, Err(RequestError::NoResponders)), "{asked:?}");
    assert_eq!(begun.elapsed(), seconds(0));
    let requests = bus.ledger().requests;
    assert_eq!(ends(&requests.unnamed), [0, 1, 0, 0]);
    settled(&requests);
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn r3_a_slow_responder_is_no_reply_and_its_late_reply_is_unclaimed() {
    let backend = Asked::default();
    let bus = backend.start().await;
    let mut responder = backend.responder(&PRICE_OF, 8).await;
    let (asked, (event, replier)) =
        tokio::join!(bus.request(&PRICE_OF, event(1)).within(millis(100)), responder.next());
    assert!(matches!(asked, Err(RequestError::NoReply { within }) if within == millis(100)), "{asked:?}");
    let before = bus.ledger().requests;
    assert_eq!((ends(&before.unnamed), before.unclaimed), ([0, 0, 1, 0], 0));
    replier.reply(event).await.expect("it goes out all the same");
    let after = bus.ledger().requests;
    assert_eq!(after.unnamed, before.unnamed, "R4: outside of the identity");
    assert_eq!(after.unclaimed, 1);
    settled(&after);
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn r3_a_requester_that_gives_up_is_no_reply_and_leaves_nothing_behind() {
    let backend = Asked::default();
    let bus = backend.start().await;
    let mut responder = backend.responder(&PRICE_OF, 8).await;
    let mut requests: Vec<_> = (0..8).map(|id| bus.request(&PRICE_OF, event(id)).within(seconds(60))).collect();
    for request in &mut requests {
        assert!(poll!(request).is_pending());
    }
    assert_eq!(bus.ledger().requests.unnamed.in_flight, 8);
    drop(requests);
    let given_up = bus.ledger().requests;
    assert_eq!((ends(&given_up.unnamed), given_up.unclaimed), ([0, 0, 8, 0], 0));
    settled(&given_up);
    for _ in 0..8 {
        responder.answer(Clone::clone).await;
    }
    let after = bus.ledger().requests;
    assert_eq!((after.unnamed, after.unclaimed), (given_up.unnamed, 8));
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn r3_a_request_that_fails_on_its_way_is_failed() {
    let backend = Asked::default();
    let bus = backend.start().await;
    let faults: [fn() -> RequestError; 3] = [
        || RequestError::Failed { source: "the link is down".into() },
        || RequestError::TooLarge { size: 9, limit: 8 },
        || RequestError::QueueFull { subscription: name("audit") },
    ];
    for fault in faults {
        backend.fail(fault);
        let asked = bus.request(&PRICE_OF, event(1)).within(seconds(1)).await;
        assert_eq!(asked.expect_err("as said").to_string(), fault().to_string());
    }
    let requests = bus.ledger().requests;
    assert_eq!(ends(&requests.unnamed), [0, 0, 0, 3]);
    settled(&requests);
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn r10_a_responder_at_its_bound_is_a_failure_reply() {
    let backend = Asked::default();
    let bus = backend.start().await;
    let mut responder = backend.responder(&PRICE_OF, 1).await;
    let requests = (0..3).map(|id| bus.request(&PRICE_OF, event(id)).within(seconds(1)));
    let (asked, ()) = tokio::join!(join_all(requests), async {
        settle().await;
        responder.answer(Clone::clone).await;
    });
    let full =
        |asked: &Result<_, _>| matches!(asked, Err(RequestError::ResponderFailed { reason: FailureReason::Full }));
    assert_eq!(asked.iter().map(full).collect::<Vec<_>>(), [false, true, true]);
    assert_eq!(ends(&bus.ledger().requests.unnamed), [3, 0, 0, 0]);
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn y7_a_stop_does_not_wait_for_the_deadlines_of_requests_and_ends_them_as_failed() {
    let backend = Asked::default();
    let bus = backend.start().await;
    let handle = bus.handle();
    let responder = backend.responder(&PRICE_OF, 8).await;
    let mut requests: Vec<_> = (0..3).map(|id| handle.request(&PRICE_OF, event(id)).within(seconds(600))).collect();
    for request in &mut requests {
        assert!(poll!(request).is_pending());
    }
    let stopped = bus.stop(seconds(30)).await;
    assert!(stopped.report.is_clean() && stopped.report.took < seconds(1), "{}", stopped.report);
    for asked in join_all(requests).await {
        assert!(matches!(asked, Err(RequestError::Closed)), "{asked:?}");
    }
    let requests = stopped.bus.ledger().requests;
    assert_eq!(ends(&requests.unnamed), [0, 0, 0, 3]);
    settled(&requests);
    drop(responder);
}

#[tokio::test(start_paused = true)]
async fn y7_while_handlers_finish_requests_in_flight_may_be_answered_and_no_new_one_is_sent() {
    let backend = Asked::default();
    let door = Door::closed();
    let handler = {
        let door = door.clone();
        move |_: Delivery<AtMostOnce>| {
            let door = door.clone();
            async move { door.pass().await }
        }
    };
    let bus = start(backend.builder().at_most_once(name("slow")).subject(subject!("work")).handle(handler)).await;
    let handle = bus.handle();
    bus.publish(&subject!("work"), event(0)).await.unwrap();
    until("it is in hand", || bus.stats("slow").unwrap().in_hand == 1).await;
    let mut responder = backend.responder(&PRICE_OF, 8).await;
    let mut early = handle.request(&PRICE_OF, event(1)).within(seconds(600));
    assert!(poll!(&mut early).is_pending());

    let stopping = tokio::spawn(bus.stop(seconds(30)));
    settle().await;
    let late = handle.request(&PRICE_OF, event(2)).within(seconds(1)).await;
    assert!(matches!(late, Err(RequestError::NotReady)), "{late:?}");
    responder.answer(Clone::clone).await;
    assert_eq!(early.await.expect("answered while the handler finishes").id(), "1");
    door.admit(1);
    let stopped = stopping.await.unwrap();
    assert!(stopped.report.is_clean(), "{}", stopped.report);
    let requests = stopped.bus.ledger().requests;
    assert_eq!((requests.unnamed.sent, ends(&requests.unnamed)), (1, [1, 0, 0, 0]));
    balanced(&stopped.bus.stats("slow").unwrap());
}

#[tokio::test(start_paused = true)]
async fn n4_a_request_that_is_kept_unpolled_over_a_stop_and_a_start_fails_promptly() {
    let backend = Asked::default();
    let bus = backend.start().await;
    let handle = bus.handle();
    let _responder = backend.responder(&PRICE_OF, 8).await;
    let mut kept = handle.request(&PRICE_OF, event(1)).within(seconds(600));
    assert!(poll!(&mut kept).is_pending());
    let bus = bus.stop(seconds(1)).await.bus.start().await.expect("the kept request holds no session open");
    assert_eq!(bus.ledger().requests.unnamed.in_flight, 1, "nobody has looked");
    let begun = Instant::now();
    assert!(matches!(kept.await, Err(RequestError::Closed)));
    assert_eq!(begun.elapsed(), seconds(0));
    settled(&bus.ledger().requests);
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn r4_a_reply_whose_request_is_dropped_unread_after_the_close_is_unclaimed_too() {
    let backend = Asked::default();
    let bus = backend.start().await;
    let handle = bus.handle();
    let mut responder = backend.responder(&PRICE_OF, 8).await;
    let mut kept = handle.request(&PRICE_OF, event(1)).within(seconds(600));
    assert!(poll!(&mut kept).is_pending());
    responder.answer(Clone::clone).await;
    let bus = bus.stop(seconds(1)).await.bus.start().await.unwrap();
    assert_eq!(bus.ledger().requests.unclaimed, 0, "it may be read yet");
    drop(kept);
    let requests = bus.ledger().requests;
    assert_eq!((ends(&requests.unnamed), requests.unclaimed), ([0, 0, 1, 0], 1));
    settled(&requests);
    assert_eq!(bus.stop(seconds(1)).await.bus.ledger().requests.unclaimed, 1, "once");
}

#[tokio::test(start_paused = true)]
async fn y12_dropping_a_running_bus_ends_its_requests() {
    let backend = Asked::default();
    let bus = backend.start().await;
    let handle: Handle<Asked> = bus.handle();
    let _responder = backend.responder(&PRICE_OF, 8).await;
    let mut request = handle.request(&PRICE_OF, event(1)).within(seconds(600));
    assert!(poll!(&mut request).is_pending());
    drop(bus);
    let begun = Instant::now();
    assert!(matches!(request.await, Err(RequestError::Closed)));
    assert!(begun.elapsed() < seconds(6), "within the budget of a drop");
    assert_eq!(ends(&handle.ledger().requests.unnamed), [0, 0, 0, 1]);
}

#[tokio::test(start_paused = true)]
async fn r4_a_restart_keeps_the_counters_those_of_the_closed_session_too() {
    let backend = Asked::default();
    let mut bus = backend.builder().request_names([name("pricing")]).build().unwrap();
    for lifetime in 1..=3 {
        let running = bus.start().await.unwrap();
        let mut responder = backend.responder(&PRICE_OF, 8).await;
        let ask = || running.request(&PRICE_OF, event(1)).named("pricing").within(millis(10));
        let (asked, ()) = tokio::join!(ask(), responder.answer(Clone::clone));
        asked.expect("answered");
        let (_, (event, replier)) = tokio::join!(ask(), responder.next());
        replier.reply(event).await.unwrap();
        assert_eq!(running.ledger().requests.unclaimed, lifetime, "of all sessions");
        bus = running.stop(seconds(1)).await.bus;
        let requests = bus.ledger().requests;
        assert_eq!(requests.unclaimed, lifetime, "R11: after the close too, and once");
        let pricing = requests.get("pricing").unwrap();
        assert_eq!((pricing.sent, ends(pricing)), (2 * lifetime, [lifetime, 0, lifetime, 0]));
        settled(&requests);
    }
}

#[tokio::test(start_paused = true)]
async fn r7_an_event_that_says_what_only_the_bus_may_say_is_not_published_on_any_way() {
    let reserved = event(1).to_builder().extension(FAILURE_ATTRIBUTE, "error").build().unwrap();
    let within = reserved.clone();
    let publishing = by_hand(name("publishes"), subject!("go"), move |parts| -> Handling<'_> {
        let reserved = within.clone();
        Box::pin(async move {
            let publisher = <Publisher as Extract<'_, _, AtMostOnce>>::extract(&parts)?;
            let published = publisher.publish(&subject!("a"), reserved).await;
            assert!(matches!(published, Err(PublishError::Reserved { attribute: FAILURE_ATTRIBUTE })), "{published:?}");
            Ok(Judgement::new(Outcome::Acked))
        })
    });
    let bus = builder().subscribe(publishing).at_most_once(name("all")).subject(subject!("a")).handle(async |_| {});
    let bus = start(bus).await;
    let handle = bus.handle();
    let to = subject!("a");
    let published = [
        bus.publish(&to, reserved.clone()).await,
        bus.publish(&to, reserved.clone()).when_room().await,
        handle.publish(&to, reserved.clone()).await,
        handle.publish(&to, reserved.clone()).when_room().within(seconds(1)).await,
        bus.publish_value(&to, "t", &17).extension(FAILURE_ATTRIBUTE, "error").await,
        handle.publish_value(&to, "t", &17).extension(FAILURE_ATTRIBUTE, "error").when_room().await,
        bus.publish_topic(&Question).extension(FAILURE_ATTRIBUTE, "error").await,
        handle.publish_topic(&Question).extension(FAILURE_ATTRIBUTE, "error").when_room().await,
        bus.publisher().publish(&to, reserved.clone()).await,
        bus.publisher().extension(FAILURE_ATTRIBUTE, "error").publish_value(&to, "t", &17).await,
        bus.publisher().extension(FAILURE_ATTRIBUTE, "error").publish_topic(&Question).await,
    ];
    for published in published {
        let error = published.expect_err("reserved");
        assert_eq!(error.to_string(), "the attribute `busfailure` is reserved: leave it out");
    }
    bus.publish(&subject!("go"), event(2)).await.unwrap();
    until("it has tried", || bus.stats("publishes").unwrap().delivered == 1).await;
    assert_eq!(bus.stats("all").unwrap().offered, 0, "nothing was taken");
    assert!(bus.status().consumers.iter().all(|consumer| consumer.state == ConsumerState::Running), "no panic");
    bus.stop(seconds(1)).await;
}

#[tokio::test]
async fn r7_in_a_batch_only_the_event_that_says_it_is_refused() {
    let bus = builder().at_most_once(name("all")).subject(subject!("a")).handle(async |_| {});
    let bus = start(bus).await;
    let (handle, publisher, to) = (bus.handle(), bus.publisher(), subject!("a"));
    let batch = || {
        let reserved = event(2).to_builder().extension(FAILURE_ATTRIBUTE, "error").build().unwrap();
        [event(1), reserved, event(3)].into_iter().map(|event| (&to, event))
    };
    let reports = [
        bus.publish_batch(batch()).await,
        bus.publish_batch(batch()).when_room().await,
        handle.publish_batch(batch()).await,
        publisher.publish_batch(batch()).await,
    ];
    for report in &reports {
        let failures: Vec<_> = report.failures().collect();
        let [(1, PublishError::Reserved { attribute: FAILURE_ATTRIBUTE })] = failures[..] else { panic!("{report}") };
    }
    until("the others are handled", || bus.stats("all").unwrap().delivered == 8).await;
    assert_eq!(bus.stats("all").unwrap().offered, 8);
    bus.stop(seconds(1)).await;
}

#[tokio::test]
async fn r3_r4_a_request_that_a_full_subscription_turns_away_has_failed() {
    let door = Door::closed();
    let entered = door.clone();
    let watching = builder().at_most_once(name("watches")).subject(PRICE_OF.clone()).bound(many(1)).overflow(Fail);
    let bus = start(watching.handle(move |_: Delivery<AtMostOnce>| {
        let door = entered.clone();
        async move { door.pass().await }
    }))
    .await;
    bus.publish(&PRICE_OF, event(1)).await.unwrap();
    until("it is in hand", || bus.stats("watches").unwrap().in_hand == 1).await;
    bus.publish(&PRICE_OF, event(2)).await.unwrap();
    let asked = bus.request(&PRICE_OF, event(3)).within(seconds(60)).await;
    assert!(matches!(&asked, Err(RequestError::QueueFull { subscription }) if *subscription == "watches"), "{asked:?}");
    let requests = bus.ledger().requests;
    assert_eq!((requests.unnamed.sent, ends(&requests.unnamed)), (1, [0, 0, 0, 1]));
    settled(&requests);
    door.admit(2);
    bus.stop(seconds(1)).await;
}
