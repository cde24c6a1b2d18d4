//! The event: its types, its formats, and that nothing which goes in comes out changed.

#![allow(clippy::unwrap_used)] // A test that unwraps fails, which is what it is for.

mod arbitrary;
mod building;
mod corpus;
mod headers;
mod never_panics;
mod round_trip;
#[cfg(feature = "cloudevents-sdk")]
mod sdk;
