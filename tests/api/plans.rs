//! Random schedules and random subscriptions: what may happen, and to whom.

use std::num::NonZeroU32;

use proptest::prelude::*;
use tramline::{
    Backoff, DurableName, Event, Group, KeyedBy, Name, Pattern, Restart, Subject, contract::Overflow,
    subscription::Settings,
};

use crate::{
    support::{event, many, millis},
    witness::Fate,
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

/// What a plan says, in the bus's words.
pub(crate) fn settings(plan: &Plan, name: Name, backoff: Option<Backoff>) -> Settings {
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

pub(crate) fn subject(number: u8) -> Subject {
    Subject::new(["a", "b", "c"][usize::from(number)]).unwrap()
}

pub(crate) fn published(number: usize, key: Option<u8>) -> Event {
    let event = event(number);
    key.map_or(event.clone(), |key| event.to_builder().extension("tenant", i32::from(key)).build().unwrap())
}
