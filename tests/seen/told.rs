//! What a bus tells `tracing`: names, levels, fields and spans are stable, and what floods is told in part.

use std::num::NonZeroU32;

use tracing::{Level, level_filters::LevelFilter};
use tramline::{
    Ack, AtLeastOnce, Bus, Delivery, DurableName, Memory, Nack, Payload, Restart, ShedNewest,
    bus::BusBuilder,
    source, subject, subscription,
    subscription::{Asks, AtLeastOnceBuilder, Immediate, Keeps, MayForget},
};

use crate::{
    recorder::{Recorder, Told},
    shelf::{Settling, Shelf},
    support::{Door, builder, event, many, name, seconds, settle, start, until},
    wire::{Replying, Wire},
};

type Waiting = AtLeastOnceBuilder<Memory, BusBuilder<Memory>, Asks<Immediate, MayForget, Keeps>>;

fn two_attempts() -> Waiting {
    builder()
        .at_least_once(name("one"), DurableName::new("one").unwrap(), NonZeroU32::new(2).unwrap())
        .subject(subject!("a"))
        .allow_volatile()
}

fn three_attempts(shelf: &Shelf) -> AtLeastOnceBuilder<Shelf, BusBuilder<Shelf>, Asks<Immediate, MayForget, Keeps>> {
    Bus::builder(shelf.clone(), source!("urn:example:test"))
        .at_least_once(name("one"), DurableName::new("one").unwrap(), NonZeroU32::new(3).unwrap())
        .subject(subject!("a"))
        .allow_volatile()
}

/// Who it is of, in the fields that every event of a delivery has.
fn of(told: &Told) -> [&str; 4] {
    ["subscription", "subject", "event.id", "attempt"].map(|field| told.get(field))
}

