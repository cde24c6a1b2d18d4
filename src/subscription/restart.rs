//! Whether, how often and how fast a failed consumer is started again.

use std::time::Duration;

/// A restart policy (contract V1, V2). A subscription without one is never restarted.
///
/// The default restarts without limit, after one second, doubled with each consecutive failure up to thirty seconds; a
/// run of thirty seconds begins the count anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Restart {
    max_restarts: Option<u32>,
    initial: Duration,
    max: Duration,
    reset_after: Duration,
}

impl Default for Restart {
    fn default() -> Self {
        Self::new()
    }
}

impl Restart {
    /// The default policy.
    pub const fn new() -> Self {
        Self {
            max_restarts: None,
            initial: Duration::from_secs(1),
            max: Duration::from_secs(30),
            reset_after: Duration::from_secs(30),
        }
    }

    /// How many consecutive failures are followed by a restart: n allows n + 1 runs.
    #[must_use]
    pub const fn max_restarts(self, max_restarts: u32) -> Self {
        Self { max_restarts: Some(max_restarts), ..self }
    }

    /// The wait after the first failure, doubled with each further one.
    #[must_use]
    pub const fn initial(self, initial: Duration) -> Self {
        Self { initial, ..self }
    }

    /// The longest wait.
    #[must_use]
    pub const fn max(self, max: Duration) -> Self {
        Self { max, ..self }
    }

    /// How long a run must last to begin the count anew.
    #[must_use]
    pub const fn reset_after(self, reset_after: Duration) -> Self {
        Self { reset_after, ..self }
    }

    /// What is wrong with the policy, if anything: the part, its value, and the reason.
    pub(crate) fn flaw(&self) -> Option<(&'static str, Duration, &'static str)> {
        let Self { initial, max, reset_after, .. } = *self;
        if initial.is_zero() {
            Some(("restart.initial", initial, "a wait of zero restarts in a hot loop: give it some time"))
        } else if reset_after.is_zero() {
            Some(("restart.reset_after", reset_after, "every run would begin the count anew: give it some time"))
        } else if initial > max {
            Some(("restart.initial", initial, "is above `restart.max`: lower the one, or raise the other"))
        } else {
            None
        }
    }

    /// The wait before the next run after this many consecutive failures, or none where the policy gives up. A count of
    /// zero has not failed and waits for nothing.
    pub(crate) fn wait(&self, failures: u32) -> Option<Duration> {
        if self.max_restarts.is_some_and(|max| failures > max) {
            return None;
        }
        let doublings = failures.saturating_sub(1).min(31);
        Some(self.initial.saturating_mul(1 << doublings).min(self.max))
    }

    /// Whether a run of this length begins the count anew.
    pub(crate) fn resets(&self, run: Duration) -> bool {
        run >= self.reset_after
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn v2_waits_double_up_to_the_maximum_and_n_allows_n_plus_one_runs() {
        let restart = Restart::new().max_restarts(6);
        let waits: Vec<_> = (1..=7).map(|failures| restart.wait(failures).map(|wait| wait.as_secs())).collect();
        assert_eq!(waits, [Some(1), Some(2), Some(4), Some(8), Some(16), Some(30), None]);
        assert!(Restart::new().wait(u32::MAX).is_some(), "absent is unlimited");
        assert!(restart.resets(Duration::from_secs(30)) && !restart.resets(Duration::from_secs(29)));
    }
}
