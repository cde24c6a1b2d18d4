//! The operator's stream: what it has to be, and the command that would make it so. It is never created, changed or deleted
//! here.

use std::error::Error;

use async_nats::jetstream::{
    ErrorCode,
    context::RequestErrorKind,
    response::Response,
    stream::{Config, Info, StorageType},
};
use serde_json::json;

use super::api::{Api, Unanswered};
use crate::{
    backend::nats::signals::Denied,
    contract::{OpenError, SubscribeError},
    subject::{Name, Pattern},
};

/// Why the stream could not be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unread {
    #[error("there is no stream `{name}`: create it with `{command}`", command = add(.name, SUBJECTS))]
    Missing { name: String },
    #[error("the server has no JetStream for this account: {ENABLE}")]
    NoJetStream,
    #[error("the server does not show the stream `{name}`: {said}")]
    Refused { name: String, said: String },
    #[error("the stream `{name}` cannot be asked for: {denied}")]
    Denied { name: String, denied: Denied },
    #[error("the server did not answer for the stream `{name}`")]
    Silent {
        name: String,
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
}

const SUBJECTS: &str = "<the subjects that it keeps>";
const ENABLE: &str = "start it with `nats-server -js`, or write `jetstream {}` into its configuration";

/// The stream's configuration.
pub(super) async fn read(api: &Api, name: &str) -> Result<Config, Unread> {
    let name = name.to_owned();
    match api.ask(format!("STREAM.INFO.{name}"), &json!({})).await {
        Ok(Response::Ok::<Info>(info)) => Ok(info.config),
        Ok(Response::Err { error }) => Err(match error.error_code() {
            ErrorCode::STREAM_NOT_FOUND => Unread::Missing { name },
            ErrorCode::JETSTREAM_NOT_ENABLED | ErrorCode::JETSTREAM_NOT_ENABLED_FOR_ACCOUNT => Unread::NoJetStream,
            _ => Unread::Refused { name, said: error.to_string() },
        }),
        Err(Unanswered::Silent(error)) if error.kind() == RequestErrorKind::NoResponders => Err(Unread::NoJetStream),
        Err(Unanswered::Denied(denied)) => Err(Unread::Denied { name, denied }),
        Err(Unanswered::Silent(error)) => Err(Unread::Silent { name, source: error.into() }),
    }
}

/// Whether it is what the backend's type declares: it exists, outlives a restart, and confirms what is published.
pub(super) fn is_as_declared(name: &str, read: Result<Config, Unread>) -> Result<(), OpenError> {
    let otherwise = |capability, found: String, fix: String| Err(OpenError::NotAsDeclared { capability, found, fix });
    match read {
        Err(Unread::Missing { name }) => otherwise(
            "survives restart",
            format!("no stream `{name}`"),
            format!("create it with `{}`", add(&name, SUBJECTS)),
        ),
        Err(Unread::NoJetStream) => {
            otherwise("survives restart", "no JetStream for this account".to_owned(), ENABLE.to_owned())
        }
        Err(Unread::Denied { name, denied }) => {
            Err(OpenError::Setting { setting: "stream", value: name, fix: denied.to_string() })
        }
        Err(error @ (Unread::Refused { .. } | Unread::Silent { .. })) => {
            Err(OpenError::Unreachable { source: error.into() })
        }
        Ok(config) if config.storage != StorageType::File => otherwise(
            "survives restart",
            format!("the stream `{name}` in memory"),
            format!(
                "make it anew with `nats stream rm {name}` and `{}`, which drops what it holds",
                add(name, &config.subjects.join(","))
            ),
        ),
        Ok(config) if config.no_ack => otherwise(
            "survives restart",
            format!("the stream `{name}` with `no_ack`, which confirms no publish"),
            format!("run `nats stream edit {name} --ack`"),
        ),
        Ok(_) => Ok(()),
    }
}

