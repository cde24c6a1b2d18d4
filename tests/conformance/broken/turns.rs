//! A group whose members take turns, whatever they hold and whether they are still there.

use std::sync::{Mutex, MutexGuard};

use futures_util::future::BoxFuture;
use tramline::{
    DurableName, Pattern, Subject,
    contract::{AtLeastOnceSpec, AtMostOnceSpec, PublishError, Session},
};

use super::{Arrival, Fault, Passes, through::Publish};
use crate::both_ways::{Mutant, mutant};

pub(crate) fn mutants() -> Vec<Mutant> {
    vec![mutant("a group's members take turns, also one that is full or has retired", TakeTurns::default).breaks(&[
        "at_most_once::retire_leaves_the_group",
        "at_most_once::routes_around",
        "at_least_once::retire_leaves_the_group",
        "at_least_once::routes_around",
    ])]
}

/// Each member has a subject of its own in memory, one token below that of the group.
#[derive(Default)]
struct TakeTurns(Mutex<Vec<Group>>);

struct Group {
    name: String,
    pattern: Pattern,
    members: usize,
    turn: usize,
}

const MARK: &str = ".turn-";

impl TakeTurns {
    /// One more member: its number, and its pattern. Patterns with wildcards are left alone.
    fn join(&self, name: &str, pattern: &mut Pattern) -> Option<usize> {
        let subject = pattern.as_subject()?;
        let mut groups = self.groups();
        let known = groups.iter().position(|group| group.name == name && group.pattern == *pattern);
        let at = known.unwrap_or_else(|| {
            groups.push(Group { name: name.to_owned(), pattern: pattern.clone(), members: 0, turn: 0 });
            groups.len() - 1
        });
        let number = groups[at].members;
        groups[at].members += 1;
        *pattern = Pattern::new(format!("{subject}{MARK}{at}-{number}")).unwrap();
        Some(number)
    }

    /// Whose turn it is, in each group.
    fn turns(&self, subject: &Subject) -> Vec<Subject> {
        let mut groups = self.groups();
        let selected = groups.iter_mut().enumerate().filter(|(_, group)| group.pattern.matches(subject));
        selected
            .map(|(at, group)| {
                group.turn += 1;
                Subject::new(format!("{subject}{MARK}{at}-{}", (group.turn - 1) % group.members)).unwrap()
            })
            .collect()
    }

    fn groups(&self) -> MutexGuard<'_, Vec<Group>> {
        self.0.lock().unwrap()
    }
}

impl Fault for TakeTurns {
    fn at_most_once(&self, spec: &mut AtMostOnceSpec) {
        if let Some(group) = &spec.group {
            self.join(group.as_str(), &mut spec.pattern);
        }
    }

    fn at_least_once(&self, spec: &mut AtLeastOnceSpec) {
        // The identity of a row that wants no group has the subscription's name.
        if spec.durable.as_str() != spec.name.as_str()
            && let Some(number) = self.join(spec.durable.as_str(), &mut spec.pattern)
        {
            spec.durable = DurableName::new(format!("{}-{number}", spec.durable)).unwrap();
        }
    }

    fn publishes<'a>(&'a self, publish: Publish<'a>) -> BoxFuture<'a, Result<(), PublishError>> {
        Box::pin(async move {
            for subject in self.turns(publish.subject) {
                publish.session.publish(&subject, publish.event.clone()).await?;
            }
            publish.go().await
        })
    }

    fn arrives(&self, arrival: &mut Arrival<'_>) -> Passes {
        if let Some((subject, _)) = arrival.subject.as_str().split_once(MARK) {
            *arrival.subject = Subject::new(subject).unwrap();
        }
        Passes::Once
    }
}
