//! The settings as typed values, each with the place where it was written. Each is looked at by itself; what two of them
//! say together is for `validate`.

use std::time::Duration;

use proc_macro2::Span;
use syn::{Lit, LitStr};

use crate::{
    errors::Errors,
    parse::{Entry, Value},
    read,
    words::{BACKOFF, RESTART, Words},
};

/// One setting.
#[derive(Default)]
pub(crate) enum Slot<T> {
    /// Not written.
    #[default]
    Absent,
    /// Written, and wrong: an error has been reported.
    Broken,
    /// Written.
    Set(Set<T>),
}

/// A value, and where it and its word stand.
#[derive(Clone, Copy)]
pub(crate) struct Set<T> {
    pub(crate) value: T,
    pub(crate) at: Span,
    pub(crate) word: Span,
}

impl<T> Slot<T> {
    pub(crate) fn read(
        entry: Option<Entry>,
        errors: &mut Errors,
        read: impl FnOnce(Entry, &mut Errors) -> Option<T>,
    ) -> Self {
        let Some(entry) = entry else { return Self::Absent };
        if matches!(entry.value, Value::Broken) {
            return Self::Broken;
        }
        let (word, at) = (entry.word.span(), entry.value.span(&entry.word));
        read(entry, errors).map_or(Self::Broken, |value| Self::Set(Set { value, at, word }))
    }

    pub(crate) fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    pub(crate) fn set(&self) -> Option<&Set<T>> {
        match self {
            Self::Set(set) => Some(set),
            Self::Absent | Self::Broken => None,
        }
    }

    pub(crate) fn into_set(self) -> Option<Set<T>> {
        match self {
            Self::Set(set) => Some(set),
            Self::Absent | Self::Broken => None,
        }
    }

    pub(crate) fn into_value(self) -> Option<T> {
        self.into_set().map(|set| set.value)
    }
}

/// Which attribute it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Subscription,
    Responder,
}

