//! Faults in what becomes of a message that is no event.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use futures_util::future::BoxFuture;
use tramline::{
    conformance::Ability,
    contract::{PublishError, Session},
};

use super::{Arrival, Fault, Passes, through::Publish};
use crate::both_ways::{Mutant, mutant};

pub(crate) fn mutants() -> Vec<Mutant> {
    const ROW: &[&str] = &["at_most_once::malformed_is_counted", "at_least_once::malformed_is_counted"];
    vec![
        mutant("hands a foreign message over as malformed", || Foreign::that(Passes::Malformed)),
        mutant("drops a foreign message", || Foreign::that(Passes::Never)).breaks(ROW),
        mutant("makes an event of a foreign message", || Foreign::that(Passes::Once)).breaks(ROW),
    ]
}

/// A foreign message is put into memory before what is published next, as an event with a mark.
struct Foreign {
    passes: Passes,
    due: AtomicBool,
}

impl Foreign {
    fn that(passes: Passes) -> Self {
        Self { passes, due: AtomicBool::new(false) }
    }
}

const MARK: &str = "foreign";

impl Fault for Foreign {
    fn publish_foreign(&self) -> Ability {
        self.due.store(true, SeqCst);
        Ability::Done
    }

    fn publishes<'a>(&'a self, publish: Publish<'a>) -> BoxFuture<'a, Result<(), PublishError>> {
        Box::pin(async move {
            if self.due.swap(false, SeqCst) {
                let foreign = publish.event.to_builder().id(MARK).build().unwrap();
                publish.session.publish(publish.subject, foreign).await?;
            }
            publish.go().await
        })
    }

    fn arrives(&self, arrival: &mut Arrival<'_>) -> Passes {
        if arrival.event.id() == MARK { self.passes } else { Passes::Once }
    }
}
