//! Events that something on the way of an event might change.

use std::fmt::Debug;

use bytes::Bytes;

use crate::event::{Data, Event, EventBuilder, Timestamp, Uri, UriReference};

const JSON: &str = "application/json";

/// The events, each with what is hard about it for an id. `small` is the event that they are made from; `large` is the
/// length of the longest data.
pub(super) fn corpus(small: &Event, large: usize) -> Vec<Event> {
    let mut all: Vec<Event> = Vec::new();
    let mut add = |id: &str, with: fn(EventBuilder) -> EventBuilder| {
        all.push(built(with(small.to_builder().without_data().id(id))));
    };

    add("only the required attributes", |event| event);
    add("every attribute", |event| {
        event
            .subject("invoices/17")
            .time(time("2018-04-05T17:31:00Z"))
            .data_schema(uri("https://example.com/schemas/invoice.json#v1"))
            .extension("comexampleext", "value")
            .data(Some("application/json; charset=utf-8"), Data::Json(r#"{"total":"12.50"}"#.into()))
    });
    add("every kind of extension", |event| {
        event
            .extension("yes", true)
            .extension("no", false)
            .extension("largest", i32::MAX)
            .extension("smallest", i32::MIN)
            .extension("text", "text")
            .extension("bytes", Bytes::from_static(&[0, 1, 254, 255]))
            .extension("uri", uri("https://example.com/a?b=c#d"))
            .extension("reference", reference("../up?x"))
            .extension("at", time("2026-01-31T12:34:56Z"))
    });
    add("text that looks like another kind", |event| {
        event.extension("number", "017").extension("truth", "true").extension("nothing", "null")
    });
    add("an empty extension", |event| event.extension("empty", ""));
    add("names of extensions", |event| {
        event.extension("0", "a").extension("9lives", "b").extension("averylongnameofmorethantwentyletters", "c")
    });
    add("a long extension", |event| event.extension("long", "0123456789abcdef".repeat(256)));
    add("white space around text", |event| event.subject("  two  spaces  ").extension("ext", " one "));
    add("100%25 \"quoted\" %zz \\ 'single' <&> ,;=", |event| {
        event.subject("100%25 \"quoted\" %zz \\ 'single' <&> ,;=").extension("ext", "%20%")
    });
    add("žluťoučký kůň 🚋", |event| {
        event.event_type("типа").subject("é, not e\u{301}; 値").extension("ext", "\u{e9}\u{1f68b}")
    });

    for at in [
        "2026-01-31T12:34:56.500000+05:30",
        "2026-01-31T12:34:56.123456789123Z",
        "2026-01-31T12:34:56-00:00",
        "2026-01-31t12:34:56z",
        "1990-12-31T23:59:60Z",
    ] {
        all.push(built(small.to_builder().id(format!("time {at}")).time(time(at)).extension("at", time(at))));
    }
    for (at, source) in
        ["HTTP://Example.COM:80/%7eme/../you", "/relative", "#fragment", "urn:example:%C3%A9"].into_iter().enumerate()
    {
        all.push(built(small.to_builder().id(format!("source {at}")).source(reference(source))));
    }

    let each = (0..=u8::MAX).collect::<Vec<u8>>();
    for (id, content_type, data) in [
        ("every byte", Some("application/octet-stream"), Data::Binary(each.clone().into())),
        ("bytes without a media type", None, Data::Binary(Bytes::from_static(&[0, 1, 2, 255]))),
        ("bytes that are text", Some("application/octet-stream"), Data::Binary("hello".into())),
        ("bytes under a type of text", Some("text/plain"), Data::Binary(Bytes::from_static(&[0xff, 0xfe]))),
        ("empty bytes", Some("application/octet-stream"), Data::Binary(Bytes::new())),
        ("empty text", Some("text/plain"), Data::Text("".into())),
        ("empty data under JSON", Some(JSON), Data::Json(Bytes::new())),
        ("JSON null", Some(JSON), Data::Json("null".into())),
        ("JSON without a media type", None, Data::Json("{\"a\":1}".into())),
        ("JSON with odd spacing", Some(JSON), Data::Json(r#"{ "b" :1 , "a": [ 1,2.50 ,3e0 ] }"#.into())),
        ("JSON numbers beyond any machine", Some(JSON), Data::Json("[1e400,123456789012345678901234567890,-0]".into())),
        ("JSON with white space around it", Some(JSON), Data::Json(" {\"a\":1}\r\n".into())),
        ("JSON with escapes", Some(JSON), Data::Json(r#""\u00e9 \/ \ud83d é""#.into())),
        ("JSON with a key twice", Some(JSON), Data::Json(r#"{"a":1,"a":2}"#.into())),
        ("JSON that is none", Some(JSON), Data::Json("{".into())),
        ("a JSON string", Some(JSON), Data::Json("\"text\"".into())),
        ("JSON by its suffix", Some("application/vnd.example.V1+JSON; a=\"b;c\""), Data::Json("[1 ]".into())),
        ("text", Some("text/plain"), Data::Text("one\r\n\ttwo\0 %20 \"three\" 🚋\n".into())),
        ("text that is JSON", Some("text/plain"), Data::Text("{\"a\":1}".into())),
        ("text of another type", Some("APPLICATION/XML; charset=\"utf-8\""), Data::Text("<much wow=\"xml\"/>".into())),
        ("a lot of bytes", Some("application/octet-stream"), Data::Binary(each.repeat(large / each.len()).into())),
        ("a lot of text", Some("text/plain"), Data::Text("0123456789abcdef".repeat(large / 16).into())),
    ] {
        all.push(built(small.to_builder().id(id).data(content_type, data)));
    }
    all.push(built(small.to_builder().without_data().id("a media type without data").data_content_type("text/plain")));
    all
}

fn built(event: EventBuilder) -> Event {
    valid(event.build())
}

fn time(text: &str) -> Timestamp {
    valid(Timestamp::new(text))
}

fn uri(text: &str) -> Uri {
    valid(Uri::new(text))
}

fn reference(text: &str) -> UriReference {
    valid(UriReference::new(text))
}

fn valid<T, E: Debug>(made: Result<T, E>) -> T {
    made.expect("the corpus is valid")
}
