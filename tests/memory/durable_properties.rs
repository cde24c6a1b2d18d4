//! At least once under any schedule: the counters, the attempts, the delays, and nothing for two at once.

use std::{collections::HashMap, time::Duration};

use proptest::prelude::*;
use tokio::time::{Instant, advance};
use tramline::contract::{Outcome, RetireReason};

use crate::{owed::*, support::*};

const MAX_DELIVER: u32 = 3;
const BOUND: usize = 6;

#[derive(Clone, Debug)]
enum Step {
    Publish,
    Open,
    Take(usize),
    /// Settles what was taken at this position, with this outcome and delay in milliseconds.
    Settle(usize, Outcome, u64),
    /// Drops it unsettled.
    Drop(usize),
    Retire(usize, RetireReason),
    Advance(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let outcome = prop_oneof![
        2 => Just(Outcome::Acked), 2 => Just(Outcome::Nacked), 1 => Just(Outcome::Silent), 1 => Just(Outcome::Returned)
    ];
    let reason = prop_oneof![4 => Just(RetireReason::Restarting), 1 => Just(RetireReason::Stopping), 1 => Just(RetireReason::GivenUp)];
    prop_oneof![
        8 => Just(Step::Publish),
        2 => Just(Step::Open),
        10 => (0..4_usize).prop_map(Step::Take),
        8 => (0..8_usize, outcome, prop_oneof![2 => Just(0), 1 => 1..50_u64]).prop_map(|(at, outcome, delay)| Step::Settle(at, outcome, delay)),
        1 => (0..8_usize).prop_map(Step::Drop),
        1 => (0..4_usize, reason).prop_map(|(at, reason)| Step::Retire(at, reason)),
        4 => (1..30_u64).prop_map(Step::Advance),
    ]
}

/// What is known of a message that is owed.
#[derive(Clone, Copy)]
struct Debt {
    next_attempt: u32,
    not_before: Instant,
    in_hand: bool,
}

struct Live {
    sink: Owing,
    handed: u64,
}

#[derive(Default)]
struct Model {
    debts: HashMap<String, Debt>,
    exists: bool,
    refused: u64,
    exhausted: u64,
    /// Eldest first.
    live: Vec<Live>,
    /// What is in hand: its source's number, and the delivery.
    hands: Vec<(usize, Taken)>,
    /// Numbers of `live`.
    numbers: Vec<usize>,
    /// Summed up from last readings: refused, exhausted.
    ended: [u64; 2],
}

impl Model {
    fn backlog(&self) -> u64 {
        self.debts.values().filter(|debt| !debt.in_hand).count() as u64
    }

    fn check(&self) {
        for (at, Live { sink, handed }) in self.live.iter().enumerate() {
            let pending = if at == 0 { self.backlog() } else { 0 };
            let stats = sink.stats();
            assert_eq!((stats.accepted, stats.pending, stats.evicted), (handed + pending, pending, 0));
        }
        let sum = |field: fn(&Owing) -> u64| self.live.iter().map(|live| field(&live.sink)).sum::<u64>();
        if !self.live.is_empty() {
            assert_eq!(sum(|sink| sink.stats().refused) + self.ended[0], self.refused);
        }
        assert_eq!(sum(|sink| sink.stats().exhausted) + self.ended[1], self.exhausted);
    }

    fn comes_back(&mut self, id: &str, next_attempt: u32, delay: u64) {
        let not_before = Instant::now() + Duration::from_millis(delay);
        self.debts.insert(id.to_owned(), Debt { next_attempt, not_before, in_hand: false });
    }
}

async fn run(steps: Vec<Step>) {
    let session = open().await;
    let subscription = durable("d").max_deliver(MAX_DELIVER).bound(BOUND);
    let mut model = Model::default();
    let mut opened = 0;
    for (number, step) in steps.into_iter().enumerate() {
        match step {
            Step::Publish => {
                let id = number.to_string();
                match publish(&session, "a", &id).await {
                    Ok(()) if model.exists => model.comes_back(&id, 1, 0),
                    Ok(()) => {}
                    Err(_) => model.refused += 1,
                }
                assert!(model.debts.len() <= BOUND, "B4");
            }
            Step::Open => {
                let sink = subscription.on(&session).await;
                model.exists = true;
                model.live.push(Live { sink, handed: 0 });
                model.numbers.push(opened);
                opened += 1;
            }
            Step::Take(at) if !model.live.is_empty() => {
                let at = at % model.live.len();
                let now = Instant::now();
                let Some(taken) = model.live[at].sink.take() else {
                    let overdue = |debt: &Debt| !debt.in_hand && debt.not_before <= now;
                    assert!(!model.debts.values().any(overdue), "what is due is offered");
                    continue;
                };
                let debt = model.debts.get_mut(&taken.id).expect("nothing after an ack, an exhaustion or a giving up");
                assert!(!debt.in_hand, "nothing for two at once");
                assert!(debt.not_before <= now, "O3: never early");
                assert_eq!(taken.attempt, debt.next_attempt);
                assert!(taken.attempt <= MAX_DELIVER);
                debt.in_hand = true;
                model.live[at].handed += 1;
                model.hands.push((model.numbers[at], taken));
            }
            Step::Settle(at, outcome, delay) if !model.hands.is_empty() => {
                let at = at % model.hands.len();
                let (source, taken) = model.hands.swap_remove(at);
                let (id, attempt) = (taken.id.clone(), taken.attempt);
                if !model.numbers.contains(&source) {
                    assert!(taken.settle(outcome).await.is_err(), "T6");
                } else {
                    taken.after(outcome, Duration::from_millis(delay)).await;
                    match outcome {
                        Outcome::Acked => drop(model.debts.remove(&id)),
                        Outcome::Returned => model.comes_back(&id, attempt, delay),
                        _ if attempt == MAX_DELIVER => {
                            model.debts.remove(&id);
                            model.exhausted += 1;
                        }
                        _ => model.comes_back(&id, attempt + 1, delay),
                    }
                }
            }
            Step::Drop(at) if !model.hands.is_empty() => {
                let at = at % model.hands.len();
                let (source, taken) = model.hands.swap_remove(at);
                if model.numbers.contains(&source) {
                    model.comes_back(&taken.id, taken.attempt, 0);
                }
            }
            Step::Retire(at, reason) if !model.live.is_empty() => {
                let at = at % model.live.len();
                let number = model.numbers.remove(at);
                let Live { mut sink, handed } = model.live.remove(at);
                let last = sink.retire(reason).await;
                let pending = if model.live.is_empty() { model.backlog() } else { 0 };
                assert_eq!((last.accepted, last.pending), (handed + pending, pending));
                assert!(sink.has_ended());
                model.ended[0] += last.refused;
                model.ended[1] += last.exhausted;
                if reason == RetireReason::GivenUp && model.live.is_empty() {
                    model.debts.clear();
                    model.exists = false;
                } else {
                    let held = model.hands.iter().filter(|(source, _)| *source == number);
                    let held: Vec<_> = held.map(|(_, taken)| (taken.id.clone(), taken.attempt)).collect();
                    held.iter().for_each(|(id, attempt)| model.comes_back(id, *attempt, 0));
                }
                assert_eq!(sink.stats(), last);
            }
            Step::Advance(by) => advance(Duration::from_millis(by)).await,
            _ => {}
        }
        model.check();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn l2_m2_and_o3_hold_after_any_schedule(steps in prop::collection::vec(step(), 1..200)) {
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap().block_on(run(steps));
    }
}
