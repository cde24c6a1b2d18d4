//! What the event of a value says besides the value (contract P2), from a bus, a handle and a publisher.

use std::error::Error;

use tramline::{
    Event, Fail, Publisher,
    contract::{Backend, PublishError},
    event::{Timestamp, Uri, Value},
    source, subject,
};

use crate::{
    confirming::Confirming,
    support::{Door, balanced, builder, event, many, name, seconds, settle, start, until},
};

const TYPE: &str = "com.example.test.v1";

fn schema() -> Uri {
    Uri::new("https://example.com/test.json").unwrap()
}

fn long_ago() -> Timestamp {
    Timestamp::new("2001-02-03T04:05:06.789+01:00").unwrap()
}

async fn running<B: Backend>(backend: B) -> tramline::Bus<B, tramline::Running> {
    start(tramline::Bus::builder(backend, source!("urn:example:test"))).await
}

/// What an error says, with its cause.
fn said(error: &PublishError) -> String {
    let cause = error.source().map(ToString::to_string);
    format!("{error}: {}", cause.unwrap_or_default())
}

#[tokio::test]
async fn p2_without_options_an_event_says_what_the_bus_knows_and_no_more() {
    let (backend, seen) = Confirming::at_once();
    let bus = running(backend).await;
    bus.publish_value(&subject!("a"), TYPE, "value").await.unwrap();
    let event = seen.only();
    assert_eq!((event.event_type(), event.source().as_str()), (TYPE, "urn:example:test"));
    assert_eq!(event.data_content_type(), Some("application/json"));
    assert_eq!(event.id().len(), 36, "a UUID: {}", event.id());
    assert_eq!(event.id().as_bytes()[14], b'7', "of version 7: {}", event.id());
    assert!(event.time().is_some());
    assert_eq!((event.subject(), event.data_schema(), event.extensions().len()), (None, None, 0));
}

#[tokio::test]
async fn p2_every_option_is_in_the_event_that_is_published() {
    fn check((subject, event): &(tramline::Subject, Event)) {
        assert_eq!(subject, &subject!("a.b"));
        assert_eq!(event.id(), "17");
        assert_eq!(event.time(), Some(&long_ago()));
        assert_eq!(event.data_schema(), Some(&schema()));
        assert_eq!(event.subject(), Some("invoice-17"));
        assert_eq!(event.extension("tenant"), Some(&Value::from("north")));
        assert_eq!(event.extension("priority"), Some(&Value::from(3)));
        assert_eq!(event.data().unwrap().bytes()[..], *b"\"value\"");
    }
    let (backend, seen) = Confirming::at_once();
    let bus = running(backend).await;
    bus.publish_value(&subject!("a.b"), TYPE, "value")
        .id("17")
        .time(long_ago())
        .data_schema(schema())
        .subject_attribute("invoice-17")
        .extension("tenant", "north")
        .extension("priority", 3)
        .await
        .unwrap();
    check(&seen.last());
    let handle = bus.handle();
    let publish = handle.publish_value(&subject!("a.b"), TYPE, "value").id("17").time(long_ago());
    let publish = publish.data_schema(schema()).subject_attribute("invoice-17");
    publish.extension("tenant", "north").extension("priority", 3).await.unwrap();
    check(&seen.last());
    assert_eq!(seen.ids().len(), 2);
}

#[tokio::test]
async fn a_later_option_replaces_an_earlier_one() {
    let (backend, seen) = Confirming::at_once();
    let bus = running(backend).await;
    let publish = bus.publish_value(&subject!("a"), TYPE, "value").id("1").id("2");
    publish.extension("tenant", "north").extension("tenant", "south").await.unwrap();
    assert_eq!(seen.only().id(), "2");
    assert_eq!(seen.only().extension("tenant"), Some(&Value::from("south")));
}

