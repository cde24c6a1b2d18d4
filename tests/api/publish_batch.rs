//! Many events at once: in order, up to a window of them under way, and one outcome for each.

use std::{
    sync::{Arc, Mutex, atomic::Ordering::SeqCst},
    time::Duration,
};

use tokio::time::Instant;
use tramline::{
    Bus, Event, Fail, Memory, Running, Subject,
    contract::{Outcome, Overflow, PublishError},
    source, subject,
    subscription::Judgement,
};

use crate::{
    confirming::Confirming,
    support::{Door, balanced, builder, by_hand, event, many, millis, name, seconds, settle, start, until},
};

fn events(count: usize) -> impl Iterator<Item = (Subject, Event)> {
    (0..count).map(|id| (subject!("a"), event(id)))
}

fn ids(range: std::ops::Range<usize>) -> Vec<String> {
    range.map(|id| id.to_string()).collect()
}

async fn confirmed_after(
    plan: impl Fn(usize) -> (Duration, bool) + Send + Sync + 'static,
) -> (Bus<Confirming, Running>, Arc<crate::confirming::Confirmations>) {
    let (backend, seen) = Confirming::after(plan);
    (start(Bus::builder(backend, source!("urn:example:test"))).await, seen)
}

/// A bus whose subscription `one` fails when full, has one message in hand, and one in its queue of one.
async fn full(door: &Door) -> Bus<Memory, Running> {
    let door = door.clone();
    let handler = move |_| {
        let door = door.clone();
        async move { door.pass().await }
    };
    let one = builder().at_most_once(name("one")).subject(subject!("full")).bound(many(1)).overflow(Fail);
    let bus = start(one.handle(handler)).await;
    bus.publish(&subject!("full"), event("in hand")).await.unwrap();
    until("it is in hand", || bus.stats("one").unwrap().in_hand == 1).await;
    bus.publish(&subject!("full"), event("queued")).await.unwrap();
    bus
}

#[tokio::test]
async fn b8_each_event_has_its_own_outcome_and_what_found_no_room_comes_back() {
    let bus = full(&Door::closed()).await;
    let batch = [(subject!("a"), event(0)), (subject!("full"), event(1)), (subject!("a"), event(2))];
    let report = bus.publish_batch(batch).await;
    assert!(!report.is_ok());
    assert_eq!(report.failures().map(|(index, _)| index).collect::<Vec<_>>(), [1]);
    let said = report.to_string();
    let expected =
        "1 of 3 events of the batch were not published; the first is event 1: the queue of subscription `one`";
    assert!(said.starts_with(expected), "{said}");
    let report = report.into_result().unwrap_err();
    let Some(Err(PublishError::QueueFull { subscription, event: returned })) = report.outcomes.into_iter().nth(1)
    else {
        panic!("another outcome");
    };
    assert_eq!((subscription.as_str(), returned), ("one", event(1)));
}

#[tokio::test]
async fn all_events_of_a_batch_are_published_in_order_and_an_empty_one_is_well() {
    let (bus, seen) = confirmed_after(|_| (Duration::ZERO, true)).await;
    let report = bus.publish_batch(events(1_000)).await;
    assert_eq!(report.to_string(), "all 1000 events of the batch were published");
    report.into_result().unwrap();
    assert_eq!(seen.ids(), ids(0..1_000));
    assert!(bus.publish_batch(events(0)).await.is_ok());
    let report = bus.publisher().publish_batch(events(1_000)).await;
    assert!(report.is_ok() && report.outcomes.len() == 1_000);
    assert_eq!(seen.ids().len(), 2_000);
}

/// What runs out of its turn between two events of a batch takes nothing of the order: tokio's budget is a task's own, and
/// how much of it is left when a batch begins is not the batch's to say.
#[tokio::test]
async fn the_events_of_a_batch_keep_their_order_wherever_the_task_s_turn_ends() {
    let seen = Arc::<Mutex<Vec<String>>>::default();
    let handler = {
        let seen = seen.clone();
        by_hand(name("one"), subject!("a"), move |parts| {
            seen.lock().unwrap().push(parts.event().id().to_owned());
            Box::pin(async { Ok(Judgement::new(Outcome::Acked)) })
        })
    };
    let bus = start(builder().subscribe(handler)).await;
    for spent in [0, 1] {
        tokio::task::yield_now().await;
        for _ in 0..spent {
            tokio::task::consume_budget().await;
        }
        assert!(bus.publish_batch(events(200)).await.is_ok());
        until("all came", || seen.lock().unwrap().len() == 200).await;
        assert_eq!(std::mem::take(&mut *seen.lock().unwrap()), ids(0..200), "{spent} units were spent before");
    }
}

