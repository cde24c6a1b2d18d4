//! Faults in the end of a source.

use std::{
    collections::BTreeSet,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
};

use futures_util::future::BoxFuture;
use tokio::task::yield_now;
use tramline::contract::{FinalReading, PublishError, RetireError, SourceId};

use super::{
    Fault,
    through::{Publish, Retire, Retired},
};
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
        mutant("does not go on with a retire that was given up", RetiresOnce::default).breaks(RETIRE_FINAL),
        mutant("counts what was under way beside a retire after it", UnderWay::default).breaks(BESIDE_PUBLISH),
    ]
}

struct CountsOn;

impl Fault for CountsOn {
    fn retires<'a>(&'a self, retire: Retire<'a>) -> Retired<'a> {
        Box::pin(async move {
            let before = retire.before;
            let mut last = retire.go().await?;
            last.stats.refused += before;
            Ok(last)
        })
    }
}

struct HasACause;

impl Fault for HasACause {
    fn retires<'a>(&'a self, retire: Retire<'a>) -> Retired<'a> {
        Box::pin(async move { Ok(FinalReading::new(retire.go().await?.stats).ended_by("it was retired")) })
    }
}

struct ReadsAhead;

impl Fault for ReadsAhead {
    fn reads_ahead(&self) -> bool {
        true
    }
}

/// A retire takes a step, and is begun once for each of these.
#[derive(Default)]
struct RetiresOnce(Mutex<BTreeSet<SourceId>>);

impl Fault for RetiresOnce {
    fn retires<'a>(&'a self, retire: Retire<'a>) -> Retired<'a> {
        Box::pin(async move {
            if retire.before == 0 {
                if !self.0.lock().unwrap().insert(retire.source) {
                    return Err(RetireError::new("it is being retired"));
                }
                yield_now().await;
            }
            retire.go().await
        })
    }
}

#[derive(Default)]
struct UnderWay {
    retires: AtomicU64,
    late: AtomicU64,
}

impl Fault for UnderWay {
    fn publishes<'a>(&'a self, publish: Publish<'a>) -> BoxFuture<'a, Result<(), PublishError>> {
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

    fn retires<'a>(&'a self, retire: Retire<'a>) -> Retired<'a> {
        Box::pin(async move {
            let before = retire.before;
            let mut last = retire.go().await?;
            self.retires.fetch_add(1, SeqCst);
            if before > 0 {
                last.stats.refused += self.late.load(SeqCst);
            }
            Ok(last)
        })
    }
}
