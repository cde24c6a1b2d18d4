//! NATS and JetStream, on real servers of two generations; `tests/run --servers` installs them.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

mod conformance_core;
mod conformance_jetstream;
mod conformance_table;
mod core;
mod examples;
mod faults;
mod folder;
mod interop;
mod jetstream;
mod operator;
mod proxy;
mod server;
mod server_is_right;
mod setup;
mod soak;
