//! What the server is told of a message that it has sent.

use std::time::Duration;

use async_nats::Subject as Address;
use bytes::Bytes;
use tokio::time::Instant;

/// What is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    /// Done.
    Ack,
    /// Send it again, not before this delay has passed.
    Nak(Duration),
    /// Never again.
    Term,
    /// Still at it.
    Progress,
}

impl Verb {
    /// As the server reads it.
    pub(super) fn payload(self) -> Bytes {
        match self {
            Self::Ack => Bytes::from_static(b"+ACK"),
            Self::Nak(delay) if delay.is_zero() => Bytes::from_static(b"-NAK"),
            Self::Nak(delay) => format!("-NAK {{\"delay\":{}}}", nanoseconds(delay)).into(),
            Self::Term => Bytes::from_static(b"+TERM"),
            Self::Progress => Bytes::from_static(b"+WPI"),
        }
    }
}

/// As the server counts durations; the longest that it can hold is 292 years.
pub(super) fn nanoseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

/// Something to tell the server of one message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// The subject that the message came with for this.
    pub(super) address: Address,
    pub(super) verb: Verb,
    /// From then on it could be taken for the next attempt.
    pub(super) until: Instant,
    /// What is done for good once it is said, and is not [settled](super::held::Held::finish) otherwise: its place in the
    /// stream, and when it was stored.
    pub(super) ends: Option<(u64, u64)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_spelled_as_the_server_reads_them() {
        assert_eq!(Verb::Nak(Duration::from_millis(1500)).payload(), r#"-NAK {"delay":1500000000}"#);
        assert_eq!(Verb::Nak(Duration::ZERO).payload(), "-NAK");
        assert_eq!(Verb::Nak(Duration::MAX).payload(), r#"-NAK {"delay":9223372036854775807}"#);
    }
}
