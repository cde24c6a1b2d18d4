//! What must hold of the ledger at every quiescent instant of a random schedule, and at its end.

use proptest::prelude::*;
use tramline::{
    bus::{ConsumerState, Lost, Stats},
    contract::Overflow,
};

use crate::{
    backends::Faults,
    model::{Model, One},
    support::balanced,
};

impl One {
    pub(crate) fn is_restarted_for_ever(&self) -> bool {
        self.plan.restart.is_some_and(|restart| restart.max_restarts(1) != restart)
    }

    /// Whether its identity, while there is one, takes what is published to this subject.
    pub(crate) fn is_owed(&self, to: u8) -> bool {
        self.plan.max_deliver.is_some() && self.plan.subject.is_none_or(|own| own == to)
    }

    /// Checks one subscription at a quiescent instant, against itself before and against what its handlers saw.
    fn check(&mut self, stats: &Stats, state: ConsumerState) -> Result<(), TestCaseError> {
        prop_assert_eq!(stats.unaccounted(), 0, "L4: {}", stats);
        let settled = stats.settlement;
        prop_assert_eq!(settled.acked + settled.nacked + settled.silent, stats.delivered, "L7: {}", stats);
        if let Some(before) = self.before.replace(stats.clone()) {
            for (now, earlier) in monotone(stats).into_iter().zip(monotone(&before)) {
                prop_assert!(now >= earlier, "monotone: {}\nbefore: {}", stats, before);
            }
            prop_assert!(stats.unsubscribed_for >= before.unsubscribed_for);
        }
        prop_assert_eq!((stats.lease_expired, stats.delay_shortened), (0, 0), "{}", stats);

        let seen = self.witness.counts();
        prop_assert_eq!((settled.acked, settled.nacked, stats.panics), (seen.acked, seen.nacked, seen.panicked));
        prop_assert_eq!(stats.redelivered, seen.redelivered, "M5: {}", stats);
        if self.plan.keyed.is_none() {
            prop_assert_eq!(stats.in_hand, seen.inside, "{}", stats);
        } else {
            prop_assert!(stats.in_hand >= seen.inside, "G3: {}", stats);
        }
        match self.plan.max_deliver {
            None => self.check_at_most_once(stats),
            Some(_) => self.check_at_least_once(stats, state),
        }
    }

    fn check_at_most_once(&self, stats: &Stats) -> Result<(), TestCaseError> {
        let (seen, lost) = (self.witness.counts(), stats.lost);
        prop_assert_eq!((stats.errors, stats.settlement.silent), (seen.failed, seen.failed), "{}", stats);
        prop_assert_eq!((lost.undecodable, lost.handler_panic), (seen.undecodable, seen.panicked), "{}", stats);
        prop_assert!(stats.pending <= self.plan.bound as u64, "B1: {}", stats);
        if self.plan.keyed.is_none() {
            prop_assert_eq!(lost.shutdown, seen.cancelled, "{}", stats);
        }
        let not_its_own = (stats.released, stats.settlement.refused, stats.stranded, stats.exhausted);
        prop_assert_eq!(not_its_own, (0, 0, 0, 0), "{}", stats);
        Ok(())
    }

    fn check_at_least_once(&self, stats: &Stats, state: ConsumerState) -> Result<(), TestCaseError> {
        let seen = self.witness.counts();
        let unaccepted = seen.failed + seen.undecodable;
        prop_assert_eq!((stats.errors, stats.settlement.silent), (unaccepted, unaccepted), "{}", stats);
        prop_assert_eq!(stats.lost.total(), stats.lost.overflow, "C13: {}", stats);
        prop_assert!(stats.pending + stats.in_hand <= self.plan.bound as u64, "B4: {}", stats);
        prop_assert!(stats.released >= seen.panicked + seen.cancelled, "{} {:?}", stats, seen);
        // What is settled too late for the backend is refused instead (T8).
        let missed = seen.exhausted.checked_sub(stats.exhausted);
        prop_assert!(missed.is_some_and(|missed| missed <= stats.settlement.refused), "M2: {} {:?}", stats, seen);
        // Message grain: each that was taken is owed still, or has come to its one end.
        if state != ConsumerState::Unknown {
            let ended = stats.settlement.acked + stats.exhausted + stats.stranded;
            let explained = ended + stats.pending + stats.in_hand;
            let possible = self.taken - self.unsure..=self.taken;
            prop_assert!(possible.contains(&explained), "T13: {:?} were taken, {:?}: {}", possible, state, stats);
        }
        Ok(())
    }

