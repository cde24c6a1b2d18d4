//! What became of every message, per subscription (contract L).

use std::{fmt, time::Duration};

use serde::Serialize;

use super::RequestLedger;
use crate::subject::Name;

/// The counters of one subscription, cumulative over the bus's life.
///
/// At any quiescent instant `offered = delivered + lost + released + in hand + pending` (L4), in every mode and on every
/// exit path; [`unaccounted`](Stats::unaccounted) is the difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Stats {
    /// The subscription.
    pub name: Name,
    /// The activation that was live, or the last one: 0 before the first start.
    pub generation: u64,
    /// Messages that entered the queue, and newcomers that were refused at the bound (L1).
    pub offered: u64,
    /// Messages whose handler returned, well or with an error; at least once, also those that could not be decoded.
    pub delivered: u64,
    /// Messages in the queue.
    pub pending: u64,
    /// Messages that a reader holds.
    pub in_hand: u64,
    /// Messages that are gone, by reason.
    pub lost: Lost,
    /// At least once: messages given back unjudged.
    pub released: u64,
    /// At least once: messages that ran out of attempts.
    pub exhausted: u64,
    /// At least once: leases that ended before their delivery was settled.
    pub lease_expired: u64,
    /// At least once: delays that the backend could not hold in full.
    pub delay_shortened: u64,
    /// At least once, on a backend that keeps nothing: messages still owed that nobody will deliver any more (T13).
    pub stranded: u64,
    /// Arrivals with an attempt above 1 (M5).
    pub redelivered: u64,
    /// What handlers said, and what the backend could not do.
    pub settlement: SettlementStats,
    /// Of a responder: what became of its replies.
    pub replies: ReplyStats,
    /// Handlers that returned an error; at least once, also payloads that could not be decoded.
    pub errors: u64,
    /// Handlers that panicked.
    pub panics: u64,
    /// Terminal failures (V5).
    pub incidents: u64,
    /// How often the link or the client lost messages that nobody could count: what was published meanwhile is in no number,
    /// and this is no term of L4.
    pub interruptions: u64,
    /// Time without a source while an activation was live (Y11).
    pub unsubscribed_for: Duration,
}

/// Messages that are gone, by reason. The vocabulary is open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Lost {
    /// Refused or evicted at the bound.
    pub overflow: u64,
    /// Still queued when the source retired.
    pub retired_queued: u64,
    /// Cancelled at the end of a stop's budget.
    pub shutdown: u64,
    /// The handler panicked.
    pub handler_panic: u64,
    /// An extractor could not be made of it.
    pub undecodable: u64,
    /// Arrived as no valid event (Q10).
    pub malformed: u64,
}

impl Lost {
    /// Each reason by its name.
    pub fn reasons(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
        [
            ("overflow", self.overflow),
            ("retired queued", self.retired_queued),
            ("shutdown", self.shutdown),
            ("handler panic", self.handler_panic),
            ("undecodable", self.undecodable),
            ("malformed", self.malformed),
        ]
        .into_iter()
    }

    /// All reasons together.
    pub const fn total(&self) -> u64 {
        self.overflow + self.retired_queued + self.shutdown + self.handler_panic + self.undecodable + self.malformed
    }
}

/// Two axes (T7): what handlers said, `acked + nacked + silent = delivered`, and beside it what the backend refused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SettlementStats {
    /// Accepted; at most once, also a plain return.
    pub acked: u64,
    /// Declined by the handler.
    pub nacked: u64,
    /// Not accepted: the handler failed, or the payload could not be decoded.
    pub silent: u64,
    /// Settlements that the backend could not perform (T6).
    pub refused: u64,
}

/// What became of a responder's deliveries: each that it took has exactly one of these, by its first reply (contract L7,
/// R10). A failure reply is a reply.
///
/// A delivery that was taken and then lost has its reply too, which says so: with nothing in hand,
/// `replied + refused + unaddressed = delivered + lost` by a panic, by a shutdown, as undecodable and as malformed. What
/// was lost before it reached the responder, at the bound or when its source retired, is not among them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ReplyStats {
    /// A reply went out.
    pub replied: u64,
    /// The reply could not be sent: it carried the reserved attribute, was no valid event, or the backend refused it. A
    /// requester that could still be told has got a failure reply.
    pub refused: u64,
    /// Nobody asked: the message was published, and the reply discarded (R8).
    pub unaddressed: u64,
}

impl ReplyStats {
    /// All of them together.
    pub const fn total(&self) -> u64 {
        self.replied + self.refused + self.unaddressed
    }

