//! What becomes of requests and of replies under any schedule (contract R3, R4, L2, N4, N7).

use std::{future::Future, pin::Pin, time::Duration};

use futures_util::FutureExt;
use proptest::prelude::*;
use tokio::{task::unconstrained, time::advance};
use tramline::{
    Event,
    backend::memory::{Memory, MemoryReplier, MemorySession},
    contract::{AnswersRequests, FailureReason, RequestError, Session},
};

use crate::{answering::*, support::*};

/// Group, pattern, and the bound that its members have.
const GROUPS: [(&str, &str, usize); 4] = [("g", "a", 2), ("h", "a", 3), ("g", "*", 1), ("h", ">", 2)];

#[derive(Clone, Debug)]
enum Step {
    Respond(usize),
    /// A subscription that fails when full.
    Subscribe,
    /// With a deadline in milliseconds.
    Request(u64),
    Take(prop::sample::Index),
    Drain(prop::sample::Index),
    Reply(prop::sample::Index),
    DropReplier(prop::sample::Index),
    Poll(prop::sample::Index),
    GiveUp(prop::sample::Index),
    Retire(prop::sample::Index),
    Advance(u64),
    Close,
}

fn step() -> impl Strategy<Value = Step> {
    let at = any::<prop::sample::Index>;
    prop_oneof![
        3 => (0..GROUPS.len()).prop_map(Step::Respond),
        1 => Just(Step::Subscribe),
        12 => (1..50_u64).prop_map(Step::Request),
        8 => at().prop_map(Step::Take),
        2 => at().prop_map(Step::Drain),
        8 => at().prop_map(Step::Reply),
        1 => at().prop_map(Step::DropReplier),
        6 => at().prop_map(Step::Poll),
        2 => at().prop_map(Step::GiveUp),
        1 => at().prop_map(Step::Retire),
        2 => (1..20_u64).prop_map(Step::Advance),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    (prop::collection::vec(step(), 1..200), any::<bool>()).prop_map(|(mut steps, close)| {
        if close {
            steps.insert(steps.len() * 4 / 5, Step::Close);
        }
        steps
    })
}

type Asking<'s> = Pin<Box<dyn Future<Output = Result<Event, RequestError>> + 's>>;

/// What became of requests (R3), and of the replies that went out.
#[derive(Debug, Default)]
struct Tally {
    sent: u64,
    answered: u64,
    no_responders: u64,
    no_reply: u64,
    failed: u64,
    /// Replies that went out, failure replies of the backend too.
    out: u64,
}

impl Tally {
    fn ended(&mut self, id: &str, result: &Result<Event, RequestError>, closed: bool) {
        match result {
            Ok(reply) => {
                assert!(FailureReason::of(reply).is_some() || *reply == reply_to(id), "{id} got {}", reply.id());
                self.answered += 1;
            }
            Err(RequestError::NoResponders) => self.no_responders += 1,
            Err(RequestError::NoReply { .. }) => self.no_reply += 1,
            Err(RequestError::QueueFull { .. }) => self.failed += 1,
            Err(RequestError::Closed) => {
                assert!(closed);
                self.failed += 1;
            }
            Err(other) => panic!("{other}"),
        }
    }
}

struct World<'s> {
    session: &'s MemorySession,
    closed: bool,
    tally: Tally,
    asking: Vec<(String, Asking<'s>)>,
    responders: Vec<(Responder, bool)>,
    sinks: Vec<Sink>,
    in_hand: Vec<(String, MemoryReplier)>,
}

impl World<'_> {
    async fn run(&mut self, step: Step, number: usize) {
        match step {
            Step::Respond(which) if !self.closed => {
                let (group, pattern, bound) = GROUPS[which];
                let responder = answers(pattern).group(group).bound(bound).on(self.session).await;
                self.responders.push((responder, true));
            }
            Step::Subscribe if !self.closed => self.sinks.push(sub("a").bound(3).fails().on(self.session).await),
            Step::Request(within) => {
                let id = number.to_string();
                let refused = |world: &Self| world.responders.iter().map(|(of, _)| of.stats().refused).sum::<u64>();
                let before = refused(self);
                let mut asking: Asking<'_> = Box::pin(request(self.session, id.clone(), Duration::from_millis(within)));
                self.tally.sent += 1;
                let first = unconstrained(asking.as_mut()).now_or_never();
                // Whoever turned it away has replied.
                self.tally.out += refused(self) - before;
                match first {
                    Some(result) => self.tally.ended(&id, &result, self.closed),
                    None => self.asking.push((id, asking)),
                }
            }
            Step::Take(at) if !self.responders.is_empty() => {
                let at = at.index(self.responders.len());
                let (responder, live) = &mut self.responders[at];
                if let Some((request, replier)) = responder.try_next() {
                    assert!(*live);
                    self.in_hand.push((request.id().to_owned(), replier.expect("it was requested")));
                }
            }
            Step::Drain(at) if !self.sinks.is_empty() => {
                let at = at.index(self.sinks.len());
                self.sinks[at].drain();
            }
            Step::Reply(at) if !self.in_hand.is_empty() => {
                let (id, replier) = self.in_hand.swap_remove(at.index(self.in_hand.len()));
                let sent = reply(replier, reply_to(&id)).is_ok();
                assert_eq!(sent, !self.closed);
                self.tally.out += u64::from(sent);
            }
            Step::DropReplier(at) if !self.in_hand.is_empty() => {
                self.in_hand.swap_remove(at.index(self.in_hand.len()));
                self.tally.out += u64::from(!self.closed);
            }
            Step::Poll(at) if !self.asking.is_empty() => self.poll(at.index(self.asking.len())),
            Step::GiveUp(at) if !self.asking.is_empty() => {
                drop(self.asking.swap_remove(at.index(self.asking.len())));
                self.tally.no_reply += 1;
            }
            Step::Retire(at) if !self.responders.is_empty() => {
                let at = at.index(self.responders.len());
                let (responder, live) = &mut self.responders[at];
                let last = responder.retire().await;
                // Each that was queued has its reply, once.
                self.tally.out += if *live { last.pending } else { 0 };
                *live = false;
                assert!(responder.has_ended());
            }
            Step::Advance(by) => advance(Duration::from_millis(by)).await,
            Step::Close if !self.closed => {
                self.session.close().await.unwrap();
                self.closed = true;
                self.responders.iter_mut().for_each(|(_, live)| *live = false);
            }
            _ => {}
        }
    }

    fn poll(&mut self, at: usize) {
        if let Some(result) = unconstrained(self.asking[at].1.as_mut()).now_or_never() {
            let (id, _) = self.asking.swap_remove(at);
            self.tally.ended(&id, &result, self.closed);
        }
    }

    fn check(&self) {
        for (responder, _) in &self.responders {
            // L2 is asserted by looking.
            assert!(responder.stats().pending <= 3);
        }
        let Tally { sent, answered, no_responders, no_reply, failed, .. } = self.tally;
        let in_flight = self.asking.len() as u64;
        assert_eq!(sent, answered + no_responders + no_reply + failed + in_flight, "R4: {:?}", self.tally);
    }

    /// Nothing is in flight any more.
    fn end(mut self) {
        for at in (0..self.asking.len()).rev() {
            self.poll(at);
        }
        if self.closed {
            assert!(self.asking.is_empty(), "a close ends every request");
        }
        self.tally.no_reply += self.asking.drain(..).len() as u64;
        self.check();
        let unclaimed = Memory::unclaimed(self.session);
        assert_eq!(self.tally.out, self.tally.answered + unclaimed, "{:?}", self.tally);
    }
}

async fn run(steps: Vec<Step>) {
    let session = open().await;
    let mut world = World {
        session: &session,
        closed: false,
        tally: Tally::default(),
        asking: Vec::new(),
        responders: Vec::new(),
        sinks: Vec::new(),
        in_hand: Vec::new(),
    };
    for (number, step) in steps.into_iter().enumerate() {
        world.run(step, number).await;
        world.check();
    }
    world.end();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn r4_every_request_and_every_reply_ends_in_exactly_one_way_after_any_schedule(steps in steps()) {
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap().block_on(run(steps));
    }
}
