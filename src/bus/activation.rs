//! One start-to-stop lifetime of a bus.

use std::{
    sync::{Arc, Mutex, OnceLock, atomic::AtomicU64},
    time::Duration,
};

use tokio::{
    runtime::{Handle as Runtime, RuntimeFlavor},
    sync::{oneshot, watch},
    task::JoinSet,
    time::{Instant, sleep, timeout, timeout_at},
};
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::TaskTracker,
};

use super::{
    core::{Core, Record, after, lock},
    error::{StartError, StopReport, chain},
    gate::Gate,
    guard::caught,
    status::BusState,
    supervisor::{ATTEMPT, Left, RETRY, Supervisor, Unretired, retire},
    traces::Traces,
};
use crate::{
    contract::{Backend, OpenError, RetireReason, Session, SubscribeError},
    subject::Name,
};

/// How long a start waits before it tries to reach the broker again; doubled each time.
const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// One start-to-stop lifetime of a bus.
pub(super) struct Activation<B: Backend> {
    pub(super) generation: u64,
    pub(super) session: B::Session,
    pub(super) traces: Traces,
    /// For publishes from outside.
    pub(super) gate: Gate,
    /// For publishes of handlers, until they have finished (Y13).
    pub(super) handler_gate: Gate,
    /// Fires when stopping begins.
    pub(super) stopping: CancellationToken,
    /// One token per consumer with handlers: no source but a responder's retires before all handlers have finished, so
    /// that what they publish meanwhile is taken and counted (Y7, Y13).
    pub(super) handling: TaskTracker,
    /// Where the activation lives, for whoever drops a bus elsewhere.
    pub(super) runtime: Runtime,
    /// The times of the stop, once it is asked for.
    pub(super) plan: watch::Sender<Option<StopPlan>>,
    /// Once the session is closed: how many of its unclaimed replies are in the bus's total.
    pub(super) unclaimed: OnceLock<AtomicU64>,
    /// One task per subscription; `None` once stopping has begun.
    supervisors: Mutex<Option<Supervisors<B>>>,
}

/// The supervisors of an activation, and what those left that have ended.
struct Supervisors<B: Backend> {
    running: JoinSet<Left<B>>,
    left: Vec<Left<B>>,
}

/// The times of a stop (contract Y7).
#[derive(Debug, Clone, Copy)]
pub(super) struct StopPlan {
    /// Handlers that still wait are cut off.
    pub(super) cut_off: Instant,
    /// Settlements that are still under way are given up (T8).
    pub(super) give_up: Instant,
    /// Handlers that did not yield are disowned.
    pub(super) disown: Instant,
    /// Sources that did not retire are left to the closer.
    pub(super) retire: Instant,
    /// The budget is used up.
    pub(super) end: Instant,
}

impl StopPlan {
    /// The last tenth of the budget, at least 50 ms and at most 1 s, is kept for giving back.
    fn new(budget: Duration) -> Self {
        let reserve = (budget / 10).clamp(Duration::from_millis(50), Duration::from_secs(1)).min(budget);
        let end = after(budget);
        let cut_off = end - reserve;
        // Whoever only needs a turn to end gets most of it: ten thousand handlers do not end at once.
        let eighths = |count| cut_off + reserve / 8 * count;
        Self { cut_off, give_up: eighths(4), disown: eighths(6), retire: eighths(7), end }
    }
}

/// A supervisor's first word.
pub(super) type Confirmed = oneshot::Receiver<Result<(), SubscribeError>>;

impl<B: Backend> Activation<B> {
    fn new(generation: u64, session: B::Session, traces: Traces) -> Self {
        Self {
            generation,
            session,
            traces,
            gate: Gate::new(),
            handler_gate: Gate::new(),
            stopping: CancellationToken::new(),
            handling: TaskTracker::new(),
            runtime: Runtime::current(),
            plan: watch::Sender::new(None),
            unclaimed: OnceLock::new(),
            supervisors: Mutex::new(Some(Supervisors { running: JoinSet::new(), left: Vec::new() })),
        }
    }

