//! Whose a message is, and until when, by this process's own clock (contract E).
//!
//! The server takes a settlement by the message, not by the attempt: a late one settles whatever attempt is under way. What
//! is late is therefore decided here, and before the server could decide it.

use std::time::Duration;

use tokio::time::Instant;

use crate::contract::SlowHandler;

/// By how much a lease that nobody extends is over here before it is over at the server, at most.
const MARGIN: Duration = Duration::from_millis(100);
/// Later than any process lives.
const FAR: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// How long a message stays with its receiver.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lease {
    /// How long the server grants at a time.
    ack_wait: Duration,
    /// How much of that is its receiver's here.
    ours: Duration,
    /// For how long it is extended, from receipt; not at all under `Redeliver`.
    most: Option<Duration>,
}

/// How a message stands with its receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// It is its receiver's.
    Held,
    /// It was extended for as long as it may be, and the server still has it as its receiver's (E5).
    Spent,
    /// The server hands it on by itself, or has done so.
    Lapsed,
}

impl Lease {
    /// What no clock can hold is far off; it is cut here once, and not for each message.
    pub(super) fn new(ack_wait: Duration, slow: SlowHandler) -> Self {
        let most = match slow {
            SlowHandler::ExtendLease { max_processing_time } => Some(max_processing_time.min(FAR)),
            SlowHandler::Redeliver => None,
        };
        let ack_wait = ack_wait.min(FAR);
        Self { ack_wait, ours: ack_wait - MARGIN.min(ack_wait / 20), most }
    }

    /// How often leases are looked at: often enough that two heartbeats may be lost.
    pub(super) fn pace(&self) -> Duration {
        let pace = self.most.map_or(self.ack_wait / 4, |most| most.min(self.ack_wait / 3));
        pace.clamp(Duration::from_millis(1), Duration::from_secs(60 * 60))
    }

    /// Whether it is to be extended now, about once per pace.
    pub(super) fn is_due(&self, renewed: Instant, now: Instant) -> bool {
        !self.is_fixed() && now.saturating_duration_since(renewed) >= self.pace() / 2
    }

    /// How a message stands that was received then, and whose lease was granted or extended last then.
    pub(super) fn standing(&self, received: Instant, renewed: Instant, now: Instant) -> Standing {
        if now >= self.lapses(renewed) {
            Standing::Lapsed
        } else if self.most.is_some_and(|most| now >= received + most) {
            Standing::Spent
        } else {
            Standing::Held
        }
    }

    /// When it ends unless it is extended.
    pub(super) fn ends(&self, received: Instant, renewed: Instant) -> Instant {
        let lapses = self.lapses(renewed);
        self.most.map_or(lapses, |most| lapses.min(received + most))
    }

    /// When the server hands it on by itself, at the earliest.
    pub(super) fn granted(&self, renewed: Instant) -> Instant {
        renewed + self.ack_wait
    }

    /// Whether nobody extends it.
    pub(super) const fn is_fixed(&self) -> bool {
        self.most.is_none()
    }

    fn lapses(&self, renewed: Instant) -> Instant {
        renewed + self.ours
    }
}

/// So much later; what no clock can hold is far off.
pub(super) fn after(instant: Instant, time: Duration) -> Instant {
    instant + time.min(FAR)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn an_extended_lease_is_spent_at_the_processing_time_and_lapses_without_heartbeats() {
        let lease = Lease::new(SECOND, SlowHandler::ExtendLease { max_processing_time: 4 * SECOND });
        let received = Instant::now();
        assert_eq!(lease.standing(received, received + 3 * SECOND, received + SECOND * 7 / 2), Standing::Held);
        assert_eq!(lease.standing(received, received + SECOND * 7 / 2, received + 4 * SECOND), Standing::Spent);
        assert_eq!(lease.standing(received, received, received + SECOND), Standing::Lapsed);
    }

    #[test]
    fn a_lease_that_nobody_extends_is_over_here_before_it_is_over_at_the_server() {
        let lease = Lease::new(SECOND, SlowHandler::Redeliver);
        let received = Instant::now();
        assert_eq!(lease.standing(received, received, received + SECOND * 9 / 10), Standing::Held);
        assert_eq!(lease.standing(received, received, received + SECOND - Duration::from_millis(1)), Standing::Lapsed);
        assert!(!lease.is_due(received, received + SECOND * 9 / 10));
    }

    #[test]
    fn no_duration_overflows_the_clock() {
        let lease = Lease::new(Duration::MAX, SlowHandler::ExtendLease { max_processing_time: Duration::MAX });
        let now = Instant::now();
        assert_eq!(lease.standing(now, now, now + SECOND), Standing::Held);
        assert!(lease.ends(now, now) > now + SECOND);
        assert!(lease.pace() <= Duration::from_secs(3600));
    }
}
