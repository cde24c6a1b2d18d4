//! The public behaviour of a bus, on the in-memory backend alone.

mod support;

mod lifecycle;
mod publish;
