//! The public behaviour of a bus, on the in-memory backend and on small ones with faults.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod backends;
mod shelf;
mod support;

mod at_least_once;
mod at_least_once_memory;
mod attach;
mod concurrency;
mod lifecycle;
mod model;
mod printed;
mod publish;
mod refusals;
mod start;
mod stop;
mod supervision;
mod threads;
mod types;