    pub(crate) fn check_stopped(&mut self, stats: &Stats, faults: &Faults) -> Result<(), TestCaseError> {
        prop_assert_eq!((stats.in_hand, stats.pending), (0, 0), "after a stop: {}", stats);
        balanced(stats);
        // N12: each last reading is in the ledger exactly once.
        let readings = faults.readings.lock().unwrap();
        let of_this = readings.iter().filter(|(name, _)| *name == stats.name).map(|(_, reading)| *reading);
        let (offered, overflow) = of_this.fold((0, 0), |(offered, overflow), reading| {
            (offered + reading.accepted + reading.refused, overflow + reading.refused + reading.evicted)
        });
        prop_assert_eq!((stats.offered, stats.lost.overflow), (offered, overflow), "L1, L2: {}", stats);
        drop(readings);
        self.check(stats, ConsumerState::Stopped)
    }
}

impl Model {
    pub(crate) fn states(&self) -> Vec<ConsumerState> {
        self.bus.status().consumers.iter().map(|consumer| consumer.state).collect()
    }

    pub(crate) fn check(&mut self) -> Result<(), TestCaseError> {
        let wrong = self.world.wrong.lock().unwrap().join("\n");
        prop_assert!(wrong.is_empty(), "{}", wrong);
        let states = self.states();
        for (one, state) in self.ones.iter_mut().zip(states) {
            let stats = self.bus.stats(&one.witness.name).expect("known");
            one.check(&stats, state)?;
        }
        Ok(())
    }

    /// A publisher was told that this one is full.
    pub(crate) fn refused_by(
        &self,
        at: usize,
        to: u8,
        state: ConsumerState,
        waited: bool,
    ) -> Result<(), TestCaseError> {
        let one = &self.ones[at];
        let (fails, owed) = (one.plan.overflow == Some(Overflow::Fail), one.plan.max_deliver.is_some());
        prop_assert!((fails || owed) && one.plan.subject.is_none_or(|own| own == to), "B2: s{}", at);
        prop_assert!(state != ConsumerState::Failed, "V5: s{} has failed and refuses", at);
        if owed && !waited && state == ConsumerState::Running {
            let stats = self.bus.stats(&one.witness.name).expect("known");
            prop_assert_eq!(stats.pending + stats.in_hand, one.plan.bound as u64, "B4: {}", stats);
        }
        Ok(())
    }

    /// Nothing is left that could be handled.
    pub(crate) fn check_drained(&self) -> Result<(), TestCaseError> {
        for (one, state) in self.ones.iter().zip(self.states()) {
            let stats = self.bus.stats(&one.witness.name).expect("known");
            prop_assert!(matches!(state, ConsumerState::Running | ConsumerState::Failed), "{:?}: {}", state, stats);
            prop_assert_eq!((stats.pending, stats.in_hand), (0, 0), "left behind: {}", stats);
        }
        Ok(())
    }
}

/// What never goes down.
fn monotone(stats: &Stats) -> Vec<u64> {
    let Lost { overflow, retired_queued, shutdown, handler_panic, undecodable, malformed, .. } = stats.lost;
    let of_lost = [overflow, retired_queued, shutdown, handler_panic, undecodable, malformed];
    let settled = stats.settlement;
    let of_settled = [settled.acked, settled.nacked, settled.silent, settled.refused];
    let rest = [stats.generation, stats.offered, stats.delivered, stats.released, stats.exhausted, stats.stranded];
    let more = [stats.redelivered, stats.errors, stats.panics, stats.incidents];
    [&of_lost[..], &of_settled, &rest, &more].concat()
}