impl Kind {
    pub(crate) const fn attribute(self) -> &'static str {
        match self {
            Self::Subscription => "#[subscription(..)]",
            Self::Responder => "#[responder(..)]",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    AtMostOnce,
    AtLeastOnce,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Policy {
    ShedNewest,
    ShedOldest,
    Fail,
}

#[derive(Clone, Copy)]
pub(crate) struct Overflow {
    pub(crate) policy: Policy,
    pub(crate) policy_at: Span,
    pub(crate) preferred: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum StartAt {
    New,
    AllAvailable,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum SlowHandler {
    ExtendLease,
    Redeliver,
}

/// What keys are told apart by.
#[derive(Clone)]
pub(crate) enum Keyed {
    Subject,
    /// The name of an extension attribute.
    Attribute(LitStr),
}

#[derive(Clone, Copy, Default)]
pub(crate) struct Restart {
    pub(crate) max_restarts: Option<u32>,
    pub(crate) initial: Option<Duration>,
    pub(crate) max: Option<Duration>,
    pub(crate) reset_after: Option<Duration>,
}

#[derive(Clone, Copy)]
pub(crate) struct Backoff {
    pub(crate) initial: Duration,
    pub(crate) max: Duration,
    pub(crate) multiplier: f64,
}

/// Everything that was written.
pub(crate) struct Settings {
    pub(crate) name: Slot<LitStr>,
    pub(crate) subject: Slot<LitStr>,
    pub(crate) pattern: Slot<LitStr>,
    pub(crate) mode: Slot<Mode>,
    pub(crate) group: Slot<LitStr>,
    pub(crate) reply: Slot<LitStr>,
    pub(crate) bound: Slot<usize>,
    pub(crate) overflow: Slot<Overflow>,
    pub(crate) concurrency: Slot<usize>,
    pub(crate) keyed: Slot<Keyed>,
    pub(crate) ordered: Slot<()>,
    pub(crate) restart: Slot<Restart>,
    pub(crate) durable: Slot<LitStr>,
    pub(crate) max_deliver: Slot<u32>,
    pub(crate) allow_volatile: Slot<()>,
    pub(crate) start_at: Slot<StartAt>,
    pub(crate) slow_handler: Slot<SlowHandler>,
    pub(crate) ack_wait: Slot<Duration>,
    pub(crate) max_processing_time: Slot<Duration>,
    pub(crate) backoff: Slot<Backoff>,
    pub(crate) max_nack_delay: Slot<Duration>,
}

impl Settings {
    pub(crate) fn read(kind: Kind, entries: Vec<Entry>, errors: &mut Errors) -> Self {
        let mut words = match kind {
            Kind::Subscription => Words::of_attribute(entries, errors),
            Kind::Responder => Words::of_responder(entries, errors),
        };
        Self {
            name: Slot::read(words.take("name"), errors, read::text),
            subject: Slot::read(words.take("subject"), errors, read::text),
            pattern: Slot::read(words.take("pattern"), errors, read::text),
            mode: Slot::read(words.take("mode"), errors, mode),
            group: Slot::read(words.take("group"), errors, read::text),
            reply: Slot::read(words.take("reply"), errors, event_type),
            bound: Slot::read(words.take("bound"), errors, bound),
            overflow: Slot::read(words.take("overflow"), errors, overflow),
            concurrency: Slot::read(words.take("concurrency"), errors, read::count),
            keyed: Slot::read(words.take("keyed"), errors, keyed),
            ordered: Slot::read(words.take("ordered"), errors, read::flag),
            restart: Slot::read(words.take("restart"), errors, restart),
            durable: Slot::read(words.take("durable"), errors, read::text),
            max_deliver: Slot::read(words.take("max_deliver"), errors, read::count),
            allow_volatile: Slot::read(words.take("allow_volatile"), errors, read::flag),
            start_at: Slot::read(words.take("start_at"), errors, start_at),
            slow_handler: Slot::read(words.take("slow_handler"), errors, slow_handler),
            ack_wait: Slot::read(words.take("ack_wait"), errors, read::duration),
            max_processing_time: Slot::read(words.take("max_processing_time"), errors, read::duration),
            backoff: Slot::read(words.take("backoff"), errors, backoff),
            max_nack_delay: Slot::read(words.take("max_nack_delay"), errors, read::duration),
        }
    }
}

fn mode(entry: Entry, errors: &mut Errors) -> Option<Mode> {
    if let Value::Word(word) = &entry.value
        && word == "AtMostOnceConfirmed"
    {
        let text = "`AtMostOnceConfirmed` is reserved: it would have the broker confirm each settlement before the handler \
                    runs,\nwhich no backend does yet; write `AtMostOnce` or `AtLeastOnce`";
        errors.at(word.span(), text);
        return None;
    }
    read::choice(entry, &[("AtMostOnce", Mode::AtMostOnce), ("AtLeastOnce", Mode::AtLeastOnce)], errors)
}

fn bound(entry: Entry, errors: &mut Errors) -> Option<usize> {
    if let Value::Word(word) = &entry.value
        && word == "unbounded"
    {
        errors.at(word.span(), crate::words::UNBOUNDED);
        return None;
    }
    read::count(entry, errors)
}

/// Contract Q1, Q4.
fn event_type(entry: Entry, errors: &mut Errors) -> Option<LitStr> {
    let text = read::text(entry, errors)?;
    if text.value().is_empty() || text.value().contains(char::is_control) {
        let why = "`reply` is the type of the reply's event, which is not empty and has no control characters; \
                   write it as in `reply = \"com.example.quote.v1\"`";
        errors.at(text.span(), why);
        return None;
    }
    Some(text)
}

fn keyed(entry: Entry, errors: &mut Errors) -> Option<Keyed> {
    const TAKES: &str = "`keyed` takes the word `subject`, or an extension attribute's name in quotes";
    let other = match entry.value {
        Value::Word(word) if word == "subject" => return Some(Keyed::Subject),
        Value::Literal(Lit::Str(name)) if name.value() == "subject" => {
            errors.at(name.span(), format!("{TAKES}; for the subject write `keyed = subject`"));
            return None;
        }
        Value::Literal(Lit::Str(name)) => return Some(Keyed::Attribute(name)),
        Value::Word(word) => {
            errors.at(word.span(), format!("{TAKES}; write `keyed = subject` or `keyed = \"{word}\"`"));
            return None;
        }
        value => value,
    };
    errors.at(other.span(&entry.word), format!("{TAKES}, as in `keyed = \"partitionkey\"`"));
    None
}

const POLICIES: &[(&str, Policy)] =
    &[("ShedNewest", Policy::ShedNewest), ("ShedOldest", Policy::ShedOldest), ("Fail", Policy::Fail)];

fn overflow(entry: Entry, errors: &mut Errors) -> Option<Overflow> {
    let (word, preferred) = match entry.value {
        Value::Call { function, argument: Some(policy) } if function == "prefer" => (Value::Word(policy), true),
        Value::Call { function, .. } => {
            let text =
                "`overflow` takes `ShedNewest`, `ShedOldest` or `Fail`, or one of them as in `prefer(ShedOldest)`";
            errors.at(function.span(), text);
            return None;
        }
        value => (value, false),
    };
    let entry = Entry { word: entry.word, value: word };
    let policy_at = entry.value.span(&entry.word);
    let policy = read::choice(entry, POLICIES, errors)?;
    Some(Overflow { policy, policy_at, preferred })
}

fn start_at(entry: Entry, errors: &mut Errors) -> Option<StartAt> {
    read::choice(entry, &[("New", StartAt::New), ("AllAvailable", StartAt::AllAvailable)], errors)
}

fn slow_handler(entry: Entry, errors: &mut Errors) -> Option<SlowHandler> {
    let words = &[("ExtendLease", SlowHandler::ExtendLease), ("Redeliver", SlowHandler::Redeliver)];
    read::choice(entry, words, errors)
}

fn restart(entry: Entry, errors: &mut Errors) -> Option<Restart> {
    let parts = match entry.value {
        Value::Flag => return Some(Restart::default()),
        Value::List(parts) => parts,
        value => {
            let text = "`restart` is written alone, or with parts as in `restart(max_restarts = 5, max = \"30s\")`";
            errors.at(value.span(&entry.word), text);
            return None;
        }
    };
    let mut words = Words::of_parts("restart", parts, RESTART, errors);
    let max_restarts = Slot::read(words.take("max_restarts"), errors, read::count_from_zero);
    let initial = Slot::read(words.take("initial"), errors, read::duration);
    let max = Slot::read(words.take("max"), errors, read::duration);
    let reset_after = Slot::read(words.take("reset_after"), errors, read::duration);
    if let (Some(initial), Slot::Absent) = (initial.set(), &max)
        && initial.value > DEFAULT_LONGEST_WAIT
    {
        errors.at(
            initial.at,
            "`initial` is above the longest wait, 30s unless named; give `max` too, or lower `initial`",
        );
    }
    max_below_initial(&initial, &max, errors);
    Some(Restart {
        max_restarts: max_restarts.into_value(),
        initial: initial.into_value(),
        max: max.into_value(),
        reset_after: reset_after.into_value(),
    })
}

/// `Restart::new().max` (contract V2).
const DEFAULT_LONGEST_WAIT: Duration = Duration::from_secs(30);

fn backoff(entry: Entry, errors: &mut Errors) -> Option<Backoff> {
    const AS_IN: &str = "as in `backoff(initial = \"1s\", max = \"1m\", multiplier = 2.0)`";
    let Value::List(parts) = entry.value else {
        errors.at(entry.value.span(&entry.word), format!("`backoff` is written with its parts, {AS_IN}"));
        return None;
    };
    let mut words = Words::of_parts("backoff", parts, BACKOFF, errors);
    let initial = Slot::read(words.take("initial"), errors, read::duration);
    let max = Slot::read(words.take("max"), errors, read::duration);
    let multiplier = Slot::read(words.take("multiplier"), errors, read::factor);
    max_below_initial(&initial, &max, errors);
    let missing: Vec<_> = [("initial", initial.is_absent()), ("max", max.is_absent())]
        .into_iter()
        .filter_map(|(part, absent)| absent.then_some(part))
        .collect();
    if !missing.is_empty() {
        let missing = crate::suggest::listed(&missing, "and");
        errors.at(entry.word.span(), format!("`backoff` lacks {missing}; it is written {AS_IN}"));
    }
    let multiplier = if multiplier.is_absent() { DEFAULT_MULTIPLIER } else { multiplier.into_value()? };
    Some(Backoff { initial: initial.into_value()?, max: max.into_value()?, multiplier })
}

const DEFAULT_MULTIPLIER: f64 = 2.0;

fn max_below_initial(initial: &Slot<Duration>, max: &Slot<Duration>, errors: &mut Errors) {
    if let (Some(initial), Some(max)) = (initial.set(), max.set())
        && max.value < initial.value
    {
        errors.at(max.at, "`max` is below `initial`; the delay grows from `initial` up to `max`, so raise `max`");
    }
}
