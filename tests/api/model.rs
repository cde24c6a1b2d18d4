//! Random schedules over random subscriptions: whatever happens in whatever order, every message is accounted for, and
//! nothing is seen that the contract forbids.
//!
//! `TRAMLINE_CASES=100000 cargo test --release --test api model` runs longer.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};

use proptest::{collection::vec, prelude::*};
use tokio::time::Instant;
use tramline::{
    AtLeastOnce, AtMostOnce, Backoff, Bus, Delayed, Running,
    bus::{ConsumerState, Stats},
    contract::PublishError,
    source,
    subscription::{Mode, Parts},
};

use crate::{
    backends::{Answer, Faults, Faulty},
    plans::{Plan, Step, plan, published, settings, step, subject},
    support::{ByHand, Context, Door, Handling, in_mode, millis, name, seconds},
    witness::{BACKOFF, Fate, Message, Reached, Witness, World},
};

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
    #![proptest_config(cases(2_000))]

    #[test]
    fn l_every_message_is_accounted_for_and_nothing_is_seen_that_must_not_be(
        plans in vec(plan(), 1..4), steps in vec(step(), 1..25), drains in any::<bool>(),
    ) {
        paused(run(plans, steps, drains))?;
    }
}

/// One subscription of the schedule.
pub(crate) struct One {
    pub(crate) plan: Plan,
    pub(crate) witness: Arc<Witness>,
    pub(crate) before: Option<Stats>,
    /// At least once: messages that its identity took, and how many of them it may not have taken.
    pub(crate) taken: u64,
    pub(crate) unsure: u64,
}

pub(crate) struct Model {
    pub(crate) bus: Bus<Faulty, Running>,
    pub(crate) faults: Arc<Faults>,
    pub(crate) world: Arc<World>,
    pub(crate) ones: Vec<One>,
}

type ByPlan<F, M> = (Arc<Witness>, ByHand<F, M>);

/// A subscription as planned, with who looks on at it.
fn planned<M: Mode>(
    plan: &Plan,
    number: usize,
    world: &Arc<World>,
    reached: &Arc<Mutex<Reached>>,
) -> ByPlan<impl for<'d> Fn(Parts<'d, Context>) -> Handling<'d> + Send + Sync + 'static, M> {
    let name = name(&format!("s{number}"));
    let backoff = plan.backs_off.then(|| Backoff::new(millis(BACKOFF.0), millis(BACKOFF.1), BACKOFF.2).unwrap());
    let witness = Arc::new(Witness {
        name: name.to_string(),
        world: world.clone(),
        reached: reached.clone(),
        counts: Mutex::default(),
        hands: plan.concurrency as u64,
        max_deliver: plan.max_deliver,
        backoff,
        keyed: plan.keyed.clone(),
    });
    let handler = in_mode(settings(plan, name, backoff), {
        let witness = witness.clone();
        move |parts| -> Handling<'_> { Box::pin(witness.clone().handle(parts)) }
    });
    (witness, handler)
}