#[tokio::test]
async fn q3_q4_an_option_that_is_not_valid_is_an_error_that_names_the_attribute_and_nothing_is_sent() {
    let (backend, seen) = Confirming::at_once();
    let bus = running(backend).await;
    let subject = subject!("a");
    let publish = || bus.publish_value(&subject, TYPE, "value");
    for (publish, named) in [
        (publish().id(""), "`id` is empty"),
        (publish().id("a\nb"), "`id` is \"a\\nb\""),
        (publish().subject_attribute(""), "`subject` is empty"),
        (publish().extension("Tenant", "north"), "no extension can be named \"Tenant\""),
        (publish().extension("source", "north"), "no extension can be named \"source\""),
        (publish().extension("tenant", "a\u{7}"), "`tenant` is"),
        (bus.publish_value(&subject, "", "value"), "`type` is empty"),
    ] {
        let error = publish.await.unwrap_err();
        assert!(matches!(error, PublishError::Value { .. }), "{error:?}");
        assert!(said(&error).contains(named), "{named}: {}", said(&error));
    }
    assert!(seen.ids().is_empty());
}

#[tokio::test(start_paused = true)]
async fn b9_a_value_waits_for_room_with_its_options_and_gives_up_at_its_deadline() {
    let door = Door::closed();
    let handler = {
        let door = door.clone();
        move |_| {
            let door = door.clone();
            async move { door.pass().await }
        }
    };
    let one = builder().at_most_once(name("one")).subject(subject!("a")).bound(many(1)).overflow(Fail);
    let bus = start(one.handle(handler)).await;
    let subject = subject!("a");
    bus.publish(&subject, event("in hand")).await.unwrap();
    until("it is in hand", || bus.stats("one").unwrap().in_hand == 1).await;
    bus.publish_value(&subject, TYPE, "queued").id("2").when_room().await.unwrap();
    let full = bus.publish_value(&subject, TYPE, "refused").id("3").await;
    assert!(
        matches!(full, Err(PublishError::QueueFull { event, .. }) if event.id() == "3"),
        "B8: the event comes back"
    );
    let begun = tokio::time::Instant::now();
    let late = bus.publish_value(&subject, TYPE, "late").id("4").when_room().within(seconds(3)).await;
    assert!(matches!(late, Err(PublishError::NoRoomInTime { .. })), "{late:?}");
    assert_eq!(begun.elapsed(), seconds(3));
    let invalid = bus.publish_value(&subject, TYPE, "invalid").id("").when_room().await;
    assert!(matches!(invalid, Err(PublishError::Value { .. })), "{invalid:?}");
    let handle = bus.handle();
    let waiting = tokio::spawn(async move { handle.publish_value(&subject!("a"), TYPE, "5").when_room().await });
    settle().await;
    assert!(!waiting.is_finished());
    door.admit(3);
    waiting.await.unwrap().unwrap();
    until("all are handled", || bus.stats("one").unwrap().delivered == 3).await;
    balanced(&bus.stop(seconds(1)).await.bus.stats("one").unwrap());
}

#[tokio::test]
async fn an_event_of_a_value_is_what_would_be_published() {
    let (backend, seen) = Confirming::at_once();
    let bus = running(backend).await;
    let built = bus.event(TYPE, "value").unwrap().id("1").time(long_ago()).build().unwrap();
    bus.publish_value(&subject!("a"), TYPE, "value").id("1").time(long_ago()).await.unwrap();
    assert_eq!(seen.only(), built);
    assert_eq!(bus.handle().event(TYPE, "value").unwrap().id("1").time(long_ago()).build().unwrap(), built);
}

