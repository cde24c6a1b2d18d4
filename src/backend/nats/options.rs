//! How to connect: who one is, TLS, names, and how an event is laid over a message.

use std::{
    ffi::OsString,
    fmt,
    path::{Path, PathBuf},
    time::Duration,
};

use async_nats::ConnectOptions;

use super::address::Servers;
use crate::{contract::OpenError, event::headers::ContentMode, subject::Subject};

/// The prefix of the subjects that replies come to, unless another is named.
const INBOX: &str = "_INBOX";
/// How often the client asks a silent server whether it is there, unless it is said otherwise. The client's own minute
/// would leave a link that died without a word unnoticed for three.
const PING: Duration = Duration::from_secs(10);
/// More than this is never, and the client's clock cannot hold all of it.
const SELDOM: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// How to connect to NATS, and how events are written.
///
/// ```
/// use std::time::Duration;
///
/// use tramline::NatsOptions;
///
/// let options = NatsOptions::new().name("billing").user_and_password("billing", "secret");
/// // A secret shows nowhere.
/// assert!(!format!("{options:?}").contains("\"secret\""));
/// ```
#[derive(Debug, Clone, Default)]
pub struct NatsOptions {
    credentials: Option<Credentials>,
    name: Option<String>,
    inbox_prefix: Option<String>,
    reconnect_delay: Option<Duration>,
    ping_interval: Option<Duration>,
    mode: ContentMode,
    pub(super) tls: Tls,
}

/// What TLS needs.
#[derive(Debug, Clone, Default)]
pub(super) struct Tls {
    pub(super) required: bool,
    pub(super) first: bool,
    pub(super) roots: Vec<PathBuf>,
    /// Certificate and key.
    pub(super) client: Option<(PathBuf, PathBuf)>,
}

