//! Random interleavings of requesters, responder, time and stops: R4 holds, and no reply reaches another's request.

use std::time::Duration;

use futures_util::FutureExt;
use proptest::{collection::vec, prelude::*};
use tokio::time::{Instant, advance};
use tramline::{
    Event, Handle, Name, Subject,
    backend::memory::MemoryReplier,
    bus::{Request, RequestLedger, RequestStats, Within},
    contract::{FailureReason, Reply, RequestError},
    subject,
};

use crate::{
    asked::{Asked, Responder, failure},
    model::cases,
    support::{event, millis, name, seconds, settle},
};

static PRICE_OF: Subject = subject!("price.of");
const BOUND: usize = 3;
const NAMES: [&str; 3] = ["one", "two", "undeclared"];

#[derive(Debug, Clone)]
enum Step {
    /// Asks under one of the names.
    Ask {
        name: usize,
        within: u64,
    },
    /// The responder takes what waits for it.
    Take,
    /// The responder answers one of those that it has taken.
    Answer(usize),
    Fail(usize),
    /// The responder drops one unanswered.
    Forget(usize),
    /// A requester gives up.
    GiveUp(usize),
    Advance(u64),
    /// The bus stops, and starts again.
    Restart,
}

fn step() -> impl Strategy<Value = Step> {
    let any = 0..64_usize;
    prop_oneof![
        8 => (0..NAMES.len(), 1..40_u64).prop_map(|(name, within)| Step::Ask { name, within }),
        4 => Just(Step::Take),
        6 => any.clone().prop_map(Step::Answer),
        1 => any.clone().prop_map(Step::Fail),
        1 => any.clone().prop_map(Step::Forget),
        2 => any.prop_map(Step::GiveUp),
        3 => (1..20_u64).prop_map(Step::Advance),
        1 => Just(Step::Restart),
    ]
}

/// A request that is in flight.
struct Asking<'a> {
    id: String,
    row: usize,
    request: Request<'a, Event, Within>,
    until: Instant,
}

/// A request that the responder has taken.
struct Taken {
    event: Event,
    replier: MemoryReplier,
    session: u64,
}

/// What must have been counted, seen from outside.
#[derive(Default)]
struct Model<'a> {
    rows: [RequestStats; 3],
    unclaimed: u64,
    asking: Vec<Asking<'a>>,
    taken: Vec<Taken>,
    /// How many sessions there were before this one.
    session: u64,
    asked: u64,
}

impl<'a> Model<'a> {
    fn ask(&mut self, handle: &'a Handle<Asked>, row: usize, within: Duration) {
        self.asked += 1;
        let id = self.asked.to_string();
        let request = handle.request(&PRICE_OF, event(&id)).named(NAMES[row]).within(within);
        self.rows[row].sent += 1;
        self.asking.push(Asking { id, row, request, until: Instant::now() + within });
    }

    /// Polls everybody who waits, and counts what they got.
    fn poll(&mut self) -> Result<(), TestCaseError> {
        let mut still = Vec::new();
        for mut asking in std::mem::take(&mut self.asking) {
            let Some(reply) = (&mut asking.request).now_or_never() else {
                prop_assert!(Instant::now() < asking.until + millis(2), "R1: past its deadline");
                still.push(asking);
                continue;
            };
            let row = &mut self.rows[asking.row];
            match reply {
                Ok(reply) => {
                    prop_assert_eq!(reply.id(), &asking.id, "the reply of another request");
                    row.answered += 1;
                }
                Err(RequestError::ResponderFailed { .. }) => row.answered += 1,
                Err(RequestError::NoReply { .. }) => {
                    prop_assert!(Instant::now() >= asking.until, "R1: before its deadline");
                    row.no_reply += 1;
                }
                Err(RequestError::Closed) => row.failed += 1,
                Err(other) => return Err(TestCaseError::fail(format!("{other:?}"))),
            }
        }
        self.asking = still;
        Ok(())
    }

