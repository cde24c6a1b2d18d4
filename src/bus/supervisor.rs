//! Keeps one subscription subscribed: opens sources, watches readers, restarts after failures, and winds down.

use std::{iter, sync::Arc, time::Duration};

use tokio::{
    sync::oneshot,
    task::JoinSet,
    time::{Instant, sleep, sleep_until, timeout},
};
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::{
    activation::{Activation, StopPlan},
    consumer::{Boxed, Control, Opened},
    core::{Core, Record, lock},
    desk::Desk,
    error::chain,
    guard::{caught, describe},
    losses::Losses,
    outlet::HandlerOutlet,
    reader::ReaderEnd,
    status::ConsumerState,
    tally::{Backlog, Owed},
};
use crate::{
    contract::{Backend, FinalReading, RetireReason, SourceId, Storage, SubscribeError},
    subscription::ModeSettings,
};

/// How long handlers of a failed consumer may go on (contract V3).
const FAILURE_GRACE: Duration = Duration::from_secs(30);
/// How long a handler that was cut off may take to yield.
const YIELD_GRACE: Duration = Duration::from_secs(1);
/// How long to wait before a source that did not retire is asked again.
pub(super) const RETRY: Duration = Duration::from_millis(250);
/// How long one attempt to retire a source or to close a session may take, before it is dropped and tried again.
pub(super) const ATTEMPT: Duration = Duration::from_secs(30);

/// A source that would not retire within a stop's budget; it goes with its session to the closer (N7).
pub(super) struct Unretired<B: Backend> {
    pub(super) record: Arc<Record<B>>,
    pub(super) control: Arc<dyn Control>,
}

/// What a supervisor leaves behind when its activation stops.
pub(super) struct Left<B: Backend> {
    pub(super) record: Arc<Record<B>>,
    pub(super) unretired: Option<Unretired<B>>,
}

impl<B: Backend> Left<B> {
    /// Whether the stop has to know of it.
    pub(super) fn matters(&self) -> bool {
        self.unretired.is_some() || self.record.has_disowned()
    }
}

pub(super) struct Supervisor<B: Backend> {
    pub(super) core: Arc<Core<B>>,
    pub(super) record: Arc<Record<B>>,
    pub(super) activation: Arc<Activation<B>>,
}

/// An open source whose readers run.
struct Run {
    desk: Arc<Desk>,
    control: Arc<dyn Control>,
    readers: JoinSet<ReaderEnd>,
    /// Gives back what waits for its key.
    give_back: Option<Boxed<'static, ReaderEnd>>,
    /// Held while handlers run.
    handling: TaskTrackerToken,
}

/// Forgets a subscription that was attached to a running bus and did not pass its first subscribe (Y9).
struct Probation<B: Backend> {
    core: Arc<Core<B>>,
    record: Arc<Record<B>>,
    passed: bool,
}

impl<B: Backend> Drop for Probation<B> {
    fn drop(&mut self) {
        if !self.passed {
            self.core.forget(&self.record);
        }
    }
}