    /// Supervises one more subscription; `None` once stopping has begun. One on probation is forgotten if its first
    /// subscribe does not succeed.
    pub(super) fn supervise(
        self: &Arc<Self>,
        core: &Arc<Core<B>>,
        record: Arc<Record<B>>,
        probation: bool,
    ) -> Option<Confirmed> {
        let mut supervisors = lock(&self.supervisors);
        let Supervisors { running, left } = supervisors.as_mut()?;
        // Those that have ended, so that subscriptions which were refused do not pile up.
        while let Some(ended) = running.try_join_next() {
            left.extend(ended.ok().filter(Left::matters));
        }
        let (confirmed, confirmation) = oneshot::channel();
        let supervisor = Supervisor { core: core.clone(), record, activation: self.clone() };
        running.spawn_on(supervisor.run(confirmed, probation), &self.runtime);
        Some(confirmation)
    }
}

/// Opens a session, subscribes everything, and only then installs the activation (contract Y2).
///
/// Dropped half way, it releases what it had acquired.
pub(super) async fn start<B: Backend>(core: &Arc<Core<B>>, budget: Duration) -> Result<(), StartError> {
    let end = after(budget);
    core.board.bus(BusState::Starting, None);
    let started = try_start(core, budget, end).await;
    if let Err(error) = &started {
        core.board.bus(BusState::Dormant, Some(chain(error)));
    }
    started
}

async fn try_start<B: Backend>(core: &Arc<Core<B>>, budget: Duration, end: Instant) -> Result<(), StartError> {
    let mut unfinished = Unfinished { core, activation: None, armed: true };
    wait_for_predecessor(core, budget, end).await?;
    if Runtime::current().runtime_flavor() == RuntimeFlavor::CurrentThread {
        tracing::warn!(
            name: "one_thread",
            target: "tramline",
            "on a current-thread runtime a handler that blocks its thread blocks the stop too"
        );
    }
    let session = open(core, budget, end).await?;
    let activation = Arc::new(Activation::new(core.generation() + 1, session, core.observers.traces.clone()));
    unfinished.activation = Some(activation.clone());
    let subscribed = subscribe_all(core, &activation, budget, end).await;
    unfinished.armed = false;
    if let Err(error) = subscribed {
        let cleaning = (end - Instant::now()).max(Duration::from_secs(1));
        let core = core.clone();
        // In a task of its own, so that dropping the start does not interrupt it.
        let _ = tokio::spawn(async move { stop(&core, &activation, cleaning).await }).await;
        return Err(error);
    }
    let generation = activation.generation;
    core.started(&activation);
    // Before the board says so: whoever reads there that the bus runs can publish.
    core.activation.store(Some(activation));
    core.board.running(generation);
    core.ready.cancel();
    Ok(())
}

/// Opens a session, and as long as the broker cannot be reached and there is time, tries again: a service may be up before
/// its broker is.
async fn open<B: Backend>(core: &Core<B>, budget: Duration, end: Instant) -> Result<B::Session, StartError> {
    let mut unreachable = None;
    let mut wait = FIRST_WAIT;
    loop {
        match timeout_at(end, core.backend.open()).await {
            Ok(Err(source @ OpenError::Unreachable { .. })) if Instant::now() + wait < end => {
                let why = chain(&source);
                tracing::warn!(
                    name: "wait",
                    target: "tramline",
                    ?wait,
                    reason = why,
                    "the bus waits for its broker"
                );
                core.board.bus(BusState::Starting, Some(why));
                unreachable = Some(source);
                sleep(wait).await;
                wait = LONGEST_WAIT.min(wait * 2);
            }
            Ok(opened) => return opened.map_err(|source| StartError::Open { source }),
            Err(_) => {
                let out_of_time = StartError::OutOfTime { budget, waiting_for: "the broker".to_owned() };
                return Err(unreachable.map_or(out_of_time, |source| StartError::Open { source }));
            }
        }
    }
}

/// A start that is not finished: dropped, it tears down what it had acquired.
struct Unfinished<'c, B: Backend> {
    core: &'c Arc<Core<B>>,
    activation: Option<Arc<Activation<B>>>,
    armed: bool,
}

impl<B: Backend> Drop for Unfinished<'_, B> {
    fn drop(&mut self) {
        if !self.armed {
            return;
        }
        match self.activation.take() {
            Some(activation) => {
                let core = self.core.clone();
                let runtime = activation.runtime.clone();
                runtime.spawn(async move { stop(&core, &activation, Duration::from_secs(1)).await });
            }
            None => self.core.board.bus(BusState::Dormant, None),
        }
    }
}

/// Sessions come strictly one after the other (contract N4, Y8).
async fn wait_for_predecessor<B: Backend>(
    core: &Arc<Core<B>>,
    budget: Duration,
    end: Instant,
) -> Result<(), StartError> {
    let closed = lock(&core.predecessor).clone();
    let in_time = timeout_at(end, closed.cancelled()).await;
    in_time.map_err(|_| StartError::PredecessorOpen { generation: core.generation(), budget })
}

