//! The event: its types, its formats, and that nothing which goes in comes out changed.

mod arbitrary;
mod building;
mod corpus;
mod never_panics;
mod round_trip;
#[cfg(feature = "cloudevents-sdk")]
mod sdk;
