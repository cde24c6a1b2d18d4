//! The test kit itself: what it sees, what it makes go wrong, and how long it waits.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod faults;
mod like;
mod seen;
mod support;
mod waits;
