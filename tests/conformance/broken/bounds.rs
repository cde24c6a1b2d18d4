//! Faults in what happens at the bound.

use std::{
    num::NonZeroUsize,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::Duration,
};

use futures_util::future::BoxFuture;
use tramline::{
    Subject,
    contract::{
        AtLeastOnceSpec, AtMostOnceSpec,
        Overflow::{self, Fail, ShedNewest, ShedOldest},
        PublishError, SourceStats,
    },
    subject::{Name, Pattern},
};

use super::{
    Arrival, Fault, Passes,
    through::{Publish, Room},
};
use crate::both_ways::{Mutant, mutant};

const NEWEST: &[&str] = &["at_most_once::bound_sheds_newest"];
const OLDEST: &[&str] = &["at_most_once::bound_sheds_oldest"];
const FULL: &[&str] = &["at_most_once::bound_fail", "at_least_once::bound_fail"];
const FLOOD: &[&str] = &["at_most_once::bound_backpressure", "at_least_once::bound_backpressure"];

pub(crate) fn mutants() -> Vec<Mutant> {
    vec![
        mutant("holds one more before it sheds the newest", || OneMore(Some(ShedNewest))).breaks(NEWEST),
        mutant("evicts the head instead of refusing the newcomer", || Instead::of(ShedNewest, ShedOldest, |it| it))
            .breaks(NEWEST),
        mutant("evicts the head, and counts as if it had refused the newcomer", || {
            Instead::of(ShedNewest, ShedOldest, evicted_as_refused)
        })
        .breaks(NEWEST),
        mutant("counts what it refused as evicted", || Counts::of(Some(ShedNewest), refused_as_evicted)).breaks(NEWEST),
        mutant("holds one more before it sheds the oldest", || OneMore(Some(ShedOldest))).breaks(OLDEST),
        mutant("refuses the newcomer instead of evicting the head", || Instead::of(ShedOldest, ShedNewest, |it| it))
            .breaks(OLDEST),
        mutant("refuses the newcomer, and counts as if it had evicted the head", || {
            Instead::of(ShedOldest, ShedNewest, refused_as_evicted)
        })
        .breaks(OLDEST)
        .also(&FULL[..1], "what stands beside the full queue sheds its oldest, and what is full refuses"),
        mutant("counts what it evicted as refused", || Counts::of(Some(ShedOldest), evicted_as_refused)).breaks(OLDEST),
        mutant("counts a newcomer that evicts twice", || Counts::of(Some(ShedOldest), evicted_twice)).breaks(OLDEST),
        mutant("holds one more before it fails", || OneMore(Some(Fail))).breaks(FULL),
        mutant("does not count what it refused with an error", || Counts::of(Some(Fail), nothing_refused)).breaks(FULL),
        mutant("names another subscription as full", || Answers(another_name)).breaks(FULL),
        mutant("gives another event back", || Answers(another_event)).breaks(FULL),
        mutant("fills the other queues before it looks at the full one", || OthersFirst).breaks(FULL),
        mutant("tells nobody that a queue is full that was to fail", || Silent { named: true, seen: false.into() })
            .breaks(FULL),
        mutant("does not wait for room", || Waits(|_| Some(Duration::ZERO))).breaks(FULL),
        mutant("does not wait for room, and says that it did", || SaysItWaited).breaks(FULL),
        mutant("waits for room with a deadline only", || Waits(|within| within.or(Some(Duration::ZERO)))).breaks(FULL),
        mutant("waits for room beyond the deadline", || Waits(|_| None)).breaks(FULL),
        mutant("holds one more where no policy is named", || OneMore(None)).breaks(FLOOD),
        mutant("does not count what it sheds or refuses unasked", || Counts::of(None, nothing_refused)).breaks(FLOOD),
        mutant("sheds what is owed", || Silent { named: false, seen: false.into() }).breaks(&FLOOD[1..]),
    ]
}

/// Whether a policy is named. With none, what is meant are bounds that a row means to reach.
fn is_for(policy: Option<Overflow>, asked: Option<Overflow>, bound: NonZeroUsize) -> bool {
    policy == asked && (policy.is_some() || bound.get() < 16)
}

fn at_least_once(spec: &AtLeastOnceSpec) -> Option<Overflow> {
    spec.fail_when_full.then_some(Fail)
}

/// The bound is off by one, where this policy is named.
struct OneMore(Option<Overflow>);

impl Fault for OneMore {
    fn at_most_once(&self, spec: &mut AtMostOnceSpec) {
        if is_for(self.0, spec.overflow, spec.bound) {
            spec.bound = spec.bound.saturating_add(1);
        }
    }

    fn at_least_once(&self, spec: &mut AtLeastOnceSpec) {
        if is_for(self.0, at_least_once(spec), spec.bound) {
            spec.bound = spec.bound.saturating_add(1);
        }
    }
}

/// One policy is asked for, and the other is had, with these counters.
struct Instead {
    asked: Overflow,
    had: Overflow,
    counts: Counts,
}

impl Instead {
    fn of(asked: Overflow, had: Overflow, counts: fn(SourceStats) -> SourceStats) -> Self {
        Self { asked, had, counts: Counts::of(Some(asked), counts) }
    }
}

impl Fault for Instead {
    fn at_most_once(&self, spec: &mut AtMostOnceSpec) {
        self.counts.at_most_once(spec);
        if spec.overflow == Some(self.asked) {
            spec.overflow = Some(self.had);
        }
    }

    fn counts(&self, stats: SourceStats) -> SourceStats {
        self.counts.counts(stats)
    }
}

