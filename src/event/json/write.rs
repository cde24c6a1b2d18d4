//! Writing: the bytes of JSON data go into the document as they are.

use base64::{Engine, prelude::BASE64_STANDARD};

use crate::event::{Data, Event, Value, builder::is_plain_json};

/// About as many bytes as the document takes, so that it is seldom moved while it grows.
pub(super) fn estimate(event: &Event) -> usize {
    let data = event.data().map_or(0, |data| data.bytes().len());
    256 + data + data / 3
}

pub(super) fn event(out: &mut Vec<u8>, event: &Event) {
    out.extend_from_slice(br#"{"specversion":"1.0""#);
    member(out, "id", event.id());
    member(out, "source", event.source().as_str());
    member(out, "type", event.event_type());
    let optional = [
        ("subject", event.subject()),
        ("time", event.time().map(AsRef::as_ref)),
        ("datacontenttype", event.data_content_type()),
        ("dataschema", event.data_schema().map(AsRef::as_ref)),
    ];
    for (name, value) in optional {
        if let Some(value) = value {
            member(out, name, value);
        }
    }
    for (name, value) in event.extensions() {
        match value {
            Value::Boolean(_) | Value::Integer(_) => {
                key(out, name);
                out.extend_from_slice(value.to_text().as_bytes());
            }
            _ => member(out, name, &value.to_text()),
        }
    }
    match event.data() {
        None => {}
        Some(Data::Json(bytes)) if is_plain_json(bytes) => {
            key(out, "data");
            out.extend_from_slice(bytes);
        }
        Some(Data::Text(text)) => member(out, "data", text),
        Some(Data::Json(bytes) | Data::Binary(bytes)) => base64(out, bytes),
    }
    out.push(b'}');
}

/// A name needs no escapes: it is one of ours, or that of an extension (contract Q3).
fn key(out: &mut Vec<u8>, name: &str) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
}

fn member(out: &mut Vec<u8>, name: &str, value: &str) {
    key(out, name);
    serde_json::to_writer(out, value).expect("a string is always written, and memory does not fail");
}

fn base64(out: &mut Vec<u8>, bytes: &[u8]) {
    key(out, "data_base64");
    out.push(b'"');
    let start = out.len();
    // Four for each three, begun ones included; cut to what was written.
    out.resize(start + bytes.len().div_ceil(3) * 4, 0);
    let written = BASE64_STANDARD.encode_slice(bytes, &mut out[start..]).expect("the room was made for it");
    out.truncate(start + written);
    out.push(b'"');
}