impl NatsOptions {
    /// Nobody in particular, without TLS, and events in binary mode.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What the environment says, each variable if it is set and not empty: `NATS_USER` with `NATS_PASSWORD`, or
    /// `NATS_TOKEN`, or `NATS_NKEY_SEED`, or `NATS_CREDS`, the path of a credentials file; `NATS_NAME`; `NATS_CA`, the path
    /// of the certificates to trust, and `NATS_CERT` with `NATS_KEY`, those of what to show to the server, each of which
    /// requires TLS; and `NATS_RECONNECT_DELAY_MS`.
    ///
    /// `NATS_URL` is read by [`Nats::from_env`](super::Nats::from_env).
    ///
    /// # Errors
    /// [`OpenError::Setting`]: the variables contradict each other, one is not UTF-8 or no number, or TLS is asked for
    /// without the feature `nats-tls`.
    pub fn from_env() -> Result<Self, OpenError> {
        Self::from_variables(std::env::var_os::<&'static str>)
    }

    pub(super) fn from_variables(variable: impl Fn(&'static str) -> Option<OsString>) -> Result<Self, OpenError> {
        let text = |name| text(name, variable(name));
        let mut options = Self::new();
        options.name = text("NATS_NAME")?;
        if let Some(delay) = text("NATS_RECONNECT_DELAY_MS")? {
            let said = |_| contradiction("NATS_RECONNECT_DELAY_MS", &delay, "write it in milliseconds, such as 250");
            options.reconnect_delay = Some(Duration::from_millis(delay.parse().map_err(said)?));
        }
        options.tls = Tls::from_variables(&variable)?;
        let by_password = both("NATS_USER", "NATS_PASSWORD", text)?;
        let by_password = by_password.map(|(user, password)| ("NATS_USER", Credentials::user(user, password)));
        let by_token = text("NATS_TOKEN")?.map(|token| ("NATS_TOKEN", Credentials::token(token)));
        let by_seed = text("NATS_NKEY_SEED")?.map(|seed| ("NATS_NKEY_SEED", Credentials::Seed(Secret(seed))));
        let by_file = path("NATS_CREDS", &variable).map(|path| ("NATS_CREDS", Credentials::File(path)));
        for (name, credentials) in [by_password, by_token, by_seed, by_file].into_iter().flatten() {
            if options.credentials.replace(credentials).is_some() {
                return Err(contradiction(name, "set beside other credentials", "say only once who connects"));
            }
        }
        Ok(options)
    }

    /// Connects as this user. Replaces other credentials, those in an address too.
    #[must_use]
    pub fn user_and_password(self, user: impl Into<String>, password: impl Into<String>) -> Self {
        self.credentials(Credentials::user(user.into(), password.into()))
    }

    /// Connects with this token. Replaces other credentials, those in an address too.
    #[must_use]
    pub fn token(self, token: impl Into<String>) -> Self {
        self.credentials(Credentials::token(token.into()))
    }

    /// Connects as the holder of this seed, which begins with `SU`. Replaces other credentials, those in an address too.
    #[must_use]
    pub fn nkey_seed(self, seed: impl Into<String>) -> Self {
        self.credentials(Credentials::Seed(Secret(seed.into())))
    }

    /// Connects with the credentials in this file, which is read each time that a session is opened. Replaces other
    /// credentials, those in an address too.
    #[must_use]
    pub fn credentials_file(self, path: impl AsRef<Path>) -> Self {
        self.credentials(Credentials::File(path.as_ref().to_owned()))
    }

    /// The name under which the server lists the connection.
    #[must_use]
    pub fn name(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// The prefix of the subjects that replies come to, where the user may not use `_INBOX`: the user needs `subscribe` on
    /// everything below it, and whoever answers needs `publish`.
    #[must_use]
    pub fn inbox_prefix(self, prefix: impl Into<String>) -> Self {
        Self { inbox_prefix: Some(prefix.into()), ..self }
    }

    /// How long the client waits before each attempt to make a lost link anew. Unless said otherwise the first one is at
    /// once, and the wait is doubled from 2 ms on, up to 4 s.
    #[must_use]
    pub fn reconnect_delay(self, delay: Duration) -> Self {
        Self { reconnect_delay: Some(delay), ..self }
    }

    /// How often the client asks the server whether it is there, 10 seconds unless said otherwise, and so for zero. A link that died without a
    /// word is seen to be down after three times that; until then publishes are `Ok`.
    #[must_use]
    pub fn ping_interval(self, interval: Duration) -> Self {
        Self { ping_interval: Some(interval), ..self }
    }

    /// Publishes events in structured mode: as one JSON document each, and not with their attributes in headers. What
    /// arrives is read in either mode.
    #[must_use]
    pub fn structured(self) -> Self {
        Self { mode: ContentMode::Structured, ..self }
    }

    fn credentials(self, credentials: Credentials) -> Self {
        Self { credentials: Some(credentials), ..self }
    }

    pub(in crate::backend) fn content_mode(&self) -> ContentMode {
        self.mode
    }

    pub(super) fn inbox(&self) -> &str {
        self.inbox_prefix.as_deref().unwrap_or(INBOX)
    }

    /// How long to wait before each attempt at a link that was lost, where that is said.
    pub(super) fn delay(&self) -> Option<Duration> {
        self.reconnect_delay
    }

    /// The client takes any text, and answers would never come to most of them, or with a wildcard, those of others too.
    pub(super) fn check_inbox(&self) -> Result<(), OpenError> {
        Subject::new(self.inbox()).map(drop).map_err(|error| OpenError::Setting {
            setting: "inbox_prefix",
            value: self.inbox().to_owned(),
            fix: format!("it is no subject ({error}): write one as `_INBOX` or `_INBOX.billing`"),
        })
    }

    /// Who connects.
    pub(super) fn identity<'a>(&'a self, servers: &'a Servers) -> Identity<'a> {
        Identity(self.credentials.as_ref().or(servers.credentials()))
    }

    /// The same, as the client has it.
    pub(super) async fn connect(&self, servers: &Servers) -> Result<ConnectOptions, OpenError> {
        let ping = self.ping_interval.filter(|interval| !interval.is_zero()).unwrap_or(PING).min(SELDOM);
        let mut connect = ConnectOptions::new().custom_inbox_prefix(self.inbox()).ping_interval(ping);
        if let Some(name) = &self.name {
            connect = connect.name(name);
        }
        connect = self.tls.apply(connect, servers)?;
        match self.identity(servers).0.cloned() {
            None => Ok(connect),
            Some(Credentials::User(user, Secret(password))) => Ok(connect.user_and_password(user, password)),
            Some(Credentials::Token(Secret(token))) => Ok(connect.token(token)),
            Some(Credentials::Seed(Secret(seed))) => Ok(connect.nkey(seed)),
            Some(Credentials::File(path)) => {
                let connect = connect.credentials_file(&path).await;
                connect.map_err(|error| OpenError::Setting {
                    setting: "credentials_file",
                    value: path.display().to_string(),
                    fix: format!("it cannot be used ({error}): name a file that `nsc` or `nk` wrote"),
                })
            }
        }
    }
}

impl Tls {
    fn from_variables(variable: &impl Fn(&'static str) -> Option<OsString>) -> Result<Self, OpenError> {
        let path = |name| path(name, variable);
        let client = both("NATS_CERT", "NATS_KEY", |name| Ok(path(name)))?;
        let roots: Vec<_> = path("NATS_CA").into_iter().collect();
        let required = client.is_some() || !roots.is_empty();
        if required && !NatsOptions::TLS {
            let name = if roots.is_empty() { "NATS_CERT" } else { "NATS_CA" };
            return Err(contradiction(name, "set", "enable tramline's feature `nats-tls`"));
        }
        Ok(Self { required, first: false, roots, client })
    }

    fn apply(&self, connect: ConnectOptions, servers: &Servers) -> Result<ConnectOptions, OpenError> {
        if servers.want_tls() && !NatsOptions::TLS {
            return Err(OpenError::Setting {
                setting: "url",
                value: servers.to_string(),
                fix: "enable tramline's feature `nats-tls`".to_owned(),
            });
        }
        let mut connect = self.roots.iter().cloned().fold(connect, ConnectOptions::add_root_certificates);
        if let Some((certificate, key)) = &self.client {
            connect = connect.add_client_certificate(certificate.clone(), key.clone());
        }
        let connect = connect.require_tls(self.required);
        Ok(if self.first { connect.tls_first() } else { connect })
    }
}

impl NatsOptions {
    /// Whether TLS is there.
    pub(super) const fn has_tls() -> bool {
        Self::TLS
    }
}

/// Whether TLS is there: not where the feature is off. Where it is on, a constant of the type's own comes before this.
#[allow(dead_code, reason = "it is there for where the other is not")]
trait WithoutTls {
    const TLS: bool = false;
}

impl WithoutTls for NatsOptions {}

/// Who connects.
#[derive(Debug, Clone)]
pub(super) enum Credentials {
    User(String, Secret),
    Token(Secret),
    Seed(Secret),
    File(PathBuf),
}

impl Credentials {
    pub(super) fn user(user: String, password: String) -> Self {
        Self::User(user, Secret(password))
    }

    pub(super) fn token(token: String) -> Self {
        Self::Token(Secret(token))
    }
}

/// Who connects, as far as that may be shown.
pub(super) struct Identity<'a>(Option<&'a Credentials>);

impl fmt::Display for Identity<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str("none"),
            Some(Credentials::User(user, _)) => write!(f, "user `{user}` with a password"),
            Some(Credentials::Token(_)) => f.write_str("a token"),
            Some(Credentials::Seed(_)) => f.write_str("an NKey seed"),
            Some(Credentials::File(path)) => write!(f, "the file {}", path.display()),
        }
    }
}

