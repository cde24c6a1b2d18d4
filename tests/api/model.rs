//! Random schedules against the ledger: whatever happens in whatever order, every message is accounted for.

use std::{
    num::NonZeroU32,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};

use proptest::{collection::vec, prelude::*};
use tramline::{
    AtLeastOnce, Backoff, Bus, Delayed, Delivery, DurableName, Event, Json, Restart, Running,
    bus::{Lost, Stats},
    contract::{Outcome, Overflow, PublishError},
    source, subject,
    subscription::{Cx, Judgement, Parts, Rejection},
};

use crate::{
    backends::{Faults, Faulty},
    shelf::Shelf,
    support::{ByHand, Door, Handling, balanced, by_hand, event, many, millis, name, seconds, settle},
};

/// What a schedule does next.
#[derive(Debug, Clone)]
enum Step {
    Publish(&'static str, u8),
    Elapse(u64),
    Admit(u8),
    End(u8),
    Attach,
    /// Stop within so many milliseconds and start again.
    Restart(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let kind = prop_oneof![
        6 => Just("ok"), 3 => Just("stall"), 2 => Just("slow"), 2 => Just("fail"), 1 => Just("panic"), 1 => Just("undecodable"),
    ];
    prop_oneof![
        10 => (kind, 1..6_u8).prop_map(|(kind, count)| Step::Publish(kind, count)),
        4 => prop_oneof![Just(1), Just(40), Just(1_100), Just(5_000), Just(31_000)].prop_map(Step::Elapse),
        3 => (1..4_u8).prop_map(Step::Admit),
        1 => (0..8_u8).prop_map(Step::End),
        1 => Just(Step::Attach),
        2 => prop_oneof![Just(0), Just(20), Just(70), Just(500), Just(20_000)].prop_map(Step::Restart),
    ]
}

/// What the handlers of one subscription know themselves.
#[derive(Default)]
struct Truth {
    entered: AtomicU64,
    well: AtomicU64,
    failed: AtomicU64,
    panicked: AtomicU64,
    rejected: AtomicU64,
}

/// What a handler does with an event of this kind.
async fn behave(truth: &Truth, door: &Door, event: &Event) -> Result<(), String> {
    truth.entered.fetch_add(1, SeqCst);
    match event.id() {
        "stall" => door.pass().await,
        "slow" => tokio::time::sleep(millis(300)).await,
        "fail" => {
            truth.failed.fetch_add(1, SeqCst);
            return Err("on purpose".to_owned());
        }
        "panic" => {
            truth.panicked.fetch_add(1, SeqCst);
            std::panic::resume_unwind(Box::new("on purpose"));
        }
        _ => {}
    }
    truth.well.fetch_add(1, SeqCst);
    Ok(())
}

/// A subscription of the model: its settings follow from its number.
fn subscription(
    number: usize,
    truth: &Arc<Truth>,
    door: &Door,
) -> ByHand<impl for<'d> Fn(Parts<'d, Cx<(), Json>>) -> Handling<'d> + Send + Sync + 'static> {
    let (truth, door) = (truth.clone(), door.clone());
    let handler = by_hand(name(&format!("s{number}")), subject!("a"), move |parts| -> Handling<'_> {
        let (truth, door, event) = (truth.clone(), door.clone(), parts.event());
        Box::pin(async move {
            if event.id() == "undecodable" {
                truth.entered.fetch_add(1, SeqCst);
                truth.rejected.fetch_add(1, SeqCst);
                return Err(Rejection::new("on purpose"));
            }
            Ok(match behave(&truth, &door, event).await {
                Ok(()) => Judgement::new(Outcome::Acked),
                Err(error) => Judgement::failed(&error),
            })
        })
    });
    handler.with(|settings| {
        let settings = settings.bound(many(1 + number % 4)).concurrency(many(1 + number % 3));
        let settings = match number % 4 {
            0 => settings.overflow(Overflow::ShedOldest),
            1 => settings.overflow(Overflow::ShedNewest),
            2 => settings.overflow(Overflow::Fail),
            _ => settings,
        };
        match number % 3 {
            0 => settings.restart(Restart::new()),
            1 => settings.restart(Restart::new().max_restarts(1)),
            _ => settings,
        }
    })
}

