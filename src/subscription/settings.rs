//! Everything that a subscription declares, as one value.

use std::{
    num::{NonZeroU32, NonZeroUsize},
    time::Duration,
};

use super::{Backoff, KeyedBy, Restart};
use crate::{
    contract::{
        AtLeastOnceSpec, AtMostOnceSpec, FailureReply, Overflow, ResponderSpec, SlowHandler, SourceId, StartAt,
    },
    subject::{DurableName, Group, Name, Pattern},
};

/// Everything that a subscription declares, whatever wrote it: `#[subscription]` or a run-time builder.
///
/// What needs a look at the whole set of subscriptions or at run-time values is checked when the bus is built.
#[derive(Debug, Clone)]
pub struct Settings {
    pub(crate) name: Name,
    pub(crate) pattern: Pattern,
    pub(crate) mode: ModeSettings,
    pub(crate) bound: NonZeroUsize,
    pub(crate) overflow: OverflowChoice,
    pub(crate) concurrency: NonZeroUsize,
    pub(crate) ordered: bool,
    pub(crate) keyed: Option<KeyedBy>,
    pub(crate) restart: Option<Restart>,
}

/// What means something in one mode only.
#[derive(Debug, Clone)]
pub(crate) enum ModeSettings {
    AtMostOnce {
        group: Option<Group>,
    },
    AtLeastOnce {
        durable: DurableName,
        max_deliver: NonZeroU32,
        start_at: StartAt,
        slow_handler: SlowHandler,
        ack_wait: Option<Duration>,
        backoff: Option<Backoff>,
        max_nack_delay: Option<Duration>,
    },
    Answering {
        group: Group,
    },
}

impl ModeSettings {
    /// The group whose members share what is published; at least once the durable name stands for it.
    pub(crate) const fn group(&self) -> Option<&Group> {
        match self {
            Self::AtMostOnce { group } => group.as_ref(),
            Self::Answering { group } => Some(group),
            Self::AtLeastOnce { .. } => None,
        }
    }

    /// Whether it is a responder's.
    pub(crate) const fn answers(&self) -> bool {
        matches!(self, Self::Answering { .. })
    }
}

/// What was asked for at the bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OverflowChoice {
    /// The backend's own behaviour.
    Native,
    /// This; the types have checked that the backend offers it.
    Named(Overflow),
    /// This where the backend offers it, else the backend's own behaviour (contract C31).
    Preferred(Overflow),
}

impl OverflowChoice {
    pub(crate) const fn policy(self) -> Option<Overflow> {
        match self {
            Self::Native => None,
            Self::Named(policy) | Self::Preferred(policy) => Some(policy),
        }
    }
}

impl Settings {
    /// How many messages a subscription holds unless it says otherwise (contract B1).
    pub const DEFAULT_BOUND: NonZeroUsize = NonZeroUsize::new(256).unwrap();

    /// At most once, fan-out, and the defaults of every further setting.
    pub const fn at_most_once(name: Name, pattern: Pattern) -> Self {
        Self::new(name, pattern, ModeSettings::AtMostOnce { group: None })
    }

    /// At least once, and the defaults of every further setting.
    pub const fn at_least_once(name: Name, pattern: Pattern, durable: DurableName, max_deliver: NonZeroU32) -> Self {
        let mode = ModeSettings::AtLeastOnce {
            durable,
            max_deliver,
            start_at: StartAt::New,
            slow_handler: SlowHandler::ExtendLease { max_processing_time: SlowHandler::DEFAULT_MAX_PROCESSING_TIME },
            ack_wait: None,
            backoff: None,
            max_nack_delay: None,
        };
        Self::new(name, pattern, mode)
    }

    /// A responder in this group (contract R9), and the defaults of every further setting.
    pub const fn responder(name: Name, pattern: Pattern, group: Group) -> Self {
        Self::new(name, pattern, ModeSettings::Answering { group })
    }

    const fn new(name: Name, pattern: Pattern, mode: ModeSettings) -> Self {
        Self {
            name,
            pattern,
            mode,
            bound: Self::DEFAULT_BOUND,
            overflow: OverflowChoice::Native,
            concurrency: NonZeroUsize::MIN,
            ordered: false,
            keyed: None,
            restart: None,
        }
    }

    /// Competes in this group. Only at most once; at least once the durable name is the group (contract I3), and a
    /// responder has its group already.
    #[must_use]
    pub fn group(mut self, name: Group) -> Self {
        if let ModeSettings::AtMostOnce { group } = &mut self.mode {
            *group = Some(name);
        }
        self
    }

    /// Holds at most this many messages (contract B1).
    #[must_use]
    pub fn bound(self, bound: NonZeroUsize) -> Self {
        Self { bound, ..self }
    }

    /// Does this at the bound; the backend must offer it.
    #[must_use]
    pub fn overflow(self, policy: Overflow) -> Self {
        Self { overflow: OverflowChoice::Named(policy), ..self }
    }

    /// Does this at the bound where the backend offers it, else what the backend does by itself (contract C31).
    #[must_use]
    pub fn prefer(self, policy: Overflow) -> Self {
        Self { overflow: OverflowChoice::Preferred(policy), ..self }
    }

