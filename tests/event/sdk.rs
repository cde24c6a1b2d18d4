//! The event of the `cloudevents-sdk` crate: both ways without a change, or an error that says what would change (contract Q9).

use bytes::Bytes;
use cloudevents::{AttributesReader, AttributesWriter, EventBuilder as _, EventBuilderV03, EventBuilderV10};
use proptest::prelude::*;
use serde_json::json;
use tramline::{
    event::{Data, Event, EventBuilder, FromSdkError, IntoSdkError, Timestamp, Uri},
    source,
};

use crate::{arbitrary, corpus};

fn event() -> EventBuilder {
    Event::builder("1", source!("urn:example:test"), "t")
}

fn there(event: &Event) -> Result<cloudevents::Event, IntoSdkError> {
    event.try_into()
}

fn back(sdk: cloudevents::Event) -> Result<Event, FromSdkError> {
    sdk.try_into()
}

/// Exactly these of the corpus cannot go over, and why.
const REFUSED: [(&str, &str); 10] = [
    ("json_numbers_beyond_any_machine", "the JSON data with other bytes"),
    ("json_with_duplicate_keys_inside", "the JSON data with other bytes"),
    ("json_deeply_nested", "the JSON data with other bytes"),
    ("json_with_half_a_surrogate_inside", "the JSON data with other bytes"),
    (
        "source_with_an_unnormal_url",
        "would change `dataschema` from \"HTTP://Example.COM:80/a/../b\" to \"http://example.com/b\"",
    ),
    ("time_in_lower_case", "would change `time` from \"2026-01-31t12:34:56z\" to \"2026-01-31T12:34:56Z\""),
    ("time_with_offset", "would change `time` from \"1996-12-19T16:39:57-08:00\" to \"1996-12-20T00:39:57Z\""),
    ("time_with_trailing_zeros", "would change `time`"),
    (
        "time_with_twelve_digits",
        "would change `time` from \"2026-01-31T12:34:56.123456789012Z\" to \"2026-01-31T12:34:56.123456789Z\"",
    ),
    ("time_with_unknown_offset", "would change `time` from \"0000-01-01T00:00:00-00:00\" to \"0000-01-01T00:00:00Z\""),
];

#[test]
fn the_corpus_goes_there_and_back_or_says_what_would_change() {
    let (mut over, mut refused) = (0, Vec::new());
    for (name, document) in corpus::good() {
        let event = Event::from_json(&document).unwrap();
        match there(&event) {
            Ok(sdk) => {
                assert_eq!(back(sdk).unwrap_or_else(|error| panic!("{name}: {error}")), event, "{name}");
                over += 1;
            }
            Err(error) => refused.push((name, error.to_string())),
        }
    }
    for (name, error) in &refused {
        let fragment = REFUSED.iter().find(|(other, _)| other == name).map(|(_, fragment)| *fragment);
        assert!(fragment.is_some_and(|fragment| error.contains(fragment)), "{name}: {error}");
    }
    println!("{over} went over, {} were refused", refused.len());
    assert_eq!(refused.len(), REFUSED.len(), "{refused:?}");
    assert!(over >= 39);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn what_goes_there_comes_back_equal(event in arbitrary::event()) {
        if let Ok(sdk) = there(&event) {
            prop_assert_eq!(back(sdk).unwrap(), event);
        }
    }

    #[test]
    fn without_a_time_and_a_schema_and_bare_json_every_event_goes_over(event in arbitrary::event()) {
        let bare_json = event.data_content_type().is_none() && matches!(event.data(), Some(Data::Json(_)));
        if event.time().is_none() && event.data_schema().is_none() && !bare_json {
            prop_assert_eq!(back(there(&event).unwrap()).unwrap(), event);
        }
    }
}

#[test]
fn the_time_of_now_goes_over() {
    for _ in 0..1_000 {
        let event = event().time(Timestamp::now()).build().unwrap();
        assert_eq!(back(there(&event).unwrap()).unwrap(), event);
    }
}

#[test]
fn json_is_a_value_where_that_keeps_its_bytes_and_bytes_where_not() {
    let value = there(&event().json(r#"{"a":1}"#).build().unwrap()).unwrap();
    assert_eq!(value.data(), Some(&cloudevents::Data::Json(json!({"a": 1}))));
    let bytes = there(&event().json(r#"{"a": 1}"#).build().unwrap()).unwrap();
    assert_eq!(bytes.data(), Some(&cloudevents::Data::Binary(br#"{"a": 1}"#.to_vec())));
}

#[test]
fn an_event_of_the_sdk_comes_over_as_it_is() {
    let sdk = EventBuilderV10::new()
        .id("1")
        .source("/relative")
        .ty("t")
        .subject("s")
        .time("2026-01-31T12:34:56.5Z")
        .extension("n", 7)
        .extension("b", true)
        .extension("s", "x")
        .data_with_schema("application/json", "https://example.com/s", json!([1]))
        .build()
        .unwrap();
    let event = back(sdk.clone()).unwrap();
    assert_eq!(event.time().unwrap().as_str(), "2026-01-31T12:34:56.500Z");
    assert_eq!(event.data_schema(), Some(&Uri::new("https://example.com/s").unwrap()));
    assert_eq!(event.data(), Some(&Data::Json("[1]".into())));
    assert_eq!(event.extensions().len(), 3);
    assert_eq!(there(&event).unwrap(), sdk);
}

#[test]
fn what_the_sdk_holds_and_the_specification_does_not_is_refused() {
    let sdk = || EventBuilderV10::new().id("1").source("urn:x").ty("t");
    for (sdk, words) in [
        (
            sdk().extension("n", i64::from(i32::MAX) + 1),
            "`n` is 2147483648, and an Integer has 32 bits: send it as a string",
        ),
        (sdk().extension("id", "2"), "no extension can be named \"id\""),
        (sdk().source("not a uri"), "`source`: \"not a uri\" is no URI-reference"),
        (sdk().id(""), "`id` is empty"),
        (sdk().data("application/json", "text"), "the data is a string under the JSON media type application/json"),
        (sdk().data("text/plain", json!({})), "the data is JSON and `datacontenttype` is text/plain"),
        (sdk().data("json", vec![1]), "`datacontenttype` is \"json\", which is no media type"),
    ] {
        let error = back(sdk.build().unwrap()).unwrap_err().to_string();
        assert!(error.starts_with(words), "{error}");
    }
    let old = EventBuilderV03::new().id("1").source("urn:x").ty("t").build().unwrap();
    assert_eq!(back(old).unwrap_err().to_string(), "`specversion` is \"0.3\", and only \"1.0\" is taken");
}

#[test]
fn binary_data_and_its_media_type_are_the_same_bytes() {
    let event = event().binary("application/cbor", Bytes::from_static(&[0xa0, 0xff])).build().unwrap();
    let mut sdk = there(&event).unwrap();
    assert_eq!(sdk.datacontenttype(), Some("application/cbor"));
    assert_eq!(back(sdk.clone()).unwrap(), event);
    sdk.set_id("2");
    assert_ne!(back(sdk).unwrap(), event);
}
