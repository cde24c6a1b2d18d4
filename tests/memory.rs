//! The in-memory backend at the session, with no bus above it.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

#[path = "memory/support.rs"]
mod support;

#[path = "memory/answering.rs"]
mod answering;
#[path = "memory/owed.rs"]
mod owed;

#[path = "memory/bound.rs"]
mod bound;
#[path = "memory/delays.rs"]
mod delays;
#[path = "memory/durable.rs"]
mod durable;
#[path = "memory/durable_properties.rs"]
mod durable_properties;
#[path = "memory/fan_out.rs"]
mod fan_out;
#[path = "memory/group.rs"]
mod group;
#[path = "memory/lifecycle.rs"]
mod lifecycle;
#[path = "memory/order.rs"]
mod order;
#[path = "memory/properties.rs"]
mod properties;
#[path = "memory/requests.rs"]
mod requests;
#[path = "memory/requests_properties.rs"]
mod requests_properties;
#[path = "memory/room.rs"]
mod room;
