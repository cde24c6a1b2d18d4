//! The documents in `tests/data/events`: good ones stay what they are, bad ones give the error that `expected.txt` has for them.

use std::{fs, path::PathBuf};

use bytes::Bytes;
use tramline::event::{Data, Event, Value};

fn folder(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests/data/events", name].iter().collect()
}

fn documents(name: &str) -> Vec<(String, Vec<u8>)> {
    let mut all: Vec<_> = fs::read_dir(folder(name))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|it| it == "json"))
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), fs::read(&path).unwrap()))
        .collect();
    all.sort();
    all
}

pub(crate) fn good() -> Vec<(String, Vec<u8>)> {
    documents("good")
}

pub(crate) fn bad() -> Vec<(String, Vec<u8>)> {
    documents("bad")
}

fn read(name: &str) -> Event {
    Event::from_json(&fs::read(folder("good").join(name).with_extension("json")).unwrap()).unwrap()
}

#[test]
fn a_good_document_is_read_and_stays_equal_when_it_is_written() {
    let all = good();
    assert!(all.len() >= 49, "the corpus is not there");
    for (name, document) in &all {
        let event = Event::from_json(document).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(Event::from_json_bytes(&Bytes::from(document.clone())).unwrap(), event, "{name}");
        let written = event.to_json();
        assert_eq!(Event::from_json(&written).unwrap(), event, "{name}");
        assert_eq!(event.to_builder().build().unwrap(), event, "{name}");
    }
    let events: Vec<_> = all.iter().map(|(_, document)| Event::from_json(document).unwrap()).collect();
    assert_eq!(Event::from_json_batch(&Event::to_json_batch(&events)).unwrap(), events);
}

#[test]
fn no_two_good_documents_are_the_same_event_unless_they_say_the_same() {
    let events: Vec<_> =
        good().into_iter().map(|(name, document)| (name, Event::from_json(&document).unwrap())).collect();
    for (at, (left_name, left)) in events.iter().enumerate() {
        for (right_name, right) in &events[..at] {
            assert_ne!(left, right, "{left_name} and {right_name}");
        }
    }
}

#[test]
fn a_bad_document_gives_its_error() {
    let table = fs::read_to_string(folder("bad").join("expected.txt")).unwrap();
    let expected: Vec<_> = table.lines().map(|line| line.split_once(": ").unwrap()).collect();
    let all = bad();
    assert_eq!(all.len(), expected.len(), "each bad document has a line, and each line a document");
    for (name, document) in all {
        let (_, fragment) =
            expected.iter().find(|(other, _)| *other == name).unwrap_or_else(|| panic!("{name} has no line"));
        for result in [Event::from_json(&document), Event::from_json_bytes(&document.clone().into())] {
            let error = result.expect_err(&name).to_string();
            assert!(error.contains(fragment), "{name}: {error}");
        }
    }
}

#[test]
fn text_and_bytes_are_what_the_document_says() {
    let all = read("every_attribute");
    assert_eq!(all.id(), "A234-1234-1234");
    assert_eq!(all.source().as_str(), "https://example.com/billing?a=b&c=%20#frag");
    assert_eq!(all.event_type(), "com.example.invoice.raised.v1");
    assert_eq!(all.subject(), Some("invoices/17"));
    assert_eq!(all.time().unwrap().as_str(), "2018-04-05T17:31:00Z");
    assert_eq!(all.data_content_type(), Some("application/json; charset=utf-8"));
    assert_eq!(all.data_schema().unwrap().as_str(), "https://example.com/schemas/invoice.json");
    assert_eq!(
        all.extensions().collect::<Vec<_>>(),
        [("priority", &Value::Integer(3)), ("urgent", &Value::Boolean(true))]
    );
    assert_eq!(all.data(), Some(&Data::Json(r#"{ "total" : "12.50" , "lines": [ 1, 2.50, 3e0 ] }"#.into())));

    assert_eq!(read("percent_signs_and_quotes_stay").subject(), Some(r#"100%25 "quoted" %zz \ 'single'"#));
    assert_eq!(read("unicode_in_every_string").extension("ext"), Some(&"\u{e9}\u{1f68b}".into()));
    assert_eq!(read("source_with_an_unnormal_url").source().as_str(), "HTTP://Example.COM:80/%7eme");
    assert_eq!(read("time_with_trailing_zeros").time().unwrap().as_str(), "2026-01-31T12:34:56.500000+05:30");
}

#[test]
fn the_kind_of_the_data_follows_the_media_type() {
    let json = |text: &'static str| Some(Data::Json(text.into()));
    let text = |text: &str| Some(Data::Text(text.into()));
    let binary = |bytes: &'static [u8]| Some(Data::Binary(Bytes::from_static(bytes)));
    for (name, data) in [
        ("only_the_required_attributes", None),
        ("no_data_but_a_media_type", None),
        ("data_null_is_json_null", json("null")),
        ("data_null_under_json", json("null")),
        ("empty_text", text("")),
        ("empty_json_string", json("\"\"")),
        ("empty_binary", binary(b"")),
        ("empty_bytes_under_json", json("")),
        ("text_under_json_type_is_a_json_string", json(r#""hello \u00e9 \/""#)),
        ("text_under_xml", text("<much wow=\"xml\"/>\n\t")),
        ("vendor_json_type_with_parameters", json(r#"{"a" : [1,2 ,3]}"#)),
        ("upper_case_json_suffix", json("[1]")),
        ("upper_case_text_type", text("1")),
        ("json_with_white_space_around_it_as_base64", json(" {\"a\":1}\n")),
        ("plain_json_as_base64", json("{\"a\":1}")),
        ("binary_under_octets", binary(&[0, 1, 2, 3, 255])),
        ("binary_without_a_media_type", binary(&[0, 1, 2, 3, 255])),
        ("binary_that_is_text_stays_binary", binary(b"hello")),
        ("json_numbers_beyond_any_machine", json("[1e400,123456789012345678901234567890,-0,1.0,1E+2]")),
    ] {
        assert!(read(name).data() == data.as_ref(), "{name}: {:?}", read(name).data());
    }
}
