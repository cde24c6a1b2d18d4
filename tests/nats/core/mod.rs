//! Core NATS at its session, each test on both servers.

mod bound;
mod denied;
mod lifecycle;
mod link;
mod options;
mod requests;
mod routing;
mod secrets;
mod start;
pub(crate) mod support;
mod tls;
