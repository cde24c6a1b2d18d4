//! Headers and a payload: what is written is read back equal in both modes, other SDKs are read, and what is no event is refused.

use bytes::Bytes;
use proptest::{collection::vec, prelude::*, sample::select};
use tramline::{
    event::{
        Data, Event, Value,
        headers::{self, ContentMode, Encoded, HeadersError},
    },
    source,
};

use crate::{arbitrary, corpus};

const EVENT: [(&str, &str); 4] =
    [("ce-specversion", "1.0"), ("ce-id", "1"), ("ce-source", "urn:x"), ("ce-type", "com.example.t")];

fn read(headers: &[(&str, &str)], payload: impl Into<Bytes>) -> Result<Event, HeadersError> {
    headers::decode(headers.iter().copied(), payload.into())
}

/// The event of `EVENT` with further headers.
fn with(more: &[(&str, &str)], payload: impl Into<Bytes>) -> Result<Event, HeadersError> {
    read(&[&EVENT, more].concat(), payload)
}

fn read_back(message: &Encoded<'_>) -> Event {
    let headers: Vec<_> = message.headers().collect();
    headers::decode(headers.iter().map(|(name, value)| (&**name, &**value)), message.payload().clone()).unwrap()
}

/// The event as binary mode gives it back: equal, but that a Boolean or an Integer is its string form.
fn without_kinds(event: &Event) -> Event {
    event
        .extensions()
        .filter(|(_, value)| matches!(value, Value::Boolean(_) | Value::Integer(_)))
        .fold(event.to_builder(), |builder, (name, value)| builder.extension(name, value.to_string()))
        .build()
        .unwrap()
}

#[track_caller]
fn arrives_equal(event: &Event) {
    let structured = headers::encode(event, ContentMode::Structured);
    assert_eq!(structured.mode(), ContentMode::Structured);
    assert_eq!(&read_back(&structured), event);
    let binary = headers::encode(event, ContentMode::Binary);
    match binary.mode() {
        ContentMode::Binary => {
            assert_eq!(read_back(&binary), without_kinds(event));
            for (name, value) in binary.headers() {
                assert!(name.strip_prefix("ce-").is_some_and(|name| !name.is_empty()), "{name}");
                assert!(value.bytes().all(|byte| matches!(byte, b'!'..=b'~') && byte != b'"'), "{name}: {value}");
            }
        }
        ContentMode::Structured => assert_eq!(&read_back(&binary), event),
    }
}

