//! How long a declined message is held back.

use std::{num::NonZeroU32, time::Duration};

/// A growing delay between the attempts at one message (contract O1).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Backoff {
    initial: Duration,
    max: Duration,
    multiplier: f64,
}

impl Backoff {
    /// The delay after attempt n is `initial × multiplier^(n−1)`, and at most `max`.
    ///
    /// # Errors
    /// A delay of zero, a `max` below `initial`, or a multiplier below 1 or not finite (contract C28).
    pub fn new(initial: Duration, max: Duration, multiplier: f64) -> Result<Self, BackoffError> {
        if initial.is_zero() {
            return Err(BackoffError { setting: "initial", rule: "is zero; a delay is more than that" });
        }
        if max < initial {
            return Err(BackoffError { setting: "max", rule: "is below `initial`" });
        }
        if !multiplier.is_finite() || multiplier < 1.0 {
            return Err(BackoffError { setting: "multiplier", rule: "is not a finite number of at least 1" });
        }
        Ok(Self { initial, max, multiplier })
    }

    /// Only for `#[subscription]`, which has checked the parts.
    #[doc(hidden)]
    pub const fn checked(initial: Duration, max: Duration, multiplier: f64) -> Self {
        Self { initial, max, multiplier }
    }

    /// The longest delay.
    pub const fn max(&self) -> Duration {
        self.max
    }

    /// The delay between attempt `declined` and the next.
    pub fn after(&self, declined: NonZeroU32) -> Duration {
        let factor = self.multiplier.powf(f64::from(declined.get() - 1));
        Duration::try_from_secs_f64(self.initial.as_secs_f64() * factor).map_or(self.max, |delay| delay.min(self.max))
    }
}

/// A backoff that makes no sense (contract C28).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`backoff`: `{setting}` {rule}")]
#[non_exhaustive]
pub struct BackoffError {
    /// The part that is wrong.
    pub setting: &'static str,
    /// What is wrong with it.
    pub rule: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(n: u32) -> NonZeroU32 {
        NonZeroU32::new(n).expect("attempts begin at 1")
    }

    #[test]
    fn o1_the_delay_grows_by_the_multiplier_up_to_the_maximum() {
        let backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(10), 2.0).expect("valid");
        let seconds: Vec<_> = (1..=6).map(|n| backoff.after(attempt(n)).as_secs()).collect();
        assert_eq!(seconds, [1, 2, 4, 8, 10, 10]);
        assert_eq!(backoff.after(NonZeroU32::MAX), Duration::from_secs(10), "saturates");
    }

    #[test]
    fn c28_a_backoff_that_makes_no_sense_is_refused() {
        let (one, two) = (Duration::from_secs(1), Duration::from_secs(2));
        assert!(Backoff::new(Duration::ZERO, two, 2.0).is_err());
        assert!(Backoff::new(two, one, 2.0).is_err());
        assert!(Backoff::new(one, two, 0.5).is_err());
        assert!(Backoff::new(one, two, f64::NAN).is_err());
        assert!(Backoff::new(one, two, f64::INFINITY).is_err());
    }
}
