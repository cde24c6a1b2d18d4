//! Topics: a type's subject, event type and schema, when its values are published and when they are taken.

use std::{
    borrow::Cow,
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use proptest::prelude::{ProptestConfig, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};
use serde::{Deserialize, Serialize};
use tramline::{
    AtMostOnce, Delivery, Event, Fail, FromState, Handle, Memory, Payload, Publisher, State, Subject, Topic,
    bus::BusBuilder,
    contract::PublishError,
    event::{Data, Uri, Value},
    pattern, subject,
    subject::PlaceFlaw,
    subscription,
};

use crate::support::{Door, balanced, builder, many, millis, name, seconds, start, until};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Region {
    Eu,
    Us,
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Eu => "eu",
            Self::Us => "us",
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Topic)]
#[topic(
    subject = "order.{region}.placed",
    event_type = "com.example.order.placed.v1",
    schema = "https://example.com/schemas/order.json"
)]
struct OrderPlaced<'a> {
    region: Region,
    total: u64,
    note: &'a str,
}

const ORDER: OrderPlaced<'static> = OrderPlaced { region: Region::Eu, total: 17, note: "by \u{2708}" };

/// Places of every kind: at both ends, twice the same, a keyword.
#[derive(Debug, Serialize, Topic)]
#[topic(subject = "{type}.moved.{to}.{to}", event_type = "com.example.moved.v1")]
struct Moved<'a> {
    r#type: &'a str,
    to: String,
}

#[derive(Serialize, Topic)]
#[topic(subject = "pair.{1}.{0}", event_type = "com.example.pair.v1")]
struct Pair<'a, A, B>(A, Cow<'a, B>)
where
    B: Clone;

#[derive(Serialize, Deserialize, Topic)]
#[topic(subject = "service.state", event_type = "com.example.state.v1")]
enum ServiceState {
    Up,
    Down { since: u64 },
}

/// What a handler saw.
type Seen = Arc<Mutex<Vec<(Subject, Event)>>>;

#[derive(Clone, Default)]
struct Shelf {
    seen: Seen,
    totals: Arc<AtomicUsize>,
}

impl FromState<Shelf> for Seen {
    fn from_state(state: &Shelf) -> Self {
        state.seen.clone()
    }
}

impl FromState<Shelf> for Arc<AtomicUsize> {
    fn from_state(state: &Shelf) -> Self {
        state.totals.clone()
    }
}

#[subscription(pattern = "order.*.placed")]
async fn orders(subject: &Subject, event: &Event, order: Payload<OrderPlaced<'_>>, State(seen): State<Seen>) {
    assert_eq!(order.0, ORDER, "borrowed from the event");
    seen.lock().unwrap_or_else(PoisonError::into_inner).push((subject.clone(), event.clone()));
}

#[subscription(pattern = "order.>")]
async fn totals(order: Payload<OrderPlaced<'_>>, State(totals): State<Arc<AtomicUsize>>) {
    totals.fetch_add(usize::try_from(order.total).expect("small"), Relaxed);
}

