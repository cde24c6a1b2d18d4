//! The log of what a row saw, printed when the row is red.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// How many lines a red row prints at most; the last ones, since that is where it went wrong.
const MOST_LINES: usize = 40;

/// What was seen so far, with the time since the row began. Shared by all that a row looks with.
#[doc(hidden)]
#[derive(Clone)]
#[allow(missing_debug_implementations, reason = "not public: it is in the type of what the macro names")]
pub struct Seen(Arc<Inside>);

struct Inside {
    since: Instant,
    lines: Mutex<Vec<(Duration, String)>>,
}

impl Seen {
    pub(super) fn new() -> Self {
        Self(Arc::new(Inside { since: Instant::now(), lines: Mutex::default() }))
    }

    pub(super) fn note(&self, what: impl fmt::Display) {
        let line = (self.0.since.elapsed(), what.to_string());
        self.0.lines.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.0.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let left_out = lines.len().saturating_sub(MOST_LINES);
        if left_out > 0 {
            writeln!(f, "    ({left_out} earlier lines)")?;
        }
        for (at, what) in lines.iter().skip(left_out) {
            writeln!(f, "    {:>9.1} ms  {what}", at.as_secs_f64() * 1000.0)?;
        }
        Ok(())
    }
}
