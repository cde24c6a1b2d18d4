//! Random schedules over random subscriptions: whatever happens in whatever order, every message is accounted for, and
//! nothing is seen that the contract forbids.
//!
//! `TRAMLINE_CASES=100000 cargo test --release --test api model` runs longer.

use std::{
    num::NonZeroU32,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};

use proptest::{collection::vec, prelude::*};
use tramline::{
    AtLeastOnce, AtMostOnce, Backoff, Bus, Delayed, DurableName, Event, Group, KeyedBy, Name, Pattern, Restart,
    Running, Subject,
    bus::{ConsumerState, Stats},
    contract::{Overflow, PublishError},
    source,
    subscription::{Mode, Parts, Settings},
};

use crate::{
    backends::{Answer, Faults, Faulty},
    support::{ByHand, Context, Door, Handling, event, in_mode, many, millis, name, seconds},
    witness::{BACKOFF, Fate, Message, Reached, Witness, World},
};

/// What a schedule does next.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// So many, each waiting for room for so many milliseconds, if at all.
    Publish {
        subject: u8,
        key: Option<u8>,
        fate: Fate,
        count: u8,
        waits: Option<u64>,
    },
    Elapse(u64),
    Admit(u8),
    /// The source of one subscription ends itself.
    Cut(usize),
    /// Subscribing one again fails from now on, or no longer.
    Bar(usize, bool),
    Attach(Plan),
    /// Stop within so many milliseconds and start again.
    Restart(u64),
}

/// What a subscription is like.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    /// None at most once.
    pub(crate) max_deliver: Option<u32>,
    /// A subject, or all of them.
    pub(crate) subject: Option<u8>,
    pub(crate) overflow: Option<Overflow>,
    pub(crate) bound: usize,
    pub(crate) concurrency: usize,
    pub(crate) keyed: Option<KeyedBy>,
    /// At most once and without keys: two members of a group.
    pub(crate) grouped: bool,
    pub(crate) restart: Option<Restart>,
    pub(crate) backs_off: bool,
}

const SUBJECTS: [&str; 3] = ["a", "b", "c"];

pub(crate) fn step() -> impl Strategy<Value = Step> {
    let delay = || prop_oneof![Just(0), Just(30), Just(700), Just(5_000)];
    let fate = prop_oneof![
        5 => Just(Fate::Well),
        3 => prop_oneof![Just(5), Just(300), Just(40_000)].prop_map(Fate::Slow),
        2 => Just(Fate::Stalls),
        2 => (1..5_u32).prop_map(Fate::Declined),
        2 => (1..5_u32, delay()).prop_map(|(times, delay)| Fate::DeclinedFor(times, delay)),
        2 => (1..5_u32).prop_map(Fate::Fails),
        1 => (1..5_u32).prop_map(Fate::Undecodable),
        1 => (1..3_u32).prop_map(Fate::Panics),
    ];
    let waits = prop_oneof![3 => Just(None), 1 => prop_oneof![Just(0), Just(200), Just(6_000)].prop_map(Some)];
    let publish = (0..3_u8, prop::option::weighted(0.8, 0..3_u8), fate, 1..5_u8, waits);
    prop_oneof![
        12 => publish.prop_map(|(subject, key, fate, count, waits)| Step::Publish { subject, key, fate, count, waits }),
        4 => prop_oneof![Just(1), Just(40), Just(1_100), Just(5_000), Just(31_000)].prop_map(Step::Elapse),
        2 => (1..4_u8).prop_map(Step::Admit),
        2 => (0..6_usize).prop_map(Step::Cut),
        1 => (0..6_usize, any::<bool>()).prop_map(|(which, barred)| Step::Bar(which, barred)),
        1 => plan().prop_map(Step::Attach),
        1 => prop_oneof![Just(0), Just(20), Just(70), Just(500), Just(20_000)].prop_map(Step::Restart),
    ]
}

