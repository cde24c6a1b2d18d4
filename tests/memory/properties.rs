//! The counters under any schedule (contract L1, L2, B8).

use std::collections::VecDeque;

use proptest::prelude::*;
use tramline::contract::{Overflow, PublishError, Session};

use crate::support::*;

#[derive(Clone, Debug)]
enum Step {
    Publish(usize),
    Receive(usize),
    Retire(usize),
    Subscribe(usize),
    Close,
}

const SUBJECTS: [&str; 3] = ["a", "b", "a.b"];
const PATTERNS: [&str; 5] = ["a", "b", "*", ">", "a.*"];
const POLICIES: [Option<Overflow>; 4] =
    [None, Some(Overflow::ShedNewest), Some(Overflow::ShedOldest), Some(Overflow::Fail)];

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => (0..SUBJECTS.len()).prop_map(Step::Publish),
        8 => any::<prop::sample::Index>().prop_map(|at| Step::Receive(at.index(usize::MAX))),
        1 => any::<prop::sample::Index>().prop_map(|at| Step::Retire(at.index(usize::MAX))),
        2 => (0..PATTERNS.len() * POLICIES.len() * 3).prop_map(Step::Subscribe),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    (prop::collection::vec(step(), 1..200), any::<bool>()).prop_map(|(mut steps, close)| {
        if close {
            let at = steps.len() * 4 / 5;
            steps.insert(at, Step::Close);
        }
        steps
    })
}

/// What a queue is said to be: a list, and numbers.
struct Model {
    sub: Sub,
    sink: Sink,
    queue: VecDeque<String>,
    counts: [u64; 4],
    live: bool,
}

impl Model {
    fn selects(&self, to: &str) -> bool {
        self.live && tramline::Pattern::new(self.sub.pattern).unwrap().matches(&subject(to))
    }

    fn is_full(&self) -> bool {
        self.queue.len() == self.sub.bound
    }

    fn offer(&mut self, id: &str) {
        if self.is_full() {
            if self.sub.overflow != Some(Overflow::ShedOldest) {
                self.counts[2] += 1;
                return;
            }
            self.queue.pop_front();
            self.counts[3] += 1;
        }
        self.queue.push_back(id.to_owned());
        self.counts[0] += 1;
    }

    fn check(&mut self) {
        self.counts[1] = self.queue.len() as u64;
        assert_eq!(self.sink.counts(), self.counts, "{}", self.sub.name);
    }
}

async fn run(steps: Vec<Step>) {
    let session = open().await;
    let mut models: Vec<Model> = Vec::new();
    let mut closed = false;
    for (id, step) in steps.into_iter().enumerate() {
        match step {
            Step::Subscribe(which) if !closed => {
                let name: &'static str = format!("sub{id}").leak();
                let sub = Sub {
                    overflow: POLICIES[which / PATTERNS.len() % POLICIES.len()],
                    ..sub(PATTERNS[which % PATTERNS.len()])
                        .named(name)
                        .bound(1 + which / PATTERNS.len() / POLICIES.len())
                };
                let sink = sub.on(&session).await;
                models.push(Model { sub, sink, queue: VecDeque::new(), counts: [0; 4], live: true });
            }
            Step::Publish(to) => {
                let (id, to) = (id.to_string(), SUBJECTS[to]);
                let result = publish(&session, to, &id).await;
                let full = |model: &&mut Model| {
                    model.selects(to) && model.sub.overflow == Some(Overflow::Fail) && model.is_full()
                };
                if closed {
                    assert!(matches!(result, Err(PublishError::Closed)));
                } else if let Some(first) = models.iter_mut().find(full) {
                    assert!(is_full(&result, first.sub.name), "{result:?}");
                    first.counts[2] += 1;
                } else {
                    result.unwrap();
                    models.iter_mut().filter(|model| model.selects(to)).for_each(|model| model.offer(&id));
                }
            }
            Step::Receive(at) if !models.is_empty() => {
                let at = at % models.len();
                let model = &mut models[at];
                let expected = if model.live { model.queue.pop_front() } else { None };
                assert_eq!(model.sink.try_next(), expected);
            }
            Step::Retire(at) if !models.is_empty() => {
                let at = at % models.len();
                let model = &mut models[at];
                let last = model.sink.retire().await;
                model.live = false;
                model.check();
                assert_eq!(counts(last), model.counts);
            }
            Step::Close => {
                session.close().await.unwrap();
                closed = true;
                models.iter_mut().for_each(|model| model.live = false);
            }
            _ => {}
        }
        models.iter_mut().for_each(Model::check);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn l2_accepted_is_handed_over_and_pending_and_evicted_after_any_schedule(steps in steps()) {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(run(steps));
    }
}