/// Whether it keeps all that a subscription selects. The server of version 2.15 makes a consumer of something else without
/// a word.
pub(super) fn covers(
    name: &str,
    config: &Config,
    subscription: &Name,
    pattern: &Pattern,
) -> Result<(), SubscribeError> {
    // What a mirror keeps is said where the original is.
    let is_copy = config.mirror.is_some() || config.sources.as_ref().is_some_and(|sources| !sources.is_empty());
    if is_copy || config.subjects.iter().any(|subjects| selects_all_of(subjects, pattern)) {
        return Ok(());
    }
    let (kept, pattern) = (config.subjects.join(","), pattern.to_string());
    Err(SubscribeError::Setting {
        subscription: subscription.clone(),
        setting: "pattern",
        fix: format!(
            "the stream `{name}` keeps {kept}: run `nats stream edit {name} --subjects \"{kept},{pattern}\"`, or name a \
             pattern within that"
        ),
        value: pattern,
    })
}

/// Whether all that `pattern` selects is selected by this other one too.
fn selects_all_of(wide: &str, pattern: &Pattern) -> bool {
    let (mut wide, mut narrow) = (wide.split('.'), pattern.as_str().split('.'));
    loop {
        match (wide.next(), narrow.next()) {
            (Some(">"), Some(_)) | (None, None) => return true,
            (Some("*"), Some(token)) if token != ">" => {}
            (Some(token), Some(same)) if token == same && token != ">" => {}
            _ => return false,
        }
    }
}

fn add(name: &str, subjects: &str) -> String {
    format!("nats stream add {name} --subjects \"{subjects}\" --storage file --defaults")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(subjects: &[&str], storage: StorageType) -> Config {
        let subjects = subjects.iter().copied().map(str::to_owned).collect();
        Config { name: "ORDERS".to_owned(), subjects, storage, ..Config::default() }
    }

    #[test]
    fn a_pattern_is_covered_where_one_of_the_streams_subjects_selects_all_of_it() {
        let covered = |wide, narrow: &str| selects_all_of(wide, &Pattern::new(narrow).unwrap());
        for (wide, narrow) in [(">", "a"), (">", ">"), ("a.>", "a.*"), ("a.>", "a.b.>"), ("a.*", "a.*"), ("*.b", "a.b")]
        {
            assert!(covered(wide, narrow), "{wide} covers {narrow}");
        }
        for (wide, narrow) in [("a.*", "a.>"), ("a.>", "a"), ("a", "*"), ("a.b", "a.*"), ("a", "a.b"), ("a.>", ">")] {
            assert!(!covered(wide, narrow), "{wide} does not cover {narrow}");
        }
    }

    #[test]
    fn a_pattern_outside_is_refused_with_the_command_that_takes_it_in() {
        let name = Name::new("billing").unwrap();
        let refused = covers("ORDERS", &config(&["a.>"], StorageType::File), &name, &Pattern::new("b.*").unwrap());
        assert_eq!(
            refused.unwrap_err().to_string(),
            "subscription `billing`: `pattern = b.*` is refused: the stream `ORDERS` keeps a.>: run `nats stream edit ORDERS \
             --subjects \"a.>,b.*\"`, or name a pattern within that"
        );
    }

    #[test]
    fn a_stream_in_memory_or_none_at_all_is_not_as_declared() {
        let memory = is_as_declared("ORDERS", Ok(config(&["a.>", "b"], StorageType::Memory))).unwrap_err().to_string();
        assert!(memory.contains("found the stream `ORDERS` in memory"), "{memory}");
        assert!(memory.contains("`nats stream add ORDERS --subjects \"a.>,b\" --storage file --defaults`"), "{memory}");
        let missing = is_as_declared("ORDERS", Err(Unread::Missing { name: "ORDERS".into() })).unwrap_err().to_string();
        assert!(missing.contains("found no stream `ORDERS`; create it with `nats stream add ORDERS"), "{missing}");
    }
}
