//! Where the servers are, and no secret in it.

use std::fmt;

use async_nats::ServerAddr;
use percent_encoding::percent_decode_str;

use super::options::Credentials;
use crate::contract::OpenError;

/// The addresses of one cluster's servers, with what stood in front of an `@` taken out.
#[derive(Debug)]
pub(super) struct Servers {
    addresses: Vec<ServerAddr>,
    credentials: Option<Credentials>,
}

impl Servers {
    /// Reads addresses, parted by commas.
    pub(super) fn parse(urls: &str) -> Result<Self, OpenError> {
        let mut servers = Self { addresses: Vec::new(), credentials: None };
        for url in urls.split(',').map(str::trim).filter(|url| !url.is_empty()) {
            let address: ServerAddr = url.parse().map_err(|_| wrong(url, "write it as `nats://host:port`"))?;
            if address.is_websocket() {
                return Err(wrong(url, "websockets are not supported: write `nats://host:port`"));
            }
            if address.host().is_empty() {
                return Err(wrong(url, "it names no host: write `nats://host:port`"));
            }
            servers.add(address).ok_or_else(|| wrong(url, "the user or the password is not UTF-8"))?;
        }
        if servers.addresses.is_empty() {
            return Err(wrong(urls, "name a server: `nats://host:port`"));
        }
        Ok(servers)
    }

    fn add(&mut self, address: ServerAddr) -> Option<()> {
        let decoded = |text| Some(percent_decode_str(text).decode_utf8().ok()?.into_owned());
        if let Some(user) = address.username() {
            let user = decoded(user)?;
            self.credentials.get_or_insert(match address.password() {
                Some(password) => Credentials::user(user, decoded(password)?),
                // As all NATS clients read it.
                None => Credentials::token(user),
            });
        }
        let mut url = address.into_inner();
        // It has a host, so it can be said who; and the client puts addresses into its log.
        url.set_username("").ok()?;
        url.set_password(None).ok()?;
        self.addresses.push(ServerAddr::from_url(url).ok()?);
        Some(())
    }

    pub(super) fn addresses(&self) -> &[ServerAddr] {
        &self.addresses
    }

    /// What stood in the first address that had some.
    pub(super) fn credentials(&self) -> Option<&Credentials> {
        self.credentials.as_ref()
    }

    /// Whether an address asks for TLS.
    pub(super) fn want_tls(&self) -> bool {
        self.addresses.iter().any(ServerAddr::tls_required)
    }
}

/// Without secrets, since there are none in it.
impl fmt::Display for Servers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut comma = "";
        for address in &self.addresses {
            write!(f, "{comma}{}://{}:{}", address.scheme(), address.host(), address.port())?;
            comma = ", ";
        }
        Ok(())
    }
}

/// Addresses that may be wrong, without what stands in front of an `@`.
pub(super) fn without_credentials(urls: &str) -> String {
    let public = |url: &str| {
        let (scheme, rest) = url.split_once("://").map_or(("", url), |(scheme, rest)| (scheme, rest));
        let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
        if scheme.is_empty() { host.to_owned() } else { format!("{scheme}://{host}") }
    };
    urls.split(',').map(|url| public(url.trim())).collect::<Vec<_>>().join(", ")
}

fn wrong(url: &str, fix: &str) -> OpenError {
    OpenError::Setting { setting: "url", value: without_credentials(url), fix: fix.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_parted_by_commas_and_their_credentials_taken_out() {
        let servers = Servers::parse("nats://svc:p%40ss@one:4222, two").expect("they are good");
        assert_eq!(servers.to_string(), "nats://one:4222, nats://two:4222");
        assert!(servers.credentials().is_some());
        let shown = format!("{servers:?} {servers}");
        assert!(!shown.contains("p@ss") && !shown.contains("p%40ss"), "{shown}");
    }

    #[test]
    fn what_cannot_be_an_address_is_refused_without_showing_a_secret() {
        for url in ["", " , ", "http://svc:s3cret@one", "nats://svc:s3cret@one:port", "ws://svc:s3cret@one", "nats://"]
        {
            let error = Servers::parse(url).expect_err(url).to_string();
            assert!(error.contains("`url`") && !error.contains("s3cret"), "{error}");
        }
        assert_eq!(without_credentials("nats://a:b@c@one:1,d:e@two"), "nats://one:1, two");
    }
}
