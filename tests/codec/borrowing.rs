//! What is decoded without a copy.

use serde::Deserialize;
use tramline::{
    Event, Json, MessagePack, Protobuf,
    codec::{Codec, decode},
};

use crate::values::{Message, event_of};

#[derive(serde::Serialize, Deserialize)]
struct Borrowed<'a> {
    text: &'a str,
    #[serde(with = "serde_bytes")]
    bytes: &'a [u8],
}

#[derive(serde::Serialize, Deserialize)]
struct Text<'a> {
    text: &'a str,
}

/// Whether a part lies in the event's own bytes.
fn is_within(event: &Event, part: &[u8]) -> bool {
    let whole = event.data().unwrap().bytes().as_ptr_range();
    let part = part.as_ptr_range();
    whole.start <= part.start && part.end <= whole.end
}

#[test]
fn text_is_borrowed_from_json() {
    let event = event_of::<Json, _>(&Text { text: "hello" }, Json::CONTENT_TYPE);
    let read: Text<'_> = decode::<Json, _>(&event).unwrap();
    assert!(is_within(&event, read.text.as_bytes()));
    let owned: std::collections::HashMap<String, String> = decode::<Json, _>(&event).unwrap();
    assert!(!is_within(&event, owned["text"].as_bytes()), "what is owned is a copy: the test can tell");
}

#[test]
fn text_and_bytes_are_borrowed_from_messagepack() {
    let event = event_of::<MessagePack, _>(&Borrowed { text: "hello", bytes: &[1, 2, 3] }, MessagePack::CONTENT_TYPE);
    let read: Borrowed<'_> = decode::<MessagePack, _>(&event).unwrap();
    assert_eq!((read.text, read.bytes), ("hello", &[1, 2, 3][..]));
    assert!(is_within(&event, read.text.as_bytes()) && is_within(&event, read.bytes));
}

#[test]
fn bytes_of_a_message_share_the_events() {
    let message = Message { bytes: vec![7; 1_000].into(), ..Message::default() };
    let event = event_of::<Protobuf, _>(&message, Protobuf::CONTENT_TYPE);
    let read: Message = decode::<Protobuf, _>(&event).unwrap();
    assert!(is_within(&event, &read.bytes));
}
