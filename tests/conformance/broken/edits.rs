//! Faults in what arrives: each changes something that it should have left alone.

use tramline::{
    Event,
    event::{Data, Timestamp, UriReference, Value},
};

use super::{Arrival, Fault, Passes};
use crate::both_ways::{Mutant, mutant};

const ROUND_TRIP: &[&str] = &["at_most_once::event_round_trip", "at_least_once::event_round_trip"];

pub(crate) fn mutants() -> Vec<Mutant> {
    let edits: [(&str, MakeEdit); 13] = [
        ("cuts trailing zeros off a time", || Edit(without_trailing_zeros)),
        ("writes a time in upper case", || Edit(time_in_upper_case)),
        ("keeps nine digits of a fraction", || Edit(nine_digits)),
        ("writes the scheme and host of a source in lower case", || Edit(source_in_lower_case)),
        ("decodes percent signs once too often", || Edit(percent_decoded)),
        ("trims text", || Edit(trimmed)),
        ("composes what was written as two characters", || Edit(composed)),
        ("takes empty data for no data", || Edit(without_empty_data)),
        ("takes bytes that are text for text", || Edit(bytes_as_text)),
        ("writes JSON anew", || Edit(json_anew)),
        ("cuts data at 32 KiB", || Edit(cut_at_32_kib)),
        ("drops an extension that is empty", || Edit(without_empty_extensions)),
        ("forgets the media type where there is no data", || Edit(without_idle_media_type)),
    ];
    let mut all: Vec<_> = edits.into_iter().map(|(name, edit)| mutant(name, edit).breaks(ROUND_TRIP)).collect();
    all.push(
        mutant("writes each extension as text", || ExtensionsAsText { told: false })
            .breaks(ROUND_TRIP)
            .also(&["requests::request_answered"], "its event has extensions of each kind, too"),
    );
    all.push(mutant("writes each extension as text, and says so", || ExtensionsAsText { told: true }));
    all
}

type MakeEdit = fn() -> Edit;

/// What becomes of an event where the fault is seen.
struct Edit(fn(&Event) -> Option<Event>);

impl Fault for Edit {
    fn arrives(&self, arrival: &mut Arrival<'_>) -> Passes {
        if let Some(edited) = self.0(arrival.event) {
            *arrival.event = edited;
        }
        Passes::Once
    }
}

fn with_time(event: &Event, edit: impl Fn(&str) -> String) -> Option<Event> {
    let time = event.time()?;
    Some(event.to_builder().time(Timestamp::new(edit(time.as_str())).unwrap()).build().unwrap())
}

fn without_trailing_zeros(event: &Event) -> Option<Event> {
    with_time(event, |time| time.replace("500000+", "5+"))
}

fn time_in_upper_case(event: &Event) -> Option<Event> {
    with_time(event, str::to_uppercase)
}

fn nine_digits(event: &Event) -> Option<Event> {
    with_time(event, |time| time.replace(".123456789123", ".123456789"))
}

fn source_in_lower_case(event: &Event) -> Option<Event> {
    let source = event.source().as_str().replace("HTTP://Example.COM", "http://example.com");
    Some(event.to_builder().source(UriReference::new(source).unwrap()).build().unwrap())
}

fn percent_decoded(event: &Event) -> Option<Event> {
    let subject = event.subject()?.replace("%25", "%");
    Some(event.to_builder().subject(subject).build().unwrap())
}

fn trimmed(event: &Event) -> Option<Event> {
    let subject = event.subject()?.trim();
    Some(event.to_builder().subject(subject).build().unwrap())
}

fn composed(event: &Event) -> Option<Event> {
    let subject = event.subject()?.replace("e\u{301}", "\u{e9}");
    Some(event.to_builder().subject(subject).build().unwrap())
}

fn without_empty_data(event: &Event) -> Option<Event> {
    event.data()?.bytes().is_empty().then(|| event.to_builder().without_data().build().unwrap())
}

fn bytes_as_text(event: &Event) -> Option<Event> {
    let Data::Binary(bytes) = event.data()? else { return None };
    let text = std::str::from_utf8(bytes).ok()?;
    Some(event.to_builder().data(event.data_content_type(), Data::Text(text.into())).build().unwrap())
}

fn json_anew(event: &Event) -> Option<Event> {
    let Data::Json(bytes) = event.data()? else { return None };
    let read: serde_json::Value = serde_json::from_slice(bytes).ok()?;
    let written = serde_json::to_vec(&read).unwrap();
    Some(event.to_builder().data(event.data_content_type(), Data::Json(written.into())).build().unwrap())
}

fn cut_at_32_kib(event: &Event) -> Option<Event> {
    const LONGEST: usize = 32 * 1024;
    let Data::Binary(bytes) = event.data()? else { return None };
    // What is larger than this is another row's.
    let cut = (LONGEST..LONGEST * 4).contains(&bytes.len()).then(|| Data::Binary(bytes.slice(..LONGEST)))?;
    Some(event.to_builder().data(event.data_content_type(), cut).build().unwrap())
}

fn without_empty_extensions(event: &Event) -> Option<Event> {
    let empty = event.extensions().filter(|(_, value)| value.to_text().is_empty());
    Some(empty.fold(event.to_builder(), |event, (name, _)| event.without_extension(name)).build().unwrap())
}

fn without_idle_media_type(event: &Event) -> Option<Event> {
    event.data().is_none().then(|| event.to_builder().without_data().build().unwrap())
}

/// As a format does that has no kinds; its fixture may tell.
struct ExtensionsAsText {
    told: bool,
}

impl Fault for ExtensionsAsText {
    fn arrives(&self, arrival: &mut Arrival<'_>) -> Passes {
        let event = &*arrival.event;
        let text = event.extensions().fold(event.to_builder(), |edited, (name, value)| {
            edited.extension(name, Value::String(value.to_text().into_owned()))
        });
        *arrival.event = text.build().unwrap();
        Passes::Once
    }

    fn keeps_extension_kinds(&self) -> bool {
        !self.told
    }
}
