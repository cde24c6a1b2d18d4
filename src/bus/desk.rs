//! What all readers of one source share, and how they account for what a handler did.

use std::{
    num::NonZeroU32,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::{
    answer::Said,
    consumer::Observers,
    error::chain,
    guard::{Guarded, caught_until, words},
    idle::Idle,
    limit::Limit,
    seen::{CUT_OFF, Limits, Place, Wrong},
    tally::Tally,
    traces::Traces,
    watch::Watcher,
};
use crate::{
    contract::{FailureReason, FailureReply, Malformed, Outcome, Settle, Settlement},
    subject::Name,
    subscription::{Backoff, Judgement, ModeSettings, Rejection, Settings, Word},
};

/// What all readers of one source share.
pub(super) struct Desk {
    pub(super) name: Name,
    /// Set when nothing more may be taken; looked at before each delivery (Y7).
    closing: AtomicBool,
    /// Fires with `closing`, for handlers that ask.
    pub(super) stopping: CancellationToken,
    /// Wakes readers that wait, to look at `closing`, and at whether somebody waits for them to have nothing to do.
    pub(super) calls: Notify,
    pub(super) idle: Arc<Idle>,
    /// Of a bus under test.
    pub(super) watcher: Option<Arc<dyn Watcher>>,
    /// Fires when handlers in hand are cut off.
    pub(super) cut_off: CancellationToken,
    /// Fires when settlements under way are given up (T8).
    pub(super) given_up: CancellationToken,
    pub(super) at_least_once: bool,
    /// Of a responder: makes failure replies. Its deliveries are answered and never settled (T14).
    failure: Option<FailureReply>,
    /// At most once and without keys: what the handler said is recorded, and nothing follows from it.
    pub(super) only_records: bool,
    backoff: Option<Backoff>,
    max_deliver: NonZeroU32,
    /// Whether a message that is declined in vain is gone (T13).
    volatile: bool,
    /// The source makes way for the next one of its identity: what was in hand comes back there.
    handed_on: AtomicBool,
    pub(super) traces: Traces,
    pub(super) limits: Limits,
    /// Of keys that go on without a declined message.
    pub(super) passed_over: Limit,
}

/// What came of a settlement.
pub(super) struct Settled {
    /// The panic's text if the handler panicked, which fails the consumer.
    pub(super) panicked: Option<String>,
    /// Whether the message is to be expected again, and after which delay.
    pub(super) again: Option<Duration>,
}

/// What a guarded handler came to: its judgement, or in words why it was not entered.
pub(super) type Handled = Guarded<Result<Judgement, String>>;

/// Puts a rejection into words, which is the user's code and may panic.
#[inline]
pub(super) fn in_words(ended: Guarded<Result<Judgement, Rejection>>) -> Handled {
    match ended {
        Guarded::Returned(Ok(judgement)) => Guarded::Returned(Ok(judgement)),
        Guarded::Returned(Err(rejection)) => match words(rejection) {
            Ok(words) => Guarded::Returned(Err(words)),
            Err(panic) => Guarded::Panicked(panic),
        },
        Guarded::Panicked(text) => Guarded::Panicked(text),
        Guarded::CutOff => Guarded::CutOff,
    }
}

impl Desk {
    pub(super) fn new(settings: &Settings, volatile: bool, failure: FailureReply, observers: &Observers) -> Self {
        let Observers { idle, watcher, traces } = observers.clone();
        let (at_least_once, backoff, max_deliver) = match &settings.mode {
            ModeSettings::AtMostOnce { .. } | ModeSettings::Answering { .. } => (false, None, NonZeroU32::MIN),
            ModeSettings::AtLeastOnce { backoff, max_deliver, .. } => (true, *backoff, *max_deliver),
        };
        let answers = settings.mode.answers();
        Self {
            name: settings.name.clone(),
            closing: AtomicBool::new(false),
            stopping: CancellationToken::new(),
            calls: Notify::new(),
            idle,
            watcher,
            cut_off: CancellationToken::new(),
            given_up: CancellationToken::new(),
            at_least_once,
            failure: answers.then_some(failure),
            only_records: !at_least_once && !answers && settings.keyed.is_none(),
            backoff,
            max_deliver,
            volatile,
            handed_on: AtomicBool::new(false),
            traces,
            limits: Limits::default(),
            passed_over: Limit::default(),
        }
    }

    /// Nothing more is taken.
    pub(super) fn close(&self) {
        self.closing.store(true, Relaxed);
        self.stopping.cancel();
        self.calls.notify_waiters();
    }

    /// What is refused from now on is not stranded: it is owed by the next source (N7).
    pub(super) fn hand_on(&self) {
        self.handed_on.store(true, Relaxed);
    }

    #[inline]
    pub(super) fn is_closing(&self) -> bool {
        self.closing.load(Relaxed)
    }

    /// Accounts for what arrived as no valid event (Q10).
    pub(super) async fn malformed<S: Settle>(
        &self,
        tally: &Tally,
        malformed: Malformed,
        attempt: NonZeroU32,
        settler: S,
    ) {
        let address = malformed.address().unwrap_or_default().to_owned();
        let place = Place { subject: &address, event: None, attempt, seen: None };
        let why = Rejection::new(malformed).to_string();
        if self.at_least_once {
            self.settle(tally, Guarded::Returned(Err(why)), attempt, &place, settler).await;
        } else {
            tally.lost_malformed.add_one();
            self.warn(&place, Wrong::Malformed, &why);
            if let Some(failure) = &self.failure {
                let said = Said::Failure(FailureReason::Undecodable);
                Box::pin(self.send(failure, tally, said, &place, settler)).await;
            }
        }
    }

    /// Accounts for one delivery at most once (contract L6): it was settled before anybody saw it, and what the handler
    /// said is only recorded (M1). Returns the panic's text if the handler panicked, which fails the consumer.
    pub(super) fn record(&self, tally: &Tally, handled: Handled, place: &Place<'_>) -> Option<String> {
        match handled {
            Guarded::Returned(Ok(judgement)) => self.judged(tally, &judgement, place),
            Guarded::Returned(Err(rejection)) => {
                tally.lost_undecodable.add_one();
                self.warn(place, place.rejected(), &rejection);
            }
            Guarded::Panicked(text) => {
                tally.panics.add_one();
                tally.lost_panic.add_one();
                self.warn(place, Wrong::Panicked, &text);
                return Some(text);
            }
            Guarded::CutOff => {
                tally.lost_shutdown.add_one();
                place.came_to(CUT_OFF);
            }
        }
        None
    }

    /// Accounts for one delivery, and settles it at least once (contract L6, T1), or answers it.
    pub(super) async fn settle<S: Settle>(
        &self,
        tally: &Tally,
        handled: Handled,
        attempt: NonZeroU32,
        place: &Place<'_>,
        settler: S,
    ) -> Settled {
        if !self.at_least_once {
            let Some(failure) = &self.failure else {
                return Settled { panicked: self.record(tally, handled, place), again: None };
            };
            let (said, panicked) = self.answer(tally, handled, place);
            // Boxed, so that the readers of other subscriptions are no larger for it.
            Box::pin(self.send(failure, tally, said, place, settler)).await;
            return Settled { panicked, again: None };
        }
        let mut panicked = None;
        let settlement = match handled {
            Guarded::Returned(Ok(judgement)) => {
                self.judged(tally, &judgement, place);
                if judgement.own_delay { judgement.settlement } else { self.delayed(judgement.settlement, attempt) }
            }
            Guarded::Returned(Err(rejection)) => {
                tally.errors.add_one();
                tally.silent.add_one();
                tally.delivered.add_one();
                self.warn(place, place.rejected(), &rejection);
                self.delayed(Settlement::new(Outcome::Silent), attempt)
            }
            Guarded::Panicked(text) => {
                tally.panics.add_one();
                tally.released.add_one();
                self.warn(place, Wrong::Panicked, &text);
                panicked = Some(text);
                self.delayed(Settlement::new(Outcome::Silent), attempt)
            }
            Guarded::CutOff => {
                tally.released.add_one();
                place.came_to(CUT_OFF);
                Settlement::new(Outcome::Returned)
            }
        };
        // A settlement is bounded by the stop: one that misses its end is refused (T8).
        let refused = match caught_until(|| settler.settle(settlement), &self.given_up).await {
            Guarded::Returned(Ok(())) => None,
            Guarded::Returned(Err(error)) => Some(chain(&error)),
            Guarded::Panicked(text) => Some(format!("the backend panicked while settling: {text}")),
            Guarded::CutOff => Some("the time for it is used up".to_owned()),
        };
        let mut again = settlement.outcome.comes_back(attempt, self.max_deliver);
        if let Some(why) = refused {
            tally.refused.add_one();
            self.warn(place, Wrong::SettlementRefused, &why);
            if self.volatile {
                // Where it was not gone with its source, it comes as if nobody had judged it.
                again = self.handed_on.load(Relaxed);
                if !again && settlement.outcome != Outcome::Acked {
                    tally.stranded.add_one();
                }
            }
        }
        Settled { panicked, again: again.then_some(settlement.delay) }
    }

    /// What the handler said.
    #[inline]
    fn judged(&self, tally: &Tally, judgement: &Judgement, place: &Place<'_>) {
        tally.said(judgement.settlement.outcome);
        if let Word::Failed(failure) = &judgement.word {
            tally.errors.add_one();
            self.warn(place, Wrong::Failed, failure);
        } else {
            place.judged(judgement);
        }
        tally.delivered.add_one();
    }

    /// With the backoff's delay, for what is declined (O1, O2).
    fn delayed(&self, settlement: Settlement, attempt: NonZeroU32) -> Settlement {
        match (&self.backoff, settlement.outcome) {
            (Some(backoff), Outcome::Nacked | Outcome::Silent) => settlement.after(backoff.after(attempt)),
            _ => settlement,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        bus::Stats,
        contract::SettleError,
        event::UriReference,
        subject::{DurableName, Pattern},
    };

    /// A source that has retired meanwhile.
    struct Retired;

    impl Settle for Retired {
        async fn settle(self, _settlement: Settlement) -> Result<(), SettleError> {
            Err(SettleError::new("its source has retired"))
        }
    }

    /// What is expected of a message whose settlement was refused by a backend that keeps nothing.
    async fn refused(desk: &Desk, tally: &Tally) -> Option<Duration> {
        let attempt = NonZeroU32::MIN;
        let place = Place { subject: &"a", event: None, attempt, seen: None };
        desk.settle(tally, Guarded::CutOff, attempt, &place, Retired).await.again
    }

    #[tokio::test]
    async fn g2_what_the_next_source_is_handed_comes_again_and_what_is_gone_does_not() {
        let (name, pattern) = (Name::new("one").expect("valid"), Pattern::new("a").expect("valid"));
        let durable = DurableName::new("one").expect("valid");
        let settings = Settings::at_least_once(name, pattern, durable, NonZeroU32::MIN);
        let failure = FailureReply::new(UriReference::new("urn:example:test").expect("valid"));
        let (desk, tally) = (Desk::new(&settings, true, failure, &Observers::default()), Tally::default());
        assert_eq!(refused(&desk, &tally).await, None, "nobody has it any more");
        desk.hand_on();
        assert_eq!(refused(&desk, &tally).await, Some(Duration::ZERO));
        let mut stats = Stats::new(settings.name.clone(), 0);
        tally.add_to(&mut stats);
        assert_eq!((stats.settlement.refused, stats.stranded), (2, 1), "{stats}");
    }
}
