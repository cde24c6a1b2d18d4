//! What the tests share: a bus on memory, events, and waiting without sleeping.

use std::num::NonZeroUsize;

use tramline::{Bus, Event, Memory, Name, bus::BusBuilder, source};

pub(crate) fn builder() -> BusBuilder<Memory> {
    Bus::builder(Memory::new(), source!("urn:example:test"))
}

pub(crate) fn name(text: &str) -> Name {
    Name::new(text).expect("a valid name")
}

pub(crate) fn many(count: usize) -> NonZeroUsize {
    NonZeroUsize::new(count).expect("not zero")
}

pub(crate) fn event(id: u64) -> Event {
    Event::builder(id.to_string(), source!("urn:example:test"), "com.example.test.v1").build().expect("a valid event")
}

/// Waits until this holds, letting other tasks run meanwhile; gives up after so many turns.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..100_000 {
        if holds() {
            return;
        }
        tokio::task::yield_now().await;
    }
    panic!("never: {what}");
}
