//! Data that is cut off, goes on, is nested without end, or is anything at all: an error, never a panic.

use proptest::{collection::vec, prelude::*};
use serde_json::Value;
use tramline::{
    Cbor, Json, MessagePack, Protobuf,
    codec::{Codec, CodecError, Decodes, Encodes, decode},
};

use crate::values::{Everything, Message, Tree, event_in, event_of, example, example_message, said};

/// Deeper than any stack.
const DEEP: usize = 1_000_000;

#[track_caller]
fn is_refused<C: for<'d> Decodes<'d, T>, T>(bytes: &[u8]) -> String {
    match decode::<C, T>(&event_in::<C>(bytes)) {
        Err(error @ CodecError::Decode { .. }) => said(&error),
        Err(error) => panic!("another error: {error}"),
        Ok(_) => panic!("it was read"),
    }
}

fn each_truncation_is_refused<C, T>(value: &T)
where
    C: Encodes<T> + for<'d> Decodes<'d, T>,
{
    let whole = C::encode(value).unwrap().into_bytes();
    for length in 0..whole.len() {
        let said = is_refused::<C, T>(&whole[..length]);
        assert!(said.starts_with("the data cannot be decoded: "), "{said}");
    }
}

#[test]
fn what_ends_at_any_byte_within_a_value_is_an_error() {
    each_truncation_is_refused::<Json, Everything>(&example());
    each_truncation_is_refused::<MessagePack, Everything>(&example());
    each_truncation_is_refused::<Cbor, Everything>(&example());
    // A message that ends between two fields is another message.
    let whole = Protobuf::encode(&example_message()).unwrap().into_bytes();
    for length in 0..whole.len() {
        if let Ok(read) = decode::<Protobuf, Message>(&event_in::<Protobuf>(&whole[..length])) {
            assert_ne!(read, example_message());
        }
    }
}

#[test]
fn what_goes_on_after_the_value_is_an_error() {
    let and_more = |bytes: bytes::Bytes| [&bytes[..], b"\x01\x02"].concat();
    let more = " and the data goes on for 2 B after the value".trim_start_matches(" and ");
    is_refused::<Json, Everything>(&and_more(Json::encode(&example()).unwrap().into_bytes()));
    let said = is_refused::<MessagePack, Everything>(&and_more(MessagePack::encode(&example()).unwrap().into_bytes()));
    assert_eq!(said, format!("the data cannot be decoded: {more}"));
    let said = is_refused::<Cbor, Everything>(&and_more(Cbor::encode(&example()).unwrap().into_bytes()));
    assert_eq!(said, format!("the data cannot be decoded: {more}"));
}

#[test]
fn values_nested_as_deeply_as_others_nest_them_are_read() {
    fn read<C: Encodes<Tree> + for<'d> Decodes<'d, Tree>>(levels: usize) {
        let event = event_of::<C, _>(&Tree::deep(levels), C::CONTENT_TYPE);
        assert_eq!(decode::<C, Tree>(&event).unwrap(), Tree::deep(levels));
    }
    read::<Json>(100);
    read::<MessagePack>(100);
    read::<Cbor>(100);
    let event = event_of::<Protobuf, _>(&Message::deep(90), Protobuf::CONTENT_TYPE);
    assert_eq!(decode::<Protobuf, Message>(&event).unwrap(), Message::deep(90));
}

#[test]
fn arrays_nested_without_end_are_an_error_and_no_stack_overflow() {
    is_refused::<Json, Value>(&[b'['; DEEP]);
    let said = is_refused::<MessagePack, Value>(&[0x91; DEEP]);
    assert_eq!(said, "the data cannot be decoded: the value is nested deeper than 128 levels");
    for array in [0x81, 0x9f, 0xbf, 0xc1] {
        let said = is_refused::<Cbor, Value>(&vec![array; DEEP]);
        assert!(said.starts_with("the data cannot be decoded: "), "{array:#x}: {said}");
    }
    let said = is_refused::<Cbor, Value>(&[0x81; DEEP]);
    assert_eq!(said, "the data cannot be decoded: the value is nested deeper than 128 levels");
}

