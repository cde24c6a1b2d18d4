//! One delivery as spans and events of `tracing` tell of it, where somebody listens.
//!
//! Names, levels and fields are documented in the guide's chapter "Seeing it run", and stay what they are.

use std::{fmt, num::NonZeroU32};

use tracing::{
    Level, Span,
    field::Empty,
    level_filters::{LevelFilter, STATIC_MAX_LEVEL},
};

use super::{
    desk::{Desk, Handled},
    guard::Guarded,
    limit::Limit,
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
    verdict: &'static str,
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
}

/// How much is said of each way to go wrong.
pub(super) type Limits = [Limit; 7];

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

impl Desk {
    /// Looks, for next to nothing, whether anybody may listen, and if so begins the delivery's span. On the heap, so that
    /// where nobody listens a delivery has no place for it.
    #[inline]
    pub(super) fn watch(&self, subject: &Subject, event: &Event, attempt: NonZeroU32) -> Option<Box<Seen>> {
        if Level::INFO > STATIC_MAX_LEVEL || Level::INFO > LevelFilter::current() {
            return None;
        }
        Some(self.see(subject, event, attempt))
    }

    #[cold]
    fn see(&self, subject: &Subject, event: &Event, attempt: NonZeroU32) -> Box<Seen> {
        let place = Place { subject, event: Some(event), attempt, seen: None };
        tell!(Level::DEBUG, "deliver", self, place, "a delivery was taken");
        let span = tracing::info_span!(
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
        );
        if !span.is_disabled() {
            self.traces.link(&span, event);
        }
        Box::new(Seen { span, verdict: "" })
    }

    /// The delivery is settled, recorded or answered. What went wrong has been told.
    #[cold]
    pub(super) fn seen(&self, place: &Place<'_>) {
        let Some(Seen { verdict, .. }) = place.seen else { return };
        if !matches!(*verdict, FAILED | UNDECODABLE | PANICKED | BAD_REPLY) {
            place.inside(|| tell!(Level::DEBUG, "settle", self, place, verdict = *verdict, "a delivery was settled"));
        }
    }

    /// Something went wrong with a delivery. Of what happens again and again, a part is told, with how often it was not.
    #[cold]
    pub(super) fn warn(&self, place: &Place<'_>, wrong: Wrong, why: &dyn fmt::Display) {
        if Level::WARN > LevelFilter::current() {
            return;
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
            Wrong::Malformed => settled!("malformed", "malformed"),
            Wrong::Panicked => settled!(PANICKED, "the handler panicked"),
            Wrong::BadReply => settled!(BAD_REPLY, "the reply cannot be sent"),
            Wrong::SettlementRefused => refused!("settlement", "the settlement was refused"),
            Wrong::ReplyRefused => refused!("reply", "the reply was refused"),
        });
    }
}

const FAILED: &str = "failed";
const UNDECODABLE: &str = "undecodable";
const PANICKED: &str = "panicked";
const BAD_REPLY: &str = "bad_reply";

impl Seen {
    /// The handler has come to this.
    #[cold]
    pub(super) fn came_to(&mut self, handled: &Handled) {
        self.verdict = match handled {
            Guarded::Returned(Ok(judgement)) => said(judgement),
            Guarded::Returned(Err(_)) => UNDECODABLE,
            Guarded::Panicked(_) => PANICKED,
            Guarded::CutOff => "cut_off",
        };
        self.span.record("verdict", self.verdict);
    }
}

fn said(judgement: &Judgement) -> &'static str {
    match (&judgement.word, judgement.settlement.outcome) {
        (Word::Failed(_), _) => FAILED,
        (Word::Reply(_), _) => "replied",
        (Word::BadReply(_), _) => BAD_REPLY,
        (Word::Plain, Outcome::Acked) => "acked",
        (Word::Plain, Outcome::Nacked | Outcome::Unheard) => "nacked",
        (Word::Plain, Outcome::Silent | Outcome::Returned) => "silent",
    }
}
