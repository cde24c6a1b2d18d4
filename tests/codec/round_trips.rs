//! What a codec writes it reads (contract P1), and others read it too.

use proptest::prelude::*;
use tramline::{
    Cbor, Json, MessagePack, Protobuf,
    codec::{Codec, Decodes, Encodes, decode},
    event::Data,
};

use crate::values::{Everything, Message, event_of, everything, example, example_message, message};

fn comes_back<C, T>(value: &T) -> Result<(), TestCaseError>
where
    C: Encodes<T> + for<'d> Decodes<'d, T>,
    T: PartialEq + std::fmt::Debug,
{
    let event = event_of::<C, T>(value, C::CONTENT_TYPE);
    prop_assert_eq!(&decode::<C, T>(&event).unwrap(), value);
    // And through the format that events travel in.
    let travelled = tramline::Event::from_json(&event.to_json()).unwrap();
    prop_assert_eq!(&decode::<C, T>(&travelled).unwrap(), value);
    Ok(())
}

proptest! {
    #[test]
    fn p1_a_value_comes_back_from_every_codec_as_it_was(value in everything()) {
        comes_back::<MessagePack, Everything>(&value)?;
        comes_back::<Cbor, Everything>(&value)?;
        let event = event_of::<Json, _>(&value, "application/json");
        let back: Everything = decode::<Json, _>(&event).unwrap();
        // JSON rounds the last digit of a real number.
        prop_assert!((back.real - value.real).abs() <= value.real.abs() * 1e-15);
        prop_assert_eq!(Everything { real: 0.0, ..back }, Everything { real: 0.0, ..value });
    }

    #[test]
    fn p1_a_message_comes_back_as_it_was(value in message()) {
        comes_back::<Protobuf, Message>(&value)?;
    }
}

#[test]
fn q5_json_is_written_as_json_and_the_others_as_bytes() {
    assert!(matches!(Json::encode(&example()), Ok(Data::Json(_))));
    assert!(matches!(MessagePack::encode(&example()), Ok(Data::Binary(_))));
    assert!(matches!(Cbor::encode(&example()), Ok(Data::Binary(_))));
    assert!(matches!(Protobuf::encode(&example_message()), Ok(Data::Binary(_))));
}

#[test]
fn fields_are_written_by_name_so_that_readers_may_know_more_or_fewer_of_them() {
    #[derive(serde::Serialize)]
    struct Newer {
        added: &'static str,
        second: u8,
        first: u8,
    }
    #[derive(serde::Deserialize, PartialEq, Debug)]
    struct Older {
        first: u8,
        second: u8,
        #[serde(default)]
        gone: Option<u8>,
    }
    let newer = Newer { added: "new", second: 2, first: 1 };
    let older = Older { first: 1, second: 2, gone: None };
    assert_eq!(
        decode::<MessagePack, Older>(&event_of::<MessagePack, _>(&newer, MessagePack::CONTENT_TYPE)).unwrap(),
        older
    );
    assert_eq!(decode::<Cbor, Older>(&event_of::<Cbor, _>(&newer, Cbor::CONTENT_TYPE)).unwrap(), older);
}

#[test]
fn a_message_of_default_values_is_empty_data_and_comes_back() {
    let event = event_of::<Protobuf, _>(&Message::default(), Protobuf::CONTENT_TYPE);
    assert_eq!(event.data(), Some(&Data::Binary(bytes::Bytes::new())));
    assert_eq!(decode::<Protobuf, Message>(&event).unwrap(), Message::default());
}

#[test]
fn what_cannot_be_written_is_an_error() {
    struct Refuses;
    impl serde::Serialize for Refuses {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("it refuses"))
        }
    }
    for error in [Json::encode(&Refuses), MessagePack::encode(&Refuses), Cbor::encode(&Refuses)] {
        let said = crate::values::said(&error.unwrap_err());
        assert!(said.starts_with("the value cannot be encoded: ") && said.contains("it refuses"), "{said}");
    }
}

/// RFC 8949, appendix A: what other implementations write.
#[test]
fn cbor_is_read_as_others_write_it() {
    fn read<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> T {
        decode::<Cbor, T>(&crate::values::event_in::<Cbor>(bytes)).unwrap()
    }
    assert_eq!(read::<f64>(&[0xf9, 0x3e, 0x00]), 1.5, "half precision");
    assert_eq!(read::<f64>(&[0xfa, 0x47, 0xc3, 0x50, 0x00]), 100_000.0, "single precision");
    assert_eq!(read::<u8>(&[0x19, 0x00, 0x07]), 7, "wider than need be");
    assert_eq!(read::<String>(b"\xc0\x742013-03-21T20:04:00Z"), "2013-03-21T20:04:00Z", "a tag that nobody asked for");
    assert_eq!(read::<Vec<u8>>(&[0x9f, 0x01, 0x02, 0xff]), [1, 2], "an array of no length");
    assert_eq!(read::<String>(&[0x7f, 0x61, b'a', 0x61, b'b', 0xff]), "ab", "text in pieces");
}

/// The `MessagePack` specification's own example, and a struct that was written without names.
#[test]
fn messagepack_is_read_as_others_write_it() {
    #[derive(serde::Deserialize, PartialEq, Debug)]
    struct Example {
        compact: bool,
        schema: u8,
    }
    let by_name = b"\x82\xa7compact\xc3\xa6schema\x00";
    for bytes in [&by_name[..], &[0x92, 0xc3, 0x00]] {
        let event = crate::values::event_in::<MessagePack>(bytes);
        assert_eq!(decode::<MessagePack, Example>(&event).unwrap(), Example { compact: true, schema: 0 });
    }
}