#[test]
fn enums_nested_without_end_are_an_error_and_no_stack_overflow() {
    is_refused::<Json, Tree>(&br#"{"Within":"#.repeat(DEEP));
    is_refused::<MessagePack, Tree>(&b"\x81\xa6Within".repeat(DEEP));
    is_refused::<MessagePack, Tree>(&b"\x91\x04".repeat(DEEP));
    is_refused::<Cbor, Tree>(&b"\xa1\x66Within".repeat(DEEP));
    // Names where values are to be: each would be the next one's content.
    is_refused::<Cbor, Vec<Tree>>(
        &[b"\x9b\x00\x00\x00\x00\x00\x0f\x42\x40", &b"\x66Within"[..].repeat(DEEP)[..]].concat(),
    );
    is_refused::<MessagePack, Vec<Tree>>(&[b"\xdd\x00\x0f\x42\x40", &b"\xa6Within"[..].repeat(DEEP)[..]].concat());
}

#[test]
fn unknown_fields_nested_without_end_are_an_error_and_no_stack_overflow() {
    #[derive(serde::Deserialize, Debug)]
    struct Nothing {}
    is_refused::<Json, Nothing>(&[br#"{"x":"#, &b"["[..].repeat(DEEP)[..]].concat());
    is_refused::<MessagePack, Nothing>(&[b"\x81\xa1x", &[0x91; DEEP][..]].concat());
    is_refused::<Cbor, Nothing>(&[b"\xa1\x61x", &[0x81; DEEP][..]].concat());
}

#[test]
fn messages_nested_without_end_are_an_error_and_no_stack_overflow() {
    // Each is the only field of the one around it; the innermost comes first.
    let mut bytes = Vec::new();
    for _ in 0..2_000 {
        let mut outer = vec![0x4a];
        prost::encode_length_delimiter(bytes.len(), &mut outer).unwrap();
        outer.extend(&bytes);
        bytes = outer;
    }
    is_refused::<Protobuf, Message>(&bytes);
    // Groups, which no schema of today has, are passed over level by level.
    is_refused::<Protobuf, Message>(&[0xa3, 0x06].repeat(DEEP));
}

#[test]
fn lengths_beyond_the_data_are_an_error_and_reserve_nothing() {
    is_refused::<MessagePack, Vec<u64>>(&[0xdd, 0xff, 0xff, 0xff, 0xff, 1]);
    is_refused::<MessagePack, serde_bytes::ByteBuf>(&[0xc6, 0xff, 0xff, 0xff, 0xff, 1]);
    let longest = [0xff; 8];
    is_refused::<Cbor, Vec<u64>>(&[&[0x9b], &longest[..], &[1]].concat());
    is_refused::<Cbor, String>(&[&[0x7b], &longest[..], &[1]].concat());
    is_refused::<Cbor, serde_bytes::ByteBuf>(&[&[0x5b], &longest[..], &[1]].concat());
    is_refused::<Protobuf, Message>(&[0x22, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1]);
}

/// Reads whatever the bytes are as several types; that it returns is what is asked.
fn read_as_anything<C>(bytes: &[u8])
where
    C: for<'d> Decodes<'d, Everything>
        + for<'d> Decodes<'d, Value>
        + for<'d> Decodes<'d, Tree>
        + for<'d> Decodes<'d, Vec<Tree>>,
{
    let event = event_in::<C>(bytes);
    let _ = decode::<C, Everything>(&event);
    let _ = decode::<C, Value>(&event);
    let _ = decode::<C, Tree>(&event);
    let _ = decode::<C, Vec<Tree>>(&event);
}

fn read_by_all(bytes: &[u8]) {
    read_as_anything::<Json>(bytes);
    read_as_anything::<MessagePack>(bytes);
    read_as_anything::<Cbor>(bytes);
    let _ = decode::<Protobuf, Message>(&event_in::<Protobuf>(bytes));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_bytes_make_a_codec_panic(bytes in vec(any::<u8>(), 0..200)) {
        read_by_all(&bytes);
    }

    #[test]
    fn no_change_of_a_value_that_was_written_makes_a_codec_panic(
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
        which in 0..4_usize,
    ) {
        let written = match which {
            0 => Json::encode(&example()),
            1 => MessagePack::encode(&example()),
            2 => Cbor::encode(&example()),
            _ => Protobuf::encode(&example_message()),
        };
        let mut bytes = written.unwrap().into_bytes().to_vec();
        for (at, to) in changes {
            let at = at.index(bytes.len());
            bytes[at] = to;
        }
        read_by_all(&bytes);
    }
}