pub(crate) fn plan() -> impl Strategy<Value = Plan> {
    let max_deliver = prop_oneof![2 => Just(None), 3 => (1..5_u32).prop_map(Some)];
    let overflow = prop_oneof![
        Just(None),
        Just(Some(Overflow::Fail)),
        Just(Some(Overflow::ShedNewest)),
        Just(Some(Overflow::ShedOldest)),
    ];
    let keyed = prop_oneof![
        Just(None),
        Just(Some(KeyedBy::subject())),
        Just(Some(KeyedBy::attribute("tenant").expect("a valid name"))),
    ];
    let restart = prop_oneof![
        1 => Just(None),
        1 => Just(Some(Restart::new().max_restarts(1))),
        2 => Just(Some(Restart::new())),
        2 => Just(Some(Restart::new().initial(millis(50)))),
    ];
    let sizes = (1..9_usize, 1..5_usize);
    (max_deliver, prop::option::of(0..3_u8), overflow, sizes, keyed, any::<bool>(), restart, any::<bool>()).prop_map(
        |(max_deliver, subject, overflow, (bound, concurrency), keyed, grouped, restart, backs_off)| {
            let owed = max_deliver.is_some();
            Plan {
                // C13, C34, and members of a group are not keyed.
                overflow: overflow.filter(|policy| !owed || *policy == Overflow::Fail),
                bound: if owed { bound.max(concurrency) } else { bound },
                grouped: grouped && !owed && keyed.is_none(),
                max_deliver,
                subject,
                concurrency,
                keyed,
                restart,
                backs_off: backs_off && owed,
            }
        },
    )
}

/// Runs a schedule in paused time on a thread of its own.
fn paused(schedule: impl Future<Output = Result<(), TestCaseError>>) -> Result<(), TestCaseError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime").block_on(schedule)
}

fn cases(count: u32) -> ProptestConfig {
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

fn settings(plan: &Plan, name: Name, backoff: Option<Backoff>) -> Settings {
    let pattern: Pattern = plan.subject.map_or_else(|| Pattern::new("*").unwrap(), |at| subject(at).into());
    let mut settings = match plan.max_deliver {
        None => Settings::at_most_once(name, pattern),
        Some(max) => {
            let durable = DurableName::new(name.as_str()).unwrap();
            Settings::at_least_once(name, pattern, durable, NonZeroU32::new(max).unwrap())
        }
    };
    settings = settings.bound(many(plan.bound)).concurrency(many(plan.concurrency));
    if plan.grouped {
        settings = settings.group(Group::new("g").unwrap());
    }
    settings = plan.overflow.into_iter().fold(settings, Settings::overflow);
    settings = plan.keyed.clone().into_iter().fold(settings, Settings::keyed);
    settings = plan.restart.into_iter().fold(settings, Settings::restart);
    backoff.into_iter().fold(settings, Settings::backoff)
}

fn subject(number: u8) -> Subject {
    Subject::new(SUBJECTS[usize::from(number)]).unwrap()
}

fn published(number: usize, key: Option<u8>) -> Event {
    let event = event(number);
    key.map_or(event.clone(), |key| event.to_builder().extension("tenant", i32::from(key)).build().unwrap())
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
        let publish = self.bus.publish(&subject, event);
        let result = match waits {
            None => publish.await,
            Some(time) => publish.when_room().within(millis(time)).await,
        };
        let after = self.states();
        match &result {
            Ok(()) => {
                for (at, one) in self.ones.iter_mut().enumerate().filter(|(_, one)| one.is_owed(to)) {
                    let failed = [before[at], after[at]].map(|state| state == ConsumerState::Failed);
                    one.taken += u64::from(failed != [true, true]);
                    one.unsure += u64::from(failed == [false, true]);
                }
            }
            Err(PublishError::QueueFull { subscription, .. } | PublishError::NoRoomInTime { subscription, .. }) => {
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
