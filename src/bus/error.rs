//! What can go wrong with a bus as a whole, and what a stop reports.

use std::{error::Error, fmt, fmt::Write as _, time::Duration};

use super::{Bus, checks::Refusal, lifecycle::Dormant};
use crate::{
    codec::{Codec, Json},
    contract::{Backend, OpenError, SubscribeError},
    subject::Name,
};

/// A bus that cannot be built: every refusal, each with the subscription, the setting and the fix (contract C).
///
/// Its `Debug` is for people, too, since that is what a `main` that returns it prints: a refusal a line.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BuildError {
    /// What is refused; never empty.
    pub refusals: Vec<Refusal>,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, refusal) in self.refusals.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{refusal}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the bus cannot be built:\n{self}")
    }
}

impl Error for BuildError {}

/// Why a bus did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The backend did not open a session.
    #[error("the backend did not open a session")]
    Open {
        /// Why.
        #[source]
        source: OpenError,
    },
    /// A subscription was not confirmed.
    #[error("subscription `{subscription}` was not confirmed")]
    Subscribe {
        /// The subscription.
        subscription: Name,
        /// Why.
        #[source]
        source: SubscribeError,
    },
    /// The budget was used up.
    #[error("the bus did not start within {budget:?}: it was waiting for {waiting_for}; start it with a larger budget")]
    OutOfTime {
        /// The budget.
        budget: Duration,
        /// What had not answered.
        waiting_for: String,
    },
    /// The session of an earlier activation does not close (contract Y8).
    #[error(
        "the session of activation {generation} has not closed within {budget:?}: sessions come one after the other"
    )]
    PredecessorOpen {
        /// The earlier activation.
        generation: u64,
        /// The budget.
        budget: Duration,
    },
    /// The backend panicked while subscribing.
    #[error("the backend panicked while subscribing `{subscription}`")]
    Supervisor {
        /// The subscription.
        subscription: Name,
    },
}

/// A bus that did not start: the dormant bus back, and why.
///
/// Its `Debug` is for people, too, since that is what a `main` that returns it prints: why, with every cause.
#[non_exhaustive]
pub struct NotStarted<B: Backend, C: Codec = Json> {
    /// The bus, to be started again.
    pub bus: Bus<B, Dormant, C>,
    /// Why.
    pub error: StartError,
}

impl<B: Backend, C: Codec> fmt::Debug for NotStarted<B, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the bus did not start: {}", chain(&self.error))
    }
}

impl<B: Backend, C: Codec> fmt::Display for NotStarted<B, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<B: Backend, C: Codec> Error for NotStarted<B, C> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}

/// Why a subscription could not be attached to a running bus (contract Y9).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AttachError {
    /// The bus is stopping.
    #[error("the bus is stopping")]
    Stopped,
    /// The backend panicked while subscribing.
    #[error("the backend panicked while subscribing `{subscription}`")]
    Supervisor {
        /// The subscription.
        subscription: Name,
    },
    /// The settings are refused, among themselves or beside those of the other subscriptions.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The backend did not confirm the subscription.
    #[error("subscription `{subscription}` was not confirmed")]
    Subscribe {
        /// The subscription.
        subscription: Name,
        /// Why.
        #[source]
        source: SubscribeError,
    },
}

/// How a stop went (contract Y7).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StopReport {
    /// How long it took; within the budget, but for scheduling.
    pub took: Duration,
    /// Subscriptions with a handler that never yielded: its delivery is still in hand, and at the next start the
    /// subscription is quarantined until it returns.
    pub disowned: Vec<Name>,
    /// Subscriptions whose source did not retire in time: it goes with its session, and is accounted for then.
    pub not_retired: Vec<Name>,
    /// Whether every publish under way had finished before the session closed.
    pub publishes_finished: bool,
    /// Whether the session closed within the budget. If not, it is closed behind the caller's back, and the next start
    /// waits for it (contract Y8).
    pub session_closed: bool,
}

impl StopReport {
    /// Whether nothing was left behind.
    pub fn is_clean(&self) -> bool {
        self.disowned.is_empty() && self.not_retired.is_empty() && self.publishes_finished && self.session_closed
    }
}

impl fmt::Display for StopReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stopped in {:?}", self.took)?;
        for name in &self.disowned {
            write!(f, "; a handler of `{name}` does not yield")?;
        }
        for name in &self.not_retired {
            write!(f, "; the source of `{name}` did not retire")?;
        }
        if !self.publishes_finished {
            f.write_str("; a publish was still under way")?;
        }
        if !self.session_closed {
            f.write_str("; the session is not closed yet")?;
        }
        Ok(())
    }
}

/// An error with its causes, but for a cause that the text before it ends with: some errors say theirs themselves.
pub(super) fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.ends_with(&said) {
            let _ = write!(text, ": {said}");
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{says}")]
    struct Says {
        says: &'static str,
        source: Option<Box<Says>>,
    }

    #[test]
    fn a_cause_that_is_said_already_is_not_said_twice() {
        let last = Says { says: "refused", source: None };
        let middle = Says { says: "IO error: refused", source: Some(Box::new(last)) };
        let first = Says { says: "no connection", source: Some(Box::new(middle)) };
        assert_eq!(chain(&first), "no connection: IO error: refused");
    }
}
