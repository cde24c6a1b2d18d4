//! The delivery modes, as the rows that hold in both of them see them.

use std::{
    future::Future,
    num::{NonZeroU32, NonZeroUsize},
};

use crate::{
    AtLeastOnce, AtMostOnce,
    contract::{
        AtLeastOnceSpec, AtMostOnceSpec, Backend, DeliversAtLeastOnce, DeliversAtMostOnce, Lease, Overflow, QueuePlace,
        SlowHandler, Source, SourceId, StartAt, SubscribeError,
    },
    subject::{DurableName, Group, Name, Pattern},
};

/// What a row subscribes, in words of both modes.
#[derive(Debug, Clone)]
pub struct Plan {
    pub(crate) id: SourceId,
    pub(crate) name: Name,
    pub(crate) pattern: Pattern,
    /// The group, or at least once the durable name.
    pub(crate) shared: Option<String>,
    pub(crate) bound: NonZeroUsize,
    pub(crate) overflow: Option<Overflow>,
    pub(crate) ordered: bool,
    pub(crate) max_deliver: NonZeroU32,
    pub(crate) start_at: StartAt,
    /// None for what every backend can do: the default, or redelivery where a lease cannot be extended.
    pub(crate) slow_handler: Option<SlowHandler>,
    pub(crate) ack_wait: Option<std::time::Duration>,
}

impl Plan {
    /// Members that compete for messages: a group, and at least once a durable identity.
    #[must_use]
    pub fn shared(self, name: impl Into<String>) -> Self {
        Self { shared: Some(name.into()), ..self }
    }

    /// Other subjects.
    #[must_use]
    pub fn pattern(self, pattern: Pattern) -> Self {
        Self { pattern, ..self }
    }

    /// The bound.
    #[must_use]
    pub fn bound(self, bound: usize) -> Self {
        Self { bound: NonZeroUsize::new(bound).expect("a bound is not zero"), ..self }
    }

    /// What happens at the bound; at least once, only [`Overflow::Fail`] means something.
    #[must_use]
    pub fn overflow(self, overflow: Overflow) -> Self {
        Self { overflow: Some(overflow), ..self }
    }

    /// Asks for publication order.
    #[must_use]
    pub fn ordered(self) -> Self {
        Self { ordered: true, ..self }
    }

    /// How many attempts a message has at least once.
    #[must_use]
    pub fn max_deliver(self, attempts: u32) -> Self {
        Self { max_deliver: NonZeroU32::new(attempts).expect("there is an attempt"), ..self }
    }

    /// Where a new identity begins.
    #[must_use]
    pub fn start_at(self, start_at: StartAt) -> Self {
        Self { start_at, ..self }
    }

    /// What happens when a handler is slow.
    #[must_use]
    pub fn slow_handler(self, slow_handler: SlowHandler) -> Self {
        Self { slow_handler: Some(slow_handler), ..self }
    }

    /// The lease.
    #[must_use]
    pub fn ack_wait(self, ack_wait: std::time::Duration) -> Self {
        Self { ack_wait: Some(ack_wait), ..self }
    }

    /// The same, for the next source of the same consumer.
    #[must_use]
    pub fn again(self) -> Self {
        let SourceId { activation, consumer, attempt } = self.id;
        Self { id: SourceId::new(activation, consumer, attempt + 1), ..self }
    }

    fn at_most_once(self) -> AtMostOnceSpec {
        let group = self.shared.map(|name| Group::new(name).expect("a row's names are valid"));
        AtMostOnceSpec::new(self.id, self.name, self.pattern, self.bound)
            .group(group)
            .overflow(self.overflow)
            .ordered(self.ordered)
    }

    fn at_least_once(self, lease: Lease) -> AtLeastOnceSpec {
        let slow_handler = self.slow_handler.unwrap_or(match lease {
            Lease::Fixed => SlowHandler::Redeliver,
            Lease::None | Lease::Extendable => SlowHandler::default(),
        });
        let durable = self.shared.unwrap_or_else(|| self.name.as_str().to_owned());
        let durable = DurableName::new(durable).expect("a row's names are valid");
        AtLeastOnceSpec::new(self.id, self.name, self.pattern, durable, self.max_deliver, self.bound)
            .fail_when_full(self.overflow == Some(Overflow::Fail))
            .start_at(self.start_at)
            .slow_handler(slow_handler)
            .ack_wait(self.ack_wait)
            .ordered(self.ordered)
    }
}

/// A backend that delivers in mode `M`.
pub trait DeliversIn<M>: Backend {
    /// What a subscription reads from.
    type Source: Source;

    /// Where the queue lives.
    const QUEUE: QueuePlace;

    /// Whether what a source has taken in is owed until it is acknowledged.
    const OWES: bool;

    /// Opens a source.
    fn subscribe(
        session: &Self::Session,
        plan: Plan,
    ) -> impl Future<Output = Result<Self::Source, SubscribeError>> + Send;
}

impl<B: DeliversAtMostOnce> DeliversIn<AtMostOnce> for B {
    type Source = <B as DeliversAtMostOnce>::Source;

    const QUEUE: QueuePlace = <B as DeliversAtMostOnce>::QUEUE;
    const OWES: bool = false;

    async fn subscribe(session: &B::Session, plan: Plan) -> Result<Self::Source, SubscribeError> {
        B::at_most_once(session, plan.at_most_once()).await
    }
}

impl<B: DeliversAtLeastOnce> DeliversIn<AtLeastOnce> for B {
    type Source = <B as DeliversAtLeastOnce>::Source;

    const QUEUE: QueuePlace = <B as DeliversAtLeastOnce>::QUEUE;
    const OWES: bool = true;

    async fn subscribe(session: &B::Session, plan: Plan) -> Result<Self::Source, SubscribeError> {
        B::at_least_once(session, plan.at_least_once(B::LEASE)).await
    }
}