/// Text that no `Debug` shows, and that has no `Display`.
#[derive(Clone)]
pub(super) struct Secret(String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

/// A variable that is set and not empty.
pub(super) fn text(name: &'static str, value: Option<OsString>) -> Result<Option<String>, OpenError> {
    let value = value.map(OsString::into_string).transpose();
    let value = value.map_err(|_| contradiction(name, "not UTF-8", "write it as UTF-8"))?;
    Ok(value.filter(|value| !value.is_empty()))
}

/// A path that is set and not empty.
fn path(name: &'static str, variable: impl Fn(&'static str) -> Option<OsString>) -> Option<PathBuf> {
    variable(name).filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// Two variables of which neither means anything by itself.
fn both<T>(
    one: &'static str,
    other: &'static str,
    value: impl Fn(&'static str) -> Result<Option<T>, OpenError>,
) -> Result<Option<(T, T)>, OpenError> {
    let alone = |is_set, missing| Err(contradiction(missing, "not set", &format!("set it, since {is_set} is set")));
    match (value(one)?, value(other)?) {
        (Some(first), Some(second)) => Ok(Some((first, second))),
        (None, None) => Ok(None),
        (Some(_), None) => alone(one, other),
        (None, Some(_)) => alone(other, one),
    }
}

fn contradiction(setting: &'static str, value: &str, fix: &str) -> OpenError {
    OpenError::Setting { setting, value: value.to_owned(), fix: fix.to_owned() }
}
