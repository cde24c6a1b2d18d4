//! Building an event: what is refused, in which words, and what a handle shares.

use bytes::Bytes;
use tramline::{
    event::{Data, Event, EventBuilder, EventError, Uri, UriReference, Utf8Bytes, Value, media_type},
    source,
};

static_assertions::assert_impl_all!(Event: Send, Sync, Clone, Eq, std::fmt::Debug);
static_assertions::assert_eq_size!(Event, Option<Event>, usize);

fn event() -> EventBuilder {
    Event::builder("1", source!("urn:example:test"), "t")
}

fn refusal(builder: EventBuilder) -> String {
    builder.build().unwrap_err().to_string()
}

#[test]
fn a_refusal_names_the_attribute_the_value_and_the_fix() {
    for (builder, words) in [
        (event().id(""), "`id` is empty: give each event of a source one of its own, such as a UUID"),
        (event().event_type(""), "`type` is empty: name the kind of event, as in `com.example.invoice.raised.v1`"),
        (
            event().source(UriReference::new("").unwrap()),
            "`source` is empty: name the service, as in `urn:example:billing`",
        ),
        (event().subject(""), "`subject` is empty: leave it out if the event has none"),
        (
            event().extension("Trace", 1),
            "no extension can be named \"Trace\": it may hold only `a` to `z` and `0` to `9`",
        ),
        (event().extension("", 1), "no extension can be named \"\": it must not be empty"),
        (
            event().id("a\tb"),
            "`id` is \"a\\tb\", which holds '\\t': a control character or noncharacter cannot stand in an attribute; remove or encode it",
        ),
        (
            event().extension("ext", "\u{fffe}"),
            "`ext` is \"\\u{fffe}\", which holds '\\u{fffe}': a control character or noncharacter cannot stand in an attribute; remove or encode it",
        ),
        (
            event().binary("nonsense", "x"),
            "`datacontenttype` is \"nonsense\", which is no media type: write `type/subtype`, and each parameter as `; name=value`",
        ),
        (
            event().data(Some("text/plain"), Data::Json("1".into())),
            "the data is JSON and `datacontenttype` is text/plain: give a JSON media type such as `application/json`, or give the data as text or binary",
        ),
        (
            event().data(None, Data::Text("1".into())),
            "the data is text and `datacontenttype` is absent: give a media type such as `text/plain`",
        ),
        (
            event().data(None, Data::Json(" 1".into())),
            "the data is JSON that is not valid, or has white space around it, and `datacontenttype` is absent: give a JSON media type such as `application/json`",
        ),
    ] {
        assert_eq!(refusal(builder), words);
    }
}

#[test]
fn no_extension_takes_the_name_of_a_member() {
    for name in [
        "id",
        "source",
        "type",
        "specversion",
        "subject",
        "time",
        "datacontenttype",
        "dataschema",
        "data",
        "data_base64",
    ] {
        assert!(matches!(event().extension(name, "x").build(), Err(EventError::ExtensionName { .. })), "{name}");
    }
}

#[test]
fn a_long_value_is_not_repeated_in_full() {
    assert!(refusal(event().id(format!("{}\n", "\u{e9}".repeat(100_000)))).len() < 500);
}

#[test]
fn data_brings_its_usual_media_type_if_none_is_given() {
    let json = event().json("1").build().unwrap();
    assert_eq!(json.data_content_type(), Some("application/json"));
    let given = event().data_content_type("application/vnd.x+json").json("1").build().unwrap();
    assert_eq!(given.data_content_type(), Some("application/vnd.x+json"));
    assert_eq!(event().text("a").build().unwrap().data_content_type(), Some("text/plain"));
    assert_eq!(event().data(None, Data::Json("1".into())).build().unwrap().data_content_type(), None);
    assert_eq!(event().json("1").without_data().build().unwrap(), event().build().unwrap());
}

#[test]
fn under_a_json_media_type_all_data_is_json() {
    let json = event().json("hello").build().unwrap();
    assert_eq!(json.data(), Some(&Data::Json("hello".into())));
    assert_eq!(event().binary("application/json", "hello").build().unwrap(), json);
    assert_eq!(event().data(Some("application/json"), Data::Text("hello".into())).build().unwrap(), json);
    assert_ne!(event().text("1").build().unwrap(), event().binary("text/plain", "1").build().unwrap());
}

#[test]
fn an_edit_is_seen_by_nobody_else() {
    let first = event().extension("b", 1).extension("a", true).json("{}").build().unwrap();
    let shared = first.clone();
    let edited = first.to_builder().subject("s").extension("b", 2).without_extension("a").build().unwrap();
    assert_eq!(shared, first);
    assert_eq!(first.extensions().map(|(name, _)| name).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(edited.extensions().collect::<Vec<_>>(), [("b", &Value::Integer(2))]);
    assert_eq!((first.subject(), edited.subject()), (None, Some("s")));
}

#[test]
fn a_clone_and_an_edit_share_the_data() {
    let bytes = Bytes::from(vec![b'1'; 100]);
    let event = event().json(bytes.clone()).build().unwrap();
    let edited = event.to_builder().id("2").build().unwrap();
    for event in [&event, &event.clone(), &edited] {
        assert_eq!(event.data().unwrap().bytes().as_ptr(), bytes.as_ptr());
    }
}

#[test]
fn the_last_value_of_an_extension_counts() {
    let event = event().extension("a", 1).extension("a", 2).extension("a", 3).build().unwrap();
    assert_eq!(event.extension("a"), Some(&Value::Integer(3)));
    assert_eq!(event.extensions().len(), 1);
    assert_eq!(event.extension("b"), None);
}

#[test]
fn debug_shows_the_attributes_and_hides_the_data() {
    let event = event().extension("secretless", "x").text("the secret").build().unwrap();
    assert_eq!(
        format!("{event:?}"),
        r#"Event { id: "1", source: "urn:example:test", type: "t", datacontenttype: "text/plain", secretless: String("x"), data: Text(10 bytes) }"#
    );
}

#[test]
fn a_literal_source_equals_a_parsed_one() {
    assert_eq!(source!("urn:a"), UriReference::new("urn:a").unwrap());
    assert_ne!(source!("urn:a"), source!("URN:a"));
    assert_eq!(
        Uri::new("a").unwrap_err().to_string(),
        "\"a\" is no URI: it must begin with a scheme, as in `https://example.com/schema`"
    );
}

#[test]
fn text_is_checked_once_and_shared() {
    let bytes = Bytes::from_static("žluť".as_bytes());
    let text = Utf8Bytes::new(bytes.clone()).unwrap();
    assert_eq!((text.as_str(), text.as_bytes().as_ptr()), ("žluť", bytes.as_ptr()));
    assert!(Utf8Bytes::new(&b"\xff"[..]).is_err());
}

#[test]
fn media_types_are_compared_without_case_and_parameters() {
    assert!(media_type::essence_eq("Application/CBOR", "application/cbor; x=y"));
    assert!(media_type::is_json("application/problem+JSON; charset=utf-8"));
}
