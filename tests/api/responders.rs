//! Responders: what they return is the reply, whatever becomes of a request its requester is told, and each delivery is
//! counted by its one reply (contract R6 to R10, L6, L7).

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};

use futures_util::future::join_all;
use serde::{Deserialize, Serialize, Serializer, ser::Error};
use tramline::{
    AtMostOnce, Bus, Delivery, Event, Extension, FromState, Group, Handle, Memory, Payload, Publisher, ReplyValue,
    Restart, Running, State, Subject,
    bus::{BusBuilder, ConsumerState, Stats},
    contract::{FAILURE_ATTRIBUTE, FailureReason, FailureReply, RequestError},
    event::Value,
    responder, source, subject,
    subscription::ExtensionAttribute,
};

use crate::{
    support::{Door, builder, event, many, millis, name, seconds, settle, start, until},
    wire::{Replying, Wire},
};

/// A value that may have no way onto the wire.
#[derive(Debug, PartialEq, Deserialize)]
struct Answer(String);

impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_str() {
            "unencodable" => Err(S::Error::custom("there is no way to write it")),
            text => serializer.serialize_str(text),
        }
    }
}

/// Does what it is asked to.
#[responder(
    subject = "oracle.ask",
    group = "oracle",
    reply = "com.example.answer.v1",
    concurrency = 3,
    bound = 4,
    restart(initial = "1s")
)]
async fn oracle(question: Payload<String>, State(door): State<Door>) -> Result<Answer, String> {
    match question.as_str() {
        "fail" => Err("the secret reason".to_owned()),
        "panic" => panic!("the secret panic"),
        "wait" => {
            door.pass().await;
            Ok(Answer("waited".to_owned()))
        }
        _ => Ok(Answer(question.0)),
    }
}

#[responder(subject = "double.ask", group = "double", reply = "com.example.number.v1", concurrency = 4)]
async fn double(number: Payload<u64>) -> u64 {
    *number * 2
}

#[responder(pattern = "echo.>", group = "echo")]
async fn echo(subject: &Subject, event: &Event) -> Event {
    event.to_builder().extension("asked", subject.as_str()).build().unwrap_or_else(|_| event.clone())
}

#[responder(subject = "forger.ask", group = "forger")]
async fn forger() -> Event {
    FailureReply::new(source!("urn:example:forger")).event(FailureReason::Full)
}

fn oracle_at(door: &Door) -> BusBuilder<Memory> {
    builder().state(door.clone()).subscribe(oracle).state(())
}

async fn ask(bus: &Bus<Memory, Running>, question: &str) -> Result<String, RequestError> {
    bus.request_value(&subject!("oracle.ask"), "com.example.question.v1", question).within(seconds(5)).await
}

/// Asks what is answered when the door opens.
async fn wait_long(handle: Handle<Memory>) -> Result<String, RequestError> {
    handle.request_value(&subject!("oracle.ask"), "com.example.question.v1", "wait").within(seconds(60)).await
}

#[track_caller]
fn failed<T: std::fmt::Debug>(reply: Result<T, RequestError>) -> FailureReason {
    match reply {
        Err(RequestError::ResponderFailed { reason }) => reason,
        other => panic!("no failure reply: {other:?}"),
    }
}

/// The identities of a responder that has nothing in hand.
#[track_caller]
pub(crate) fn answered(stats: &Stats) {
    assert_eq!(stats.unaccounted(), 0, "L4: {stats}");
    let settled = stats.settlement;
    assert_eq!((settled.acked, settled.nacked, settled.silent, settled.refused), (0, 0, 0, 0), "T14, L7: {stats}");
    let lost = stats.lost;
    let reached = stats.delivered + lost.handler_panic + lost.undecodable + lost.malformed + lost.shutdown;
    assert_eq!(stats.replies.total(), reached, "L7, R10: {stats}");
}

