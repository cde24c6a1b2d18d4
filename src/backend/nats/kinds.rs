//! The headers that the events of one kind have in common, made once.
//!
//! A service publishes few kinds of events, many times. Putting a header into the client's map takes longer than a copy of it, so
//! the part that all events of a kind have in common is copied as a whole.

use std::{
    hash::Hasher,
    sync::{
        PoisonError, RwLock,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use async_nats::HeaderMap;
use rustc_hash::FxHasher;

use crate::event::{Event, Uri, UriReference};

/// How many kinds are remembered.
const PLACES: usize = 32;
/// Longer ones are not, in bytes.
const LONGEST: usize = 1024;

/// The kinds of events that one session publishes.
#[derive(Debug, Default)]
pub(super) struct Kinds([Place; PLACES]);

#[derive(Debug, Default)]
struct Place {
    kind: RwLock<Option<Kind>>,
    /// What was asked for last and was not there. It is made when it is asked for again: a source or a type that no other event
    /// has is not worth it.
    missed: AtomicU64,
}

#[derive(Debug)]
struct Kind {
    source: UriReference,
    event_type: String,
    content_type: Option<String>,
    schema: Option<Uri>,
    headers: HeaderMap,
}

impl Kinds {
    /// The headers that this event has in common with others of its kind. `make` makes them.
    pub(super) fn headers(&self, event: &Event, make: impl FnOnce() -> HeaderMap) -> HeaderMap {
        let hash = hash(event);
        // The upper bits are the best that this hash has.
        let place = &self.0[(hash >> 59) as usize % PLACES];
        let kind = place.kind.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(kind) = kind.as_ref().filter(|kind| kind.is_of(event)) {
            return kind.headers.clone();
        }
        drop(kind);
        let headers = make();
        if place.missed.swap(hash, Relaxed) == hash
            && size(event) <= LONGEST
            && let Ok(mut kind) = place.kind.try_write()
        {
            *kind = Some(Kind {
                source: event.source().clone(),
                event_type: event.event_type().to_owned(),
                content_type: event.data_content_type().map(str::to_owned),
                schema: event.data_schema().cloned(),
                headers: headers.clone(),
            });
        }
        headers
    }
}

impl Kind {
    fn is_of(&self, event: &Event) -> bool {
        self.event_type == event.event_type()
            && self.source == *event.source()
            && self.content_type.as_deref() == event.data_content_type()
            && self.schema.as_ref() == event.data_schema()
    }
}

fn texts(event: &Event) -> [&str; 4] {
    let schema = event.data_schema().map_or("", Uri::as_str);
    [event.event_type(), event.source().as_str(), event.data_content_type().unwrap_or_default(), schema]
}

fn size(event: &Event) -> usize {
    texts(event).iter().map(|text| text.len()).sum()
}

fn hash(event: &Event) -> u64 {
    let mut hasher = FxHasher::default();
    texts(event).iter().for_each(|text| hasher.write(text.as_bytes()));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, option, prelude::*, sample::select};

    use super::*;
    use crate::{backend::nats::wire::Writer, event::headers::ContentMode};

    fn event() -> impl Strategy<Value = Event> {
        let text = |texts: Vec<&'static str>| select(texts);
        let attributes = (
            text(vec!["1", "2", "a b"]),
            text(vec!["urn:a", "urn:b", "urn:%41"]),
            text(vec!["t.a", "t.b", "t \u{e9}"]),
            option::of(text(vec!["s", "100%"])),
            option::of(text(vec!["application/json", "application/x+json; a=b", "text/plain"])),
            option::of(text(vec!["https://x/y", "a:b#c"])),
            option::of(text(vec!["v", "w \u{e9}"])),
        );
        attributes.prop_map(|(id, source, event_type, subject, content_type, schema, extension)| {
            let mut builder = Event::builder(id, UriReference::new(source).unwrap(), event_type);
            builder = subject.into_iter().fold(builder, crate::event::EventBuilder::subject);
            builder = schema.into_iter().fold(builder, |builder, uri| builder.data_schema(Uri::new(uri).unwrap()));
            builder = extension.into_iter().fold(builder, |builder, value| builder.extension("ext", value));
            if let Some(content_type) = content_type {
                builder = builder.binary(content_type, "{}");
            }
            builder.build().unwrap()
        })
    }

    proptest! {
        #[test]
        fn q2_headers_that_are_copied_are_those_that_are_made(events in vec(event(), 1..30)) {
            let kept = Writer::new(ContentMode::Binary);
            for event in events.iter().chain(&events) {
                // A writer of its own has seen nothing.
                let made = Writer::new(ContentMode::Binary).write(event);
                prop_assert_eq!(kept.write(event), made);
            }
        }
    }

    #[test]
    fn a_kind_that_comes_again_is_not_made_again() {
        let kinds = Kinds::default();
        let event = Event::builder("1", crate::source!("urn:x"), "t").build().unwrap();
        let mut made = 0;
        for _ in 0..5 {
            kinds.headers(&event, || {
                made += 1;
                HeaderMap::new()
            });
        }
        assert_eq!(made, 2);
        let long = Event::builder("1", crate::source!("urn:x"), "t".repeat(LONGEST)).build().unwrap();
        for _ in 0..5 {
            kinds.headers(&long, || {
                made += 1;
                HeaderMap::new()
            });
        }
        assert_eq!(made, 7);
    }
}
