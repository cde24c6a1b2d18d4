//! The public behaviour of a bus, on the in-memory backend and on small ones with faults.

mod backends;
mod shelf;
mod support;

mod at_least_once;
mod attach;
mod lifecycle;
mod publish;
mod refusals;
mod start;
mod stop;
mod supervision;