    /// The responder lets go of one, with a reply or without.
    fn answer(&mut self, at: usize, reply: impl FnOnce(Taken) -> bool) -> Result<(), TestCaseError> {
        if self.taken.is_empty() {
            return Ok(());
        }
        let taken = self.taken.swap_remove(at % self.taken.len());
        let (waited_for, open) =
            (self.asking.iter().any(|asking| asking.id == taken.event.id()), taken.session == self.session);
        let out = reply(taken);
        prop_assert_eq!(out, open, "a reply goes out while its session is open");
        self.unclaimed += u64::from(open && !waited_for);
        Ok(())
    }

    fn check(&self, ledger: &RequestLedger) -> Result<(), TestCaseError> {
        let found = [&ledger.named[0], &ledger.named[1], &ledger.unnamed];
        for (index, (found, expected)) in found.into_iter().zip(&self.rows).enumerate() {
            let in_flight = self.asking.iter().filter(|asking| asking.row == index).count() as u64;
            prop_assert_eq!(found.unaccounted(), 0, "R4: {}", found);
            let mut expected = expected.clone();
            expected.name.clone_from(&found.name);
            expected.in_flight = in_flight;
            prop_assert_eq!(found, &expected);
        }
        prop_assert_eq!(ledger.unclaimed, self.unclaimed);
        Ok(())
    }
}

/// Everything that waits for the responder.
fn take(responder: &mut Responder, model: &mut Model<'_>) {
    let session = model.session;
    while let Some((event, replier)) = responder.waiting() {
        model.taken.push(Taken { event, replier, session });
    }
}

async fn run(steps: Vec<Step>) -> Result<(), TestCaseError> {
    let backend = Asked::default();
    let names: [Name; 2] = [name(NAMES[0]), name(NAMES[1])];
    let mut bus = backend.builder().request_names(names).build().unwrap().start().await.unwrap();
    let handle = bus.handle();
    let mut responder = backend.responder(&PRICE_OF, BOUND).await;
    let mut model = Model::default();
    for step in steps {
        match step {
            Step::Ask { name, within } => model.ask(&handle, name, millis(within)),
            Step::Take => take(&mut responder, &mut model),
            Step::Answer(at) => {
                model.answer(at, |taken| taken.replier.reply(taken.event).now_or_never().unwrap().is_ok())?;
            }
            Step::Fail(at) => model.answer(at, |taken| {
                taken.replier.reply(failure(FailureReason::Error)).now_or_never().unwrap().is_ok()
            })?,
            Step::Forget(at) => {
                let session = model.session;
                model.answer(at, |taken| taken.session == session)?;
            }
            Step::GiveUp(at) => {
                if !model.asking.is_empty() {
                    let index = at % model.asking.len();
                    let given_up = model.asking.swap_remove(index);
                    model.rows[given_up.row].no_reply += 1;
                }
            }
            Step::Advance(by) => advance(millis(by)).await,
            Step::Restart => {
                // Requesters hear of the close, those too whose requests wait for a responder.
                bus = bus.stop(seconds(1)).await.bus.start().await.unwrap();
                model.session += 1;
                responder = backend.responder(&PRICE_OF, BOUND).await;
            }
        }
        model.poll()?;
        model.check(&bus.ledger().requests)?;
    }
    // Quiescence: every deadline has passed, and the responder answers what it has.
    advance(millis(100)).await;
    settle().await;
    model.poll()?;
    take(&mut responder, &mut model);
    while !model.taken.is_empty() {
        model.answer(0, |taken| taken.replier.reply(taken.event).now_or_never().unwrap().is_ok())?;
    }
    let ledger = bus.ledger().requests;
    model.check(&ledger)?;
    prop_assert_eq!(ledger.total().in_flight, 0);
    let stopped = bus.stop(seconds(1)).await;
    model.check(&stopped.bus.ledger().requests)
}

proptest! {
    #![proptest_config(cases(512))]

    #[test]
    fn r4_holds_over_random_interleavings_and_no_reply_reaches_another_request(steps in vec(step(), 1..120)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(run(steps))?;
    }
}
