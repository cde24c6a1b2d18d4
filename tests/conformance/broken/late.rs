//! Faults in settlements that come too late.

use std::{collections::BTreeSet, sync::Mutex};

use tramline::contract::{SettleError, Settlement, SourceId};

use super::{
    Fault, Hand,
    through::{Retire, Retired},
};
use crate::both_ways::{Mutant, mutant};

pub(crate) fn mutants() -> Vec<Mutant> {
    const OLD: &[&str] = &["at_least_once::stale_settle_is_refused"];
    const WHY: &str = "what it says to the old attempt comes after a retire";
    vec![
        mutant("says that all is well after a retire", || TooLate::new(When::Retired, Answer::Well))
            .breaks(&["at_least_once::settle_refused"])
            .also(OLD, WHY),
        mutant("does not answer after a retire", || TooLate::new(When::Retired, Answer::None))
            .breaks(&["at_least_once::settle_refused"])
            .also(OLD, WHY),
        mutant("says that all is well after a close", || TooLate::new(When::Closed, Answer::Well))
            .breaks(&["at_least_once::settle_refused"]),
        mutant("does not answer after a close", || TooLate::new(When::Closed, Answer::None))
            .breaks(&["at_least_once::settle_refused"]),
        mutant("settles the new attempt with an old token, and refuses it", SettlesTheNewest::default)
            .breaks(&["at_least_once::stale_settle_is_refused"]),
    ]
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    Retired,
    Closed,
}

#[derive(Debug, Clone, Copy)]
enum Answer {
    Well,
    None,
}

/// Answers what is too late otherwise than by refusing it.
struct TooLate {
    retired: Mutex<BTreeSet<SourceId>>,
    when: When,
    answer: Answer,
}

impl TooLate {
    fn new(when: When, answer: Answer) -> Self {
        Self { retired: Mutex::default(), when, answer }
    }
}

impl Fault for TooLate {
    fn retires<'a>(&'a self, retire: Retire<'a>) -> Retired<'a> {
        self.retired.lock().unwrap().insert(retire.source);
        retire.go()
    }

    fn settles(&self, hand: &Hand, settlement: Settlement) -> Option<Result<(), SettleError>> {
        let settled = hand.say(settlement);
        let when = if self.retired.lock().unwrap().contains(&hand.source) { When::Retired } else { When::Closed };
        match (&settled, self.answer) {
            (Err(_), Answer::Well) if when == self.when => Some(Ok(())),
            (Err(_), Answer::None) if when == self.when => None,
            _ => Some(settled),
        }
    }
}

#[derive(Default)]
struct SettlesTheNewest(Mutex<Vec<Hand>>);

impl Fault for SettlesTheNewest {
    fn handed_over(&self, hand: &Hand) {
        self.0.lock().unwrap().push(hand.clone());
    }

    fn settles(&self, hand: &Hand, settlement: Settlement) -> Option<Result<(), SettleError>> {
        if hand.is_settled() {
            return Some(Ok(()));
        }
        let settled = hand.say(settlement);
        if settled.is_err() {
            let hands = self.0.lock().unwrap();
            if let Some(newest) =
                hands.iter().rfind(|other| other.source.consumer == hand.source.consumer && !other.is_settled())
            {
                let _ = newest.say(settlement);
            }
        }
        Some(settled)
    }
}