/// Counters are off once there is a source with this policy.
struct Counts {
    policy: Option<Overflow>,
    seen: AtomicBool,
    of: fn(SourceStats) -> SourceStats,
}

impl Counts {
    fn of(policy: Option<Overflow>, of: fn(SourceStats) -> SourceStats) -> Self {
        Self { policy, seen: AtomicBool::new(false), of }
    }
}

impl Fault for Counts {
    fn at_most_once(&self, spec: &mut AtMostOnceSpec) {
        self.seen.fetch_or(is_for(self.policy, spec.overflow, spec.bound), Relaxed);
    }

    fn at_least_once(&self, spec: &mut AtLeastOnceSpec) {
        self.seen.fetch_or(is_for(self.policy, at_least_once(spec), spec.bound), Relaxed);
    }

    fn counts(&self, stats: SourceStats) -> SourceStats {
        if self.seen.load(Relaxed) { (self.of)(stats) } else { stats }
    }
}

fn refused_as_evicted(mut stats: SourceStats) -> SourceStats {
    stats.accepted += stats.refused;
    stats.evicted += std::mem::take(&mut stats.refused);
    stats
}

fn evicted_as_refused(mut stats: SourceStats) -> SourceStats {
    stats.accepted -= stats.evicted;
    stats.refused += std::mem::take(&mut stats.evicted);
    stats
}

fn evicted_twice(mut stats: SourceStats) -> SourceStats {
    stats.refused += stats.evicted;
    stats
}

fn nothing_refused(mut stats: SourceStats) -> SourceStats {
    stats.refused = 0;
    stats
}

/// A publisher is told something else.
struct Answers(fn(PublishError) -> PublishError);

impl Fault for Answers {
    fn publishes<'a>(&'a self, publish: Publish<'a>) -> BoxFuture<'a, Result<(), PublishError>> {
        Box::pin(async move { publish.go().await.map_err(self.0) })
    }
}

fn another_name(error: PublishError) -> PublishError {
    match error {
        PublishError::QueueFull { event, .. } => {
            PublishError::QueueFull { subscription: Name::new("another").unwrap(), event }
        }
        error => error,
    }
}

fn another_event(error: PublishError) -> PublishError {
    match error {
        PublishError::QueueFull { event, subscription } => {
            PublishError::QueueFull { subscription, event: event.to_builder().id("another").build().unwrap() }
        }
        error => error,
    }
}

/// A publisher is told nothing of a full queue: where that was asked for, or where it was not.
struct Silent {
    named: bool,
    seen: AtomicBool,
}

impl Fault for Silent {
    fn at_most_once(&self, spec: &mut AtMostOnceSpec) {
        self.seen.fetch_or(spec.overflow == Some(Fail), Relaxed);
    }

    fn at_least_once(&self, spec: &mut AtLeastOnceSpec) {
        self.seen.fetch_or(spec.fail_when_full, Relaxed);
    }

    fn publishes<'a>(&'a self, publish: Publish<'a>) -> BoxFuture<'a, Result<(), PublishError>> {
        Box::pin(async move {
            match publish.go().await {
                Err(PublishError::QueueFull { .. }) if self.seen.load(Relaxed) == self.named => Ok(()),
                answer => answer,
            }
        })
    }
}

/// What has plenty of room, or sheds its oldest, gets each event before it is known whether all may have it: it is asked
/// for on a subject of its own, to which everything is published first.
struct OthersFirst;

const BESIDE: &str = "beside";

impl OthersFirst {
    fn aside(pattern: &mut Pattern) {
        *pattern = Pattern::new(format!("{BESIDE}.{pattern}")).unwrap();
    }
}

impl Fault for OthersFirst {
    fn at_most_once(&self, spec: &mut AtMostOnceSpec) {
        if spec.overflow == Some(ShedOldest) {
            Self::aside(&mut spec.pattern);
        }
    }

    fn at_least_once(&self, spec: &mut AtLeastOnceSpec) {
        if !spec.fail_when_full && spec.bound.get() > 16 {
            Self::aside(&mut spec.pattern);
        }
    }

    fn publishes<'a>(&'a self, publish: Publish<'a>) -> BoxFuture<'a, Result<(), PublishError>> {
        Box::pin(async move {
            publish.first(&Subject::new(format!("{BESIDE}.{}", publish.subject)).unwrap()).await;
            publish.go().await
        })
    }

    fn arrives(&self, arrival: &mut Arrival<'_>) -> Passes {
        if let Some((BESIDE, subject)) = arrival.subject.as_str().split_once('.') {
            *arrival.subject = Subject::new(subject).unwrap();
        }
        Passes::Once
    }
}

/// Tells of the deadline that it was given, at once.
struct SaysItWaited;

impl Fault for SaysItWaited {
    fn publishes<'a>(&'a self, mut publish: Publish<'a>) -> BoxFuture<'a, Result<(), PublishError>> {
        let Room::Within(Some(asked)) = publish.room else { return Box::pin(publish.go()) };
        publish.room = Room::Within(Some(Duration::ZERO));
        Box::pin(async move {
            match publish.go().await {
                Err(PublishError::NoRoomInTime { subscription, event, .. }) => {
                    Err(PublishError::NoRoomInTime { subscription, event, waited: asked })
                }
                published => published,
            }
        })
    }
}

/// Waits for another time than it is asked to.
struct Waits(fn(Option<Duration>) -> Option<Duration>);

impl Fault for Waits {
    fn publishes<'a>(&'a self, mut publish: Publish<'a>) -> BoxFuture<'a, Result<(), PublishError>> {
        if let Room::Within(within) = publish.room {
            publish.room = Room::Within((self.0)(within));
        }
        Box::pin(publish.go())
    }
}
