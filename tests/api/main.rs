//! The public behaviour of a bus, on the in-memory backend and on small ones with faults.

mod backends;
mod support;

mod lifecycle;
mod publish;
mod start;
mod stop;