#[track_caller]
fn replies(stats: &Stats) -> [u64; 3] {
    answered(stats);
    [stats.replies.replied, stats.replies.refused, stats.replies.unaddressed]
}

#[tokio::test(start_paused = true)]
async fn r6_a_value_that_is_returned_is_the_reply_as_an_event_of_the_type_that_the_attribute_names() {
    let bus = start(builder().subscribe(double)).await;
    let asked = Event::builder("1", source!("urn:example:asker"), "com.example.ask.v1").json("17").build().unwrap();
    let reply = bus.request(&subject!("double.ask"), asked).within(seconds(1)).await.unwrap();
    assert_eq!(reply.event_type(), "com.example.number.v1", "P2");
    assert_eq!(*reply.source(), source!("urn:example:test"), "P3");
    assert_eq!(reply.data_content_type(), Some("application/json"));
    assert_eq!(reply.data().unwrap().bytes(), b"34".as_slice());
    assert!(reply.time().is_some());
    assert_eq!(replies(&bus.stats("double").unwrap()), [1, 0, 0]);
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn r6_an_event_that_is_returned_is_the_reply_as_it_is_and_a_pattern_answers_on_all_its_subjects() {
    let bus = start(builder().subscribe(echo)).await;
    for subject in [subject!("echo.a"), subject!("echo.b.c")] {
        let reply = bus.request(&subject, event(1)).within(seconds(1)).await.unwrap();
        assert_eq!(reply, event(1).to_builder().extension("asked", subject.as_str()).build().unwrap());
    }
    let nobody = bus.request(&subject!("echo"), event(1)).within(seconds(1)).await;
    assert!(matches!(nobody, Err(RequestError::NoResponders)), "{nobody:?}");
    assert_eq!(replies(&bus.stats("echo").unwrap()), [2, 0, 0]);
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn r6_an_error_is_a_failure_reply_and_its_text_stays_here() {
    let bus = start(oracle_at(&Door::closed())).await;
    assert_eq!(ask(&bus, "a question").await.unwrap(), "a question");
    assert_eq!(failed(ask(&bus, "fail").await), FailureReason::Error);
    let stats = bus.stats("oracle").unwrap();
    assert_eq!((stats.delivered, stats.errors, stats.panics, stats.lost.total()), (2, 1, 0, 0), "{stats}");
    assert_eq!(replies(&stats), [2, 0, 0]);
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn r6_the_requester_is_told_the_reason_and_not_the_error() {
    let wire = Wire::default();
    let bus = start(wire.builder().state(Door::closed()).subscribe(oracle).state(())).await;
    let question = |text: &str| event(1).to_builder().json(format!("{text:?}")).build().unwrap();
    for (asked, text) in ["fail", "panic"].into_iter().enumerate() {
        wire.ask(subject!("oracle.ask"), question(text), Replying::Sends);
        until("it is answered", || wire.replies().len() == asked + 1).await;
    }
    assert_eq!(wire.reasons(), [Some(FailureReason::Error), Some(FailureReason::Panic)]);
    for reply in wire.replies() {
        assert!(!format!("{reply:?}").contains("secret"), "{reply:?}");
        assert_eq!(*reply.source(), source!("urn:example:pricing"), "C26");
    }
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn r6_a_panic_is_a_failure_reply_and_fails_the_responder_which_is_restarted() {
    let bus = start(oracle_at(&Door::closed())).await;
    assert_eq!(failed(ask(&bus, "panic").await), FailureReason::Panic);
    settle().await;
    assert_eq!(bus.status().consumers[0].state, ConsumerState::Unknown);
    let gone = ask(&bus, "still there?").await;
    assert!(matches!(gone, Err(RequestError::NoResponders)), "{gone:?}");
    tokio::time::sleep(millis(1_100)).await;
    assert_eq!(ask(&bus, "and now?").await.unwrap(), "and now?");
    let stats = bus.stats("oracle").unwrap();
    assert_eq!((stats.delivered, stats.panics, stats.lost.handler_panic, stats.errors), (1, 1, 1, 0), "{stats}");
    assert_eq!(replies(&stats), [2, 0, 0]);
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn v3_the_other_requests_of_a_responder_that_panics_are_answered_before_it_ends() {
    let door = Door::closed();
    let bus = start(oracle_at(&door)).await;
    let (slow, panicked) = tokio::join!(ask(&bus, "wait"), async {
        until("one is in hand", || bus.stats("oracle").unwrap().in_hand == 1).await;
        let panicked = ask(&bus, "panic").await;
        door.admit(1);
        panicked
    });
    assert_eq!((slow.unwrap().as_str(), failed(panicked)), ("waited", FailureReason::Panic));
    settle().await;
    assert_eq!(replies(&bus.stats("oracle").unwrap()), [2, 0, 0]);
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn v5_a_responder_without_a_restart_policy_is_gone_after_a_panic() {
    let begun = builder().responder(name("one"), Group::new("one").unwrap()).subject(subject!("a"));
    let bus = start(begun.handle(|_| async { if true { panic!("at once") } else { event(1) } })).await;
    assert_eq!(failed(bus.request(&subject!("a"), event(1)).within(seconds(1)).await), FailureReason::Panic);
    settle().await;
    assert_eq!(bus.status().consumers[0].state, ConsumerState::Failed);
    let gone = bus.request(&subject!("a"), event(2)).within(seconds(1)).await;
    assert!(matches!(gone, Err(RequestError::NoResponders)), "{gone:?}");
    let stats = bus.stats("one").unwrap();
    assert_eq!((stats.incidents, replies(&stats)), (1, [1, 0, 0]), "{stats}");
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn r10_a_request_that_cannot_be_decoded_gets_its_failure_reply_at_once() {
    let bus = start(builder().subscribe(double)).await;
    let subject = subject!("double.ask");
    let reply = bus.request_value::<u64, _>(&subject, "com.example.ask.v1", "seventeen").within(seconds(1)).await;
    assert_eq!(failed(reply), FailureReason::Undecodable);
    let stats = bus.stats("double").unwrap();
    assert_eq!((stats.delivered, stats.lost.undecodable, stats.errors), (0, 1, 0), "L6: {stats}");
    assert_eq!(replies(&stats), [1, 0, 0]);
    bus.stop(seconds(1)).await;
}

struct Tenant(String);

impl ExtensionAttribute for Tenant {
    const NAME: &'static str = "tenant";

    fn from_value(value: Option<&Value>) -> Result<Self, String> {
        match value {
            Some(Value::String(tenant)) => Ok(Self(tenant.clone())),
            _ => Err("no tenant".to_owned()),
        }
    }
}

#[responder(subject = "tenant.ask", group = "tenants", reply = "com.example.tenant.v1")]
async fn whose(Extension(Tenant(tenant)): Extension<Tenant>) -> String {
    tenant
}

#[tokio::test(start_paused = true)]
async fn r10_a_request_that_an_extractor_rejects_gets_its_failure_reply_at_once() {
    let bus = start(builder().subscribe(whose)).await;
    let subject = subject!("tenant.ask");
    assert_eq!(failed(bus.request(&subject, event(1)).within(seconds(1)).await), FailureReason::Undecodable);
    let of_t1 = event(2).to_builder().extension("tenant", "t1").build().unwrap();
    let reply = bus.request(&subject, of_t1).within(seconds(1)).await.unwrap();
    assert_eq!(reply.data().unwrap().bytes(), br#""t1""#.as_slice());
    assert_eq!(replies(&bus.stats("whose").unwrap()), [2, 0, 0]);
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn q10_a_malformed_request_gets_its_failure_reply_at_once_and_a_malformed_publish_none() {
    let wire = Wire::default();
    let bus = start(wire.builder().subscribe(echo)).await;
    wire.ask_garbled();
    wire.publish_garbled();
    until("both are counted", || bus.stats("echo").unwrap().replies.total() == 2).await;
    assert_eq!(wire.reasons(), [Some(FailureReason::Undecodable)]);
    let stats = bus.stats("echo").unwrap();
    assert_eq!((stats.delivered, stats.lost.malformed), (0, 2), "{stats}");
    assert_eq!(replies(&stats), [1, 0, 1]);
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn r7_a_reply_with_the_reserved_attribute_is_refused_and_the_requester_told() {
    let bus = start(builder().subscribe(forger)).await;
    let reply = bus.request(&subject!("forger.ask"), event(1)).within(seconds(1)).await;
    assert_eq!(failed(reply), FailureReason::BadReply);
    let stats = bus.stats("forger").unwrap();
    assert_eq!((stats.delivered, stats.errors), (1, 0), "{stats}");
    assert_eq!(replies(&stats), [0, 1, 0]);
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn r6_a_reply_that_cannot_be_encoded_is_refused_and_the_requester_told() {
    let bus = start(oracle_at(&Door::closed())).await;
    assert_eq!(failed(ask(&bus, "unencodable").await), FailureReason::BadReply);
    let stats = bus.stats("oracle").unwrap();
    assert_eq!((stats.delivered, stats.errors), (1, 0), "{stats}");
    assert_eq!(replies(&stats), [0, 1, 0]);
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn r10_a_reply_that_the_backend_does_not_send_is_refused_and_the_responder_goes_on() {
    let wire = Wire::default();
    let bus = start(wire.builder().subscribe(echo)).await;
    for replying in [Replying::Refuses, Replying::Panics, Replying::Sends] {
        wire.ask(subject!("echo.a"), event(1), replying);
    }
    until("all are counted", || bus.stats("echo").unwrap().replies.total() == 3).await;
    assert_eq!(wire.reasons(), [None]);
    let stats = bus.stats("echo").unwrap();
    assert_eq!((stats.delivered, stats.panics, stats.errors), (3, 0, 0), "{stats}");
    assert_eq!(replies(&stats), [1, 2, 0]);
    assert_eq!(bus.status().consumers[0].state, ConsumerState::Running);
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn t8_a_reply_that_does_not_end_does_not_hold_up_a_stop_and_is_refused() {
    let wire = Wire::default();
    let bus = start(wire.builder().subscribe(echo)).await;
    wire.ask(subject!("echo.a"), event(1), Replying::NeverEnds);
    until("it is replying", || bus.stats("echo").unwrap().delivered == 1).await;
    let begun = tokio::time::Instant::now();
    let stopped = bus.stop(seconds(10)).await;
    assert!(begun.elapsed() <= seconds(10));
    assert!(stopped.report.is_clean(), "{}", stopped.report);
    let stats = stopped.bus.stats("echo").unwrap();
    assert_eq!((stats.delivered, replies(&stats)), (1, [0, 1, 0]), "{stats}");
}

#[tokio::test(start_paused = true)]
async fn r8_what_was_published_is_handled_and_its_reply_discarded() {
    let bus = start(oracle_at(&Door::closed()).subscribe(forger)).await;
    for question in ["a question", "fail", "unencodable"] {
        bus.publish_value(&subject!("oracle.ask"), "com.example.question.v1", question).await.unwrap();
    }
    bus.publish_value(&subject!("oracle.ask"), "com.example.question.v1", &17).await.unwrap();
    bus.publish(&subject!("forger.ask"), event(1)).await.unwrap();
    until("all are counted", || bus.stats("oracle").unwrap().replies.total() == 4).await;
    until("and the forger's", || bus.stats("forger").unwrap().replies.total() == 1).await;
    let stats = bus.stats("oracle").unwrap();
    assert_eq!((stats.delivered, stats.errors, stats.lost.undecodable), (3, 1, 1), "{stats}");
    assert_eq!(replies(&stats), [0, 0, 4]);
    assert_eq!(replies(&bus.stats("forger").unwrap()), [0, 0, 1]);
    assert_eq!(bus.ledger().requests.unclaimed, 0);
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn b7_requests_are_answered_side_by_side_and_one_above_the_bound_is_turned_away_at_once() {
    let door = Door::closed();
    let bus = start(oracle_at(&door)).await;
    // Three in hand, four in the queue, and one too many.
    let (first, queued, full) = tokio::join!(
        join_all((0..3).map(|_| ask(&bus, "wait"))),
        async {
            until("three are in hand", || bus.stats("oracle").unwrap().in_hand == 3).await;
            join_all((0..4).map(|_| ask(&bus, "wait"))).await
        },
        async {
            until("four are queued", || bus.stats("oracle").unwrap().pending == 4).await;
            let full = ask(&bus, "wait").await;
            door.admit(7);
            full
        }
    );
    assert_eq!(failed(full), FailureReason::Full);
    for reply in first.into_iter().chain(queued) {
        assert_eq!(reply.unwrap(), "waited");
    }
    let stats = bus.stats("oracle").unwrap();
    assert_eq!((stats.offered, stats.delivered, stats.lost.overflow), (8, 7, 1), "{stats}");
    assert_eq!(replies(&stats), [7, 0, 0], "what was lost before it reached the responder is not among them");
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn y7_a_stop_lets_requests_in_hand_be_answered() {
    let door = Door::closed();
    let bus = start(oracle_at(&door)).await;
    let asking = tokio::spawn(wait_long(bus.handle()));
    until("it is in hand", || bus.stats("oracle").unwrap().in_hand == 1).await;
    let stopping = tokio::spawn(bus.stop(seconds(10)));
    settle().await;
    door.admit(1);
    assert_eq!(asking.await.unwrap().unwrap(), "waited");
    let stopped = stopping.await.unwrap();
    assert!(stopped.report.is_clean(), "{}", stopped.report);
    assert_eq!(replies(&stopped.bus.stats("oracle").unwrap()), [1, 0, 0]);
}

#[tokio::test(start_paused = true)]
async fn y7_requests_that_a_stop_cuts_off_and_those_still_queued_are_told_that_it_stops() {
    let bus = start(oracle_at(&Door::closed())).await;
    let asking = |count| -> Vec<_> { (0..count).map(|_| tokio::spawn(wait_long(bus.handle()))).collect() };
    let mut asked = asking(3);
    until("three are in hand", || bus.stats("oracle").unwrap().in_hand == 3).await;
    asked.extend(asking(2));
    until("two are queued", || bus.stats("oracle").unwrap().pending == 2).await;
    let stopped = bus.stop(seconds(5)).await;
    for asked in asked {
        assert_eq!(failed(asked.await.unwrap()), FailureReason::Stopping);
    }
    let stats = stopped.bus.stats("oracle").unwrap();
    assert_eq!((stats.delivered, stats.lost.shutdown, stats.lost.retired_queued), (0, 3, 2), "{stats}");
    assert_eq!(replies(&stats), [3, 0, 0], "those that were queued never reached it");
}

/// A handler that waits for the reply to a request which nobody takes any more would hold the stop up to the end of its
/// budget, and be cut off.
#[tokio::test(start_paused = true)]
async fn r10_a_stop_does_not_keep_queued_requests_until_the_handlers_of_others_have_finished() {
    let door = Door::closed();
    let handle = Arc::<OnceLock<Handle<Memory>>>::default();
    let asks = handle.clone();
    let asking = oracle_at(&door).at_most_once(name("asks")).subject(subject!("work"));
    let bus = start(asking.handle(move |_: Delivery<AtMostOnce>| {
        let handle = asks.get().cloned();
        async move {
            let reply = wait_long(handle.expect("it is set before")).await;
            assert_eq!(failed(reply), FailureReason::Stopping);
        }
    }))
    .await;
    handle.set(bus.handle()).unwrap();
    let asked: Vec<_> = (0..3).map(|_| tokio::spawn(wait_long(bus.handle()))).collect();
    until("three are in hand", || bus.stats("oracle").unwrap().in_hand == 3).await;
    bus.publish(&subject!("work"), event(1)).await.unwrap();
    until("the handler has asked", || bus.stats("oracle").unwrap().pending == 1).await;
    let stopping = tokio::spawn(bus.stop(seconds(30)));
    settle().await;
    door.admit(3);
    let stopped = stopping.await.unwrap();
    assert!(stopped.report.is_clean() && stopped.report.took < seconds(1), "{}", stopped.report);
    for asked in asked {
        assert_eq!(asked.await.unwrap().unwrap(), "waited");
    }
    let (asks, asked_of) = (stopped.bus.stats("asks").unwrap(), stopped.bus.stats("oracle").unwrap());
    assert_eq!((asks.delivered, asks.panics, asks.lost.shutdown), (1, 0, 0), "{asks}");
    assert_eq!((asked_of.delivered, asked_of.lost.retired_queued), (3, 1), "{asked_of}");
    assert_eq!(replies(&asked_of), [3, 0, 0]);
}

#[tokio::test(start_paused = true)]
async fn r3_a_reply_after_the_deadline_is_a_reply_here_and_unclaimed_there() {
    let door = Door::closed();
    let bus = start(oracle_at(&door)).await;
    let late = ask(&bus, "wait").await;
    assert!(matches!(late, Err(RequestError::NoReply { .. })), "{late:?}");
    door.admit(1);
    until("it has replied", || bus.stats("oracle").unwrap().replies.total() == 1).await;
    assert_eq!(replies(&bus.stats("oracle").unwrap()), [1, 0, 0]);
    assert_eq!(bus.ledger().requests.unclaimed, 1);
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn r9_of_the_members_of_a_group_one_answers_and_none_that_publishes_instead() {
    let group = || Group::new("workers").unwrap();
    let member = |bus: BusBuilder<Memory>, text: &str| {
        let reply = event(text);
        bus.responder(name(text), group()).subject(subject!("a")).concurrency(many(2)).handle(move |_| {
            let reply = reply.clone();
            async move { reply }
        })
    };
    let bus = start(member(member(builder(), "one"), "two")).await;
    let mut by = HashMap::new();
    for id in 0..10 {
        let reply = bus.request(&subject!("a"), event(id)).within(seconds(1)).await.unwrap();
        *by.entry(reply.id().to_owned()).or_insert(0_u64) += 1;
    }
    for member in ["one", "two"] {
        assert_eq!(replies(&bus.stats(member).unwrap()), [by.get(member).copied().unwrap_or(0), 0, 0]);
    }
    assert_eq!(by.values().sum::<u64>(), 10);
    bus.stop(seconds(1)).await;
}

#[derive(Clone)]
struct Prefix(&'static str);

impl FromState<Prefixes> for Prefix {
    fn from_state(state: &Prefixes) -> Self {
        Self(state.0)
    }
}

struct Prefixes(&'static str);

#[tokio::test(start_paused = true)]
async fn a_responder_made_at_run_time_replies_as_one_of_a_function_does() {
    let group = |text: &str| Group::new(text).unwrap();
    let builder = builder()
        .state(Prefixes("the id is "))
        .responder(name("ids"), group("ids"))
        .subject(subject!("id"))
        .bound(many(8))
        .restart(Restart::new())
        .handle_with(|asked: tramline::subscription::Requested, State(Prefix(prefix)): State<Prefix>| async move {
            match asked.event().id() {
                "bad" => Err(format!("on {}", asked.subject())),
                id => Ok(ReplyValue::new("com.example.id.v1", format!("{prefix}{id}"))),
            }
        });
    let bus = builder.build().unwrap().start().await.unwrap();
    let reply = bus.request(&subject!("id"), event("x")).within(seconds(1)).await.unwrap();
    assert_eq!(reply.data().unwrap().bytes(), br#""the id is x""#.as_slice());
    assert_eq!(reply.event_type(), "com.example.id.v1");
    assert_eq!(failed(bus.request(&subject!("id"), event("bad")).within(seconds(1)).await), FailureReason::Error);
    assert_eq!(replies(&bus.stats("ids").unwrap()), [2, 0, 0]);

    bus.responder(name("late"), group("late"))
        .pattern(tramline::pattern!("late.>"))
        .handle(|asked| async move { asked.event().clone() })
        .await
        .unwrap();
    let reply = bus.request(&subject!("late.a"), event("y")).within(seconds(1)).await.unwrap();
    assert_eq!(reply, event("y"));
    bus.subscribe(double).await.unwrap();
    let four = bus.request_value::<u64, _>(&subject!("double.ask"), "t", &2).within(seconds(1)).await.unwrap();
    assert_eq!(four, 4);
    bus.stop(seconds(1)).await;
}

#[responder(subject = "relay.ask", group = "relay")]
async fn relay(event: &Event, publisher: Publisher) -> Result<Event, tramline::contract::PublishError> {
    publisher.publish(&subject!("relayed"), event.clone()).await?;
    Ok(event.clone())
}

#[tokio::test(start_paused = true)]
async fn y13_a_responder_publishes() {
    let bus =
        start(builder().subscribe(relay).at_most_once(name("seen")).subject(subject!("relayed")).handle(async |_| {}))
            .await;
    bus.request(&subject!("relay.ask"), event(1)).within(seconds(1)).await.unwrap();
    until("it was seen", || bus.stats("seen").unwrap().delivered == 1).await;
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn a_responder_answers_again_after_the_bus_was_stopped_and_started() {
    let bus = start(builder().subscribe(double)).await;
    let stopped = bus.stop(seconds(1)).await;
    let bus = stopped.bus.start().await.unwrap();
    let four = bus.request_value::<u64, _>(&subject!("double.ask"), "t", &2).within(seconds(1)).await.unwrap();
    assert_eq!(four, 4);
    assert_eq!(replies(&bus.stats("double").unwrap()), [1, 0, 0]);
    bus.stop(seconds(1)).await;
}

#[tokio::test]
async fn a_responder_can_be_called_without_a_bus() {
    assert_eq!(double::call(Payload(4)).await, 8);
    assert!(oracle::call(Payload("fail".to_owned()), State(Door::closed())).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn the_ledger_prints_replies_where_there_are_any() {
    let bus = start(builder().subscribe(forger).subscribe(double)).await;
    let _ = bus.request(&subject!("forger.ask"), event(1)).within(seconds(1)).await;
    bus.publish(&subject!("forger.ask"), event(2)).await.unwrap();
    until("both are counted", || bus.stats("forger").unwrap().replies.total() == 2).await;
    assert_eq!(
        bus.stats("forger").unwrap().to_string(),
        "\
forger (generation 1)
  offered 2 = delivered 2 + lost 0 + released 0 + in hand 0 + pending 0
  replies: refused 1, unaddressed 1
"
    );
    assert!(!bus.stats("double").unwrap().to_string().contains("replies"));
    assert!(bus.ledger().to_string().contains("  forger replies: refused 1, unaddressed 1\n"), "{}", bus.ledger());
    bus.stop(seconds(1)).await;
}

#[test]
fn r7_the_attribute_that_the_tests_forge_is_the_reserved_one() {
    let forged = FailureReply::new(source!("urn:example:forger")).event(FailureReason::Full);
    assert!(forged.extension(FAILURE_ATTRIBUTE).is_some());
}
