//! Faults in what becomes of a message that was settled.

use std::{
    collections::{BTreeSet, HashMap},
    num::NonZeroU32,
    sync::Mutex,
};

use futures_util::future::BoxFuture;
use tramline::{
    backend::memory::MemorySession,
    contract::{CloseError, Outcome, Session, SettleError, Settlement, SourceId},
};

use super::{
    Arrival, Fault, Hand, Passes,
    through::{Retire, Retired},
};
use crate::both_ways::{Mutant, mutant};

pub(crate) fn mutants() -> Vec<Mutant> {
    vec![
        mutant("forgets every fifth acknowledgement of a source", ForgetsTheFifth::default)
            .breaks(&["at_least_once::ack_removes"])
            .also(
                &[
                    "at_least_once::fanout_every_subscriber",
                    "at_least_once::competing_exactly_one",
                    "at_least_once::event_round_trip",
                    "at_least_once::pattern_truth_table",
                    "at_least_once::retire_beside_publish",
                    "at_least_once::delay_respected",
                ],
                "they acknowledge as many, and see what comes twice",
            ),
        mutant("keeps an acknowledgement only as long as its source lives", || {
            AcksEndWithTheSource(Mutex::new(Some(BTreeSet::new())))
        })
        .breaks(&["at_least_once::ack_removes"])
        .also(
            &["at_least_once::bound_fail", "at_least_once::routes_around"],
            "what stays in hand takes the room of others",
        ),
        mutant("says attempt 1 each time", || AlwaysTheFirst)
            .breaks(&["at_least_once::nack_redelivers"])
            .also(
                &["at_least_once::silent_is_nack", "at_least_once::unknown_outcome_is_nack"],
                "their declines are numbered in the same way",
            )
            .also(
                &[
                    "at_least_once::returned_is_not_judged",
                    "at_least_once::stale_settle_is_refused",
                    "at_least_once::exhaustion",
                    "at_least_once::budget_is_shared",
                    "at_least_once::delay_respected",
                    "at_least_once::delay_spends_one_attempt",
                ],
                "they decline more than once, or tell attempts apart by their numbers",
            ),
        mutant("forgets what is declined twice", || ForgetsTheTwiceDeclined)
            .breaks(&["at_least_once::nack_redelivers"])
            .also(
                &["at_least_once::budget_is_shared", "at_least_once::exhaustion"],
                "they spend more attempts than two",
            ),
        mutant("takes silence for an acknowledgement", || Takes(Outcome::Silent, Outcome::Acked))
            .breaks(&["at_least_once::silent_is_nack"])
            .also(SILENT_TOO, "they are silent, too"),
        mutant("spends no attempt on silence", || Takes(Outcome::Silent, Outcome::Returned))
            .breaks(&["at_least_once::silent_is_nack"])
            .also(SILENT_TOO, "they are silent, too"),
        mutant("acknowledges what it does not know", || Takes(Outcome::Unheard, Outcome::Acked))
            .breaks(&["at_least_once::unknown_outcome_is_nack"]),
        mutant("gives back what it does not know", || Takes(Outcome::Unheard, Outcome::Returned))
            .breaks(&["at_least_once::unknown_outcome_is_nack"]),
        mutant("acknowledges all that was handed over before", AcksAllBefore::default)
            .breaks(&["at_least_once::per_message_ack"]),
    ]
}

const SILENT_TOO: &[&str] =
    &["at_least_once::exhaustion", "at_least_once::delay_respected", "at_least_once::delay_spends_one_attempt"];

#[derive(Default)]
struct ForgetsTheFifth(Mutex<HashMap<SourceId, u32>>);

impl Fault for ForgetsTheFifth {
    fn settles(&self, hand: &Hand, settlement: Settlement) -> Option<Result<(), SettleError>> {
        if settlement.outcome == Outcome::Acked {
            let mut acked = self.0.lock().unwrap();
            let acked = acked.entry(hand.source).or_default();
            *acked += 1;
            if acked.is_multiple_of(5) {
                return Some(hand.say(Settlement::new(Outcome::Returned)));
            }
        }
        Some(hand.say(settlement))
    }
}

/// What is acknowledged stays in hand, until its source ends; with those that have ended, or none once all have.
struct AcksEndWithTheSource(Mutex<Option<BTreeSet<SourceId>>>);

impl Fault for AcksEndWithTheSource {
    fn retires<'a>(&'a self, retire: Retire<'a>) -> Retired<'a> {
        self.0.lock().unwrap().as_mut().map(|ended| ended.insert(retire.source));
        retire.go()
    }

    fn closes<'a>(&'a self, session: &'a MemorySession) -> BoxFuture<'a, Result<(), CloseError>> {
        self.0.lock().unwrap().take();
        Box::pin(session.close())
    }

    fn settles(&self, hand: &Hand, settlement: Settlement) -> Option<Result<(), SettleError>> {
        let is_live = self.0.lock().unwrap().as_ref().is_some_and(|ended| !ended.contains(&hand.source));
        if settlement.outcome == Outcome::Acked && is_live {
            hand.lose();
            return Some(Ok(()));
        }
        Some(hand.say(settlement))
    }
}

struct AlwaysTheFirst;

impl Fault for AlwaysTheFirst {
    fn arrives(&self, arrival: &mut Arrival<'_>) -> Passes {
        *arrival.attempt = NonZeroU32::MIN;
        Passes::Once
    }
}

struct ForgetsTheTwiceDeclined;

impl Fault for ForgetsTheTwiceDeclined {
    fn settles(&self, hand: &Hand, settlement: Settlement) -> Option<Result<(), SettleError>> {
        let twice = settlement == Settlement::new(Outcome::Nacked) && hand.attempt == 2;
        Some(hand.say(if twice { Settlement::new(Outcome::Acked) } else { settlement }))
    }
}

/// Takes one outcome for the other.
struct Takes(Outcome, Outcome);

impl Fault for Takes {
    fn settles(&self, hand: &Hand, settlement: Settlement) -> Option<Result<(), SettleError>> {
        let Self(said, taken) = self;
        let other = Settlement::new(*taken).after(settlement.delay);
        Some(hand.say(if settlement.outcome == *said { other } else { settlement }))
    }
}

#[derive(Default)]
struct AcksAllBefore(Mutex<Vec<Hand>>);

impl Fault for AcksAllBefore {
    fn handed_over(&self, hand: &Hand) {
        self.0.lock().unwrap().push(hand.clone());
    }

    fn settles(&self, hand: &Hand, settlement: Settlement) -> Option<Result<(), SettleError>> {
        if hand.is_settled() {
            return Some(Ok(()));
        }
        if settlement.outcome == Outcome::Acked {
            let hands = self.0.lock().unwrap();
            let before = hands.iter().take_while(|other| !other.is(hand));
            for earlier in before.filter(|earlier| earlier.source == hand.source && !earlier.is_settled()) {
                let _ = earlier.say(settlement);
            }
        }
        Some(hand.say(settlement))
    }
}
