//! How often the same thing is told: what floods is told in part, with how much was left out.

use std::{sync::Mutex, time::Duration};

use tokio::time::Instant;

use super::core::lock;

/// So many are told at once,
const MOST: u32 = 5;
/// and as many again after this time.
const WINDOW: Duration = Duration::from_secs(1);

/// Of one thing that may happen again and again.
#[derive(Default)]
pub(super) struct Limit(Mutex<Window>);

#[derive(Default)]
struct Window {
    since: Option<Instant>,
    told: u32,
    suppressed: u64,
}

impl Limit {
    /// Whether it is to be told now, and then how often it was not since it last was; `Some(None)` where always.
    #[expect(clippy::option_option, reason = "the inner one is a field that is left out")]
    pub(super) fn admit(&self) -> Option<Option<u64>> {
        let now = Instant::now();
        let mut window = lock(&self.0);
        if window.since.is_none_or(|since| now.duration_since(since) >= WINDOW) {
            window.since = Some(now);
            window.told = 0;
        }
        if window.told == MOST {
            window.suppressed += 1;
            return None;
        }
        window.told += 1;
        let suppressed = std::mem::take(&mut window.suppressed);
        Some((suppressed > 0).then_some(suppressed))
    }
}