impl<B: Backend> Supervisor<B> {
    /// Runs until the activation stops or the consumer has failed for good. `confirmed` learns whether the first
    /// subscribe succeeded.
    pub(super) async fn run(self, confirmed: oneshot::Sender<Result<(), SubscribeError>>, probation: bool) -> Left<B> {
        let mut confirmed = Some(confirmed);
        // After `confirmed`, so that it is dropped before: who waits for the answer finds nothing left.
        let mut probation =
            probation.then(|| Probation { core: self.core.clone(), record: self.record.clone(), passed: false });
        let mut unretired = None;
        let mut failures = 0;
        // Where there was a source in this activation and is none: the number of the next one.
        let mut bereft = None;
        for attempt in 0.. {
            if !self.readmitted(&mut confirmed).await {
                break;
            }
            let opened = tokio::select! {
                biased;
                () = self.activation.stopping.cancelled() => break,
                opened = caught(self.open(attempt)) => opened,
            };
            let begun = Instant::now();
            let (cause, run) = match opened {
                Ok(Ok(opened)) => {
                    let mut run = self.spawn(opened);
                    self.board(ConsumerState::Running, None);
                    if let Some(mut probation) = probation.take() {
                        probation.passed = true;
                    }
                    confirm(&mut confirmed, Ok(()));
                    match self.watch(&mut run).await {
                        Some(cause) => {
                            self.board(ConsumerState::Unknown, Some(&cause));
                            (cause, Some(run))
                        }
                        None => {
                            bereft = None;
                            unretired = self.wind_down(run, RetireReason::Stopping).await.err();
                            break;
                        }
                    }
                }
                Ok(Err(error)) if confirmed.is_some() => {
                    drop(probation);
                    confirm(&mut confirmed, Err(error));
                    return Left { record: self.record, unretired: None };
                }
                Ok(Err(error)) => (chain(&error), None),
                // Without an answer: who waits for it learns of the panic by that.
                Err(_) if confirmed.is_some() => return Left { record: self.record, unretired: None },
                Err(text) => (format!("the backend panicked while subscribing: {text}"), None),
            };
            let restart = self.record.settings.restart;
            // What failed to subscribe has not run at all, however long that took.
            let ran = if run.is_some() { begun.elapsed() } else { Duration::ZERO };
            failures = if restart.is_some_and(|restart| restart.resets(ran)) { 1 } else { failures + 1 };
            let wait = restart.and_then(|restart| restart.wait(failures));
            let reason = if wait.is_some() { RetireReason::Restarting } else { RetireReason::GivenUp };
            if run.is_some() || bereft.is_some() {
                bereft = Some(attempt + 1);
            }
            let cause = match run {
                Some(run) => match self.wind_down(run, reason).await {
                    Ok(FinalReading { cause: Some(own), .. }) => format!("{cause}: {}", chain(&*own)),
                    Ok(_) => cause,
                    Err(left) => {
                        unretired = Some(left);
                        cause
                    }
                },
                None => cause,
            };
            let Some(wait) = wait else {
                self.give_up(&cause);
                return Left { record: self.record, unretired };
            };
            if unretired.is_some() {
                bereft = None;
                break;
            }
            let subscription = &self.record.settings.name;
            tracing::warn!(
                name: "restart",
                target: "tramline",
                %subscription,
                failures,
                ?wait,
                reason = cause,
                "a subscription is restarted"
            );
            self.board(ConsumerState::Unknown, Some(&cause));
            tokio::select! {
                biased;
                () = self.activation.stopping.cancelled() => break,
                () = sleep(wait) => {}
            }
        }
        if let Some(next) = bereft {
            unretired = self.count_owed(next).await.err();
        }
        self.board(ConsumerState::Stopped, None);
        Left { record: self.record, unretired }
    }

    /// What came for a durable identity while it had no source is known to its backend alone. Where that keeps nothing, a
    /// source is opened once more, to be retired: its last reading has what is stranded (T13), and who was refused.
    async fn count_owed(&self, next: u32) -> Result<(), Unretired<B>> {
        let at_least_once = matches!(self.record.settings.mode, ModeSettings::AtLeastOnce { .. });
        if !at_least_once || <B::Storage as Storage>::PERSISTENT {
            return Ok(());
        }
        self.handled().await;
        let opened = tokio::select! {
            biased;
            opened = caught(self.open(next)) => opened,
            () = self.due(None, |plan| plan.retire) => return Ok(()),
        };
        // Where that fails, what the last source left is stranded, and more is not known.
        let Ok(Ok(Opened { control, snapshot, .. })) = opened else { return Ok(()) };
        self.record.book.opened(snapshot, None, iter::empty());
        self.retire(control, RetireReason::Stopping).await.map(drop)
    }

    /// No source but a responder's retires before the handlers of all consumers have finished, so that what they publish
    /// still arrives.
    async fn handled(&self) {
        tokio::select! {
            biased;
            () = self.activation.handling.wait() => {}
            () = self.due(None, |plan| plan.disown) => {}
        }
    }

