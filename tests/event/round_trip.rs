//! What is written is read back equal, for every event that can be built (contract Q2, Q5, Q6).

use bytes::Bytes;
use proptest::{collection::vec, prelude::*};
use tramline::{
    event::{Data, Event},
    source,
};

use crate::arbitrary;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn an_event_is_read_as_it_was_written(event in arbitrary::event()) {
        let written = event.to_json();
        prop_assert_eq!(&Event::from_json(&written).unwrap(), &event, "{}", String::from_utf8_lossy(&written));
        let shared = Event::from_json_bytes(&Bytes::from(written.clone())).unwrap();
        prop_assert_eq!(&shared, &event);
        prop_assert_eq!(shared.to_json(), written);
    }

    #[test]
    fn what_is_written_is_json_that_others_can_read(event in arbitrary::event()) {
        let raw: std::collections::HashMap<String, Box<serde_json::value::RawValue>> = serde_json::from_slice(&event.to_json()).unwrap();
        prop_assert_eq!(raw["specversion"].get(), "\"1.0\"");
    }

    #[test]
    fn a_builder_of_an_event_builds_the_same_event(event in arbitrary::event()) {
        prop_assert_eq!(&event.to_builder().build().unwrap(), &event);
    }

    #[test]
    fn a_batch_is_read_as_it_was_written(events in vec(arbitrary::event(), 0..5)) {
        let written = Event::to_json_batch(&events);
        prop_assert_eq!(&Event::from_json_batch(&written).unwrap(), &events);
        prop_assert_eq!(&Event::from_json_batch_bytes(&written.into()).unwrap(), &events);
    }
}

fn megabyte(data: impl FnOnce(Vec<u8>) -> Data, media_type: &str) {
    let bytes = (0u32..1 << 20).map(|at| b'a' + u8::try_from(at % 26).unwrap()).collect();
    let event = Event::builder("1", source!("urn:x"), "t").data(Some(media_type), data(bytes)).build().unwrap();
    let written = event.to_json();
    assert_eq!(Event::from_json(&written).unwrap(), event);
    assert!(format!("{event:?}").len() < 1_000, "Debug must not print the data");
}

#[test]
fn a_mebibyte_of_each_kind_stays_what_it_is() {
    megabyte(|bytes| Data::Binary(bytes.into()), "application/octet-stream");
    megabyte(|bytes| Data::Text(String::from_utf8(bytes).unwrap().into()), "text/plain");
    megabyte(|bytes| Data::Json(bytes.into()), "application/json");
    megabyte(|bytes| Data::Json(format!("\"{}\"", String::from_utf8(bytes).unwrap()).into()), "application/json");
}

#[test]
fn json_and_plain_text_are_slices_of_a_shared_document() {
    for (media_type, member) in [("application/json", "{\"a\":1}"), ("text/plain", "\"hello\"")] {
        let document = Bytes::from(format!(
            r#"{{"specversion":"1.0","id":"1","source":"s","type":"t","datacontenttype":"{media_type}","data":{member}}}"#
        ));
        let event = Event::from_json_bytes(&document).unwrap();
        let range = document.as_ptr_range();
        assert!(range.contains(&event.data().unwrap().bytes().as_ptr()));
    }
}

#[test]
fn a_bad_event_in_a_batch_is_named_by_its_position() {
    let good = Event::builder("1", source!("s"), "t").build().unwrap().to_json();
    let mut batch = b"[".to_vec();
    batch.extend_from_slice(&good);
    batch.extend_from_slice(b" , {}\n]");
    let error = Event::from_json_batch(&batch).unwrap_err().to_string();
    assert_eq!(error, "event 1 of the batch: the event has no `specversion`");
    assert_eq!(Event::from_json_batch(b" [ ] ").unwrap(), []);
    for bad in ["", "[", "{}", "[1]", "[null]", "[{}", "[],"] {
        assert!(Event::from_json_batch(bad.as_bytes()).is_err(), "{bad}");
    }
}