/// Lets everything run until it waits.
pub(crate) async fn quiet() {
    // Paused time goes on only when nothing else can.
    tokio::time::sleep(millis(1)).await;
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

async fn run(plans: Vec<Plan>, steps: Vec<Step>, drains: bool) -> Result<(), TestCaseError> {
    let (backend, faults) = Faulty::new();
    let world = Arc::new(World {
        messages: Mutex::default(),
        activation: AtomicU64::new(1),
        door: Door::closed(),
        wrong: Mutex::default(),
    });
    let (mut builder, mut ones) = (Bus::builder(backend, source!("urn:example:test")), Vec::new());
    // One group at most: members have one bound and one policy.
    let mut groups = 0;
    for mut plan in plans {
        plan.grouped &= groups == 0;
        groups += usize::from(plan.grouped);
        let reached = Arc::default();
        for _ in 0..=usize::from(plan.grouped) {
            let number = ones.len();
            let witness = if plan.max_deliver.is_some() {
                let (witness, handler) = planned::<AtLeastOnce<Delayed>>(&plan, number, &world, &reached);
                builder = builder.subscribe(handler);
                witness
            } else {
                let (witness, handler) = planned::<AtMostOnce>(&plan, number, &world, &reached);
                builder = builder.subscribe(handler);
                witness
            };
            ones.push(One { plan: plan.clone(), witness, before: None, taken: 0, unsure: 0 });
        }
    }
    let bus = builder.build().unwrap().start().await.unwrap();
    let mut model = Model { bus, faults, world, ones };
    for step in steps {
        model = model.step(step).await?;
    }
    if drains {
        model.drain().await?;
    }
    model.step(Step::Restart(1_000)).await?;
    Ok(())
}

impl Model {
    async fn step(mut self, step: Step) -> Result<Self, TestCaseError> {
        match step {
            Step::Publish { subject, key, fate, count, waits } => {
                for _ in 0..count {
                    self.publish(subject, key, fate, waits).await?;
                }
            }
            Step::Elapse(time) => tokio::time::sleep(millis(time)).await,
            Step::Admit(count) => self.world.door.admit(count.into()),
            Step::Cut(which) if which < self.ones.len() => self.faults.end(&format!("s{which}")),
            // Where the last try to subscribe fails, nobody is left to give the identity up (not covered).
            Step::Bar(which, barred) if self.ones.get(which).is_some_and(One::is_restarted_for_ever) => {
                let answer = if barred { Answer::Refused } else { Answer::Fine };
                self.faults.subscribe(&format!("s{which}"), answer);
            }
            Step::Cut(_) | Step::Bar(..) => {}
            Step::Attach(plan) => self.attach(Plan { grouped: false, ..plan }).await?,
            Step::Restart(budget) => self = self.restart(millis(budget)).await?,
        }
        quiet().await;
        self.check()?;
        Ok(self)
    }

    async fn publish(&mut self, to: u8, key: Option<u8>, fate: Fate, waits: Option<u64>) -> Result<(), TestCaseError> {
        let activation = self.world.activation.load(SeqCst);
        let number = {
            let mut messages = self.world.messages.lock().unwrap();
            messages.push(Message { subject: to, key, fate, activation });
            messages.len() - 1
        };
        let (subject, event, before) = (subject(to), published(number, key), self.states());
        let begun = Instant::now();
        let publish = self.bus.publish(&subject, event);
        let result = match waits {
            None => publish.await,
            Some(time) => publish.when_room().within(millis(time)).await,
        };
        let (after, took) = (self.states(), begun.elapsed());
        let longest = millis(waits.unwrap_or_default());
        prop_assert!(took <= longest + millis(1), "B9: {:?} for a deadline of {:?}", took, longest);
        match &result {
            Ok(()) => {
                for (at, one) in self.ones.iter_mut().enumerate().filter(|(_, one)| one.is_owed(to)) {
                    let failed = [before[at], after[at]].map(|state| state == ConsumerState::Failed);
                    one.taken += u64::from(failed != [true, true]);
                    one.unsure += u64::from(failed == [false, true]);
                }
            }
            Err(PublishError::QueueFull { subscription, .. } | PublishError::NoRoomInTime { subscription, .. }) => {
                prop_assert!(took >= longest, "B9: given up after {:?} of {:?}", took, longest);
                let at = subscription.as_str()[1..].parse::<usize>().unwrap();
                self.refused_by(at, to, before[at], waits.is_some())?;
            }
            Err(_) => prop_assert!(false, "{:?}", result),
        }
        Ok(())
    }

    async fn attach(&mut self, plan: Plan) -> Result<(), TestCaseError> {
        let (number, reached) = (self.ones.len(), Arc::default());
        let (witness, attached) = if plan.max_deliver.is_some() {
            let (witness, handler) = planned::<AtLeastOnce<Delayed>>(&plan, number, &self.world, &reached);
            (witness, self.bus.subscribe(handler).await)
        } else {
            let (witness, handler) = planned::<AtMostOnce>(&plan, number, &self.world, &reached);
            (witness, self.bus.subscribe(handler).await)
        };
        prop_assert!(attached.is_ok(), "{:?}", attached);
        self.ones.push(One { plan, witness, before: None, taken: 0, unsure: 0 });
        Ok(())
    }

    async fn restart(mut self, budget: Duration) -> Result<Self, TestCaseError> {
        self.faults.subscribe.lock().unwrap().clear();
        let stopped = self.bus.stop(budget).await;
        prop_assert!(stopped.report.took <= budget, "{}", stopped.report);
        prop_assert!(stopped.report.is_clean() || budget.is_zero(), "{}", stopped.report);
        quiet().await;
        for one in &mut self.ones {
            one.check_stopped(&stopped.bus.stats(&one.witness.name).unwrap(), &self.faults)?;
        }
        self.world.activation.fetch_add(1, SeqCst);
        let started = stopped.bus.start().await;
        prop_assert!(started.is_ok(), "{:?}", started);
        self.bus = started.unwrap();
        Ok(self)
    }

    /// With every door open, everything comes to its end: no wake-up is lost.
    async fn drain(&mut self) -> Result<(), TestCaseError> {
        self.faults.subscribe.lock().unwrap().clear();
        self.world.door.admit(100_000);
        tokio::time::sleep(seconds(50_000)).await;
        quiet().await;
        self.check()?;
        self.check_drained()
    }
}
