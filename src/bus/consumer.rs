//! One subscription within a bus, with the types of its handler and its source erased.

use std::{future::Future, pin::Pin, sync::Arc};

use crossbeam_utils::CachePadded;

use super::{
    desk::Desk,
    feed::Feed,
    idle::Idle,
    keys::{Bequest, Intake, Keys},
    outlet::HandlerOutlet,
    reader::{Post, ReaderEnd, read},
    tally::{Snapshot, Tally},
    traces::Traces,
    watch::Watcher,
};
use crate::{
    contract::{
        Backend, FailureReply, FinalReading, RetireError, RetireReason, Source, SourceControl, SourceId, Storage,
        SubscribeError,
    },
    subscription::{BusContext, Cancelled, Handler, Publisher, RunsOn, Settings, Surroundings},
};

pub(super) type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Who looks at the deliveries of a bus, besides those who handle them, and what they see.
#[derive(Clone, Default)]
pub(super) struct Observers {
    pub(super) idle: Arc<Idle>,
    /// Of a bus under test.
    pub(super) watcher: Option<Arc<dyn Watcher>>,
    /// How traces are carried to them.
    pub(super) traces: Traces,
}

/// A subscription as its supervisor sees it.
pub(super) trait Consumer<B: Backend>: Send + Sync {
    /// Opens a source, and makes the readers that will read it.
    fn open<'a>(
        &'a self,
        session: &'a B::Session,
        settings: &'a Settings,
        outlet: HandlerOutlet<B>,
        id: SourceId,
        observers: &Observers,
    ) -> Boxed<'a, Result<Opened, SubscribeError>>;
}

/// An open source with its readers, not yet running.
pub(super) struct Opened {
    pub(super) desk: Arc<Desk>,
    pub(super) control: Arc<dyn Control>,
    pub(super) snapshot: Snapshot,
    pub(super) readers: Vec<(Boxed<'static, ReaderEnd>, Arc<CachePadded<Tally>>)>,
    /// Of a keyed subscription: gives back what waits for its key, when the readers have ended or are cut off.
    pub(super) give_back: Option<(Boxed<'static, ReaderEnd>, Arc<CachePadded<Tally>>)>,
}

/// A source's control with its type erased.
pub(super) trait Control: Send + Sync {
    fn retire(&self, reason: RetireReason) -> Boxed<'_, Result<FinalReading, RetireError>>;
}

impl<C: SourceControl> Control for C {
    fn retire(&self, reason: RetireReason) -> Boxed<'_, Result<FinalReading, RetireError>> {
        Box::pin(SourceControl::retire(self, reason))
    }
}

/// A handler with the state that it gets.
pub(super) struct Typed<H, X: BusContext> {
    handler: Arc<H>,
    state: Arc<X::State>,
    bequest: Arc<Bequest>,
}

impl<H, X: BusContext> Typed<H, X> {
    pub(super) fn new(handler: H, state: Arc<X::State>) -> Self {
        Self { handler: Arc::new(handler), state, bequest: Arc::default() }
    }
}

impl<B: Backend, X: BusContext, H: RunsOn<B> + Handler<X>> Consumer<B> for Typed<H, X> {
    fn open<'a>(
        &'a self,
        session: &'a B::Session,
        settings: &'a Settings,
        outlet: HandlerOutlet<B>,
        id: SourceId,
        observers: &Observers,
    ) -> Boxed<'a, Result<Opened, SubscribeError>> {
        let failure = FailureReply::new(outlet.source.clone());
        let opening = H::open(session, settings, id, &failure);
        let desk = Arc::new(Desk::new(settings, !<B::Storage as Storage>::PERSISTENT, failure, observers));
        let surroundings = Surroundings::<X> {
            state: self.state.clone(),
            cancelled: Cancelled::new(desk.stopping.clone()),
            publisher: Publisher::new(Arc::new(outlet)),
            longest_delay: settings.longest_delay(),
        };
        let post = Arc::new(Post { handler: self.handler.clone(), surroundings, desk: desk.clone() });
        let reader =
            move |feed, keys, tally| -> Boxed<'static, ReaderEnd> { Box::pin(read(post.clone(), feed, keys, tally)) };
        Box::pin(opened(opening, settings, id, desk, &self.bequest, reader))
    }
}

/// What does not depend on the handler's type, and is compiled once for each backend and mode.
async fn opened<S: Source>(
    opening: Boxed<'_, Result<S, SubscribeError>>,
    settings: &Settings,
    id: SourceId,
    desk: Arc<Desk>,
    bequest: &Arc<Bequest>,
    reader: impl Fn(
        Feed<S::Deliveries, Intake<S::Deliveries, S::Settler>>,
        Option<Arc<Keys<S::Settler>>>,
        Arc<CachePadded<Tally>>,
    ) -> Boxed<'static, ReaderEnd>
    + Send,
) -> Result<Opened, SubscribeError> {
    let (stream, control) = opening.await?.split();
    let control = Arc::new(control);
    let keys = Keys::new(settings, &desk, bequest, id);
    let feeds = match (&keys, settings.concurrency.get()) {
        (None, 1) => vec![Feed::sole(stream)],
        (_, readers) => Feed::turns(Intake::new(stream, keys.clone()), readers),
    };
    let readers = feeds
        .into_iter()
        .map(|feed| {
            let tally = Arc::new(CachePadded::new(Tally::default()));
            (reader(feed, keys.clone(), tally.clone()), tally)
        })
        .collect();
    let read = control.clone();
    let give_back = keys.map(|keys| -> (Boxed<'static, ReaderEnd>, _) {
        let tally = keys.tally.clone();
        (Box::pin(keys.give_back()), tally)
    });
    Ok(Opened { desk, control, snapshot: Arc::new(move || read.snapshot()), readers, give_back })
}
