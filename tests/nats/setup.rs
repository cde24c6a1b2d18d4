//! What a server is started with: its version, who may connect and do what, and how much it takes.

use std::{env, fmt::Write, path::PathBuf};

/// The two generations that the backends are held to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    V2_9,
    V2_15,
}

impl Version {
    pub(crate) const ALL: [Self; 2] = [Self::V2_9, Self::V2_15];

    /// How the version of every server of this generation begins.
    pub(crate) fn prefix(self) -> &'static str {
        match self {
            Self::V2_9 => "2.9.",
            Self::V2_15 => "2.15.",
        }
    }

    /// The server's program. A missing one fails the test: it does not pass for want of a server.
    pub(crate) fn binary(self) -> PathBuf {
        let (variable, name) = match self {
            Self::V2_9 => ("TRAMLINE_NATS_2_9", "2.9"),
            Self::V2_15 => ("TRAMLINE_NATS_2_15", "2.15"),
        };
        let installed = || [env!("CARGO_MANIFEST_DIR"), "target", "servers", name, "nats-server"].iter().collect();
        let path = env::var_os(variable).map_or_else(installed, PathBuf::from);
        assert!(
            path.is_file(),
            "there is no NATS server {name} at {}: `tests/run --servers` installs it, or {variable} says where it is",
            path.display()
        );
        path
    }
}

/// Begins as a server with JetStream and no limits, which everybody may use.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    version: Version,
    jetstream: bool,
    max_memory: Option<u64>,
    max_file: Option<u64>,
    lines: String,
    users: Vec<String>,
}

impl Setup {
    pub(crate) fn new(version: Version) -> Self {
        Self { version, jetstream: true, max_memory: None, max_file: None, lines: String::new(), users: Vec::new() }
    }

    pub(crate) fn version(&self) -> Version {
        self.version
    }

    pub(crate) fn without_jetstream(mut self) -> Self {
        self.jetstream = false;
        self
    }

    /// The most bytes that all streams in memory hold.
    pub(crate) fn max_memory(mut self, bytes: u64) -> Self {
        self.max_memory = Some(bytes);
        self
    }

    /// The most bytes that all streams on disk hold: a disk that is full behind that.
    pub(crate) fn max_file(mut self, bytes: u64) -> Self {
        self.max_file = Some(bytes);
        self
    }

    pub(crate) fn max_payload(self, bytes: u32) -> Self {
        self.line(&format!("max_payload: {bytes}"))
    }

    pub(crate) fn token(self, token: &str) -> Self {
        self.line(&format!("authorization {{ token: {token:?} }}"))
    }

    /// A user who may do everything.
    pub(crate) fn user(self, name: &str, password: &str) -> Self {
        self.member(&format!("user: {name:?}, password: {password:?}"))
    }

    /// A user who may publish and subscribe on subjects that these patterns select. What a client needs for its own replies,
    /// `_INBOX.>`, goes into `subscribe`.
    pub(crate) fn user_who_may(self, name: &str, password: &str, publish: &[&str], subscribe: &[&str]) -> Self {
        self.member(&format!(
            "user: {name:?}, password: {password:?}, permissions: {{ publish: {{ allow: {publish:?} }}, \
             subscribe: {{ allow: {subscribe:?} }} }}"
        ))
    }

    /// A user who has the seed to this public key, `U..`.
    pub(crate) fn nkey(self, public: &str) -> Self {
        self.member(&format!("nkey: {public}"))
    }

    /// Any other line of the server's configuration.
    pub(crate) fn line(mut self, line: &str) -> Self {
        self.lines.push_str(line);
        self.lines.push('\n');
        self
    }

    fn member(mut self, what: &str) -> Self {
        self.users.push(format!("{{ {what} }}"));
        self
    }

    /// What decides about the server, besides where it is and what it is called.
    pub(crate) fn configuration(&self, store: &str) -> String {
        let mut text = self.lines.clone();
        if self.jetstream {
            let _ = writeln!(text, "jetstream {{\n  store_dir: {store:?}");
            for (name, limit) in [("max_memory_store", self.max_memory), ("max_file_store", self.max_file)] {
                if let Some(limit) = limit {
                    let _ = writeln!(text, "  {name}: {limit}");
                }
            }
            text.push_str("}\n");
        }
        if !self.users.is_empty() {
            let _ = writeln!(text, "authorization {{ users: [\n  {}\n] }}", self.users.join(",\n  "));
        }
        text
    }
}

impl From<Version> for Setup {
    fn from(version: Version) -> Self {
        Self::new(version)
    }
}