async fn subscribe_all<B: Backend>(
    core: &Arc<Core<B>>,
    activation: &Arc<Activation<B>>,
    budget: Duration,
    end: Instant,
) -> Result<(), StartError> {
    let records = core.records().clone();
    let mut confirmations = Vec::with_capacity(records.len());
    for record in records {
        let name = record.settings.name.clone();
        if let Some(confirmation) = activation.supervise(core, record, false) {
            confirmations.push((name, confirmation));
        }
    }
    for (name, confirmation) in confirmations {
        match timeout_at(end, confirmation).await {
            Ok(Ok(Ok(()))) => {}
            Ok(Ok(Err(source))) => return Err(StartError::Subscribe { subscription: name, source }),
            Ok(Err(_)) => {
                return Err(StartError::Supervisor { subscription: name });
            }
            Err(_) => return Err(StartError::OutOfTime { budget, waiting_for: format!("subscription `{name}`") }),
        }
    }
    Ok(())
}

/// Stops an activation within a budget, whatever its handlers do (contract Y7).
pub(super) async fn stop<B: Backend>(
    core: &Arc<Core<B>>,
    activation: &Arc<Activation<B>>,
    budget: Duration,
) -> StopReport {
    let begun = Instant::now();
    let plan = StopPlan::new(budget);
    core.board.bus(BusState::Stopping, None);
    activation.gate.close();
    activation.plan.send_replace(Some(plan));
    activation.handling.close();
    activation.stopping.cancel();

    let supervisors = lock(&activation.supervisors).take();
    let mut unretired = Vec::new();
    let mut disowned = Vec::new();
    if let Some(Supervisors { mut running, mut left }) = supervisors {
        while let Some(ended) = running.join_next().await {
            left.extend(ended);
        }
        for Left { record, unretired: source } in left {
            if record.has_disowned() {
                disowned.push(record.settings.name.clone());
            }
            unretired.extend(source);
        }
    }
    let not_retired: Vec<Name> = unretired.iter().map(|left| left.record.settings.name.clone()).collect();

    activation.handler_gate.close();
    // The last eighth of the reserve is the session's: a publish that never ends is not to cost it its close.
    let published = timeout_at(plan.retire, async {
        activation.gate.drained().await;
        activation.handler_gate.drained().await;
    })
    .await
    .is_ok();
    core.activation.store(None);
    for record in core.records().iter() {
        record.book.deactivated();
    }

    let session = CancellationToken::new();
    *lock(&core.predecessor) = session.clone();
    tokio::spawn(close(core.clone(), activation.clone(), unretired, session.clone().drop_guard()));
    let closed = timeout_at(plan.end, session.cancelled()).await.is_ok();
    if !closed {
        tracing::error!(
            name: "overdue",
            target: "tramline",
            "the session did not close within the stop's budget; trying on"
        );
    }
    let report = StopReport {
        took: begun.elapsed(),
        disowned,
        not_retired,
        publishes_finished: published,
        session_closed: closed,
    };
    core.board.bus(BusState::Dormant, (!report.is_clean()).then(|| report.to_string()));
    report
}

/// Closes a session, however long that takes (contract Y8), and folds in the sources that went with it. The guard tells
/// who waits for it.
async fn close<B: Backend>(
    core: Arc<Core<B>>,
    activation: Arc<Activation<B>>,
    unretired: Vec<Unretired<B>>,
    _closed: DropGuard,
) {
    loop {
        let why = match timeout(ATTEMPT, caught(activation.session.close())).await {
            Ok(Ok(Ok(()))) => break,
            Ok(Ok(Err(error))) => chain(&error),
            Ok(Err(text)) => format!("the backend panicked while closing: {text}"),
            Err(_) => format!("the session has not closed within {ATTEMPT:?}"),
        };
        tracing::warn!(
            name: "refuse",
            target: "tramline",
            generation = activation.generation,
            what = "close",
            reason = why,
            "the session does not close; trying on"
        );
        sleep(RETRY).await;
    }
    core.unclaimed.closed(&activation);
    for Unretired { record, control } in unretired {
        let reading = loop {
            match retire(&*control, RetireReason::Stopping).await {
                Ok(reading) => break reading,
                Err(_) => sleep(RETRY).await,
            }
        };
        record.retired(&reading, RetireReason::Stopping);
        record.book.deactivated();
    }
}
