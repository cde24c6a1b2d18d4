//! Faults in what is given back without a judgement.

use std::{collections::HashMap, sync::Mutex};

use tramline::contract::{AtLeastOnceSpec, Outcome, RetireReason, SettleError, Settlement, SourceId};

use super::{
    Fault, Hand, Said,
    through::{Retire, Retired},
};
use crate::both_ways::{Mutant, mutant};

pub(crate) fn mutants() -> Vec<Mutant> {
    const NEXT_SOURCE: &[&str] = &["at_least_once::settle_refused", "at_least_once::stale_settle_is_refused"];
    const WHY: &str = "what they have in hand has to come to the next source";
    vec![
        mutant("spends an attempt on a return, but for the last one", || {
            JudgesReturns::new(|attempt, most| attempt < most)
        })
        .breaks(&["at_least_once::returned_is_not_judged"]),
        mutant("exhausts what is returned at its last attempt", || JudgesReturns::new(|attempt, most| attempt == most))
            .breaks(&["at_least_once::returned_is_not_judged"]),
        mutant("drops the backlog of a source that restarts", || GivesUp(RetireReason::Restarting))
            .breaks(&["at_least_once::released_on_retire"])
            .also(NEXT_SOURCE, WHY),
        mutant("drops the backlog of a source that stops", || GivesUp(RetireReason::Stopping))
            .breaks(&["at_least_once::released_on_retire"]),
        mutant("drops what a retired source had in hand", DropsWhatIsInHand::default)
            .breaks(&["at_least_once::released_on_retire"])
            .also(NEXT_SOURCE, WHY)
            .also(&["at_least_once::retire_leaves_the_group"], "it has to come to the member that stays"),
        mutant("holds for ever what is dropped unsettled", || HoldsWhatIsDropped(Said::Nothing))
            .breaks(&["at_least_once::dropped_settler_returns"]),
        mutant("holds for ever what is dropped while it settles", || HoldsWhatIsDropped(Said::Unpolled))
            .breaks(&["at_least_once::dropped_settler_returns"]),
    ]
}

struct JudgesReturns {
    most: Mutex<HashMap<SourceId, u32>>,
    /// Whether a return of this attempt, of so many, is taken for a decline.
    declines: fn(u32, u32) -> bool,
}

impl JudgesReturns {
    fn new(declines: fn(u32, u32) -> bool) -> Self {
        Self { most: Mutex::default(), declines }
    }
}

impl Fault for JudgesReturns {
    fn at_least_once(&self, spec: &mut AtLeastOnceSpec) {
        self.most.lock().unwrap().insert(spec.id, spec.max_deliver.get());
    }

    fn settles(&self, hand: &Hand, settlement: Settlement) -> Option<Result<(), SettleError>> {
        let most = self.most.lock().unwrap()[&hand.source];
        let declines = settlement.outcome == Outcome::Returned && (self.declines)(hand.attempt, most);
        Some(hand.say(if declines { Settlement::new(Outcome::Nacked) } else { settlement }))
    }
}

struct GivesUp(RetireReason);

impl Fault for GivesUp {
    fn retires<'a>(&'a self, mut retire: Retire<'a>) -> Retired<'a> {
        if retire.reason == self.0 {
            retire.reason = RetireReason::GivenUp;
        }
        retire.go()
    }
}

#[derive(Default)]
struct DropsWhatIsInHand(Mutex<Vec<Hand>>);

impl Fault for DropsWhatIsInHand {
    fn handed_over(&self, hand: &Hand) {
        self.0.lock().unwrap().push(hand.clone());
    }

    fn retires<'a>(&'a self, retire: Retire<'a>) -> Retired<'a> {
        let hands = self.0.lock().unwrap();
        for hand in hands.iter().filter(|hand| hand.source == retire.source && !hand.is_settled()) {
            let _ = hand.say(Settlement::new(Outcome::Acked));
        }
        retire.go()
    }
}

struct HoldsWhatIsDropped(Said);

impl Fault for HoldsWhatIsDropped {
    fn drops(&self, hand: &Hand, said: Said) {
        if said == self.0 { hand.lose() } else { hand.let_go() }
    }
}
