//! One delivery as spans and events of `tracing` tell of it, where somebody listens.
//!
//! Names, levels and fields are documented in the guide's chapter "Seeing it run", and stay what they are.

use std::{
    fmt,
    future::Future,
    mem,
    num::NonZeroU32,
    pin::Pin,
    sync::OnceLock,
    task::{Context, Poll},
};

use tracing::{
    Level, Span,
    field::Empty,
    level_filters::{LevelFilter, STATIC_MAX_LEVEL},
};

use super::{
    desk::{Desk, Handled},
    guard::Guarded,
    limit::Limit,
    watch::{Arrival, step_in},
};
use crate::{
    contract::Outcome,
    event::Event,
    subject::Subject,
    subscription::{Judgement, Word},
};

/// One delivery, as logs tell of it.
pub(super) struct Place<'d> {
    /// A subject, or the broker's own word.
    pub(super) subject: &'d (dyn fmt::Display + Sync),
    /// None of what is no event.
    pub(super) event: Option<&'d Event>,
    pub(super) attempt: NonZeroU32,
    pub(super) seen: Option<&'d Seen>,
}

impl Place<'_> {
    /// Why a delivery was not handled: it is no event, or not the one that was asked for.
    pub(super) const fn rejected(&self) -> Wrong {
        match self.event {
            Some(_) => Wrong::Undecodable,
            None => Wrong::Malformed,
        }
    }

    /// The handler has said this.
    #[inline]
    pub(super) fn judged(&self, judgement: &Judgement) {
        if self.seen.is_some() {
            self.came_to(said(judgement));
        }
    }

    /// The handler's part is over, and this is the word for how.
    #[cold]
    pub(super) fn came_to(&self, verdict: &'static str) {
        if let Some(seen) = self.seen {
            seen.span.record("verdict", seen.verdict.get_or_init(|| verdict));
        }
    }

    /// Runs this in the delivery's span.
    pub(super) fn inside<T>(&self, work: impl FnOnce() -> T) -> T {
        match self.seen {
            Some(seen) => seen.span.in_scope(work),
            None => work(),
        }
    }
}

/// A delivery that somebody may want to see.
pub(super) struct Seen {
    pub(super) span: Span,
    verdict: OnceLock<&'static str>,
}

impl Seen {
    /// What is run from now on is in the span, until [`leave`](Self::leave): nothing in between panics.
    #[cold]
    fn enter(&self) {
        mem::forget(self.span.enter());
    }

    #[cold]
    pub(super) fn leave(&self) {
        self.span.with_subscriber(|(id, subscriber)| subscriber.exit(id));
    }
}

/// What went wrong with a delivery.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wrong {
    Failed,
    Undecodable,
    Malformed,
    Panicked,
    BadReply,
    SettlementRefused,
    ReplyRefused,
    Untraced,
}

/// How much is said of each way to go wrong.
pub(super) type Limits = [Limit; 8];

/// What is the same in every event of a delivery, and then what is not.
macro_rules! tell {
    ($level:expr, $name:literal, $desk:expr, $place:expr, $($rest:tt)*) => {
        tracing::event!(
            name: $name,
            target: "tramline",
            $level,
            subscription = %$desk.name,
            subject = %$place.subject,
            event.id = $place.event.map(Event::id),
            attempt = $place.attempt.get(),
            $($rest)*
        )
    };
}

/// A handler under guard, polled in its delivery's span where there is one. That was entered when the delivery was first
/// [seen](Desk::see), and whoever gets what the handler came to [leaves](Seen::leave) it: so where nobody looks, nothing of
/// it is in the way of a handler that is ready at once.
pub(super) struct Inside<'s, F> {
    seen: Option<&'s Seen>,
    left: bool,
    handling: F,
}

#[inline]
pub(super) fn inside<F: Future + Unpin>(seen: Option<&Seen>, handling: F) -> Inside<'_, F> {
    Inside { seen, left: false, handling }
}

impl<F: Future + Unpin> Future for Inside<'_, F> {
    type Output = F::Output;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if mem::replace(&mut self.left, false) {
            self.seen.map(Seen::enter);
        }
        let polled = Pin::new(&mut self.handling).poll(cx);
        if polled.is_pending() {
            self.left = true;
            self.seen.map(Seen::leave);
        }
        polled
    }
}

impl Desk {
    /// Looks, for next to nothing, whether anybody may look at a delivery: a test kit, or who listens to `tracing`.
    #[inline]
    pub(super) fn is_looked_at(&self) -> bool {
        self.watcher.is_some() || (Level::INFO <= STATIC_MAX_LEVEL && Level::INFO <= LevelFilter::current())
    }

