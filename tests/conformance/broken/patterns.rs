//! Faults in which subjects a pattern selects.

use std::{
    collections::{HashMap, HashSet},
    sync::Mutex,
};

use tramline::{
    Subject,
    contract::{AtLeastOnceSpec, AtMostOnceSpec, SourceId},
    subject::Pattern,
};

use super::{Arrival, Fault, Passes};
use crate::both_ways::{Mutant, mutant};

const CONCRETE: &[&str] = &["at_most_once::concrete_subject", "at_least_once::concrete_subject"];
const TABLE: &[&str] = &["at_most_once::pattern_truth_table", "at_least_once::pattern_truth_table"];
const EXACT: &[&str] = &["at_most_once::exact_subject_only", "at_least_once::exact_subject_only"];

pub(crate) fn mutants() -> Vec<Mutant> {
    vec![
        mutant("puts one subject on all deliveries of a wildcard", OneSubject::default).breaks(CONCRETE),
        mutant("lets `>` stand for no token", || {
            Selects::new(|pattern| pattern.ends_with('>'), |pattern, subject| walk(pattern, subject, Loose::Rest))
        })
        .breaks(TABLE),
        mutant("lets `*` stand for several tokens", || {
            Selects::new(|pattern| pattern.contains('*'), |pattern, subject| walk(pattern, subject, Loose::Star))
        })
        .breaks(TABLE),
        mutant("takes upper case for lower case", || {
            Selects::new(|pattern| pattern.contains('A'), str::eq_ignore_ascii_case)
        })
        .breaks(TABLE),
        mutant("compares subjects by their beginning", || {
            Selects::new(
                |pattern| !pattern.contains(['*', '>']) && pattern.split('.').count() > 2,
                |pattern, subject| subject.starts_with(pattern),
            )
        })
        .breaks(EXACT)
        .also(TABLE, "a pattern without a wildcard is in the table, too"),
    ]
}

/// The subject of the first delivery, for each source of a pattern with a wildcard.
#[derive(Default)]
struct OneSubject {
    wildcards: Mutex<HashSet<SourceId>>,
    subjects: Mutex<HashMap<SourceId, Subject>>,
}

impl Fault for OneSubject {
    fn at_most_once(&self, spec: &mut AtMostOnceSpec) {
        if !spec.pattern.is_literal() {
            self.wildcards.lock().unwrap().insert(spec.id);
        }
    }

    fn at_least_once(&self, spec: &mut AtLeastOnceSpec) {
        if !spec.pattern.is_literal() {
            self.wildcards.lock().unwrap().insert(spec.id);
        }
    }

    fn arrives(&self, arrival: &mut Arrival<'_>) -> Passes {
        if self.wildcards.lock().unwrap().contains(&arrival.source) {
            let mut subjects = self.subjects.lock().unwrap();
            *arrival.subject = subjects.entry(arrival.source).or_insert_with(|| arrival.subject.clone()).clone();
        }
        Passes::Once
    }
}

/// Patterns of one kind select by a rule of their own: memory is asked for everything, and the rule decides.
struct Selects {
    kind: fn(&str) -> bool,
    rule: fn(&str, &str) -> bool,
    asked: Mutex<HashMap<SourceId, Pattern>>,
}

impl Selects {
    fn new(kind: fn(&str) -> bool, rule: fn(&str, &str) -> bool) -> Self {
        Self { kind, rule, asked: Mutex::default() }
    }

    fn broaden(&self, id: SourceId, pattern: &mut Pattern) {
        if (self.kind)(pattern.as_str()) {
            let (namespace, _) = pattern.as_str().split_once('.').unwrap();
            let everything = Pattern::new(format!("{namespace}.>")).unwrap();
            self.asked.lock().unwrap().insert(id, std::mem::replace(pattern, everything));
        }
    }
}

impl Fault for Selects {
    fn at_most_once(&self, spec: &mut AtMostOnceSpec) {
        self.broaden(spec.id, &mut spec.pattern);
    }

    fn at_least_once(&self, spec: &mut AtLeastOnceSpec) {
        self.broaden(spec.id, &mut spec.pattern);
    }

    fn arrives(&self, arrival: &mut Arrival<'_>) -> Passes {
        match self.asked.lock().unwrap().get(&arrival.source) {
            Some(pattern) if !(self.rule)(pattern.as_str(), arrival.subject.as_str()) => Passes::Never,
            _ => Passes::Once,
        }
    }
}

/// Which wildcard stands for more than it should.
#[derive(Clone, Copy, PartialEq)]
enum Loose {
    Rest,
    Star,
}

fn walk(pattern: &str, subject: &str, loose: Loose) -> bool {
    fn tokens(pattern: &[&str], subject: &[&str], loose: Loose) -> bool {
        match (pattern, subject) {
            ([">"], rest) => loose == Loose::Rest || !rest.is_empty(),
            (["*", after @ ..], [_, rest @ ..]) => {
                tokens(after, rest, loose) || loose == Loose::Star && tokens(pattern, rest, loose)
            }
            ([token, after @ ..], [first, rest @ ..]) => token == first && tokens(after, rest, loose),
            ([], []) => true,
            _ => false,
        }
    }
    tokens(&pattern.split('.').collect::<Vec<_>>(), &subject.split('.').collect::<Vec<_>>(), loose)
}
