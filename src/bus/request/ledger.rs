//! What became of every request, per name (contract R3 to R5).

use std::{fmt, iter::once};

use serde::Serialize;

use crate::subject::Name;

/// The counters of the requests under one name, cumulative over the bus's life.
///
/// With nothing on its way between two counters `sent = answered + no responders + no reply + failed + in flight` (contract
/// R4); [`unaccounted`](RequestStats::unaccounted) is the difference. What was refused before sending is in none of them
/// (R2).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RequestStats {
    /// The name; `None` for requests without one, and for the sum of all.
    pub name: Option<Name>,
    /// Requests that were sent.
    pub sent: u64,
    /// Requests that got a reply in time, a failure reply or one that could not be decoded among them.
    pub answered: u64,
    /// Requests that nobody received.
    pub no_responders: u64,
    /// Requests whose deadline passed, or that their caller gave up.
    pub no_reply: u64,
    /// Requests that failed on their way, were turned away by the backend, too large for example, or were ended by a stop.
    pub failed: u64,
    /// Requests that wait for their reply.
    pub in_flight: u64,
}

impl RequestStats {
    /// How many requests the other side of the identity R4 does not explain: zero at any quiescent instant, and for a
    /// moment other than that while one begins or ends.
    pub fn unaccounted(&self) -> i128 {
        let explained = [self.answered, self.no_responders, self.no_reply, self.failed, self.in_flight];
        i128::from(self.sent) - explained.into_iter().map(i128::from).sum::<i128>()
    }

    fn add(mut self, other: &Self) -> Self {
        self.sent += other.sent;
        self.answered += other.answered;
        self.no_responders += other.no_responders;
        self.no_reply += other.no_reply;
        self.failed += other.failed;
        self.in_flight += other.in_flight;
        self
    }
}

/// The identity R4, with its numbers.
impl fmt::Display for RequestStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, sent, answered, no_responders, no_reply, failed, in_flight } = self;
        match name {
            Some(name) => write!(f, "requests `{name}`: ")?,
            None => f.write_str("requests: ")?,
        }
        write!(
            f,
            "sent {sent} = answered {answered} + no responders {no_responders} + no reply {no_reply} + failed {failed} + in flight {in_flight}"
        )
    }
}

/// The counters of every request of a bus. [`Display`](fmt::Display) prints them as one table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RequestLedger {
    /// One entry per name that [`BusBuilder::request_names`](crate::bus::BusBuilder::request_names) declares, in the
    /// order of the declaration.
    pub named: Vec<RequestStats>,
    /// Requests without a name, and with one that is not declared.
    pub unnamed: RequestStats,
    /// Replies that arrived after their request had finished; outside of the identity, since those requests are counted
    /// already (contract R4).
    pub unclaimed: u64,
}

impl RequestLedger {
    /// The counters of one name.
    pub fn get(&self, name: &str) -> Option<&RequestStats> {
        self.named.iter().find(|stats| stats.name.as_ref().is_some_and(|known| known.as_str() == name))
    }

    /// All names together, and none.
    pub fn total(&self) -> RequestStats {
        self.rows().fold(RequestStats::default(), RequestStats::add)
    }

    fn rows(&self) -> impl Iterator<Item = &RequestStats> {
        self.named.iter().chain(once(&self.unnamed))
    }
}

/// Writes nothing of a bus that has never asked and declares no names.
impl fmt::Display for RequestLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.named.is_empty() && self.unnamed.sent == 0 {
            return Ok(());
        }
        let label = |stats: &RequestStats| stats.name.as_ref().map_or("(unnamed)", Name::as_str).to_owned();
        let width = self.rows().map(|stats| label(stats).chars().count()).max().unwrap_or(0).max("requests".len());
        writeln!(
            f,
            "{:width$} {:>9} = {:>9} + {:>13} + {:>8} + {:>7} + {:>9}",
            "requests", "sent", "answered", "no responders", "no reply", "failed", "in flight"
        )?;
        for stats in self.rows().filter(|stats| stats.name.is_some() || stats.sent > 0) {
            writeln!(
                f,
                "{:width$} {:>9} = {:>9} + {:>13} + {:>8} + {:>7} + {:>9}{}",
                label(stats),
                stats.sent,
                stats.answered,
                stats.no_responders,
                stats.no_reply,
                stats.failed,
                stats.in_flight,
                if stats.unaccounted() == 0 { "" } else { "  (more on their way)" },
            )?;
        }
        if self.unclaimed > 0 {
            writeln!(f, "  replies that came too late: unclaimed {}", self.unclaimed)?;
        }
        Ok(())
    }
}
