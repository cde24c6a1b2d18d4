//! Telling of messages that went where no handler sees them, from time to time: each of them is not worth a line.

use std::{convert::Infallible, future::pending, time::Duration};

use tokio::time::sleep;
use tracing::Level;

use super::{ledger::Stats, tally::Book};

/// How often it is told.
const TELLING: Duration = Duration::from_secs(10);

/// What one subscription has lost since it was last told.
pub(super) struct Losses<'b> {
    book: &'b Book,
    told: Stats,
}

impl<'b> Losses<'b> {
    pub(super) fn of(book: &'b Book) -> Self {
        Self { book, told: book.stats() }
    }

    /// Tells, again and again. Without a listener there is no timer.
    pub(super) async fn tell_on(&mut self) -> Infallible {
        if !tracing::enabled!(target: "tramline", Level::WARN) {
            return pending().await;
        }
        loop {
            sleep(TELLING).await;
            self.tell();
        }
    }

    /// Tells what there is to tell.
    pub(super) fn tell(&mut self) {
        let now = self.book.stats();
        let subscription = &now.name;
        let shed = now.lost.overflow.saturating_sub(self.told.lost.overflow);
        if shed > 0 {
            tracing::warn!(
                name: "shed",
                target: "tramline",
                %subscription,
                count = shed,
                "messages were refused or thrown away at the bound"
            );
        }
        let exhausted = now.exhausted.saturating_sub(self.told.exhausted);
        if exhausted > 0 {
            tracing::warn!(
                name: "exhaust",
                target: "tramline",
                %subscription,
                count = exhausted,
                "messages ran out of attempts"
            );
        }
        self.told = now;
    }
}
