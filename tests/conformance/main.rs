//! The conformance suite on the in-memory backend and on small stores, and each row both ways.

#![allow(clippy::unwrap_used, reason = "tests")]

mod archive;
mod both_ways;
mod broken;
mod depot;
mod lessor;
mod memory;
mod pretender;
mod stand_in;
mod stores;
