//! What is said where the client panics.

use std::any::Any;

use super::address::Servers;
use crate::contract::OpenError;

/// The client panicked while it connected. It does so where a server asks for TLS, and it finds no cryptography or more than
/// one. What it said of anything else is not repeated: it could be a secret.
pub(super) fn panicked(servers: &Servers, panic: &(dyn Any + Send), has_tls: bool) -> OpenError {
    let literal = || panic.downcast_ref::<&str>().copied();
    let said = panic.downcast_ref::<String>().map(String::as_str).or_else(literal).unwrap_or_default();
    let fix = match (said.contains("CryptoProvider"), has_tls) {
        (true, false) => "the server asks for TLS: enable tramline's feature `nats-tls`",
        (true, true) => {
            "rustls cannot tell which of its providers to take: install one with `CryptoProvider::install_default` before \
             the bus starts"
        }
        (false, _) => {
            let source =
                format!("the NATS client panicked while it connected to {servers}; the panic hook was told why");
            return OpenError::Unreachable { source: source.into() };
        }
    };
    OpenError::Setting { setting: "url", value: servers.to_string(), fix: fix.to_owned() }
}
