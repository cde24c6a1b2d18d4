//! Faults in the end of a source.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use futures_util::future::BoxFuture;
use tokio::task::yield_now;
use tramline::contract::{FinalReading, PublishError};

use super::{Fault, through::Publish};
use crate::both_ways::{Mutant, mutant};

const RETIRE_FINAL: &[&str] = &["at_most_once::retire_final", "at_least_once::retire_final"];
const BESIDE_PUBLISH: &[&str] = &["at_most_once::retire_beside_publish", "at_least_once::retire_beside_publish"];
const LEAVES_THE_GROUP: &[&str] = &["at_most_once::retire_leaves_the_group", "at_least_once::retire_leaves_the_group"];

pub(crate) fn mutants() -> Vec<Mutant> {
    vec![
        mutant("counts on when it is retired again", || CountsOn)
            .breaks(RETIRE_FINAL)
            .also(BESIDE_PUBLISH, "it compares two readings, too")
            .also(LEAVES_THE_GROUP, "it compares two readings, too"),
        mutant("has a cause when it was retired", || HasACause).breaks(RETIRE_FINAL),
        mutant("hands over after the retire what it had read ahead", || ReadsAhead)
            .breaks(RETIRE_FINAL)
            .also(LEAVES_THE_GROUP, "the stream of the member that leaves has to end, too"),
        mutant("does not go on with a retire that was given up", || RetiresOnce).breaks(RETIRE_FINAL),
        mutant("counts what was under way beside a retire after it", UnderWay::default).breaks(BESIDE_PUBLISH),
    ]
}

struct CountsOn;

impl Fault for CountsOn {
    fn retired(&self, before: u64, last: &mut FinalReading) {
        last.stats.refused += before;
    }
}

struct HasACause;

impl Fault for HasACause {
    fn retired(&self, _before: u64, last: &mut FinalReading) {
        *last = FinalReading::new(last.stats).ended_by("it was retired");
    }
}

struct ReadsAhead;

impl Fault for ReadsAhead {
    fn reads_ahead(&self) -> bool {
        true
    }
}

struct RetiresOnce;

impl Fault for RetiresOnce {
    fn retires_once(&self) -> bool {
        true
    }
}

#[derive(Default)]
struct UnderWay {
    retires: AtomicU64,
    late: AtomicU64,
}

impl Fault for UnderWay {
    fn carries<'a>(&'a self, publish: Publish<'a>) -> BoxFuture<'a, Result<(), PublishError>> {
        Box::pin(async move {
            let retires = self.retires.load(SeqCst);
            yield_now().await;
            let published = publish.go().await;
            if self.retires.load(SeqCst) != retires {
                self.late.fetch_add(1, SeqCst);
            }
            published
        })
    }

    fn retired(&self, before: u64, last: &mut FinalReading) {
        self.retires.fetch_add(1, SeqCst);
        if before > 0 {
            last.stats.refused += self.late.load(SeqCst);
        }
    }
}
