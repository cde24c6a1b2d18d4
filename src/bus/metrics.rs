//! The ledger as metrics, through the `metrics` facade: read when somebody asks, and nothing per delivery.

use metrics::{Label, Unit, counter, describe_counter, describe_gauge, gauge};

use super::{Bus, Handle, Ledger, RequestStats, Stats};
use crate::{
    codec::Codec,
    contract::{Backend, Capabilities},
};

impl<B: Backend, L, C: Codec> Bus<B, L, C> {
    /// Hands the ledger to the recorder of the `metrics` facade, as the table of
    /// [seeing it run](crate::guide::seeing_it_run#metrics) names its counters. See [`Handle::record_metrics`].
    pub fn record_metrics(&self) {
        record(&self.ledger(), &B::CAPABILITIES);
    }
}

impl<B: Backend, C: Codec> Handle<B, C> {
    /// Hands the ledger to the recorder of the `metrics` facade, as the table of
    /// [seeing it run](crate::guide::seeing_it_run#metrics) names its counters.
    ///
    /// The recorder then has what the ledger said at this moment. Call it where metrics are scraped, before they are
    /// rendered, or every so often; in between nothing is done, and a delivery costs the same with and without it. Without a
    /// recorder it does nothing. It may be called in every state of the bus: after a stop once more, for the last numbers.
    pub fn record_metrics(&self) {
        record(&self.ledger(), &B::CAPABILITIES);
    }
}

/// A metric, and how it is read.
struct Metric<S, V> {
    name: &'static str,
    unit: Unit,
    what: &'static str,
    /// One more label.
    label: Option<(&'static str, &'static str)>,
    read: fn(&S) -> V,
}

const fn count<S>(name: &'static str, what: &'static str, read: fn(&S) -> u64) -> Metric<S, u64> {
    Metric { name, unit: Unit::Count, what, label: None, read }
}

const fn part<S>(
    name: &'static str,
    what: &'static str,
    label: (&'static str, &'static str),
    read: fn(&S) -> u64,
) -> Metric<S, u64> {
    Metric { label: Some(label), ..count(name, what, read) }
}

const LOST: &str = "messages that are gone, by reason";
const SETTLED: &str = "what handlers said, by verdict";
const REPLIES: &str = "what became of a responder's replies";
const REQUESTS: &str = "requests that have come to an end, by how";

/// Of each subscription.
const COUNTERS: [Metric<Stats, u64>; 25] = [
    count("tramline_offered_total", "messages that entered the queue or were refused at the bound", |s| s.offered),
    count("tramline_delivered_total", "messages whose handler returned", |s| s.delivered),
    part("tramline_lost_total", LOST, ("reason", "overflow"), |s| s.lost.overflow),
    part("tramline_lost_total", LOST, ("reason", "retired_queued"), |s| s.lost.retired_queued),
    part("tramline_lost_total", LOST, ("reason", "shutdown"), |s| s.lost.shutdown),
    part("tramline_lost_total", LOST, ("reason", "handler_panic"), |s| s.lost.handler_panic),
    part("tramline_lost_total", LOST, ("reason", "undecodable"), |s| s.lost.undecodable),
    part("tramline_lost_total", LOST, ("reason", "malformed"), |s| s.lost.malformed),
    count("tramline_released_total", "messages given back unjudged", |s| s.released),
    part("tramline_settled_total", SETTLED, ("verdict", "acked"), |s| s.settlement.acked),
    part("tramline_settled_total", SETTLED, ("verdict", "nacked"), |s| s.settlement.nacked),
    part("tramline_settled_total", SETTLED, ("verdict", "silent"), |s| s.settlement.silent),
    count("tramline_settlements_refused_total", "settlements that the backend refused", |s| s.settlement.refused),
    part("tramline_replies_total", REPLIES, ("outcome", "replied"), |s| s.replies.replied),
    part("tramline_replies_total", REPLIES, ("outcome", "refused"), |s| s.replies.refused),
    part("tramline_replies_total", REPLIES, ("outcome", "unaddressed"), |s| s.replies.unaddressed),
    count("tramline_errors_total", "handlers that returned an error", |s| s.errors),
    count("tramline_panics_total", "handlers that panicked", |s| s.panics),
    count("tramline_incidents_total", "how often the subscription failed for good", |s| s.incidents),
    count("tramline_redelivered_total", "arrivals with an attempt above 1", |s| s.redelivered),
    count("tramline_exhausted_total", "messages that ran out of attempts", |s| s.exhausted),
    count("tramline_stranded_total", "messages owed that nobody will deliver any more", |s| s.stranded),
    count("tramline_lease_expired_total", "leases that ended before their message was settled", |s| s.lease_expired),
    count("tramline_delay_shortened_total", "delays that the backend could not hold", |s| s.delay_shortened),
    count("tramline_interruptions_total", "how often messages were lost that nobody could count", |s| s.interruptions),
];