#[tokio::test(start_paused = true)]
async fn a_delivery_is_told_as_deliver_and_settle_and_its_handler_runs_in_the_span_handle() {
    let (recorder, _listening) = Recorder::listen(LevelFilter::TRACE);
    let handler = async |_| {
        tracing::info!(name: "begun", "by the handler");
        tokio::task::yield_now().await;
        tracing::info!(name: "ended", "by the handler");
    };
    let bus = start(builder().at_most_once(name("one")).subject(subject!("a")).handle(handler)).await;
    bus.publish(&subject!("a"), event("x")).await.unwrap();
    bus.idle().await;

    let this = ["one", "a", "x", "1"];
    let [deliver] = &recorder.events("deliver")[..] else { panic!("once: {recorder:?}") };
    assert_eq!((of(deliver), deliver.level, deliver.target.as_str()), (this, Level::DEBUG, "tramline"));
    let [settle] = &recorder.events("settle")[..] else { panic!("once: {recorder:?}") };
    assert_eq!((of(settle), settle.level, settle.target.as_str()), (this, Level::DEBUG, "tramline"));
    assert_eq!((settle.get("verdict"), settle.inside[0].name.as_str()), ("acked", "handle"));

    let [handle] = &recorder.spans("handle")[..] else { panic!("once: {recorder:?}") };
    assert_eq!((of(handle), handle.level, handle.target.as_str()), (this, Level::INFO, "tramline"));
    assert_eq!(handle.get("event.source"), "urn:example:test");
    assert_eq!(handle.get("event.type"), "com.example.test.v1");
    assert_eq!((handle.get("verdict"), handle.get("otel.kind")), ("acked", "consumer"));
    // Each poll is inside, the one after it has waited too.
    for by_the_handler in ["begun", "ended"] {
        let [said] = &recorder.events(by_the_handler)[..] else { panic!("once: {recorder:?}") };
        assert_eq!(said.inside.iter().map(of).collect::<Vec<_>>(), [this]);
    }
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn what_runs_between_two_polls_of_a_handler_is_not_in_its_span() {
    let (recorder, _listening) = Recorder::listen(LevelFilter::INFO);
    let door = Door::closed();
    let waiting = door.clone();
    let handler = move |_| {
        let waiting = waiting.clone();
        async move { waiting.pass().await }
    };
    let bus = start(builder().at_most_once(name("one")).subject(subject!("a")).handle(handler)).await;
    bus.publish(&subject!("a"), event("x")).await.unwrap();
    until("it is in hand", || bus.stats("one").unwrap().in_hand == 1).await;
    settle().await;
    tracing::info!(name: "elsewhere", "by the test");
    assert!(recorder.events("elsewhere")[0].inside.is_empty());
    door.admit(1);
    bus.idle().await;
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn t2_each_verdict_has_its_word_and_a_failure_is_a_warning_with_its_reason() {
    let (recorder, _listening) = Recorder::listen(LevelFilter::DEBUG);
    let handler = async |delivery: Delivery<AtLeastOnce>| match delivery.event().id() {
        "declined" => Ok(delivery.nack()),
        "failed" => Err("out of paper"),
        "panicked" => panic!("out of ink"),
        _ => Ok(delivery.ack()),
    };
    let one = two_attempts().restart(Restart::new().initial(seconds(1)).max(seconds(1))).handle(handler);
    let bus = start(one).await;
    for id in ["acked", "declined", "failed", "panicked"] {
        bus.publish(&subject!("a"), event(id)).await.unwrap();
    }
    bus.idle().await;
    bus.stop(seconds(1)).await;

    let told = recorder.events("settle");
    let told = |id| told.iter().filter(|told| told.get("event.id") == id).collect::<Vec<_>>();
    for (id, verdict, level, reason, times) in [
        ("acked", "acked", Level::DEBUG, "", 1),
        ("declined", "nacked", Level::DEBUG, "", 2),
        ("failed", "failed", Level::WARN, "out of paper", 2),
        ("panicked", "panicked", Level::WARN, "out of ink", 2),
    ] {
        let told = told(id);
        assert_eq!(told.len(), times, "{id}: {told:?}");
        for (attempt, told) in (1..).zip(told) {
            assert_eq!((told.get("verdict"), told.level, told.get("reason")), (verdict, level, reason), "{told:?}");
            assert_eq!(told.get("attempt"), attempt.to_string());
            assert_eq!(told.inside[0].get("verdict"), verdict, "the span says it, too");
        }
    }
    let restarts = recorder.events("restart");
    assert_eq!(restarts.len(), 2, "{restarts:?}");
    for restart in restarts {
        assert_eq!((restart.level, restart.get("subscription")), (Level::WARN, "one"));
        assert_eq!((restart.get("reason"), restart.get("wait")), ("the handler panicked: out of ink", "1s"));
    }
    let [exhausted] = &recorder.events("exhaust")[..] else { panic!("of three messages at the end of one source") };
    assert_eq!((exhausted.get("subscription"), exhausted.level), ("one", Level::WARN));
}

#[tokio::test(start_paused = true)]
async fn v5_who_fails_for_good_is_an_error_with_its_reason() {
    let (recorder, _listening) = Recorder::listen(LevelFilter::ERROR);
    let bus = start(two_attempts().handle(async |_| -> Ack { panic!("on purpose") })).await;
    bus.publish(&subject!("a"), event("x")).await.unwrap();
    until("it has failed", || bus.stats("one").unwrap().incidents == 1).await;
    let [told] = &recorder.events("give_up")[..] else { panic!("once: {recorder:?}") };
    assert_eq!((told.level, told.get("subscription")), (Level::ERROR, "one"));
    assert_eq!(told.get("reason"), "the handler panicked: on purpose");
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn t6_a_refused_settlement_and_a_refused_reply_are_told_as_refuse() {
    let (recorder, _listening) = Recorder::listen(LevelFilter::WARN);
    let shelf = Shelf::default();
    shelf.look().settling = Settling::Refused;
    let bus = start(three_attempts(&shelf).handle(async |_| Nack)).await;
    bus.publish(&subject!("a"), event("x")).await.unwrap();
    until("it is settled", || bus.stats("one").unwrap().settlement.refused == 1).await;
    bus.stop(seconds(1)).await;

    let wire = Wire::default();
    let responder = wire.builder().responder(name("two"), tramline::Group::new("two").unwrap()).subject(subject!("a"));
    let bus = start(responder.handle(async |asked| asked.event().clone())).await;
    wire.ask(subject!("a"), event("y"), Replying::Refuses);
    until("it is answered", || bus.stats("two").unwrap().replies.refused == 1).await;
    bus.stop(seconds(1)).await;

    let told = recorder.events("refuse");
    let what: Vec<_> = told.iter().map(|told| (told.get("what"), told.get("subscription"), told.level)).collect();
    assert_eq!(what, [("settlement", "one", Level::WARN), ("reply", "two", Level::WARN)]);
    assert!(told.iter().all(|told| !told.get("reason").is_empty()), "{told:?}");
    assert_eq!((of(&told[0])[2], of(&told[1])[2]), ("x", "y"), "without the span, which is not listened to");
}

#[tokio::test(start_paused = true)]
async fn q10_what_is_no_event_is_settled_as_malformed_without_an_id() {
    let (recorder, _listening) = Recorder::listen(LevelFilter::WARN);
    let wire = Wire::default();
    let responder = wire.builder().responder(name("two"), tramline::Group::new("two").unwrap()).subject(subject!("a"));
    let bus = start(responder.handle(async |asked| asked.event().clone())).await;
    wire.publish_garbled();
    until("it is counted", || bus.stats("two").unwrap().lost.malformed == 1).await;
    let [told] = &recorder.events("settle")[..] else { panic!("once: {recorder:?}") };
    assert_eq!(
        (told.get("verdict"), told.get("subject"), told.get("reason")),
        ("malformed", "a", "not a valid event: garbled")
    );
    assert_eq!(told.fields(), ["attempt", "reason", "subject", "subscription", "verdict"]);
    bus.stop(seconds(1)).await;
}

#[subscription(subject = "a", bound = 1_000)]
async fn undecodable(_number: Payload<u64>) {}

#[tokio::test(start_paused = true)]
async fn a_flood_of_failures_is_told_five_times_a_second_with_how_often_it_was_not() {
    let (recorder, _listening) = Recorder::listen(LevelFilter::WARN);
    let bus = start(builder().subscribe(undecodable)).await;
    for _ in 0..3 {
        for id in 0..100 {
            bus.publish(&subject!("a"), event(id)).await.unwrap();
        }
        bus.idle().await;
        tokio::time::sleep(seconds(1)).await;
    }
    let told = recorder.events("settle");
    let suppressed: Vec<_> = told.iter().map(|told| told.get("suppressed")).collect();
    assert_eq!(suppressed, ["", "", "", "", "", "95", "", "", "", "", "95", "", "", "", ""]);
    assert_eq!(bus.stats("undecodable").unwrap().lost.undecodable, 300, "each is counted");
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn b2_what_is_shed_is_told_in_sums_every_ten_seconds_and_at_the_end() {
    let (recorder, _listening) = Recorder::listen(LevelFilter::WARN);
    let never = async |_| std::future::pending::<()>().await;
    let one =
        builder().at_most_once(name("one")).subject(subject!("a")).bound(many(1)).overflow(ShedNewest).handle(never);
    let bus = start(one).await;
    let publish = async |count| {
        for id in 0..count {
            bus.publish(&subject!("a"), event(id)).await.unwrap();
            settle().await;
        }
    };
    // One is in hand and one is queued.
    publish(102).await;
    assert!(recorder.events("shed").is_empty(), "not each by itself");
    tokio::time::sleep(seconds(21)).await;
    publish(7).await;
    bus.stop(seconds(1)).await;
    let told = recorder.events("shed");
    let told: Vec<_> = told.iter().map(|told| (told.get("subscription"), told.get("count"), told.level)).collect();
    assert_eq!(told, [("one", "100", Level::WARN), ("one", "7", Level::WARN)]);
}
