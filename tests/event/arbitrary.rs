//! Events for the property tests: everything that a builder can be asked for, with weight on what is hard to carry.

use bytes::Bytes;
use proptest::{collection::vec, option, prelude::*, sample::select, string::string_regex};
use tramline::event::{Data, Event, EventBuilder, Timestamp, Uri, UriReference, Value};

/// Characters that need escapes, take several units, or are refused, among plain ones.
fn text(least: usize) -> impl Strategy<Value = String> {
    let character = prop_oneof![
        8 => proptest::char::range(' ', '~'),
        2 => select(vec!['"', '\\', '/', '%', '\u{e9}', '\u{2028}', '\u{1f68b}', '\u{fffd}', '{', ':']),
        1 => any::<char>(),
    ];
    vec(character, least..12).prop_map(String::from_iter)
}

/// As `text`, but mostly without what `build` would refuse, so that most events come to be.
fn attribute(least: usize) -> impl Strategy<Value = String> {
    text(least).prop_map(move |text| {
        let kept: String = text.chars().filter(|c| !c.is_control() && u32::from(*c) & 0xfffe != 0xfffe).collect();
        if kept.len() < least { "x".to_owned() } else { kept }
    })
}

fn uri_reference() -> impl Strategy<Value = UriReference> {
    string_regex("([a-z][a-z0-9+.-]{0,4}:)?(//[a-z0-9.~%]{0,8}(:[0-9]{0,4})?)?(/[A-Za-z0-9._~!$&'()*+,;=@%-]{0,6}){0,3}([?][a-z=&/?%]{0,5})?(#[a-zA-Z]{0,4})?")
        .expect("a valid expression")
        // A path that begins with two slashes reads as an authority, which not every path can be.
    .prop_filter_map("it is outside of the grammar", |text| UriReference::new(text.replace('%', "%2f")).ok())
}

fn uri() -> impl Strategy<Value = Uri> {
    uri_reference().prop_map(|uri| {
        Uri::new(&uri).unwrap_or_else(|_| {
            Uri::new(format!("urn:x:{}", uri.as_str().replace(['#', ':', '?'], ""))).expect("a URN")
        })
    })
}

fn time() -> impl Strategy<Value = Timestamp> {
    let fraction = option::of(string_regex("[.][0-9]{1,12}").expect("a valid expression"));
    let offset = prop_oneof![
        Just("Z".to_owned()),
        Just("z".to_owned()),
        string_regex("[+-](0[0-9]|1[0-9]|2[0-3]):[0-5][0-9]").expect("a valid expression")
    ];
    (0..10_000u32, 1..=12u32, 1..=28u32, 0..24u32, 0..60u32, 0..60u32, fraction, offset, any::<bool>()).prop_map(
        |(year, month, day, hour, minute, second, fraction, offset, lower)| {
            let t = if lower { 't' } else { 'T' };
            let fraction = fraction.unwrap_or_default();
            Timestamp::new(format!(
                "{year:04}-{month:02}-{day:02}{t}{hour:02}:{minute:02}:{second:02}{fraction}{offset}"
            ))
            .expect("a time")
        },
    )
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        select(vec![i32::MIN, -1, 0, i32::MAX]).prop_map(Value::from),
        attribute(0).prop_map(Value::from),
        vec(any::<u8>(), 0..9).prop_map(|bytes| Value::from(Bytes::from(bytes))),
        uri().prop_map(Value::from),
        uri_reference().prop_map(Value::from),
        time().prop_map(Value::from),
    ]
}

fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        select(vec!["null", "true", "0", "-0", "1.50", "1E+400", "\"\"", "\"\\ud800\"", "[]", "{ }", "\"a\\/b\""])
            .prop_map(str::to_owned),
        text(0).prop_map(|text| serde_json::to_string(&text).expect("a string")),
    ];
    leaf.prop_recursive(4, 16, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(|all| format!("[{}]", all.join(" , "))),
            (text(0), inner)
                .prop_map(|(name, value)| format!("{{\n{}:{value}}}", serde_json::to_string(&name).expect("a string"))),
        ]
    })
}

fn data() -> impl Strategy<Value = Data> {
    let padded = (json(), select(vec!["", " ", "\n"])).prop_map(|(json, pad)| format!("{json}{pad}"));
    prop_oneof![
        3 => json().prop_map(|json| Data::Json(json.into())),
        1 => padded.prop_map(|json| Data::Json(json.into())),
        1 => vec(any::<u8>(), 0..20).prop_map(|bytes| Data::Json(bytes.into())),
        3 => text(0).prop_map(|text| Data::Text(text.into())),
        1 => json().prop_map(|text| Data::Text(text.into())),
        2 => vec(any::<u8>(), 0..20).prop_map(|bytes| Data::Binary(bytes.into())),
        1 => json().prop_map(|bytes| Data::Binary(bytes.into())),
    ]
}

const MEDIA_TYPES: [&str; 10] = [
    "application/json",
    "APPLICATION/JSON",
    "text/json",
    "application/vnd.x+json; v=\"1;2\"",
    "a/b+JSON",
    "text/plain",
    "Text/Plain; charset=utf-8",
    "application/octet-stream",
    "application/xml",
    "not a media type",
];

fn set_data(builder: EventBuilder, media_type: Option<&str>, data: Option<Data>, plainly: bool) -> EventBuilder {
    match (data, media_type) {
        (Some(Data::Json(bytes)), None) if plainly => builder.json(bytes),
        (Some(Data::Text(text)), None) if plainly => builder.text(text),
        (Some(data), media_type) => builder.data(media_type, data),
        (None, Some(media_type)) => builder.data_content_type(media_type),
        (None, None) => builder,
    }
}

/// Every event that there can be: what cannot be built is left out by `build`, and by nothing else.
pub(crate) fn event() -> impl Strategy<Value = Event> {
    let extension = (string_regex("[a-z0-9]{1,24}").expect("a valid expression"), value());
    let attributes =
        (attribute(1), uri_reference(), attribute(1), option::of(attribute(1)), option::of(time()), option::of(uri()));
    let carried = (option::of(select(MEDIA_TYPES.to_vec())), option::of(data()), any::<bool>());
    (attributes, vec(extension, 0..5), carried).prop_filter_map(
        "it cannot be built",
        |((id, source, event_type, subject, time, schema), extensions, (media_type, data, plainly))| {
            let mut builder = Event::builder(id, source, event_type);
            if let Some(subject) = subject {
                builder = builder.subject(subject);
            }
            if let Some(time) = time {
                builder = builder.time(time);
            }
            if let Some(schema) = schema {
                builder = builder.data_schema(schema);
            }
            for (name, value) in extensions {
                builder = builder.extension(name, value);
            }
            set_data(builder, media_type, data, plainly).build().ok()
        },
    )
}
