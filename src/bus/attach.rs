//! Subscribing on a bus that runs.

use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use tokio_util::sync::CancellationToken;

use super::{
    AttachError, BuildError, Bus, Running,
    activation::Confirmed,
    checks::{Refusal, degrade, refusals_of, warn_of_no_restart},
    consumer::Typed,
    core::{Core, Record},
};
use crate::{
    codec::Codec,
    contract::Backend,
    subject::Name,
    subscription::{BusContext, Collects, Cx, Handler, RunsOn, sealed::Sealed},
};

/// A running bus as the place where a subscription goes that is made at run time.
#[derive(Debug)]
pub struct OnRunning<'b, B: Backend, C: Codec>(pub(super) &'b Bus<B, Running, C>);

impl<B: Backend, C: Codec> Sealed for OnRunning<'_, B, C> {}

impl<B: Backend, C: Codec> Collects<B> for OnRunning<'_, B, C> {
    type Context = Cx<(), C>;
    type Collected = Attaching;

    fn collect<H: RunsOn<B> + Handler<Cx<(), C>>>(self, handler: H) -> Attaching {
        self.0.subscribe(handler)
    }
}

/// A subscription on its way to a running bus. It is ready when the first subscribe has succeeded or failed.
///
/// # Cancel safety
/// It goes on if the future is dropped: either the subscription is there then, or nothing is left of it.
#[must_use = "whether the subscription was confirmed is known when this is awaited"]
pub struct Attaching(Result<Supervised, Option<AttachError>>);

/// A supervisor has it, and has not said its first word yet.
struct Supervised {
    subscription: Name,
    confirmed: Confirmed,
    stopping: CancellationToken,
}

impl Future for Attaching {
    type Output = Result<(), AttachError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Supervised { subscription, confirmed, stopping } = match &mut self.0 {
            Ok(supervised) => supervised,
            Err(error) => return Poll::Ready(Err(error.take().unwrap_or(AttachError::Stopped))),
        };
        Pin::new(confirmed).poll(cx).map(|said| match said {
            Ok(Ok(())) => Ok(()),
            Ok(Err(source)) => Err(AttachError::Subscribe { subscription: subscription.clone(), source }),
            Err(_) if stopping.is_cancelled() => Err(AttachError::Stopped),
            Err(_) => Err(AttachError::Supervisor { subscription: subscription.clone() }),
        })
    }
}

impl fmt::Debug for Attaching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attaching").finish_non_exhaustive()
    }
}

pub(super) fn attach<B: Backend, X: BusContext, H: RunsOn<B> + Handler<X>>(
    core: &Arc<Core<B>>,
    state: X::State,
    handler: H,
) -> Attaching {
    let mut settings = handler.settings();
    let consumer = Typed::<H, X>::new(handler, Arc::new(state));
    // All under one lock, so that no start or stop comes between being known and being supervised.
    let mut records = core.records();
    let mut refused = refusals_of(&settings, records.iter().map(|record| &record.settings), &B::CAPABILITIES);
    refused.extend(degrade(&mut settings, &B::CAPABILITIES).map(|dropped| Refusal {
        subscription: Some(dropped.subscription),
        setting: dropped.setting,
        value: format!("prefer({})", dropped.value),
        reason: "the backend does not offer it, and a running bus drops no setting: leave it out".to_owned(),
    }));
    if !refused.is_empty() {
        return Attaching(Err(Some(BuildError { refusals: refused }.into())));
    }
    warn_of_no_restart(&settings);
    let Some(activation) = core.activation.load_full() else { return Attaching(Err(Some(AttachError::Stopped))) };
    let subscription = settings.name.clone();
    let record = Arc::new(Record::new(core.index(), settings, Box::new(consumer), &core.observers));
    record.book.activated(activation.generation);
    core.board.add(subscription.clone());
    let Some(confirmed) = activation.supervise(core, record.clone(), true) else {
        core.board.remove(&subscription);
        return Attaching(Err(Some(AttachError::Stopped)));
    };
    records.push(record);
    Attaching(Ok(Supervised { subscription, confirmed, stopping: activation.stopping.clone() }))
}