    /// Handles this many messages side by side (contract B7).
    #[must_use]
    pub fn concurrency(self, concurrency: NonZeroUsize) -> Self {
        Self { concurrency, ..self }
    }

    /// Asks for publication order (contract G1).
    #[must_use]
    pub fn ordered(self) -> Self {
        Self { ordered: true, ..self }
    }

    /// Handles messages of one key strictly in order, and different keys side by side (contract G2).
    #[must_use]
    pub fn keyed(self, by: KeyedBy) -> Self {
        Self { keyed: Some(by), ..self }
    }

    /// Is started again after a failure (contract V1).
    #[must_use]
    pub fn restart(self, restart: Restart) -> Self {
        Self { restart: Some(restart), ..self }
    }

    /// Where a new durable identity begins. Only at least once.
    #[must_use]
    pub fn start_at(mut self, at: StartAt) -> Self {
        if let ModeSettings::AtLeastOnce { start_at, .. } = &mut self.mode {
            *start_at = at;
        }
        self
    }

    /// What happens when a handler is slow. Only at least once.
    #[must_use]
    pub fn slow_handler(mut self, slow: SlowHandler) -> Self {
        if let ModeSettings::AtLeastOnce { slow_handler, .. } = &mut self.mode {
            *slow_handler = slow;
        }
        self
    }

    /// The lease. Only at least once.
    #[must_use]
    pub fn ack_wait(mut self, lease: Duration) -> Self {
        if let ModeSettings::AtLeastOnce { ack_wait, .. } = &mut self.mode {
            *ack_wait = Some(lease);
        }
        self
    }

    /// How long a declined message is held back. Only at least once.
    #[must_use]
    pub fn backoff(mut self, schedule: Backoff) -> Self {
        if let ModeSettings::AtLeastOnce { backoff, .. } = &mut self.mode {
            *backoff = Some(schedule);
        }
        self
    }

    /// The longest delay that a handler may ask for. Only at least once.
    #[must_use]
    pub fn max_nack_delay(mut self, longest: Duration) -> Self {
        if let ModeSettings::AtLeastOnce { max_nack_delay, .. } = &mut self.mode {
            *max_nack_delay = Some(longest);
        }
        self
    }

    /// The longest delay that a handler may ask for: `max_nack_delay`, else `backoff.max` (contract T12).
    pub(crate) fn longest_delay(&self) -> Duration {
        match &self.mode {
            ModeSettings::AtMostOnce { .. } | ModeSettings::Answering { .. } => Duration::ZERO,
            ModeSettings::AtLeastOnce { backoff, max_nack_delay, .. } => {
                max_nack_delay.or(backoff.map(|backoff| backoff.max())).unwrap_or_default()
            }
        }
    }

    /// How many messages the bus holds at most that were taken and wait for their key (contract G3).
    ///
    /// At least once the backend counts what is in hand against the bound (B4). At most once it does not, so the bound is
    /// shared out: half of it to the bus, the rest to the backend's queue.
    pub(crate) fn room_for_keys(&self) -> usize {
        match self.mode {
            ModeSettings::AtMostOnce { .. } | ModeSettings::Answering { .. } => self.bound.get() / 2,
            ModeSettings::AtLeastOnce { .. } => self.bound.get(),
        }
    }

    /// What a backend is asked for at most once; `None` in another mode.
    pub(super) fn at_most_once_spec(&self, id: SourceId) -> Option<AtMostOnceSpec> {
        let ModeSettings::AtMostOnce { group } = &self.mode else { return None };
        let kept = if self.keyed.is_some() { self.room_for_keys() } else { 0 };
        let bound = NonZeroUsize::new(self.bound.get() - kept).unwrap_or(NonZeroUsize::MIN);
        let spec = AtMostOnceSpec::new(id, self.name.clone(), self.pattern.clone(), bound);
        Some(spec.group(group.clone()).overflow(self.overflow.policy()).ordered(self.ordered))
    }

    /// What a backend is asked for by a responder; `None` in another mode.
    pub(super) fn responder_spec(&self, id: SourceId, failure: &FailureReply) -> Option<ResponderSpec> {
        let ModeSettings::Answering { group } = &self.mode else { return None };
        let (name, pattern, group) = (self.name.clone(), self.pattern.clone(), group.clone());
        Some(ResponderSpec::new(id, name, pattern, group, self.bound, failure.clone()))
    }

    /// What a backend is asked for at least once; `None` in another mode.
    pub(super) fn at_least_once_spec(&self, id: SourceId) -> Option<AtLeastOnceSpec> {
        let ModeSettings::AtLeastOnce { durable, max_deliver, start_at, slow_handler, ack_wait, .. } = &self.mode
        else {
            return None;
        };
        let (name, pattern, durable) = (self.name.clone(), self.pattern.clone(), durable.clone());
        let spec = AtLeastOnceSpec::new(id, name, pattern, durable, *max_deliver, self.bound);
        Some(
            spec.fail_when_full(self.overflow.policy() == Some(Overflow::Fail))
                .start_at(*start_at)
                .slow_handler(*slow_handler)
                .ack_wait(*ack_wait)
                .ordered(self.ordered),
        )
    }
}