    /// Waits until the handlers that an earlier source has disowned have returned; false when stopping begins before.
    async fn readmitted(&self, confirmed: &mut Option<oneshot::Sender<Result<(), SubscribeError>>>) -> bool {
        if !self.record.has_disowned() {
            return true;
        }
        let Some(mut disowned) = lock(&self.record.disowned).take() else { return true };
        self.board(ConsumerState::Quarantined, Some("a handler of an earlier source still runs"));
        confirm(confirmed, Ok(()));
        let returned = tokio::select! {
            biased;
            () = self.activation.stopping.cancelled() => false,
            () = async { while disowned.join_next().await.is_some() {} } => true,
        };
        if !returned {
            *lock(&self.record.disowned) = Some(disowned);
        }
        returned
    }

    fn open(&self, attempt: u32) -> impl Future<Output = Result<Opened, SubscribeError>> + Send {
        let Self { core, record, activation } = self;
        let id = SourceId::new(activation.generation, record.index, attempt);
        let outlet = HandlerOutlet {
            activation: Arc::downgrade(activation),
            source: core.source.clone(),
            traces: core.observers.traces.clone(),
        };
        record.consumer.open(&activation.session, &record.settings, outlet, id, &core.observers)
    }

    fn spawn(&self, opened: Opened) -> Run {
        let Opened { desk, control, snapshot, readers, give_back } = opened;
        let tallies = readers.iter().chain(&give_back).map(|(_, tally)| tally.clone());
        self.record.book.opened(snapshot, Some(desk.clone()), tallies);
        let mut set = JoinSet::new();
        for (reader, tally) in readers {
            drop(tally);
            set.spawn(reader);
        }
        let give_back = give_back.map(|(give_back, _)| give_back);
        Run { desk, control, readers: set, give_back, handling: self.activation.handling.token() }
    }

    /// Waits until a reader fails, and says why; `None` when stopping begins before. Tells of losses meanwhile.
    async fn watch(&self, run: &mut Run) -> Option<String> {
        let mut losses = Losses::of(&self.record.book);
        let cause = tokio::select! {
            biased;
            cause = self.failure(run) => cause,
            never = losses.tell_on() => match never {},
        };
        losses.tell();
        cause
    }

    async fn failure(&self, run: &mut Run) -> Option<String> {
        loop {
            let ended = tokio::select! {
                biased;
                () = self.activation.stopping.cancelled() => {
                    run.desk.close();
                    return None;
                }
                ended = run.readers.join_next() => ended,
            };
            let cause = match ended {
                Some(Ok(ReaderEnd::Panicked(text))) => format!("the handler panicked: {text}"),
                Some(Ok(ReaderEnd::SourceEnded)) | None => "its source ended".to_owned(),
                Some(Ok(ReaderEnd::Closed)) => continue,
                Some(Err(error)) if error.is_panic() => {
                    format!("its source panicked: {}", describe(error.into_panic()))
                }
                Some(Err(_)) => "its reader was aborted".to_owned(),
            };
            run.desk.close();
            return Some(cause);
        }
    }

    /// Handlers in hand finish; at the end of their time they are cut off, and disowned if they do not yield. Then the
    /// source retires and is folded in (Y7). A failing consumer stops its own part in the same order.
    async fn wind_down(&self, run: Run, reason: RetireReason) -> Result<FinalReading, Unretired<B>> {
        let Run { desk, control, mut readers, give_back, handling } = run;
        let now = Instant::now();
        let stopping = reason == RetireReason::Stopping;
        let own = |grace| if stopping { None } else { Some(now + grace) };
        if !self.ended(&mut readers, own(FAILURE_GRACE), |plan| plan.cut_off).await {
            desk.cut_off.cancel();
        }
        if let Some(give_back) = give_back {
            readers.spawn(give_back);
        }
        if !self.ended(&mut readers, own(FAILURE_GRACE + YIELD_GRACE / 2), |plan| plan.give_up).await {
            desk.given_up.cancel();
            if !self.ended(&mut readers, own(FAILURE_GRACE + YIELD_GRACE), |plan| plan.disown).await {
                self.disown(readers);
            }
        }
        drop(handling);
        // A responder's requests are told at once that it stops (R10): a handler may wait for the reply to one.
        if stopping && !self.record.settings.mode.answers() {
            self.handled().await;
        }
        if reason == RetireReason::Restarting {
            desk.hand_on();
        }
        self.retire(control, reason).await
    }

