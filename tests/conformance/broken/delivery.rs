//! Faults in who gets a message.

use std::sync::{
    Mutex,
    atomic::{AtomicBool, AtomicU32, Ordering::Relaxed},
};

use futures_util::future::BoxFuture;
use tramline::{
    contract::{AtLeastOnceSpec, AtMostOnceSpec, PublishError},
    subject::{DurableName, Group, Pattern},
};

use super::{Arrival, Fault, Passes, through::Publish};
use crate::both_ways::{Mutant, mutant};

const FAN_OUT: &[&str] = &["at_most_once::fanout_every_subscriber", "at_least_once::fanout_every_subscriber"];
const COMPETING: &[&str] = &["at_most_once::competing_exactly_one", "at_least_once::competing_exactly_one"];

pub(crate) fn mutants() -> Vec<Mutant> {
    vec![
        mutant("gives the third subscriber the queue of the second", SharedQueue::default).breaks(FAN_OUT),
        mutant("hands the twelfth message to three subscribers over twice", TwelfthTwice::default).breaks(FAN_OUT),
        mutant("subscribes the third member of a group for itself", || ThirdForItself).breaks(COMPETING),
        mutant("loses what is on its way to the third member of a group", LostAtTheThird::default).breaks(COMPETING),
    ]
}

/// The second subscription that has a queue of its own, and the third one that does not get one.
#[derive(Default)]
struct SharedQueue(Mutex<Option<(Pattern, DurableName)>>);

impl Fault for SharedQueue {
    fn at_most_once(&self, spec: &mut AtMostOnceSpec) {
        if matches!(spec.id.consumer, 1 | 2) && spec.group.is_none() && spec.overflow.is_none() {
            spec.group = Some(Group::new("everybody").unwrap());
        }
    }

    fn at_least_once(&self, spec: &mut AtLeastOnceSpec) {
        if spec.fail_when_full || spec.durable.as_str() != spec.name.as_str() {
            return;
        }
        let mut second = self.0.lock().unwrap();
        match (spec.id.consumer, &*second) {
            (1, _) => *second = Some((spec.pattern.clone(), spec.durable.clone())),
            (2, Some((pattern, durable))) if *pattern == spec.pattern => spec.durable = durable.clone(),
            _ => {}
        }
    }
}

#[derive(Default)]
struct TwelfthTwice {
    sources: AtomicU32,
    published: AtomicU32,
}

impl Fault for TwelfthTwice {
    fn at_most_once(&self, _spec: &mut AtMostOnceSpec) {
        self.sources.fetch_add(1, Relaxed);
    }

    fn at_least_once(&self, _spec: &mut AtLeastOnceSpec) {
        self.sources.fetch_add(1, Relaxed);
    }

    fn publishes<'a>(&'a self, publish: Publish<'a>) -> BoxFuture<'a, Result<(), PublishError>> {
        Box::pin(async move {
            let twelfth = self.published.fetch_add(1, Relaxed) == 11;
            if twelfth && self.sources.load(Relaxed) == 3 {
                publish.first(publish.subject).await;
            }
            publish.go().await
        })
    }
}

struct ThirdForItself;

impl Fault for ThirdForItself {
    fn at_most_once(&self, spec: &mut AtMostOnceSpec) {
        if spec.id.consumer == 2 {
            spec.group = None;
        }
    }

    fn at_least_once(&self, spec: &mut AtLeastOnceSpec) {
        if spec.id.consumer == 2 {
            spec.durable = DurableName::new(spec.name.as_str()).unwrap();
        }
    }
}

/// The third source of a row, if it competes.
#[derive(Default)]
struct LostAtTheThird(AtomicBool);

impl Fault for LostAtTheThird {
    fn at_most_once(&self, spec: &mut AtMostOnceSpec) {
        self.0.fetch_or(spec.id.consumer == 2 && spec.group.is_some(), Relaxed);
    }

    fn at_least_once(&self, spec: &mut AtLeastOnceSpec) {
        self.0.fetch_or(spec.id.consumer == 2 && spec.durable.as_str() != spec.name.as_str(), Relaxed);
    }

    fn arrives(&self, arrival: &mut Arrival<'_>) -> Passes {
        let lost = self.0.load(Relaxed) && arrival.source.consumer == 2 && arrival.nth == 5;
        if lost { Passes::Never } else { Passes::Once }
    }
}
