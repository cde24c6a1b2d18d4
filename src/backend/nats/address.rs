//! Where the servers are, and no secret in it.

use std::fmt;

use async_nats::ServerAddr;
use percent_encoding::percent_decode_str;

use super::options::Credentials;
use crate::contract::OpenError;

const ENCODE: &str = "write `nats://host:port`, and percent-encode what is special in a user or a password: `/` as `%2F`, `,` as \
                      `%2C`";

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
        if parts(urls).iter().any(|(_, is_cut)| *is_cut) {
            return Err(wrong(urls, ENCODE));
        }
        for url in urls.split(',').map(str::trim).filter(|url| !url.is_empty()) {
            let address: ServerAddr = url.parse().map_err(|_| wrong(url, "write it as `nats://host:port`"))?;
            if address.is_websocket() {
                return Err(wrong(url, "websockets are not supported: write `nats://host:port`"));
            }
            if address.host().is_empty() {
                return Err(wrong(url, "it names no host: write `nats://host:port`"));
            }
            if !is_bare(&address) {
                return Err(wrong(url, ENCODE));
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

/// Whether nothing stands behind the port: it would not be used, and is rather the end of a password.
fn is_bare(address: &ServerAddr) -> bool {
    let url = address.clone().into_inner();
    matches!(url.path(), "" | "/") && url.query().is_none() && url.fragment().is_none()
}

/// What commas part, and whether it looks like the beginning of an address whose password has a comma in it: what stands
/// before an `@` has a scheme before it, unless it is the first.
fn parts(urls: &str) -> Vec<(&str, bool)> {
    let mut is_cut = false;
    let mut parts: Vec<_> = urls.split(',').map(|part| (part.trim(), false)).collect();
    for (part, is_beginning) in parts.iter_mut().rev() {
        *is_beginning = is_cut;
        is_cut = !part.contains("://") && (is_cut || part.contains('@'));
    }
    parts
}

/// Addresses that may be wrong, without what stands in front of an `@`.
pub(super) fn without_credentials(urls: &str) -> String {
    let public = |(part, is_cut): &(&str, bool)| {
        if *is_cut {
            return "...".to_owned();
        }
        let (scheme, rest) = part.split_once("://").map_or(("", *part), |(scheme, rest)| (scheme, rest));
        let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
        if scheme.is_empty() { host.to_owned() } else { format!("{scheme}://{host}") }
    };
    parts(urls).iter().map(public).collect::<Vec<_>>().join(", ")
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
        assert_eq!(without_credentials("nats://a:b@c@one:1,nats://d:e@two"), "nats://one:1, nats://two");
        assert_eq!(without_credentials("a:b@one:1,two"), "one:1, two");
    }

    #[test]
    fn a_password_with_what_parts_an_address_is_refused_and_none_of_it_is_shown() {
        for url in ["nats://svc:s3,s3@one", "nats://svc:11,s3@one:1", "nats://svc:11/s3@one", "nats://svc:11?s3@one"] {
            let shown = without_credentials(url);
            assert!(!shown.contains("s3") && !shown.contains("11"), "{shown}");
            let error = Servers::parse(url).expect_err(url).to_string();
            assert!(error.contains("percent-encode") && !error.contains("s3") && !error.contains("11"), "{error}");
        }
        let fine = Servers::parse("nats://svc:11%2Cs3@one:1/, two").expect("it is encoded");
        assert_eq!(fine.to_string(), "nats://one:1, nats://two:4222");
    }
}