#[expect(clippy::cast_precision_loss, reason = "exact up to 2^53, and a gauge is no more")]
const GAUGES: [Metric<Stats, f64>; 3] = [
    Metric {
        name: "tramline_pending",
        unit: Unit::Count,
        what: "messages in the queue",
        label: None,
        read: |s| s.pending as f64,
    },
    Metric {
        name: "tramline_in_hand",
        unit: Unit::Count,
        what: "messages that a handler has",
        label: None,
        read: |s| s.in_hand as f64,
    },
    Metric {
        name: "tramline_unsubscribed_seconds",
        unit: Unit::Seconds,
        what: "time without a source while the bus ran",
        label: None,
        read: |s| s.unsubscribed_for.as_secs_f64(),
    },
];

/// Of each name of requests.
const REQUEST_COUNTERS: [Metric<RequestStats, u64>; 5] = [
    count("tramline_requests_sent_total", "requests that were sent", |s| s.sent),
    part("tramline_requests_total", REQUESTS, ("outcome", "answered"), |s| s.answered),
    part("tramline_requests_total", REQUESTS, ("outcome", "no_responders"), |s| s.no_responders),
    part("tramline_requests_total", REQUESTS, ("outcome", "no_reply"), |s| s.no_reply),
    part("tramline_requests_total", REQUESTS, ("outcome", "failed"), |s| s.failed),
];

#[expect(clippy::cast_precision_loss, reason = "exact up to 2^53, and a gauge is no more")]
const IN_FLIGHT: Metric<RequestStats, f64> = Metric {
    name: "tramline_requests_in_flight",
    unit: Unit::Count,
    what: "requests that wait for their reply",
    label: None,
    read: |s| s.in_flight as f64,
};

/// Of the bus.
const UNCLAIMED: Metric<Ledger, u64> =
    count("tramline_replies_unclaimed_total", "replies that came after their request had ended", |l| {
        l.requests.unclaimed
    });

fn record(ledger: &Ledger, capabilities: &Capabilities) {
    let backend = Label::from_static_parts("backend", capabilities.backend());
    for stats in &ledger.subscriptions {
        let labels = [backend.clone(), Label::new("subscription", stats.name.as_str().to_owned())];
        for metric in &COUNTERS {
            metric.add(stats, &labels);
        }
        for metric in &GAUGES {
            metric.set(stats, &labels);
        }
    }
    for stats in ledger.requests.named.iter().chain([&ledger.requests.unnamed]) {
        let name = stats.name.as_ref().map_or("", |name| name.as_str());
        let labels = [backend.clone(), Label::new("request", name.to_owned())];
        for metric in &REQUEST_COUNTERS {
            metric.add(stats, &labels);
        }
        IN_FLIGHT.set(stats, &labels);
    }
    UNCLAIMED.add(ledger, &[backend]);
}

impl<S, V> Metric<S, V> {
    fn labels(&self, labels: &[Label]) -> Vec<Label> {
        let own = self.label.map(|(key, value)| Label::from_static_parts(key, value));
        labels.iter().cloned().chain(own).collect()
    }
}

impl<S> Metric<S, u64> {
    /// A counter is what the ledger says, and never less than it was.
    fn add(&self, stats: &S, labels: &[Label]) {
        describe_counter!(self.name, self.unit, self.what);
        counter!(self.name, self.labels(labels)).absolute((self.read)(stats));
    }
}

impl<S> Metric<S, f64> {
    fn set(&self, stats: &S, labels: &[Label]) {
        describe_gauge!(self.name, self.unit, self.what);
        gauge!(self.name, self.labels(labels)).set((self.read)(stats));
    }
}
