//! Which events a codec reads, by what they say that they carry (contract P4).

use tramline::{
    Cbor, Event, Json, MessagePack, Protobuf,
    codec::{Codec, CodecError, Decodes, Encodes, decode},
    event::Data,
    source,
};

use crate::values::{Everything, Message, event_of, example, example_message, said};

/// Reads a value of this codec under a content type that it has been given.
fn read<C, T>(value: &T, content_type: &str) -> Result<T, CodecError>
where
    C: Encodes<T> + for<'d> Decodes<'d, T>,
{
    decode::<C, T>(&event_of::<C, T>(value, content_type))
}

/// A content type in every spelling that is the same.
fn spellings(content_type: &str) -> [String; 4] {
    [
        content_type.to_owned(),
        content_type.to_uppercase(),
        format!("{content_type}; charset=utf-8"),
        format!("{content_type} ;version=1; encoding=\"a;b\""),
    ]
}

#[test]
fn p4_case_and_parameters_do_not_matter() {
    for spelling in spellings("application/json") {
        read::<Json, Everything>(&example(), &spelling).unwrap();
    }
    for spelling in spellings("application/vnd.msgpack") {
        read::<MessagePack, Everything>(&example(), &spelling).unwrap();
    }
    for spelling in spellings("application/cbor") {
        read::<Cbor, Everything>(&example(), &spelling).unwrap();
    }
    for spelling in spellings("application/protobuf") {
        read::<Protobuf, Message>(&example_message(), &spelling).unwrap();
    }
}

#[test]
fn p4_former_names_of_a_format_are_read_and_not_written() {
    for name in ["application/msgpack", "application/x-msgpack", "Application/MsgPack; v=1"] {
        read::<MessagePack, Everything>(&example(), name).unwrap();
    }
    for name in ["application/x-protobuf", "application/x-protobuffer", "application/X-Protobuf"] {
        read::<Protobuf, Message>(&example_message(), name).unwrap();
    }
    for own in [Json::CONTENT_TYPE, MessagePack::CONTENT_TYPE, Cbor::CONTENT_TYPE, Protobuf::CONTENT_TYPE] {
        assert!(!own.contains("/x-") && own != "application/msgpack", "{own}");
    }
}

#[test]
fn p4_another_content_type_is_an_error_that_names_both() {
    fn refused<C, T>(value: &T, others: &[&str])
    where
        C: Encodes<T> + for<'d> Decodes<'d, T>,
    {
        for other in others {
            let event = event_of::<C, T>(value, other);
            let Err(error) = decode::<C, T>(&event) else { panic!("{} reads {other}", C::CONTENT_TYPE) };
            assert!(matches!(&error, CodecError::WrongContentType { .. }), "{error:?}");
            let own = C::CONTENT_TYPE;
            assert_eq!(error.to_string(), format!("the codec reads `{own}`, and the event carries `{other}`"));
        }
    }
    let suffixed = ["application/vnd.example+json", "application/cloudevents+json", "text/json", "application/cbor"];
    refused::<Json, Everything>(&example(), &suffixed);
    refused::<MessagePack, Everything>(&example(), &["application/json", "application/cbor", "application/msgpack2"]);
    refused::<Cbor, Everything>(
        &example(),
        &["application/cbor-seq", "application/vnd.example+cbor", "application/cose"],
    );
    refused::<Protobuf, Message>(&example_message(), &["application/vnd.example+protobuf", "application/octet-stream"]);
}

#[test]
fn p4_an_absent_content_type_is_refused_by_all_but_json_for_json() {
    let untyped = |data| {
        let builder = Event::builder("1", source!("urn:example:test"), "com.example.test.v1");
        builder.data(None, data).build().unwrap()
    };
    let json = untyped(Data::Json("7".into()));
    let bytes = untyped(Data::Binary(vec![7].into()));
    assert_eq!(decode::<Json, u8>(&json).unwrap(), 7);
    for (error, own) in [
        (decode::<Json, u8>(&bytes), "application/json"),
        (decode::<MessagePack, u8>(&bytes), "application/vnd.msgpack"),
        (decode::<Cbor, u8>(&bytes), "application/cbor"),
        (decode::<MessagePack, u8>(&json), "application/vnd.msgpack"),
    ] {
        let expected = format!("the codec reads `{own}`, and the event has data without `datacontenttype`");
        assert_eq!(error.unwrap_err().to_string(), expected);
    }
    assert!(matches!(decode::<Protobuf, Message>(&bytes), Err(CodecError::NoContentType { .. })));
}

#[test]
fn no_data_is_an_error_of_its_own_and_empty_data_is_what_the_format_says() {
    let none = Event::builder("1", source!("urn:example:test"), "com.example.test.v1").build().unwrap();
    assert!(matches!(decode::<Json, u8>(&none), Err(CodecError::NoData)));
    assert!(matches!(decode::<Protobuf, Message>(&none), Err(CodecError::NoData)));
    let said_of = |error: CodecError| said(&error);
    let empty = said_of(decode::<MessagePack, u8>(&crate::values::event_in::<MessagePack>(&[])).unwrap_err());
    assert_eq!(empty, "the data cannot be decoded: the data ends within a value");
    let empty = said_of(decode::<Cbor, u8>(&crate::values::event_in::<Cbor>(&[])).unwrap_err());
    assert_eq!(empty, "the data cannot be decoded: the data ends within a value");
    decode::<Json, u8>(&crate::values::event_in::<Json>(&[])).unwrap_err();
}
