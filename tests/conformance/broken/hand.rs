//! What a consumer has in hand, and what a fault can do to it.

use std::{
    future::pending,
    sync::{Arc, Mutex},
};

use futures_util::FutureExt;
use tramline::{
    backend::memory::MemorySettler,
    contract::{NothingToSettle, Outcome, Settle, SettleError, Settlement, SourceId},
};

use super::Fault;

/// One delivery in hand. A fault may keep it, and settle it when it likes.
#[derive(Clone)]
pub(crate) struct Hand {
    pub(crate) source: SourceId,
    pub(crate) id: String,
    /// As memory numbers it.
    pub(crate) attempt: u32,
    settler: Arc<Mutex<Option<MemorySettler>>>,
}

impl Hand {
    /// Says this to memory, once.
    pub(crate) fn say(&self, settlement: Settlement) -> Result<(), SettleError> {
        let settler = self.settler.lock().unwrap().take();
        let settler = settler.ok_or_else(|| SettleError::new("the fault has settled it"))?;
        settler.settle(settlement).now_or_never().expect("memory waits for nothing")
    }

    /// Whether something was said, or it was given back.
    pub(crate) fn is_settled(&self) -> bool {
        self.settler.lock().unwrap().is_none()
    }

    /// Whether it is the same delivery.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.settler, &other.settler)
    }

    /// Gives it back, if nothing was said yet.
    pub(crate) fn let_go(&self) {
        let settler = self.settler.lock().unwrap().take();
        drop(settler);
    }

    /// Nobody can settle it any more, and it is not given back.
    pub(crate) fn lose(&self) {
        let settler = self.settler.lock().unwrap().take();
        std::mem::forget(settler);
    }
}

/// A settler of memory's, and what it is on a broken backend: at most once there is nothing to break.
pub(crate) trait Settling: Settle {
    type Broken: Settle + Unpin;

    fn broken(self, fault: &Arc<dyn Fault>, source: SourceId, id: &str, attempt: u32) -> Self::Broken;

    /// One more, where there is nothing to settle.
    fn another() -> Option<Self::Broken> {
        None
    }

    /// Nobody gets the message, now or later.
    fn lose(self)
    where
        Self: Sized,
    {
        let lost = self.settle(Settlement::new(Outcome::Acked)).now_or_never();
        assert!(lost.is_some_and(|settled| settled.is_ok()), "memory settles at once");
    }
}

impl Settling for NothingToSettle {
    type Broken = Self;

    fn broken(self, _fault: &Arc<dyn Fault>, _source: SourceId, _id: &str, _attempt: u32) -> Self {
        self
    }

    fn another() -> Option<Self> {
        Some(Self)
    }
}

impl Settling for MemorySettler {
    type Broken = BrokenSettler;

    fn broken(self, fault: &Arc<dyn Fault>, source: SourceId, id: &str, attempt: u32) -> BrokenSettler {
        let hand = Hand { source, id: id.to_owned(), attempt, settler: Arc::new(Mutex::new(Some(self))) };
        fault.handed_over(&hand);
        BrokenSettler { hand, fault: fault.clone(), said: Said::Nothing }
    }
}

pub(crate) struct BrokenSettler {
    hand: Hand,
    fault: Arc<dyn Fault>,
    said: Said,
}

/// How far a settlement has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Said {
    Nothing,
    /// It was asked for, and its future was not polled.
    Unpolled,
    All,
}

impl Settle for BrokenSettler {
    fn settle(mut self, settlement: Settlement) -> impl Future<Output = Result<(), SettleError>> + Send {
        self.said = Said::Unpolled;
        async move {
            self.said = Said::All;
            let answer = self.fault.settles(&self.hand, settlement);
            match answer {
                Some(answer) => answer,
                None => pending().await,
            }
        }
    }
}

impl Drop for BrokenSettler {
    fn drop(&mut self) {
        if self.said != Said::All {
            self.fault.drops(&self.hand, self.said);
        }
    }
}
