//! What can be seen of a running bus: what it tells `tracing`, and traces that go on. In a process of its own, since what
//! `tracing` finds out about a place in the code it finds out once for all threads.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

#[path = "../api/confirming.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod confirming;
mod recorder;
#[path = "../api/shelf.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod shelf;
#[path = "../api/support.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod support;
mod told;
mod traces;
#[path = "../api/wire.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod wire;