/// Checks one subscription at a quiescent instant, against itself before.
fn check(stats: &Stats, before: &mut Option<Stats>) -> Result<(), TestCaseError> {
    prop_assert_eq!(stats.unaccounted(), 0, "L4: {}", stats);
    prop_assert_eq!(
        stats.settlement.acked + stats.settlement.nacked + stats.settlement.silent,
        stats.delivered,
        "L7: {}",
        stats
    );
    if let Some(before) = before.replace(stats.clone()) {
        for (now, earlier) in monotone(stats).into_iter().zip(monotone(&before)) {
            prop_assert!(now >= earlier, "monotone: {}\nbefore: {}", stats, before);
        }
        prop_assert!(stats.unsubscribed_for >= before.unsubscribed_for);
    }
    Ok(())
}

fn monotone(stats: &Stats) -> Vec<u64> {
    let Lost { overflow, retired_queued, shutdown, handler_panic, undecodable, malformed, .. } = stats.lost;
    let of_lost = [overflow, retired_queued, shutdown, handler_panic, undecodable, malformed];
    let settled = stats.settlement;
    let of_settled = [settled.acked, settled.nacked, settled.silent, settled.refused];
    let rest = [stats.generation, stats.offered, stats.delivered, stats.released, stats.exhausted, stats.stranded];
    let more = [stats.redelivered, stats.errors, stats.panics, stats.incidents];
    [&of_lost[..], &of_settled, &rest, &more].concat()
}

/// Runs a schedule in paused time on a thread of its own.
pub(crate) fn paused(schedule: impl Future<Output = Result<(), TestCaseError>>) -> Result<(), TestCaseError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime").block_on(schedule)
}

