//! The in-memory backend at the session, with no bus above it.

#[path = "memory/support.rs"]
mod support;

#[path = "memory/fan_out.rs"]
mod fan_out;
