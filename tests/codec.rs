//! Each codec: what it writes it reads, what it is not it refuses, and nothing makes it panic.

#![allow(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

#[path = "codec/borrowing.rs"]
mod borrowing;
#[path = "codec/bus.rs"]
mod bus;
#[path = "codec/content_types.rs"]
mod content_types;
#[path = "codec/hostile.rs"]
mod hostile;
#[path = "codec/round_trips.rs"]
mod round_trips;
#[path = "codec/values.rs"]
mod values;