    /// Begins the delivery's span, and enters it for the handler; or returns what is done in the handler's place.
    #[cold]
    #[inline(never)]
    pub(super) fn see(
        &self,
        subject: &Subject,
        event: &Event,
        attempt: NonZeroU32,
        seen: &mut Option<Box<Seen>>,
    ) -> Option<Handled> {
        let arrival = Arrival { subscription: &self.name, subject, event, attempt };
        let span = self.span(&arrival);
        let linked = if span.is_disabled() { Ok(()) } else { self.traces.link(&span, event) };
        let instead = match linked {
            Ok(()) => self.watcher.as_deref().and_then(|watcher| step_in(watcher, &arrival)),
            Err(panic) => Some(Guarded::Panicked(panic)),
        };
        // On the heap, so that where nobody looks there is hardly a place for it.
        let seen = seen.insert(Box::new(Seen { span, verdict: OnceLock::new() }));
        if instead.is_none() {
            seen.enter();
        }
        instead
    }

    /// Tells a test kit what the handler's part came to.
    #[cold]
    #[inline(never)]
    pub(super) fn came_to(&self, subject: &Subject, event: &Event, attempt: NonZeroU32, handled: &Handled) {
        if let Some(watcher) = &self.watcher {
            let arrival = Arrival { subscription: &self.name, subject, event, attempt };
            watcher.after(&arrival, handled.into());
        }
    }

    /// Of one delivery.
    fn span(&self, &Arrival { subject, event, attempt, .. }: &Arrival<'_>) -> Span {
        let place = Place { subject, event: Some(event), attempt, seen: None };
        tell!(Level::DEBUG, "deliver", self, place, "a delivery was taken");
        tracing::info_span!(
            target: "tramline",
            "handle",
            subscription = %self.name,
            %subject,
            event.id = event.id(),
            event.source = %event.source(),
            event.r#type = event.event_type(),
            attempt = attempt.get(),
            verdict = Empty,
            otel.kind = "consumer",
        )
    }

    /// The delivery is settled, recorded or answered. What went wrong has been told.
    #[cold]
    pub(super) fn seen(&self, place: &Place<'_>) {
        let verdict = place.seen.and_then(|seen| seen.verdict.get()).copied();
        if !matches!(verdict, Some(FAILED | UNDECODABLE | PANICKED | BAD_REPLY)) {
            place.inside(|| tell!(Level::DEBUG, "settle", self, place, verdict, "a delivery was settled"));
        }
    }

    /// Something went wrong with a delivery. Of what happens again and again, a part is told, with how often it was not.
    #[cold]
    pub(super) fn warn(&self, place: &Place<'_>, wrong: Wrong, why: &dyn fmt::Display) {
        if Level::WARN > LevelFilter::current() {
            return;
        }
        if let Some(verdict) = wrong.verdict() {
            place.came_to(verdict);
        }
        let Some(suppressed) = self.limits[wrong as usize].admit() else { return };
        macro_rules! settled {
            ($verdict:expr, $message:literal) => {
                tell!(Level::WARN, "settle", self, place, verdict = $verdict, reason = %why, suppressed, $message)
            };
        }
        macro_rules! refused {
            ($what:literal, $message:literal) => {
                tell!(Level::WARN, "refuse", self, place, what = $what, reason = %why, suppressed, $message)
            };
        }
        place.inside(|| match wrong {
            Wrong::Failed => settled!(FAILED, "the handler failed"),
            Wrong::Undecodable => settled!(UNDECODABLE, "undecodable"),
            Wrong::Malformed => settled!(MALFORMED, "malformed"),
            Wrong::Panicked => settled!(PANICKED, "the handler panicked"),
            Wrong::BadReply => settled!(BAD_REPLY, "the reply cannot be sent"),
            Wrong::SettlementRefused => refused!("settlement", "the settlement was refused"),
            Wrong::ReplyRefused => refused!("reply", "the reply was refused"),
            Wrong::Untraced => refused!("trace", "the propagator panicked: the reply says no trace"),
        });
    }
}

impl Wrong {
    /// What the handler's part came to by this, if it did.
    const fn verdict(self) -> Option<&'static str> {
        match self {
            Self::Failed => Some(FAILED),
            Self::Undecodable => Some(UNDECODABLE),
            Self::Malformed => Some(MALFORMED),
            Self::Panicked => Some(PANICKED),
            Self::BadReply => Some(BAD_REPLY),
            Self::SettlementRefused | Self::ReplyRefused | Self::Untraced => None,
        }
    }
}

const REPLIED: &str = "replied";
const FAILED: &str = "failed";
const UNDECODABLE: &str = "undecodable";
const MALFORMED: &str = "malformed";
const PANICKED: &str = "panicked";
const BAD_REPLY: &str = "bad_reply";
/// The time for it was used up.
pub(super) const CUT_OFF: &str = "cut_off";

fn said(judgement: &Judgement) -> &'static str {
    match (&judgement.word, judgement.settlement.outcome) {
        (Word::Failed(_), _) => FAILED,
        (Word::Reply(_), _) => REPLIED,
        (Word::BadReply(_), _) => BAD_REPLY,
        (Word::Plain, Outcome::Acked) => "acked",
        (Word::Plain, Outcome::Nacked | Outcome::Unheard) => "nacked",
        (Word::Plain, Outcome::Silent | Outcome::Returned) => "silent",
    }
}
