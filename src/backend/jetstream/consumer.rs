//! The durable consumer at the server that is a subscription's identity: made once, and compared at each opening.
//!
//! The server changes a consumer that exists when it is asked to make it with other settings (contract I4). So it is read
//! and compared, made only where there is none, and read and compared again. Two who open one name at once, with other
//! settings, would still both find none and both be told that they made it. There is one number that no version of the
//! server changes in a consumer that exists, how many pulls may wait; what the settings are goes into that as a fingerprint,
//! and the second of the two is refused by the server.

use std::time::Duration;

use async_nats::{
    datetime::DateTime,
    jetstream::{
        ErrorCode,
        consumer::{AckPolicy, Config, DeliverPolicy, Info, ReplayPolicy},
        response::Response,
    },
};
use serde_json::json;

use super::{
    api::{Api, Unanswered},
    stream::Unread,
    word::nanoseconds,
};
use crate::contract::{AtLeastOnceSpec, StartAt, SubscribeError};

/// How many attempts the server allows beyond those of the subscription, which the source enforces: what was given back
/// unjudged spends an attempt there (contract T2). More than a subscription gives back that restarts all day long, and less
/// than the smallest integer of a server holds together with the `max_deliver` of anybody.
const HEADROOM: i64 = 1_000_000_000;
/// What is granted where a subscription names no lease (contract E2).
pub(super) const ACK_WAIT: Duration = Duration::from_secs(30);
/// How many pulls may wait at least: the server's default.
const PULLS: i64 = 512;
/// How many fingerprints there are. The server of version 2.9 allocates in proportion to the number of pulls.
const FINGERPRINTS: u64 = 4096;

/// A consumer, as long as it is the one that was opened.
#[derive(Debug)]
pub(super) struct Identity {
    stream: String,
    consumer: String,
    created: DateTime,
}

impl Identity {
    /// The consumer's name.
    pub(super) fn consumer(&self) -> &str {
        &self.consumer
    }

    /// The names of the consumer and of its stream.
    pub(super) fn names(&self) -> (String, String) {
        (self.consumer.clone(), self.stream.clone())
    }

    /// Where a pull is sent to.
    pub(super) fn pulls(&self) -> String {
        format!("$JS.API.CONSUMER.MSG.NEXT.{}.{}", self.stream, self.consumer)
    }

    /// Where the server says that it has sent a message as often as it may, and gives it up.
    pub(super) fn deaths(&self) -> String {
        format!("$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.{}.{}", self.stream, self.consumer)
    }

    /// Whether this is where a pull is sent to, or a settlement.
    pub(super) fn is_spoken_to_at(&self, subject: &str) -> bool {
        let is_settlement = || subject.contains(&format!(".{}.{}.", self.stream, self.consumer));
        subject == self.pulls() || (subject.starts_with("$JS.ACK.") && is_settlement())
    }

    /// Whether it is the one that was opened, and not made anew since.
    pub(super) fn is(&self, info: &Info) -> bool {
        self.created == info.created
    }
}

/// Why a consumer could not be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unreadable {
    #[error(transparent)]
    NoStream(Unread),
    #[error("the server does not show the consumer: {0}")]
    Refused(async_nats::jetstream::Error),
    #[error("the consumer cannot be asked for")]
    Unanswered(#[source] Unanswered),
}

/// Opens the identity of a subscription: makes its consumer, or compares the one there is.
pub(super) async fn open(api: &Api, stream: &str, spec: &AtLeastOnceSpec) -> Result<Identity, SubscribeError> {
    let name = spec.durable.to_string();
    if let Some(info) = read(api, stream, &name).await.map_err(unconfirmed)? {
        return is_the_one(info, spec);
    }
    let subject = format!("CONSUMER.CREATE.{stream}.{name}.{}", spec.pattern);
    let request = json!({ "stream_name": stream, "config": config(spec), "action": "create" });
    let made: Result<Response<Info>, Unanswered> = api.ask(subject, &request).await;
    // Whoever made it, and whatever the answer is: what counts is what there is now.
    if let Some(info) = read(api, stream, &name).await.map_err(unconfirmed)? {
        return is_the_one(info, spec);
    }
    Err(match made {
        Ok(Response::Err { error }) => {
            unconfirmed(format!("the server does not make the consumer `{name}` on the stream `{stream}`: {error}"))
        }
        Ok(Response::Ok(_)) => unconfirmed(format!("somebody deleted the consumer `{name}` as soon as it was made")),
        Err(error) => unconfirmed(error),
    })
}

/// A consumer as the server has it, if it does.
pub(super) async fn read(api: &Api, stream: &str, name: &str) -> Result<Option<Info>, Unreadable> {
    match api.ask(format!("CONSUMER.INFO.{stream}.{name}"), &json!({})).await {
        Ok(Response::Ok::<Info>(info)) => Ok(Some(info)),
        Ok(Response::Err { error }) => match error.error_code() {
            ErrorCode::CONSUMER_NOT_FOUND => Ok(None),
            ErrorCode::STREAM_NOT_FOUND => Err(Unreadable::NoStream(Unread::Missing { name: stream.to_owned() })),
            _ => Err(Unreadable::Refused(error)),
        },
        Err(error) => Err(Unreadable::Unanswered(error)),
    }
}

