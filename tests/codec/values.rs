//! The values that are carried, and events that carry them.

use std::{collections::BTreeMap, error::Error};

use proptest::{collection, option, prelude::*, string::string_regex};
use serde::{Deserialize, Serialize};
use tramline::{
    Event,
    codec::{Codec, CodecError, Encodes},
    source,
};

/// A value with a bit of everything.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Everything {
    pub(crate) text: String,
    pub(crate) whole: i64,
    pub(crate) natural: u64,
    pub(crate) real: f64,
    pub(crate) flag: bool,
    pub(crate) letter: char,
    #[serde(with = "serde_bytes")]
    pub(crate) bytes: Vec<u8>,
    pub(crate) maybe: Option<i32>,
    pub(crate) many: Vec<Tree>,
    pub(crate) named: BTreeMap<String, Option<u16>>,
    pub(crate) pair: (u8, String),
}

/// Every kind of variant, and one that holds itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Tree {
    Empty,
    Leaf(i32),
    Pair(String, u8),
    Named { left: Option<Box<Tree>>, weight: f32 },
    Within(Box<Tree>),
}

impl Tree {
    /// A leaf within so many others.
    pub(crate) fn deep(levels: usize) -> Self {
        (0..levels).fold(Self::Leaf(1), |inner, _| Self::Within(inner.into()))
    }
}

/// The same for Protobuf, as `prost-build` would make it of a schema.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Message {
    #[prost(string, tag = "1")]
    pub(crate) text: String,
    #[prost(sint64, tag = "2")]
    pub(crate) whole: i64,
    #[prost(double, tag = "3")]
    pub(crate) real: f64,
    #[prost(bytes = "bytes", tag = "4")]
    pub(crate) bytes: bytes::Bytes,
    #[prost(int32, optional, tag = "5")]
    pub(crate) maybe: Option<i32>,
    #[prost(message, repeated, tag = "6")]
    pub(crate) many: Vec<Message>,
    #[prost(btree_map = "string, uint32", tag = "7")]
    pub(crate) named: BTreeMap<String, u32>,
    #[prost(oneof = "Choice", tags = "8, 9")]
    pub(crate) choice: Option<Choice>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub(crate) enum Choice {
    #[prost(string, tag = "8")]
    Word(String),
    #[prost(message, tag = "9")]
    Within(Box<Message>),
}

impl Message {
    /// A message within so many others.
    pub(crate) fn deep(levels: usize) -> Self {
        (0..levels)
            .fold(Self::default(), |inner, _| Self { choice: Some(Choice::Within(inner.into())), ..Self::default() })
    }
}

/// Letters of every alphabet, and what formats write with an escape.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        string_regex("\\PC{0,12}").unwrap(),
        Just("\"quoted\\\n\u{1f600}\u{0}é漢\u{10ffff}".to_owned()),
        Just("long ".repeat(2_000)),
    ]
}

fn real() -> impl Strategy<Value = f64> {
    // Not a NaN, which equals nothing, and nothing that JSON has no number for.
    any::<f64>().prop_filter("a finite number", |number| number.is_finite())
}

pub(crate) fn tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        Just(Tree::Empty),
        any::<i32>().prop_map(Tree::Leaf),
        (text(), any::<u8>()).prop_map(|(word, number)| Tree::Pair(word, number)),
    ];
    leaf.prop_recursive(4, 8, 1, |inner| {
        prop_oneof![
            inner.clone().prop_map(|inner| Tree::Within(inner.into())),
            (option::of(inner), -1e6_f32..1e6)
                .prop_map(|(left, weight)| Tree::Named { left: left.map(Box::new), weight }),
        ]
    })
}

pub(crate) fn everything() -> impl Strategy<Value = Everything> {
    let plain = (text(), any::<i64>(), any::<u64>(), real(), any::<bool>(), any::<char>());
    let composed = (
        collection::vec(any::<u8>(), 0..40),
        any::<Option<i32>>(),
        collection::vec(tree(), 0..4),
        collection::btree_map(text(), any::<Option<u16>>(), 0..4),
        (any::<u8>(), text()),
    );
    (plain, composed).prop_map(|(plain, composed)| {
        let (text, whole, natural, real, flag, letter) = plain;
        let (bytes, maybe, many, named, pair) = composed;
        Everything { text, whole, natural, real, flag, letter, bytes, maybe, many, named, pair }
    })
}

pub(crate) fn message() -> impl Strategy<Value = Message> {
    let choice = prop_oneof![
        Just(None),
        text().prop_map(|word| Some(Choice::Word(word))),
        (0..3_usize).prop_map(|levels| Some(Choice::Within(Message::deep(levels).into()))),
    ];
    let parts = (
        text(),
        any::<i64>(),
        real(),
        collection::vec(any::<u8>(), 0..40),
        any::<Option<i32>>(),
        collection::vec(text(), 0..4),
        collection::btree_map(text(), any::<u32>(), 0..4),
        choice,
    );
    parts.prop_map(|(text, whole, real, bytes, maybe, many, named, choice)| {
        let many = many.into_iter().map(|text| Message { text, ..Message::default() }).collect();
        Message { text, whole, real, bytes: bytes.into(), maybe, many, named, choice }
    })
}

/// A value of each kind in it.
pub(crate) fn example() -> Everything {
    Everything {
        text: "grüße".to_owned(),
        whole: -3,
        natural: u64::MAX,
        real: 1.5,
        flag: true,
        letter: '漢',
        bytes: vec![0, 255, 7],
        maybe: None,
        many: vec![Tree::Empty, Tree::Pair("a".to_owned(), 2), Tree::deep(2)],
        named: BTreeMap::from([("one".to_owned(), Some(1)), ("none".to_owned(), None)]),
        pair: (9, "nine".to_owned()),
    }
}

pub(crate) fn example_message() -> Message {
    Message {
        text: "grüße".to_owned(),
        whole: -3,
        real: 1.5,
        bytes: bytes::Bytes::from_static(&[0, 255, 7]),
        maybe: Some(0),
        many: vec![Message::deep(1)],
        named: BTreeMap::from([("one".to_owned(), 1)]),
        choice: Some(Choice::Word("word".to_owned())),
    }
}

/// An event that carries a value as the codec writes it, under this content type or the codec's own.
pub(crate) fn event_of<C: Encodes<T>, T: ?Sized>(value: &T, content_type: &str) -> Event {
    event(content_type, &C::encode(value).unwrap().into_bytes())
}

/// An event that carries these bytes.
pub(crate) fn event(content_type: &str, bytes: &[u8]) -> Event {
    let builder = Event::builder("1", source!("urn:example:test"), "com.example.test.v1");
    builder.binary(content_type, bytes.to_vec()).build().unwrap()
}

/// An event that carries these bytes as the codec's.
pub(crate) fn event_in<C: Codec>(bytes: &[u8]) -> Event {
    event(C::CONTENT_TYPE, bytes)
}

/// What an error says, with its causes.
pub(crate) fn said(error: &CodecError) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
