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
<<<<<<< HEAD
pub(crate) mod support;
=======
mod support;
mod tls;
>>>>>>> 5e11cdd4850746e084874e80d8713c4f0b88dcb7
