//! Every row in the contract's order; what each promises stands beside its function.

use super::rows::{
    at_most_once, backend, bounds, counters, delays, delivery, durable, elsewhere, exhaustion, full, giving_back, late,
    lease, lifecycle, limits, order, patterns, requests, retire, routing, settlement,
};

/// A row of the contract's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Row {
    /// Its number in the contract.
    pub number: &'static str,
    /// Its name, which its tests have, too.
    pub name: &'static str,
    /// What a backend must declare for the row to apply.
    pub needs: &'static str,
    /// The rules that it holds, by their numbers.
    pub rules: &'static str,
    /// What is promised.
    pub promise: &'static str,
    /// What usually breaks it.
    pub cause: &'static str,
}

/// Every row, in the contract's order.
pub const ROWS: &[Row] = &[
    backend::CONSTRUCTOR_ACQUIRES_NOTHING,
    SURVIVOR_NEEDS_A_FIXTURE,
    delivery::FANOUT_EVERY_SUBSCRIBER,
    delivery::COMPETING_EXACTLY_ONE,
    OWN_COPY,
    delivery::EVENT_ROUND_TRIP,
    patterns::CONCRETE_SUBJECT,
    patterns::PATTERN_TRUTH_TABLE,
    delivery::EXACT_SUBJECT_ONLY,
    bounds::BOUND_SHEDS_NEWEST,
    bounds::BOUND_SHEDS_OLDEST,
    full::BOUND_FAIL,
    bounds::BOUND_BACKPRESSURE,
    elsewhere::NO_SECOND_QUEUE,
    counters::SNAPSHOT_ADVISORY,
    retire::RETIRE_FINAL,
    retire::RETIRE_BESIDE_PUBLISH,
    retire::RETIRE_LEAVES_THE_GROUP,
    lifecycle::CLOSE_RELEASES,
    lifecycle::SESSIONS_IN_SEQUENCE,
    lifecycle::PUBLISH_BESIDE_CLOSE,
    order::ORDERING,
    routing::ROUTES_AROUND,
    at_most_once::ONE_ATTEMPT,
    settlement::ACK_REMOVES,
    settlement::NACK_REDELIVERS,
    settlement::SILENT_IS_NACK,
    settlement::UNKNOWN_OUTCOME_IS_NACK,
    settlement::PER_MESSAGE_ACK,
    giving_back::RETURNED_IS_NOT_JUDGED,
    late::SETTLE_REFUSED,
    late::STALE_SETTLE_IS_REFUSED,
    exhaustion::EXHAUSTION,
    exhaustion::BUDGET_IS_SHARED,
    giving_back::RELEASED_ON_RETIRE,
    lease::LEASE_EXTENDED,
    lease::LEASE_BOUND,
    lease::LEASE_REDELIVER,
    delays::DELAY_RESPECTED,
    delays::DELAY_LETS_OTHERS_FLOW,
    delays::DELAY_SPENDS_ONE_ATTEMPT,
    delays::DELAY_CEILING,
    requests::REQUEST_ANSWERED,
    requests::REQUEST_NO_RESPONDERS,
    requests::REQUEST_DEADLINE,
    requests::REQUEST_ONE_OF_GROUP,
    requests::REQUEST_CLOSING_SESSION,
    requests::ANSWER_UNREQUESTED,
    elsewhere::LINK_DEATH_IS_SEEN,
    elsewhere::CONSUMER_DELETED_UNDER_US,
    limits::PAYLOAD_LIMIT,
    giving_back::DROPPED_SETTLER_RETURNS,
    elsewhere::MALFORMED_IS_COUNTED,
    durable::BACKLOG_SURVIVES,
    durable::RESTART_ATTEMPT,
    durable::IDENTITY_RESUMES,
    durable::REOPEN_REFUSED,
    durable::START_AT_NEW,
    durable::START_AT_ALL,
    durable::EXHAUSTION_ACROSS_RESTART,
    durable::IN_HAND_SURVIVES,
    durable::RESTART_IS_REAL,
    durable::CRASH,
    durable::DELAY_ACROSS_RESTART,
    durable::TWO_NAMES_TWO_COPIES,
];

const SURVIVOR_NEEDS_A_FIXTURE: Row = Row {
    number: "2",
    name: "survivor_needs_a_fixture",
    needs: "–",
    rules: "K",
    promise: "a backend that survives a restart is not accepted as one that keeps nothing",
    cause: "by type: a ui test holds it",
};

const OWN_COPY: Row = Row {
    number: "5",
    name: "own_copy",
    needs: "–",
    rules: "Q7",
    promise: "what one subscriber does to its copy is seen by no other, and not by the publisher",
    cause: "by type: shared bytes cannot be edited; a ui test holds it",
};

impl Row {
    /// The row of this name.
    pub(super) fn named(name: &str) -> &'static Self {
        let found = ROWS.iter().find(|row| row.name == name);
        found.unwrap_or_else(|| panic!("`{name}` is no row of the table"))
    }

    /// Whether the types make the promise, so that there is nothing to run.
    pub fn is_kept_by_type(&self) -> bool {
        [SURVIVOR_NEEDS_A_FIXTURE, OWN_COPY].contains(self)
    }
}