    /// Retires a source, however often that takes, and folds it in.
    async fn retire(&self, control: Arc<dyn Control>, reason: RetireReason) -> Result<FinalReading, Unretired<B>> {
        let retiring = async {
            loop {
                match retire(&*control, reason).await {
                    Ok(reading) => return reading,
                    Err(why) => {
                        let subscription = &self.record.settings.name;
                        tracing::warn!(
                            name: "refuse",
                            target: "tramline",
                            %subscription,
                            what = "retire",
                            reason = why,
                            "a source does not retire; trying on"
                        );
                        sleep(RETRY).await;
                    }
                }
            }
        };
        let reading = tokio::select! {
            biased;
            reading = retiring => reading,
            () = self.due(None, |plan| plan.retire) => {
                return Err(Unretired { record: self.record.clone(), control });
            }
        };
        self.record.retired(&reading, reason);
        Ok(reading)
    }

    /// Whether all readers have ended before this time of the stop's plan, or before a time of the consumer's own.
    async fn ended(
        &self,
        readers: &mut JoinSet<ReaderEnd>,
        own: Option<Instant>,
        planned: fn(&StopPlan) -> Instant,
    ) -> bool {
        tokio::select! {
            biased;
            () = async { while readers.join_next().await.is_some() {} } => true,
            () = self.due(own, planned) => false,
        }
    }

    /// Waits for this time of the stop's plan, which may be made meanwhile, or for a time of the consumer's own.
    async fn due(&self, own: Option<Instant>, planned: fn(&StopPlan) -> Instant) {
        let mut plan = self.activation.plan.subscribe();
        loop {
            let planned = plan.borrow_and_update().as_ref().map(planned);
            let at = match (own, planned) {
                (Some(own), Some(planned)) => Some(own.min(planned)),
                (own, planned) => own.or(planned),
            };
            let due = async {
                match at {
                    Some(at) => sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = due => return,
                changed = plan.changed() => if changed.is_err() {
                    // The sender lives in the activation, which this supervisor holds.
                    return;
                }
            }
        }
    }

    fn disown(&self, readers: JoinSet<ReaderEnd>) {
        let subscription = &self.record.settings.name;
        tracing::error!(
            name: "disown",
            target: "tramline",
            %subscription,
            "a handler does not yield: it is disowned, and its subscription quarantined until it returns"
        );
        *lock(&self.record.disowned) = Some(readers);
    }

    /// A terminal failure (V5).
    fn give_up(&self, cause: &str) {
        let subscription = &self.record.settings.name;
        tracing::error!(
            name: "give_up",
            target: "tramline",
            %subscription,
            reason = cause,
            "a subscription has failed for good"
        );
        self.record.book.incident();
        self.board(ConsumerState::Failed, Some(cause));
    }

    fn board(&self, state: ConsumerState, cause: Option<&str>) {
        self.core.board.consumer(&self.record.settings.name, state, cause);
    }
}

impl<B: Backend> Record<B> {
    /// Folds the last reading of a source in.
    pub(super) fn retired(&self, reading: &FinalReading, reason: RetireReason) {
        let released = matches!(self.settings.mode, ModeSettings::AtLeastOnce { .. });
        let owed = match reason {
            _ if !released || <B::Storage as Storage>::PERSISTENT => Owed::No,
            RetireReason::Restarting => Owed::ToNextSource,
            _ => Owed::ToNobody,
        };
        self.book.retired(reading.stats, Backlog { released, owed });
        self.book.fold_finished();
    }
}

/// Asks a source to retire; the error says why it may still be live.
pub(super) async fn retire(control: &dyn Control, reason: RetireReason) -> Result<FinalReading, String> {
    match timeout(ATTEMPT, caught(control.retire(reason))).await {
        Ok(Ok(retired)) => retired.map_err(|error| chain(&error)),
        Ok(Err(text)) => Err(format!("the backend panicked while retiring: {text}")),
        Err(_) => Err(format!("the source has not retired within {ATTEMPT:?}")),
    }
}

fn confirm(confirmed: &mut Option<oneshot::Sender<Result<(), SubscribeError>>>, result: Result<(), SubscribeError>) {
    if let Some(confirmed) = confirmed.take() {
        // Whoever waited may have given up; the activation is then torn down by its guard.
        let _ = confirmed.send(result);
    }
}