#[tokio::test(start_paused = true)]
async fn a_batch_does_not_wait_for_one_confirmation_before_it_sends_the_next_and_waits_for_at_most_256() {
    let (bus, seen) = confirmed_after(|_| (seconds(1), true)).await;
    let begun = Instant::now();
    assert!(bus.publish_batch(events(256)).await.is_ok());
    assert_eq!(begun.elapsed().as_secs(), 1);
    assert!(bus.publish_batch(events(1_000)).await.is_ok());
    assert_eq!(begun.elapsed().as_secs(), 5, "four windows");
    assert!(bus.handle().publish_batch(events(512)).await.is_ok());
    assert_eq!(begun.elapsed().as_secs(), 7);
    assert!(bus.publisher().publish_batch(events(512)).await.is_ok());
    assert_eq!(begun.elapsed().as_secs(), 9);
    assert_eq!(seen.most.load(SeqCst), 256);
    assert_eq!(seen.ids()[256..1_256], ids(0..1_000));
}

#[tokio::test(start_paused = true)]
async fn outcomes_are_in_the_order_of_the_events_whatever_order_they_are_confirmed_in() {
    // Later ones sooner, some at once, and every seventh refused.
    let plan = |index: usize| {
        let delay = if index.is_multiple_of(5) { 0 } else { 1_000 - index as u64 };
        (millis(delay), index % 7 != 3)
    };
    let (bus, seen) = confirmed_after(plan).await;
    let report = bus.publish_batch(events(1_000)).await;
    assert_eq!(report.outcomes.len(), 1_000);
    for (index, outcome) in report.outcomes.iter().enumerate() {
        match outcome {
            Ok(()) => assert_ne!(index % 7, 3),
            Err(PublishError::Unconfirmed { source }) => assert_eq!(source.to_string(), format!("not {index}")),
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(report.failures().count(), 143);
    assert_eq!(seen.ids(), ids(0..1_000), "sent in order");
}

#[tokio::test(start_paused = true)]
async fn y6_a_batch_is_cut_off_by_stopping_and_what_was_sent_is_still_confirmed() {
    let (bus, seen) = confirmed_after(|_| (seconds(1), true)).await;
    let handle = bus.handle();
    let batch = tokio::spawn(async move { handle.publish_batch(events(1_000)).await });
    tokio::time::sleep(millis(1_500)).await;
    let stopped = bus.stop(seconds(10)).await;
    assert!(stopped.report.is_clean(), "{}", stopped.report);
    let report = batch.await.unwrap();
    let (sent, rest) = report.outcomes.split_at(512);
    assert!(sent.iter().all(Result::is_ok));
    assert_eq!(rest.len(), 488);
    assert!(rest.iter().all(|outcome| matches!(outcome, Err(PublishError::NotReady))));
    assert_eq!(seen.ids(), ids(0..512));
}

#[tokio::test(start_paused = true)]
async fn a_batch_that_is_dropped_has_sent_a_first_part_and_sends_no_more() {
    let (bus, seen) = confirmed_after(|_| (seconds(1), true)).await;
    let given_up = tokio::time::timeout(millis(1_500), bus.publish_batch(events(1_000)).into_future()).await;
    given_up.unwrap_err();
    settle().await;
    assert_eq!(seen.ids(), ids(0..512));
    assert!(bus.stop(seconds(1)).await.report.is_clean(), "nothing of it is left");
}

#[tokio::test(start_paused = true)]
async fn b9_a_batch_waits_for_room_and_none_overtakes_another() {
    let seen = Arc::<Mutex<Vec<String>>>::default();
    let handler = {
        let seen = seen.clone();
        by_hand(name("one"), subject!("a"), move |parts| {
            let seen = seen.clone();
            Box::pin(async move {
                tokio::time::sleep(millis(10)).await;
                seen.lock().unwrap().push(parts.event().id().to_owned());
                Ok(Judgement::new(Outcome::Acked))
            })
        })
    };
    let bus =
        start(builder().subscribe(handler.with(|settings| settings.bound(many(2)).overflow(Overflow::Fail)))).await;
    let report = bus.publish_batch(events(20)).when_room().await;
    assert!(report.is_ok(), "{report}");
    tokio::time::sleep(seconds(1)).await;
    assert_eq!(*seen.lock().unwrap(), ids(0..20));
    assert!(!bus.publish_batch(events(20)).await.is_ok(), "without waiting some find no room");
    balanced(&bus.stop(seconds(1)).await.bus.stats("one").unwrap());
}

#[tokio::test]
async fn a_batch_gives_those_who_handle_it_a_turn() {
    let one = builder().at_most_once(name("one")).subject(subject!("a")).overflow(Fail);
    let bus = start(one.handle(async |_| {})).await;
    let report = bus.publish_batch(events(10_000)).await;
    assert!(report.is_ok(), "a bound of 256 is enough for handlers that keep up: {report}");
    until("all are handled", || bus.stats("one").unwrap().delivered == 10_000).await;
    balanced(&bus.stop(seconds(1)).await.bus.stats("one").unwrap());
}
