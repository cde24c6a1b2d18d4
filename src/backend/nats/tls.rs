//! TLS, where the feature `nats-tls` is on.

use std::path::Path;

use super::NatsOptions;

impl NatsOptions {
    /// It is there.
    pub(super) const TLS: bool = true;

    /// Refuses a connection without TLS. An address that begins with `tls://`, and a server that requires it, do so too.
    #[must_use]
    pub fn require_tls(mut self) -> Self {
        self.tls.required = true;
        self
    }

    /// Begins with the TLS handshake instead of waiting for the server's first word, as the server's `handshake_first`
    /// wants it.
    #[must_use]
    pub fn tls_first(mut self) -> Self {
        self.tls.first = true;
        self.require_tls()
    }

    /// Trusts the certificates in this PEM file instead of the system's. May be called more than once.
    #[must_use]
    pub fn root_certificates(mut self, path: impl AsRef<Path>) -> Self {
        self.tls.roots.push(path.as_ref().to_owned());
        self
    }

    /// Shows this certificate to the server: the paths of two PEM files.
    #[must_use]
    pub fn client_certificate(mut self, certificate: impl AsRef<Path>, key: impl AsRef<Path>) -> Self {
        self.tls.client = Some((certificate.as_ref().to_owned(), key.as_ref().to_owned()));
        self
    }
}