#[test]
fn the_whole_corpus_arrives_equal_in_both_modes() {
    for (_, document) in corpus::good() {
        arrives_equal(&Event::from_json(&document).unwrap());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_event_arrives_equal_in_both_modes(event in arbitrary::event()) {
        arrives_equal(&event);
    }

    #[test]
    fn no_message_makes_the_reader_panic_and_what_it_takes_it_keeps(
        headers in vec((name(), value()), 0..8),
        whole in any::<bool>(),
        payload in prop_oneof![vec(any::<u8>(), 0..12), Just(br#"{"specversion":"1.0","id":"1","source":"s","type":"t"}"#.to_vec())],
    ) {
        let mut all: Vec<_> = headers.iter().map(|(name, value)| (&**name, &**value)).collect();
        if whole {
            all.extend(EVENT);
        }
        match headers::decode(all, payload.into()) {
            Ok(event) => arrives_equal(&event),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }
}

/// Names that mean something, and some that nearly do.
fn name() -> impl Strategy<Value = String> {
    let known = select(vec![
        "ce-specversion",
        "CE-ID",
        "Ce-Source",
        "ce-type",
        "ce-subject",
        "ce-time",
        "ce-datacontenttype",
        "ce-dataschema",
        "Content-Type",
        "content-type",
        "ce-data",
        "ce-data_base64",
        "ce-",
        "ce",
        "c\u{e9}-",
        "ce-ext",
        "Nats-Msg-Id",
        "",
    ]);
    prop_oneof![4 => known.prop_map(str::to_owned), 1 => "ce-[a-z0-9]{1,9}", 1 => any::<String>()]
}

fn value() -> impl Strategy<Value = String> {
    let known = select(vec![
        "1.0",
        "0.3",
        "",
        "a",
        "urn:x",
        "2026-01-31T12:34:56Z",
        "application/json",
        "text/plain;%20charset=utf-8",
        "text/plain",
        "application/cloudevents+json",
        "application/cloudevents-batch+json",
        "APPLICATION/CloudEvents",
        "%",
        "%C0%A0",
        "%c3%a9",
        "\"",
        "\"a\\\"",
        "\"a b\"",
        "\u{e9}",
        "%00",
    ]);
    prop_oneof![4 => known.prop_map(str::to_owned), 1 => any::<String>()]
}

#[test]
fn binary_mode_is_the_bindings() {
    let event = Event::builder("1", source!("urn:x"), "Euro \u{20ac} \u{1f600}")
        .subject("100% \"sure\"")
        .time("2018-04-05T03:56:24Z".parse().unwrap())
        .extension("priority", 3)
        .extension("urgent", true)
        .data(Some("application/json; charset=utf-8"), Data::Json("{ }".into()))
        .build()
        .unwrap();
    let message = headers::encode(&event, ContentMode::Binary);
    let headers: Vec<_> = message.headers().collect();
    let headers: Vec<_> = headers.iter().map(|(name, value)| (&**name, &**value)).collect();
    assert_eq!(
        headers,
        [
            ("ce-specversion", "1.0"),
            ("ce-id", "1"),
            ("ce-source", "urn:x"),
            ("ce-type", "Euro%20%E2%82%AC%20%F0%9F%98%80"),
            ("ce-subject", "100%25%20%22sure%22"),
            ("ce-time", "2018-04-05T03:56:24Z"),
            ("ce-datacontenttype", "application/json;%20charset=utf-8"),
            ("ce-priority", "3"),
            ("ce-urgent", "true"),
        ]
    );
    assert_eq!(message.payload(), "{ }");
    assert_eq!(message.payload().as_ptr(), event.data().unwrap().bytes().as_ptr(), "the data is not copied");
    let got = read_back(&message);
    assert_eq!(
        (got.extension("priority").unwrap().to_integer(), got.extension("urgent").unwrap().to_boolean()),
        (Some(3), Some(true))
    );
}

#[test]
fn structured_mode_is_the_json_format_under_its_content_type() {
    let event = Event::builder("1", source!("urn:x"), "t").extension("priority", 3).json("{}").build().unwrap();
    let message = headers::encode(&event, ContentMode::Structured);
    let headers: Vec<_> = message.headers().collect();
    assert_eq!(headers, [("Content-Type".into(), "application/cloudevents+json; charset=UTF-8".into())]);
    assert_eq!(message.payload()[..], event.to_json());
    assert_eq!(message.into_payload(), event.to_json());
}

#[test]
fn what_binary_mode_cannot_tell_goes_in_structured_mode_and_nothing_else_does() {
    let text = |text: &str| Some(Data::Text(text.into()));
    let json = |text: &'static str| Some(Data::Json(text.into()));
    let bytes = |bytes: &'static [u8]| Some(Data::Binary(Bytes::from_static(bytes)));
    for (media_type, data, mode) in [
        (None, None, ContentMode::Binary),
        (None, bytes(b"x"), ContentMode::Binary),
        (None, bytes(b""), ContentMode::Structured),
        (None, json("1"), ContentMode::Structured),
        (Some("application/json"), json("1"), ContentMode::Binary),
        (Some("application/json"), json("{"), ContentMode::Binary),
        (Some("application/json"), json(""), ContentMode::Binary),
        (Some("application/json"), None, ContentMode::Structured),
        (Some("text/plain"), text("\u{e9}"), ContentMode::Binary),
        (Some("text/plain"), text(""), ContentMode::Binary),
        (Some("text/plain"), None, ContentMode::Structured),
        (Some("text/plain"), bytes(b"x"), ContentMode::Structured),
        (Some("text/plain"), bytes(b""), ContentMode::Structured),
        (Some("text/plain"), bytes(b"\xff"), ContentMode::Binary),
        (Some("text/plain; charset=iso-8859-1"), bytes(b"x"), ContentMode::Binary),
        (Some("text/plain; charset=iso-8859-1"), text("x"), ContentMode::Structured),
        (Some("application/xml"), text("<a/>"), ContentMode::Binary),
        (Some("application/octet-stream"), bytes(b"x"), ContentMode::Binary),
        (Some("application/octet-stream"), bytes(b""), ContentMode::Binary),
        (Some("application/octet-stream"), text("x"), ContentMode::Structured),
        (Some("application/octet-stream"), None, ContentMode::Structured),
        (Some("application/cloudevents+json"), json("1"), ContentMode::Binary),
    ] {
        let builder = Event::builder("1", source!("urn:x"), "t");
        let event = match (media_type, data) {
            (media_type, Some(data)) => builder.data(media_type, data),
            (Some(media_type), None) => builder.data_content_type(media_type),
            (None, None) => builder,
        };
        let event = event.build().unwrap();
        assert_eq!(headers::encode(&event, ContentMode::Binary).mode(), mode, "{event:?}");
        arrives_equal(&event);
    }
}

#[test]
fn headers_that_are_too_long_go_into_the_payload() {
    let length = |event: &Event| -> usize {
        headers::encode(event, ContentMode::Binary).headers().map(|(name, value)| name.len() + value.len()).sum()
    };
    let event = |text: String| Event::builder("1", source!("urn:x"), "t").subject(text).build().unwrap();
    let room = headers::LONGEST - length(&event("x".into())) + 1;
    for (text, mode) in [
        ("x".repeat(room), ContentMode::Binary),
        ("x".repeat(room + 1), ContentMode::Structured),
        (" ".repeat(room / 3), ContentMode::Binary),
        (" ".repeat(room / 3 + 1), ContentMode::Structured),
    ] {
        let event = event(text);
        assert_eq!(headers::encode(&event, ContentMode::Binary).mode(), mode);
        assert!(length(&event) <= headers::LONGEST);
        arrives_equal(&event);
    }
    let bytes = Event::builder("1", source!("urn:x"), "t").extension("bytes", Bytes::from(vec![0; 30_000]));
    assert_eq!(headers::encode(&bytes.build().unwrap(), ContentMode::Binary).mode(), ContentMode::Structured);
}

#[test]
fn the_dialect_of_other_sdks_is_read() {
    // Names in any case, the bare content type, values that are not encoded, headers of others in between.
    let got = read(
        &[
            ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
            ("CE-SpecVersion", "1.0"),
            ("Ce-Id", "a b"),
            ("ce-source", "urn:x"),
            ("CE-TYPE", "50% off, \u{e9}"),
            ("Ce-Subject", "one \"two\" three"),
            ("ce-MyExt", "\"quoted \\\"text\\\"\""),
            ("Content-Type", "application/json; charset=\"utf-8\""),
            ("Nats-Msg-Id", "1"),
        ],
        "{}",
    )
    .unwrap();
    let expected = Event::builder("a b", source!("urn:x"), "50% off, \u{e9}")
        .subject("one \"two\" three")
        .extension("myext", "quoted \"text\"")
        .data(Some("application/json; charset=\"utf-8\""), Data::Json("{}".into()))
        .build()
        .unwrap();
    assert_eq!(got, expected);

    // A bare content type is not decoded, and that of the binding counts if both are there.
    assert_eq!(with(&[("content-type", "a/b;c=%41")], "").unwrap().data_content_type(), Some("a/b;c=%41"));
    let both = [("content-type", "application/json"), ("ce-datacontenttype", "text/plain")];
    assert_eq!(with(&both, "1").unwrap().data(), Some(&Data::Text("1".into())));
}

#[test]
fn structured_mode_is_told_by_the_beginning_of_the_content_type() {
    let event = Event::builder("1", source!("urn:x"), "t").text("x").build().unwrap();
    for content_type in [
        "application/cloudevents+json",
        "application/cloudevents+json; charset=UTF-8",
        "APPLICATION/CloudEvents+JSON;charset=utf-8",
        "application/cloudevents",
    ] {
        assert_eq!(read(&[("content-type", content_type)], event.to_json()).unwrap(), event, "{content_type}");
        // Copies of attributes in headers do not count, as they may be of another opinion.
        let copies = [("CONTENT-TYPE", content_type), ("ce-id", "2"), ("ce-specversion", "0.3")];
        assert_eq!(read(&copies, event.to_json()).unwrap(), event, "{content_type}");
    }
    // As it was before NATS had headers, also beside headers of others.
    assert_eq!(read(&[], event.to_json()).unwrap(), event);
    assert_eq!(read(&[("Nats-Msg-Id", "1")], event.to_json()).unwrap(), event);
    // Another type that only begins so.
    let other = with(&[("content-type", "application/cloudeventsx")], "x").unwrap();
    assert_eq!(other.data_content_type(), Some("application/cloudeventsx"));
}

#[test]
fn an_event_that_carries_an_event_is_not_taken_for_it() {
    let inner = Event::builder("inner", source!("urn:x"), "t").build().unwrap();
    let outer = Event::builder("outer", source!("urn:x"), "t")
        .data(Some("application/cloudevents+json"), Data::Json(inner.to_json().into()))
        .build()
        .unwrap();
    arrives_equal(&outer);
}

#[test]
fn what_is_no_event_is_an_error_that_names_the_header() {
    #[track_caller]
    fn refused(result: Result<Event, HeadersError>, words: &str) {
        let error = result.expect_err(words).to_string();
        assert!(error.contains(words), "{error}");
    }
    let structured = |content_type| read(&[("Content-Type", content_type)], "[]");

    refused(
        read(&[], "hello"),
        "no header `ce-specversion`, and its payload is no event in the JSON format: the document cannot be read",
    );
    refused(read(&[], ""), "the document cannot be read");
    refused(read(&[("content-type", "text/plain")], "hello"), "the message has no header `ce-specversion`");
    for (at, (missing, _)) in EVENT.iter().enumerate() {
        let mut headers = EVENT.to_vec();
        headers.remove(at);
        refused(read(&headers, ""), &format!("the message has no header `{missing}`"));
    }
    refused(
        read(&[("ce-specversion", "0.3"), ("ce-id", "1")], ""),
        "is \"0.3\", and only \"1.0\" is read: version 0.3 is not supported",
    );
    refused(read(&[("ce-specversion", "2")], ""), "is \"2\", and only \"1.0\" is read");
    refused(with(&[("CE-ID", "1")], ""), "two headers \"ce-id\"");
    refused(with(&[("ce-ext", "1"), ("Ce-Ext", "1")], ""), "two headers \"ce-ext\"");
    refused(with(&[("content-type", "a/b"), ("Content-Type", "a/b")], ""), "two headers \"content-type\"");
    refused(
        with(&[("ce-subject", "%C0%A0")], ""),
        "\"ce-subject\" is \"%C0%A0\", which percent-encodes what is not UTF-8",
    );
    refused(with(&[("ce-ext", "%ff")], ""), "\"ce-ext\" is \"%ff\"");
    refused(with(&[("ce-subject", "")], ""), "`subject` is empty");
    refused(with(&[("ce-subject", "a%0Ab")], ""), "`subject` is \"a\\nb\"");
    refused(with(&[("ce-time", "yesterday")], ""), "`ce-time`: \"yesterday\" is no RFC 3339 time");
    refused(with(&[("ce-dataschema", "a b")], ""), "`ce-dataschema`");
    refused(with(&[("ce-datacontenttype", "json")], ""), "`datacontenttype` is \"json\"");
    refused(with(&[("ce-my_ext", "1")], ""), "\"my_ext\"");
    refused(with(&[("ce-data", "1")], ""), "\"data\"");
    refused(with(&[("ce-", "1")], ""), "\"\"");
    refused(
        read(&[("ce-specversion", "1.0"), ("ce-id", "1"), ("ce-source", "a b"), ("ce-type", "t")], ""),
        "`ce-source`: \"a b\"",
    );
    refused(
        structured("application/cloudevents+json"),
        "the payload under `Content-Type` \"application/cloudevents+json\"",
    );
    refused(
        structured("application/cloudevents-batch+json"),
        "a batch, \"application/cloudevents-batch+json\": send one event",
    );
    refused(
        structured("Application/CloudEvents+Avro"),
        "\"Application/CloudEvents+Avro\", and only `application/cloudevents+json` is read",
    );
}

#[test]
fn many_headers_take_no_time_that_grows_with_their_square() {
    let names: Vec<_> = (0..100_000).map(|at| format!("ce-x{at}")).collect();
    let all = names.iter().map(|name| (name.as_str(), "1")).chain(EVENT);
    assert_eq!(headers::decode(all, Bytes::new()).unwrap().extensions().len(), 100_000);
}