pub(crate) fn cases(count: u32) -> ProptestConfig {
    let count = std::env::var("TRAMLINE_CASES").ok().and_then(|count| count.parse().ok()).unwrap_or(count);
    ProptestConfig { cases: count, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn l_every_message_is_accounted_for_at_most_once(steps in vec(step(), 1..40), subscriptions in 1..7_usize) {
        paused(at_most_once(steps, subscriptions))?;
    }

    #[test]
    fn l_every_attempt_is_accounted_for_at_least_once(steps in vec(step(), 1..40)) {
        paused(at_least_once(steps))?;
    }
}

struct AtMost {
    bus: Bus<Faulty, Running>,
    faults: Arc<Faults>,
    door: Door,
    truths: Vec<Arc<Truth>>,
    before: Vec<Option<Stats>>,
}

async fn at_most_once(steps: Vec<Step>, subscriptions: usize) -> Result<(), TestCaseError> {
    let (backend, faults) = Faulty::new();
    let (door, truths) = (Door::closed(), (0..subscriptions).map(|_| Arc::<Truth>::default()).collect::<Vec<_>>());
    let mut builder = Bus::builder(backend, source!("urn:example:test"));
    for (number, truth) in truths.iter().enumerate() {
        builder = builder.subscribe(subscription(number, truth, &door));
    }
    let bus = builder.build().unwrap().start().await.unwrap();
    let mut model = AtMost { bus, faults, door, truths, before: vec![None; subscriptions] };
    for step in steps {
        model = model.step(step).await?;
    }
    model.step(Step::Restart(1_000)).await?;
    Ok(())
}

impl AtMost {
    async fn step(mut self, step: Step) -> Result<Self, TestCaseError> {
        match step {
            Step::Publish(kind, count) => {
                for _ in 0..count {
                    let published = self.bus.publish(&subject!("a"), event(kind)).await;
                    prop_assert!(matches!(published, Ok(()) | Err(PublishError::QueueFull { .. })), "{:?}", published);
                }
            }
            Step::Elapse(time) => tokio::time::sleep(millis(time)).await,
            Step::Admit(count) => self.door.admit(count.into()),
            Step::End(number) if usize::from(number) < self.truths.len() => self.faults.end(&format!("s{number}")),
            Step::End(_) => {}
            Step::Attach => {
                let truth = Arc::default();
                let attached = self.bus.subscribe(subscription(self.truths.len(), &truth, &self.door)).await;
                prop_assert!(attached.is_ok(), "{:?}", attached);
                self.truths.push(truth);
                self.before.push(None);
            }
            Step::Restart(budget) => self = self.restart(millis(budget)).await?,
        }
        settle().await;
        self.check()?;
        Ok(self)
    }

    async fn restart(mut self, budget: Duration) -> Result<Self, TestCaseError> {
        let stopped = self.bus.stop(budget).await;
        prop_assert!(stopped.report.took <= budget, "{}", stopped.report);
        prop_assert!(stopped.report.is_clean() || budget.is_zero(), "{}", stopped.report);
        settle().await;
        for stats in stopped.bus.ledger().subscriptions {
            prop_assert_eq!((stats.in_hand, stats.pending), (0, 0), "after a stop: {}", stats);
            balanced(&stats);
            // N12: each last reading is in the ledger exactly once.
            let readings = self.faults.readings.lock().unwrap();
            let of_this = readings.iter().filter(|(name, _)| *name == stats.name).map(|(_, reading)| *reading);
            let (offered, overflow) = of_this.fold((0, 0), |(offered, overflow), reading| {
                (offered + reading.accepted + reading.refused, overflow + reading.refused + reading.evicted)
            });
            prop_assert_eq!((stats.offered, stats.lost.overflow), (offered, overflow), "L1, L2: {}", stats);
        }
        let started = stopped.bus.start().await;
        prop_assert!(started.is_ok(), "{:?}", started);
        self.bus = started.unwrap();
        Ok(self)
    }

    fn check(&mut self) -> Result<(), TestCaseError> {
        for (number, truth) in self.truths.iter().enumerate() {
            let stats = self.bus.stats(&format!("s{number}")).expect("known");
            check(&stats, &mut self.before[number])?;
            let get = |counter: &AtomicU64| counter.load(SeqCst);
            prop_assert_eq!(stats.settlement.acked, get(&truth.well), "{}", stats);
            prop_assert_eq!((stats.errors, stats.settlement.silent), (get(&truth.failed), get(&truth.failed)));
            prop_assert_eq!((stats.panics, stats.lost.handler_panic), (get(&truth.panicked), get(&truth.panicked)));
            prop_assert_eq!(stats.lost.undecodable, get(&truth.rejected), "{}", stats);
            let gone = stats.delivered + stats.lost.handler_panic + stats.lost.undecodable + stats.lost.shutdown;
            prop_assert_eq!(get(&truth.entered), gone + stats.in_hand, "{}", stats);
            prop_assert_eq!((stats.released, stats.settlement.refused, stats.stranded), (0, 0, 0), "{}", stats);
        }
        Ok(())
    }
}

async fn at_least_once(steps: Vec<Step>) -> Result<(), TestCaseError> {
    let shelf = Shelf::default();
    let (door, truth) = (Door::closed(), Arc::<Truth>::default());
    let mut bus = at_least_once_bus(&shelf, &door, &truth).start().await.unwrap();
    let mut before = [None, None];
    for step in steps.into_iter().chain([Step::Restart(1_000)]) {
        match step {
            Step::Publish(kind, count) => {
                shelf.look().garble = kind == "undecodable";
                for _ in 0..count {
                    bus.publish(&subject!("a"), event(kind)).await.unwrap();
                }
            }
            Step::Elapse(time) => tokio::time::sleep(millis(time)).await,
            Step::Admit(count) => door.admit(count.into()),
            Step::End(_) | Step::Attach => {}
            Step::Restart(budget) => {
                let stopped = bus.stop(millis(budget)).await;
                prop_assert!(stopped.report.is_clean() || budget == 0, "{}", stopped.report);
                settle().await;
                for stats in stopped.bus.ledger().subscriptions {
                    prop_assert_eq!((stats.in_hand, stats.pending), (0, 0), "after a stop: {}", stats);
                }
                bus = stopped.bus.start().await.unwrap();
            }
        }
        settle().await;
        for (name, before) in ["s0", "s1"].into_iter().zip(&mut before) {
            let stats = bus.stats(name).expect("known");
            check(&stats, before)?;
            prop_assert_eq!(stats.lost, Lost::default(), "{}", stats);
        }
    }
    Ok(())
}

fn at_least_once_bus(shelf: &Shelf, door: &Door, truth: &Arc<Truth>) -> Bus<Shelf> {
    let mut builder = Bus::builder(shelf.clone(), source!("urn:example:test"));
    for number in [0, 1] {
        let (door, truth) = (door.clone(), truth.clone());
        let handler = move |delivery: Delivery<AtLeastOnce<Delayed>>| {
            let (door, truth) = (door.clone(), truth.clone());
            async move {
                behave(&truth, &door, delivery.event()).await?;
                if delivery.attempt().get().is_multiple_of(2) {
                    Ok(delivery.ack())
                } else {
                    Ok::<_, String>(delivery.nack())
                }
            }
        };
        let text = format!("s{number}");
        builder = builder
            .at_least_once(name(&text), DurableName::new(text.as_str()).unwrap(), NonZeroU32::new(3).unwrap())
            .subject(subject!("a"))
            .allow_volatile()
            .concurrency(many(1 + number * 2))
            .backoff(Backoff::new(millis(100), seconds(10), 10.0).unwrap())
            .restart(Restart::new())
            .handle(handler);
    }
    builder.build().unwrap()
}