    fn counters(&self) -> [(&'static str, u64); 3] {
        [("replied", self.replied), ("refused", self.refused), ("unaddressed", self.unaddressed)]
    }
}

impl Stats {
    pub(super) fn new(name: Name, generation: u64) -> Self {
        Self {
            name,
            generation,
            offered: 0,
            delivered: 0,
            pending: 0,
            in_hand: 0,
            lost: Lost::default(),
            released: 0,
            exhausted: 0,
            lease_expired: 0,
            delay_shortened: 0,
            stranded: 0,
            redelivered: 0,
            settlement: SettlementStats::default(),
            replies: ReplyStats::default(),
            errors: 0,
            panics: 0,
            incidents: 0,
            interruptions: 0,
            unsubscribed_for: Duration::ZERO,
        }
    }

    /// How many offered messages the other side of the identity L4 does not explain: zero at any quiescent instant, and
    /// for a moment other than that while messages are on their way between two counters.
    pub fn unaccounted(&self) -> i128 {
        let explained = [self.delivered, self.lost.total(), self.released, self.in_hand, self.pending];
        i128::from(self.offered) - explained.into_iter().map(i128::from).sum::<i128>()
    }
}

/// One line for each group of counters that is not all zero.
impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} (generation {})", self.name, self.generation)?;
        writeln!(
            f,
            "  offered {} = delivered {} + lost {} + released {} + in hand {} + pending {}",
            self.offered,
            self.delivered,
            self.lost.total(),
            self.released,
            self.in_hand,
            self.pending
        )?;
        line(f, "lost", self.lost.reasons())?;
        let settled = &self.settlement;
        line(
            f,
            "settlement",
            [
                ("acked", settled.acked),
                ("nacked", settled.nacked),
                ("silent", settled.silent),
                ("refused", settled.refused),
            ],
        )?;
        line(f, "replies", self.replies.counters())?;
        line(
            f,
            "beside it",
            [
                ("errors", self.errors),
                ("panics", self.panics),
                ("incidents", self.incidents),
                ("redelivered", self.redelivered),
                ("exhausted", self.exhausted),
                ("stranded", self.stranded),
                ("lease expired", self.lease_expired),
                ("delay shortened", self.delay_shortened),
                ("interruptions", self.interruptions),
            ],
        )?;
        if !self.unsubscribed_for.is_zero() {
            writeln!(f, "  unsubscribed for {:?}", self.unsubscribed_for)?;
        }
        Ok(())
    }
}

/// Writes the counters that are not zero, or nothing.
fn line<'c>(
    f: &mut fmt::Formatter<'_>,
    title: &str,
    counters: impl IntoIterator<Item = (&'c str, u64)>,
) -> fmt::Result {
    let mut gap = "";
    for (name, count) in counters.into_iter().filter(|(_, count)| *count > 0) {
        if gap.is_empty() {
            write!(f, "  {title}: ")?;
        }
        write!(f, "{gap}{name} {count}")?;
        gap = ", ";
    }
    if gap.is_empty() { Ok(()) } else { writeln!(f) }
}

/// The counters of every subscription and every request of a bus. [`Display`](fmt::Display) prints them as one table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Ledger {
    /// One entry per subscription, in the order in which they were subscribed.
    pub subscriptions: Vec<Stats>,
    /// What became of the requests that the bus sent.
    pub requests: RequestLedger,
}

impl Ledger {
    /// The counters of one subscription.
    pub fn get(&self, name: &str) -> Option<&Stats> {
        self.subscriptions.iter().find(|stats| stats.name.as_str() == name)
    }
}

impl fmt::Display for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.subscriptions.iter().map(|stats| stats.name.as_str().chars().count()).max();
        let width = width.unwrap_or(0).max("subscription".len());
        writeln!(
            f,
            "{:width$} {:>9} = {:>9} + {:>7} + {:>8} + {:>7} + {:>7}",
            "subscription", "offered", "delivered", "lost", "released", "in hand", "pending"
        )?;
        for stats in &self.subscriptions {
            writeln!(
                f,
                "{:width$} {:>9} = {:>9} + {:>7} + {:>8} + {:>7} + {:>7}{}",
                stats.name.as_str(),
                stats.offered,
                stats.delivered,
                stats.lost.total(),
                stats.released,
                stats.in_hand,
                stats.pending,
                if stats.unaccounted() == 0 { "" } else { "  (more on their way)" },
            )?;
        }
        for stats in &self.subscriptions {
            line(f, &format!("{} lost", stats.name), stats.lost.reasons())?;
            line(f, &format!("{} replies", stats.name), stats.replies.counters())?;
            line(
                f,
                &format!("{} said", stats.name),
                [
                    ("errors", stats.errors),
                    ("panics", stats.panics),
                    ("incidents", stats.incidents),
                    ("interruptions", stats.interruptions),
                ],
            )?;
        }
        self.requests.fmt(f)
    }
}