/// What the identity of a subscription is at the server.
fn config(spec: &AtLeastOnceSpec) -> Config {
    let mut config = Config {
        durable_name: Some(spec.durable.to_string()),
        description: Some(format!(
            "Made by tramline. A message has {} attempts; max_deliver has {HEADROOM} more, for what was given back.",
            spec.max_deliver
        )),
        deliver_policy: match spec.start_at {
            StartAt::New => DeliverPolicy::New,
            StartAt::AllAvailable => DeliverPolicy::All,
        },
        ack_policy: AckPolicy::Explicit,
        ack_wait: Duration::from_nanos(nanoseconds(ack_wait(spec)).unsigned_abs()),
        max_deliver: i64::from(spec.max_deliver.get()) + HEADROOM,
        filter_subject: spec.pattern.to_string(),
        replay_policy: ReplayPolicy::Instant,
        // Each source bounds itself; one bound for all of them would starve the last to come.
        max_ack_pending: -1,
        ..Config::default()
    };
    config.max_waiting = PULLS + fingerprint(&config);
    config
}

/// The lease that the server grants.
pub(super) fn ack_wait(spec: &AtLeastOnceSpec) -> Duration {
    spec.ack_wait.unwrap_or(ACK_WAIT)
}

/// A number below [`FINGERPRINTS`] that is another one for most other settings (FNV-1a).
fn fingerprint(config: &Config) -> i64 {
    let said = fields(config).map(|(field, value)| format!("{field}={value};")).concat();
    let hash = said
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    i64::try_from((hash ^ (hash >> 32)) % FINGERPRINTS).unwrap_or_default()
}

/// Refuses what differs, by its name and with both values (contract I4).
fn is_the_one(existing: Info, spec: &AtLeastOnceSpec) -> Result<Identity, SubscribeError> {
    let there = fields(&existing.config);
    let asked = fields(&config(spec));
    let differs = there.into_iter().zip(asked).find(|((_, existing), (_, asked))| existing != asked);
    match differs {
        None => {
            Ok(Identity { stream: existing.stream_name, consumer: spec.durable.to_string(), created: existing.created })
        }
        Some(((field, existing), (_, asked))) => {
            Err(SubscribeError::Reopened { durable: spec.durable.to_string(), field, existing, asked })
        }
    }
}

/// What makes an identity, each field as a subscription spells it.
fn fields(config: &Config) -> [(&'static str, String); 5] {
    let mode = match (&config.deliver_subject, config.ack_policy) {
        (Some(_), _) => "a push consumer".to_owned(),
        (None, AckPolicy::Explicit) => "AtLeastOnce".to_owned(),
        (None, policy) => format!("a consumer with ack policy {policy:?}"),
    };
    let pattern = match &*config.filter_subject {
        "" => "everything, or several patterns",
        pattern => pattern,
    };
    let start_at = match config.deliver_policy {
        DeliverPolicy::New => "New".to_owned(),
        DeliverPolicy::All => "AllAvailable".to_owned(),
        other => format!("{other:?}"),
    };
    let max_deliver = match config.max_deliver {
        ..=0 => "without a limit".to_owned(),
        enough if enough > HEADROOM => (enough - HEADROOM).to_string(),
        few => format!("{few} at the server, which has too little room for what is given back"),
    };
    [
        ("mode", mode),
        ("pattern", pattern.to_owned()),
        ("start_at", start_at),
        ("max_deliver", max_deliver),
        ("ack_wait", format!("{:?}", config.ack_wait)),
    ]
}

fn unconfirmed(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> SubscribeError {
    SubscribeError::Unconfirmed { source: source.into() }
}

#[cfg(test)]
mod tests {
    use std::num::{NonZeroU32, NonZeroUsize};

    use super::*;
    use crate::{
        contract::SourceId,
        subject::{DurableName, Name, Pattern},
    };

    fn spec() -> AtLeastOnceSpec {
        AtLeastOnceSpec::new(
            SourceId::new(1, 0, 0),
            Name::new("billing").unwrap(),
            Pattern::new("a.>").unwrap(),
            DurableName::new("invoices").unwrap(),
            NonZeroU32::new(3).unwrap(),
            NonZeroUsize::new(16).unwrap(),
        )
    }

    #[test]
    fn another_value_in_a_field_is_another_fingerprint() {
        let same = config(&spec()).max_waiting;
        assert_eq!(config(&spec()).max_waiting, same);
        let others = [
            AtLeastOnceSpec { pattern: Pattern::new("a.*").unwrap(), ..spec() },
            AtLeastOnceSpec { max_deliver: NonZeroU32::new(4).unwrap(), ..spec() },
            spec().start_at(StartAt::AllAvailable),
            spec().ack_wait(Duration::from_secs(5)),
        ];
        for other in others {
            let number = config(&other).max_waiting;
            assert_ne!(number, same, "{other:?}");
            assert!((PULLS..PULLS + 4096).contains(&number), "{number}");
        }
    }

    #[test]
    fn the_bound_and_the_slow_handler_are_no_part_of_the_identity() {
        let other = AtLeastOnceSpec { bound: NonZeroUsize::MIN, ..spec() };
        assert_eq!(config(&other), config(&spec()));
        assert_eq!(config(&spec().slow_handler(crate::contract::SlowHandler::Redeliver)), config(&spec()));
    }

    #[test]
    fn an_unset_lease_is_the_default_and_equal_to_it() {
        assert_eq!(config(&spec().ack_wait(ACK_WAIT)), config(&spec()));
    }
}