#[tokio::test]
async fn a_publishers_defaults_are_in_the_events_of_its_values() {
    let (backend, seen) = Confirming::at_once();
    let bus = running(backend).await;
    let plain: Publisher = bus.publisher();
    let publisher = plain.clone().data_schema(schema()).subject_attribute("all").extension("tenant", "north");
    publisher.publish_value(&subject!("a"), TYPE, "value").await.unwrap();
    let event = seen.only();
    assert_eq!((event.data_schema(), event.subject()), (Some(&schema()), Some("all")));
    assert_eq!(event.extension("tenant"), Some(&Value::from("north")));
    // Those of another are its own.
    let south = publisher.clone().extension("tenant", "south").extension("more", true);
    south.publish_value(&subject!("a"), TYPE, "value").await.unwrap();
    assert_eq!(seen.last().1.extension("tenant"), Some(&Value::from("south")));
    publisher.publish_value(&subject!("a"), TYPE, "value").await.unwrap();
    assert_eq!(
        (seen.last().1.extension("tenant"), seen.last().1.extension("more")),
        (Some(&Value::from("north")), None)
    );
    plain.publish_value(&subject!("a"), TYPE, "value").await.unwrap();
    assert_eq!((seen.last().1.extensions().len(), seen.last().1.subject()), (0, None));
}

#[tokio::test]
async fn one_event_can_differ_from_a_publishers_defaults() {
    let (backend, seen) = Confirming::at_once();
    let bus = running(backend).await;
    let publisher = bus.handle().publisher().extension("tenant", "north").extension("priority", 3);
    let other = publisher.event(TYPE, "value").unwrap().id("1").extension("tenant", "south");
    publisher.publish(&subject!("a"), other.build().unwrap()).await.unwrap();
    let event = seen.only();
    assert_eq!(event.id(), "1");
    assert_eq!(event.extension("tenant"), Some(&Value::from("south")));
    assert_eq!(event.extension("priority"), Some(&Value::from(3)));
}

#[tokio::test]
async fn q2_an_event_that_is_ready_made_gets_no_defaults() {
    let (backend, seen) = Confirming::at_once();
    let bus = running(backend).await;
    let publisher = bus.publisher().subject_attribute("all").extension("tenant", "north");
    publisher.publish(&subject!("a"), event(1)).await.unwrap();
    assert_eq!(seen.last().1, event(1));
    assert!(publisher.publish_batch([(subject!("a"), event(2))]).await.is_ok());
    assert_eq!(seen.last().1, event(2));
}

#[tokio::test]
async fn q3_a_default_that_is_not_valid_is_an_error_of_each_publish_that_names_it() {
    let (backend, seen) = Confirming::at_once();
    let bus = running(backend).await;
    let publisher = bus.publisher().extension("Tenant", "north");
    for _ in 0..2 {
        let error = publisher.publish_value(&subject!("a"), TYPE, "value").await.unwrap_err();
        assert!(said(&error).contains("no extension can be named \"Tenant\""), "{}", said(&error));
    }
    assert!(seen.ids().is_empty());
}

#[tokio::test]
async fn a_publisher_can_be_told_where_to_and_what_kind() {
    let (backend, seen) = Confirming::at_once();
    let bus = running(backend).await;
    let raised = bus.publisher().extension("tenant", "north").to(subject!("invoice.raised"), TYPE);
    raised.clone().publish_value(&17).await.unwrap();
    let (subject, event) = seen.last();
    assert_eq!((subject, event.event_type()), (subject!("invoice.raised"), TYPE));
    assert_eq!(event.extension("tenant"), Some(&Value::from("north")));
    assert_eq!(event.data().unwrap().bytes()[..], *b"17");
}

#[tokio::test]
async fn y5_a_publisher_publishes_while_the_bus_runs() {
    let (backend, seen) = Confirming::at_once();
    let bus = tramline::Bus::builder(backend, source!("urn:example:test")).build().unwrap();
    let publisher = bus.handle().publisher();
    let subject = subject!("a");
    let publish = || publisher.publish_value(&subject, TYPE, "value");
    assert!(matches!(publish().await, Err(PublishError::NotReady)));
    let bus = bus.start().await.unwrap();
    publish().await.unwrap();
    let bus = bus.stop(seconds(1)).await.bus;
    assert!(matches!(publish().await, Err(PublishError::NotReady)));
    let bus = bus.start().await.unwrap();
    publish().await.unwrap();
    assert_eq!(seen.ids().len(), 2);
    drop(bus);
}