/// Turns what is placed into what is moved.
#[subscription(pattern = "order.*.placed")]
async fn forwards(order: Payload<OrderPlaced<'_>>, publisher: Publisher) -> Result<(), PublishError> {
    let to = order.region.to_string();
    publisher.publish_topic(&Moved { r#type: "order", to }).await
}

fn service(shelf: &Shelf) -> BusBuilder<Memory, Shelf> {
    builder().state(shelf.clone()).subscribe(orders).subscribe(totals).subscribe(forwards)
}

/// The subject of a value, as text.
#[track_caller]
fn on(topic: &impl Topic) -> String {
    topic.subject().expect("every place is filled").to_string()
}

#[test]
fn a_subject_is_made_from_the_fields() {
    assert_eq!(on(&ORDER), "order.eu.placed");
    assert_eq!(on(&OrderPlaced { region: Region::Us, ..ORDER }), "order.us.placed");
    assert_eq!(on(&Moved { r#type: "van", to: "x".to_owned() }), "van.moved.x.x");
    assert_eq!(on(&Pair::<_, char>(7, Cow::Owned('é'))), "pair.é.7");
    assert_eq!(on(&Pair("a$b", Cow::Borrowed(&true))), "pair.true.a$b");
    assert_eq!(on(&ServiceState::Up), "service.state");
    assert_eq!(on(&ServiceState::Down { since: 3 }), "service.state");
}

#[test]
fn a_topics_pattern_has_a_wildcard_for_each_place() {
    assert_eq!(OrderPlaced::PATTERN, "order.*.placed");
    assert_eq!(Moved::PATTERN, "*.moved.*.*");
    assert_eq!(Pair::<u8, u8>::PATTERN, "pair.*.*");
    assert_eq!(ServiceState::PATTERN, "service.state");
}

#[test]
fn s2_s6_what_fills_a_place_is_one_token_or_an_error_names_type_field_and_value() {
    let refused = |r#type: &str, to: &str| Moved { r#type, to: to.to_owned() }.subject().expect_err("no token");
    let cases = [
        ("", PlaceFlaw::Empty),
        (".", PlaceFlaw::Dot),
        ("a.b", PlaceFlaw::Dot),
        ("a.", PlaceFlaw::Dot),
        (".a", PlaceFlaw::Dot),
        ("*", PlaceFlaw::Wildcard),
        (">", PlaceFlaw::Wildcard),
        ("a*", PlaceFlaw::Wildcard),
        ("a>b", PlaceFlaw::Wildcard),
        (" ", PlaceFlaw::Whitespace),
        ("a\u{2003}b", PlaceFlaw::Whitespace),
        ("a\u{7f}", PlaceFlaw::Control),
        ("\u{85}", PlaceFlaw::Whitespace),
    ];
    for (value, flaw) in cases {
        for (error, field) in [(refused(value, "x"), "type"), (refused("x", value), "to")] {
            assert_eq!((error.topic(), error.field(), error.value(), error.flaw()), ("Moved", field, value, flaw));
        }
    }
    let reserved = refused("$SYS", "x");
    assert_eq!((reserved.field(), reserved.flaw()), ("type", PlaceFlaw::Reserved));
    assert_eq!(on(&Moved { r#type: "a", to: "$b".to_owned() }), "a.moved.$b.$b", "reserved only where it opens");

    let long = refused("x", &"y".repeat(300));
    assert_eq!((long.field(), long.flaw()), ("to", PlaceFlaw::TooLong));
    assert_eq!(on(&Moved { r#type: &"x".repeat(255 - 10), to: "y".to_owned() }).len(), 255);
    let longest = refused(&"x".repeat(255 - 9), "y");
    assert_eq!((longest.field(), longest.flaw()), ("type", PlaceFlaw::TooLong), "of the whole, by the longest part");

    let text = refused("x", "eu.west").to_string();
    let expected = "this `Moved` has no subject: its field `to` is \"eu.west\", and a token has no dot (S1): \
                    join words with `-` or `_`";
    assert_eq!(text, expected);
    assert!(refused("x", &format!("{} z", "y".repeat(500))).to_string().len() < 250, "a long value is cut");
}

#[test]
fn a_display_that_fails_is_an_error_and_no_panic() {
    struct Broken;
    impl fmt::Display for Broken {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("half")?;
            Err(fmt::Error)
        }
    }
    #[derive(Topic)]
    #[topic(subject = "a.{0}", event_type = "t")]
    struct Holds(Broken);
    let error = Holds(Broken).subject().expect_err("it cannot be written");
    assert_eq!((error.field(), error.flaw()), ("0", PlaceFlaw::Unwritten));
}

#[tokio::test]
async fn p2_a_topic_is_published_on_its_subject_with_its_type_and_schema_and_read_back() {
    let shelf = Shelf::default();
    let bus = start(service(&shelf)).await;
    let handle: Handle<Memory> = bus.handle();
    bus.publish_topic(&ORDER).await.expect("taken");
    handle.publish_topic(&ORDER).await.expect("taken");
    bus.publish_topic(&ORDER).when_room().await.expect("taken");
    handle.publish_topic(&ORDER).when_room().within(seconds(1)).await.expect("taken");
    until("all are handled", || shelf.totals.load(Relaxed) == 4 * 17).await;
    until("all are forwarded", || bus.stats("forwards").expect("known").delivered == 4).await;
    let stopped = bus.stop(seconds(1)).await;
    let seen = shelf.seen.lock().expect("not poisoned").clone();
    assert_eq!(seen.len(), 4);
    for (subject, event) in &seen {
        assert_eq!(subject, "order.eu.placed");
        assert_eq!(event.event_type(), "com.example.order.placed.v1");
        assert_eq!(event.data_schema().expect("given").as_str(), "https://example.com/schemas/order.json");
        assert_eq!(event.data_content_type(), Some("application/json"));
        assert_eq!(event.source().as_str(), "urn:example:test");
        assert_eq!(event.id().len(), 36, "a UUID");
        assert!(event.time().is_some());
        assert!(matches!(event.data(), Some(Data::Json(_))));
    }
    let ids: std::collections::HashSet<_> = seen.iter().map(|(_, event)| event.id()).collect();
    assert_eq!(ids.len(), 4);
    for stats in stopped.bus.ledger().subscriptions {
        balanced(&stats);
    }
}

#[tokio::test]
async fn a_topic_without_a_schema_sends_none_and_a_publisher_publishes_topics_too() {
    let events: Seen = Seen::default();
    let kept = events.clone();
    let shelf = Shelf::default();
    let bus =
        service(&shelf).at_most_once(name("moved")).pattern(Moved::PATTERN).handle(move |d: Delivery<AtMostOnce>| {
            kept.lock().expect("not poisoned").push((d.subject().clone(), d.event().clone()));
            async {}
        });
    let bus = start(bus).await;
    bus.publish_topic(&ORDER).await.expect("taken");
    until("the forwarded one has come", || events.lock().expect("not poisoned").len() == 1).await;
    let (subject, event) = events.lock().expect("not poisoned").pop().expect("one");
    assert_eq!(subject, "order.moved.eu.eu");
    assert_eq!(event.event_type(), "com.example.moved.v1");
    assert_eq!(event.data_schema(), None);
}

#[tokio::test]
async fn p2_what_is_said_of_one_publish_replaces_what_its_topic_says_and_a_topic_replaces_a_default() {
    let shelf = Shelf::default();
    let bus = start(builder().state(shelf.clone()).subscribe(orders)).await;
    let other = Uri::new("https://example.com/schemas/other.json").expect("valid");
    bus.publish_topic(&ORDER)
        .id("order-1")
        .extension("tenant", "north")
        .data_schema(other.clone())
        .await
        .expect("taken");
    bus.handle().publish_topic(&ORDER).subject_attribute("order 1").when_room().await.expect("taken");
    let publisher = bus.publisher().data_schema(other.clone()).extension("tenant", "south");
    publisher.publish_topic(&ORDER).await.expect("taken");
    until("all are handled", || bus.stats("orders").expect("known").delivered == 3).await;

    let seen = shelf.seen.lock().expect("not poisoned").clone();
    let [(_, changed), (_, about), (_, defaulted)] = &seen[..] else { panic!("three: {seen:?}") };
    assert_eq!(changed.id(), "order-1");
    assert_eq!(changed.extension("tenant"), Some(&Value::from("north")));
    assert_eq!(changed.data_schema(), Some(&other));
    assert_eq!(about.subject(), Some("order 1"));
    assert_eq!(about.data_schema().map(Uri::as_str), OrderPlaced::SCHEMA.as_ref().map(Uri::as_str));
    assert_eq!(defaulted.data_schema().map(Uri::as_str), OrderPlaced::SCHEMA.as_ref().map(Uri::as_str));
    assert_eq!(defaulted.extension("tenant"), Some(&Value::from("south")));
}

#[tokio::test]
async fn a_value_without_a_subject_is_not_sent() {
    let bus = start(builder().at_most_once(name("all")).pattern(pattern!(">")).handle(|_| async {})).await;
    let nowhere = Moved { r#type: "a b", to: "c".to_owned() };
    let handle = bus.handle();
    for error in [
        bus.publish_topic(&nowhere).await.expect_err("no token"),
        handle.publish_topic(&nowhere).await.expect_err("no token"),
        bus.publish_topic(&nowhere).when_room().await.expect_err("no token"),
    ] {
        assert!(matches!(&error, PublishError::Topic(error) if error.field() == "type"), "{error}");
        assert!(error.to_string().contains("`Moved`") && error.to_string().contains("\"a b\""), "{error}");
    }
    assert_eq!(bus.stats("all").expect("known").offered, 0);
}

#[tokio::test]
async fn y5_a_topic_is_not_published_through_a_handle_of_a_bus_that_does_not_run() {
    let bus = builder().build().expect("valid");
    let error = bus.handle().publish_topic(&ORDER).await.expect_err("not running");
    assert!(matches!(error, PublishError::NotReady), "{error}");
}

#[tokio::test(start_paused = true)]
async fn b9_a_topic_waits_for_room_and_gives_up_at_its_deadline() {
    let door = Door::closed();
    let entered = door.clone();
    let bus =
        builder().at_most_once(name("full")).subject(subject!("service.state")).bound(many(1)).overflow(Fail).handle(
            move |_: Delivery<AtMostOnce>| {
                let door = entered.clone();
                async move { door.pass().await }
            },
        );
    let bus = start(bus).await;
    bus.publish_topic(&ServiceState::Up).await.expect("in hand");
    until("it is in hand", || bus.stats("full").expect("known").in_hand == 1).await;
    bus.publish_topic(&ServiceState::Up).await.expect("queued");
    let full = bus.publish_topic(&ServiceState::Up).await.expect_err("full");
    assert!(matches!(full, PublishError::QueueFull { .. }), "{full}");
    let late = bus.publish_topic(&ServiceState::Up).when_room().within(millis(5)).await.expect_err("no room in time");
    assert!(matches!(late, PublishError::NoRoomInTime { .. }), "{late}");
    let waits = bus.publish_topic(&ServiceState::Up).when_room();
    let (published, ()) = tokio::join!(waits.into_future(), async { door.admit(3) });
    published.expect("room came");
    until("all are handled", || bus.stats("full").expect("known").delivered == 3).await;
}

/// Text that is often a token and often is none.
fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z0-9$._*> \u{e9}-]{0,12}", "[a-z]{1,200}", any::<String>()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// S1, S2, S6, S7.
    #[test]
    fn a_topic_has_a_subject_that_its_pattern_selects_or_an_error_names_a_field(r#type in text(), to in text()) {
        let moved = Moved { r#type: &r#type, to: to.clone() };
        match moved.subject() {
            Ok(subject) => {
                prop_assert!(Subject::new(subject.as_str()).is_ok());
                prop_assert!(Moved::PATTERN.matches(&subject));
                prop_assert_eq!(subject.as_str(), format!("{type}.moved.{to}.{to}"));
            }
            Err(error) => {
                let value = match error.field() {
                    "type" => &r#type,
                    "to" => &to,
                    other => panic!("there is no field {other}"),
                };
                prop_assert_eq!(error.value(), value);
                prop_assert!(Subject::new(format!("{type}.moved.{to}.{to}")).is_err() || value.contains('.'), "{}", error);
            }
        }
    }
}
