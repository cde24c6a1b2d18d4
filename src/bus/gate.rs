//! Admission of publishes: closed before draining, and waited out before the session closes.

use std::{
    num::NonZero,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    thread::available_parallelism,
};

use crossbeam_utils::CachePadded;
use tokio::sync::Notify;

/// Counts who is inside, without a cache line that all publishers share: each thread counts on a line of its own.
///
/// Entering announces itself first and then looks whether the gate is closed; closing closes first and then counts. Both
/// in one total order, so that nobody is inside after [`drained`](Gate::drained) who was not counted.
pub(super) struct Gate {
    inside: Box<[CachePadded<AtomicUsize>]>,
    closed: AtomicBool,
    left: Notify,
}

/// Somebody who is inside.
pub(super) struct Pass<'g> {
    gate: &'g Gate,
    lane: &'g AtomicUsize,
}

thread_local! {
    static THREAD: usize = {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        NEXT.fetch_add(1, SeqCst)
    };
}

impl Gate {
    pub(super) fn new() -> Self {
        let lanes = available_parallelism().map_or(1, NonZero::get).next_power_of_two().min(64);
        let inside = (0..lanes).map(|_| CachePadded::default()).collect();
        Self { inside, closed: AtomicBool::new(false), left: Notify::new() }
    }

    /// Goes in, or learns that the gate is closed.
    #[inline]
    pub(super) fn enter(&self) -> Option<Pass<'_>> {
        let lane = &self.inside[THREAD.with(|thread| *thread) & (self.inside.len() - 1)];
        lane.fetch_add(1, SeqCst);
        let pass = Pass { gate: self, lane };
        (!self.closed.load(SeqCst)).then_some(pass)
    }

    /// Whether it is closed, for who does not stay inside.
    #[inline]
    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(SeqCst)
    }

    /// Lets nobody in from now on.
    pub(super) fn close(&self) {
        self.closed.store(true, SeqCst);
    }

    /// Waits until everybody has left. Cancel safe.
    pub(super) async fn drained(&self) {
        loop {
            let mut left = std::pin::pin!(self.left.notified());
            left.as_mut().enable();
            if self.inside.iter().all(|lane| lane.load(SeqCst) == 0) {
                return;
            }
            left.await;
        }
    }
}

impl Drop for Pass<'_> {
    #[inline]
    fn drop(&mut self) {
        self.lane.fetch_sub(1, SeqCst);
        if self.gate.closed.load(SeqCst) {
            self.gate.left.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn y6_a_closed_gate_admits_nobody_and_is_drained_when_the_last_has_left() {
        let gate = Gate::new();
        let pass = gate.enter().expect("open");
        gate.close();
        assert!(gate.enter().is_none());
        let mut drained = Box::pin(gate.drained());
        assert!(futures_util::poll!(drained.as_mut()).is_pending());
        drop(pass);
        drained.await;
    }
}
