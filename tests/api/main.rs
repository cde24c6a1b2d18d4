//! The public behaviour of a bus, on the in-memory backend and on small ones with faults.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod asked;
mod backends;
mod confirming;
mod faulty_source;
mod shelf;
mod support;
mod wire;

mod at_least_once;
mod at_least_once_memory;
mod attach;
mod concurrency;
mod idle;
mod keyed;
mod keyed_restarts;
mod lifecycle;
mod model;
mod model_check;
mod panics;
mod plans;
mod printed;
mod publish;
mod publish_batch;
mod publish_options;
mod refusals;
mod requests;
mod requests_model;
mod requests_that_fail;
mod responders;
mod responders_model;
mod room;
mod sessions;
mod siblings;
mod start;
mod stop;
mod supervision;
mod threads;
mod threads_at_least_once;
mod topics;
mod types;
mod witness;
