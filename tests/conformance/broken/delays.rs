//! Faults in how long a declined message is held back.

use std::{collections::HashMap, sync::Mutex, time::Duration};

use tokio::time::Instant;
use tramline::contract::{Outcome, SettleError, Settlement};

use super::{Arrival, Fault, Hand, Passes, capped};
use crate::both_ways::{Mutant, mutant};

pub(crate) fn mutants() -> Vec<Mutant> {
    let mut mutants = vec![
        mutant("offers a message one millisecond too early", || TooEarly).breaks(&["at_least_once::delay_respected"]),
        mutant("measures a delay from the delivery", FromDelivery::default).breaks(&["at_least_once::delay_respected"]),
        mutant("delays nothing after silence", || NotAfterSilence).breaks(&["at_least_once::delay_respected"]),
        mutant("yields nothing while a message waits", YieldsNothing::default)
            .breaks(&["at_least_once::delay_lets_others_flow"]),
        mutant("counts a declined message again when its delay ends", CountsTwice::default)
            .breaks(&["at_least_once::delay_spends_one_attempt"]),
        mutant("spends no attempt on a decline with a delay", || SpendsNone)
            .breaks(&["at_least_once::delay_spends_one_attempt"])
            .also(&["at_least_once::delay_respected"], "it knows the second attempt by its number"),
    ];
    mutants.extend(capped::mutants());
    mutants
}

struct TooEarly;

impl Fault for TooEarly {
    fn settles(&self, hand: &Hand, settlement: Settlement) -> Option<Result<(), SettleError>> {
        Some(hand.say(settlement.after(settlement.delay.saturating_sub(Duration::from_millis(1)))))
    }
}

/// With when it was handed over.
#[derive(Default)]
struct FromDelivery(Mutex<Vec<(Hand, Instant)>>);

impl Fault for FromDelivery {
    fn handed_over(&self, hand: &Hand) {
        self.0.lock().unwrap().push((hand.clone(), Instant::now()));
    }

    fn settles(&self, hand: &Hand, settlement: Settlement) -> Option<Result<(), SettleError>> {
        let hands = self.0.lock().unwrap();
        let (_, at) = hands.iter().find(|(other, _)| other.is(hand)).unwrap();
        Some(hand.say(settlement.after(settlement.delay.saturating_sub(at.elapsed()))))
    }
}

struct NotAfterSilence;

impl Fault for NotAfterSilence {
    fn settles(&self, hand: &Hand, settlement: Settlement) -> Option<Result<(), SettleError>> {
        let is_silent = settlement.outcome == Outcome::Silent;
        Some(hand.say(if is_silent { Settlement::new(Outcome::Silent) } else { settlement }))
    }
}

/// Until then.
#[derive(Default)]
struct YieldsNothing(Mutex<Option<Instant>>);

impl Fault for YieldsNothing {
    fn settles(&self, hand: &Hand, settlement: Settlement) -> Option<Result<(), SettleError>> {
        let mut until = self.0.lock().unwrap();
        *until = (*until).max(Some(Instant::now() + settlement.delay));
        Some(hand.say(settlement))
    }

    fn shut_until(&self) -> Option<Instant> {
        *self.0.lock().unwrap()
    }
}

/// How often a message was declined with a delay.
#[derive(Default)]
struct CountsTwice(Mutex<HashMap<String, u32>>);

impl Fault for CountsTwice {
    fn settles(&self, hand: &Hand, settlement: Settlement) -> Option<Result<(), SettleError>> {
        if !settlement.delay.is_zero() {
            *self.0.lock().unwrap().entry(hand.id.clone()).or_default() += 1;
        }
        Some(hand.say(settlement))
    }

    fn arrives(&self, arrival: &mut Arrival<'_>) -> Passes {
        let again = self.0.lock().unwrap().get(arrival.event.id()).copied().unwrap_or_default();
        *arrival.attempt = arrival.attempt.saturating_add(again);
        Passes::Once
    }
}

struct SpendsNone;

impl Fault for SpendsNone {
    fn settles(&self, hand: &Hand, settlement: Settlement) -> Option<Result<(), SettleError>> {
        let returned = Settlement::new(Outcome::Returned).after(settlement.delay);
        Some(hand.say(if settlement.delay.is_zero() { settlement } else { returned }))
    }
}
