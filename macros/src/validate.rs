//! What settings say together: what is missing, what excludes what. Gives a declaration that has no mistakes.

use std::time::Duration;

use proc_macro2::Span;
use syn::{Ident, LitStr, ext::IdentExt};

use crate::{
    errors::Errors,
    settings::{Backoff, Keyed, Kind, Mode, Overflow, Policy, Restart, Set, Settings, Slot, SlowHandler, StartAt},
    suggest::listed,
};

/// A subscription that can be written.
pub(crate) struct Declared {
    pub(crate) name: LitStr,
    pub(crate) selects: Selects,
    pub(crate) mode_at: Span,
    pub(crate) mode: DeclaredMode,
    pub(crate) bound: Option<usize>,
    pub(crate) overflow: Option<Overflow>,
    pub(crate) concurrency: Option<usize>,
    pub(crate) keyed: Option<Keyed>,
    pub(crate) ordered: Option<Span>,
    pub(crate) restart: Option<Restart>,
}

pub(crate) enum Selects {
    Subject(LitStr),
    Pattern(LitStr),
}

impl Selects {
    pub(crate) fn literal(&self) -> &LitStr {
        match self {
            Self::Subject(text) | Self::Pattern(text) => text,
        }
    }
}

pub(crate) enum DeclaredMode {
    AtMostOnce { group: Option<LitStr> },
    Answering { group: LitStr },
    AtLeastOnce(Box<AtLeastOnce>),
}

pub(crate) struct AtLeastOnce {
    pub(crate) durable: LitStr,
    pub(crate) max_deliver: u32,
    pub(crate) allow_volatile: bool,
    pub(crate) start_at: Option<Set<StartAt>>,
    pub(crate) slow_handler: Option<Set<SlowHandler>>,
    pub(crate) ack_wait: Option<Duration>,
    pub(crate) max_processing_time: Option<Duration>,
    pub(crate) backoff: Option<Set<Backoff>>,
    pub(crate) max_nack_delay: Option<Set<Duration>>,
}

/// `Settings::DEFAULT_BOUND` (contract B1).
const DEFAULT_BOUND: usize = 256;

/// Checks the whole attribute; none where a mistake left something needed out.
pub(crate) fn validate(kind: Kind, settings: Settings, function: &Ident, errors: &mut Errors) -> Option<Declared> {
    one_selection(kind, &settings, errors);
    if kind == Kind::Responder {
        // R9
        if settings.group.is_absent() {
            let text = "a responder is a member of a group, so that one of them answers each request; \
                        add `group = \"..\"`, the name of the service";
            errors.at(Span::call_site(), text);
        }
        return declared(kind, settings, function);
    }
    order(&settings, errors);
    keys(&settings, errors);
    match &settings.mode {
        Slot::Absent => at_most_once_by_default(&settings, errors),
        Slot::Set(Set { value: Mode::AtMostOnce, .. }) => at_most_once(&settings, errors),
        Slot::Set(Set { value: Mode::AtLeastOnce, at, .. }) => at_least_once(&settings, *at, errors),
        Slot::Broken => {}
    }
    declared(kind, settings, function)
}

fn one_selection(kind: Kind, settings: &Settings, errors: &mut Errors) {
    match (&settings.subject, &settings.pattern) {
        (Slot::Absent, Slot::Absent) => {
            let it = match kind {
                Kind::Subscription => "this subscription selects nothing",
                Kind::Responder => "this responder answers on no subject",
            };
            let text = format!("{it}; write `subject = \"..\"`, or `pattern = \"..\"` with wildcards");
            errors.at(Span::call_site(), text);
        }
        (Slot::Set(_), Slot::Set(pattern)) => errors.at(
            pattern.word,
            "`pattern` and `subject` exclude each other; leave one of them, a pattern can be one whole subject",
        ),
        _ => {}
    }
}

/// Contract C32.
fn order(settings: &Settings, errors: &mut Errors) {
    if settings.ordered.set().is_none() || !settings.keyed.is_absent() {
        return;
    }
    if let Some(Set { value: 2.., at, .. }) = settings.concurrency.set() {
        errors.at(
            *at,
            "`ordered` handles one message at a time; leave `concurrency` or `ordered` out, or add `keyed = subject`",
        );
    }
    if let Some(backoff) = settings.backoff.set() {
        let text = "`ordered` excludes `backoff`, which lets later messages pass; leave one of them out, \
                    or add `keyed = subject`";
        errors.at(backoff.word, text);
    }
}

/// Contract G2. At least once a key also holds what follows a declined message back, which one hand makes use of.
fn keys(settings: &Settings, errors: &mut Errors) {
    let one_hand = match &settings.concurrency {
        Slot::Absent => true,
        Slot::Set(concurrency) => concurrency.value == 1,
        Slot::Broken => false,
    };
    let at_most_once = matches!(&settings.mode, Slot::Absent | Slot::Set(Set { value: Mode::AtMostOnce, .. }));
    if let Some(keyed) = settings.keyed.set()
        && one_hand
        && at_most_once
    {
        let text = "`keyed` asks for nothing at most once with one message at a time, which has all keys in order; \
                    write `concurrency = 8`, or leave it out";
        errors.at(keyed.word, text);
    }
}

/// Contract C15. Without a mode there is one mistake: the mode is missing.
fn at_most_once_by_default(settings: &Settings, errors: &mut Errors) {
    let misplaced = at_least_once_only(settings);
    if let Some((_, first)) = misplaced.first() {
        let words: Vec<_> = misplaced.iter().map(|(word, _)| *word).collect();
        let (mean, them) = if words.len() == 1 { ("means", "it") } else { ("mean", "them") };
        let words = listed(&words, "and");
        let text =
            format!("{words} {mean} something only at least once; write `mode = AtLeastOnce`, or leave {them} out");
        errors.at(*first, text);
    }
}

/// Contract C15.
fn at_most_once(settings: &Settings, errors: &mut Errors) {
    for (word, at) in at_least_once_only(settings) {
        let why = match word {
            "durable" => "nothing is kept under a name; to compete write `group = \"..\"`",
            "max_deliver" => "there is one attempt",
            "allow_volatile" => "nothing survives a restart anyway",
            "start_at" => "a subscription begins at what is published from then on",
            "backoff" | "max_nack_delay" => "nothing comes back",
            _ => "there is no lease",
        };
        errors.at(at, format!("`{word}` is for `AtLeastOnce`: at most once {why}; leave it out, or change `mode`"));
    }
}

/// What was written, and means something only at least once, in the order of writing.
fn at_least_once_only(settings: &Settings) -> Vec<(&'static str, Span)> {
    fn word<T>(word: &'static str, slot: &Slot<T>) -> Option<(&'static str, Span)> {
        slot.set().map(|set| (word, set.word))
    }
    let words = [
        word("durable", &settings.durable),
        word("max_deliver", &settings.max_deliver),
        word("allow_volatile", &settings.allow_volatile),
        word("start_at", &settings.start_at),
        word("slow_handler", &settings.slow_handler),
        word("ack_wait", &settings.ack_wait),
        word("max_processing_time", &settings.max_processing_time),
        word("backoff", &settings.backoff),
        word("max_nack_delay", &settings.max_nack_delay),
    ];
    words.into_iter().flatten().collect()
}

fn at_least_once(settings: &Settings, mode: Span, errors: &mut Errors) {
    // C11, C12
    if settings.durable.is_absent() {
        errors.at(mode, "`AtLeastOnce` needs a durable name, under which what is owed is kept; add `durable = \"..\"`");
    }
    if settings.max_deliver.is_absent() {
        errors.at(mode, "`AtLeastOnce` needs an end to its attempts; add `max_deliver = N`");
    }
    // C21
    if let Some(group) = settings.group.set() {
        errors.at(group.word, "under `AtLeastOnce` the durable name is the group; leave `group` out");
    }
    // C13
    if let Some(Set { value: Overflow { policy, policy_at, .. }, .. }) = settings.overflow.set()
        && *policy != Policy::Fail
    {
        let text = "a shed message was never acknowledged, so under `AtLeastOnce` it is still owed; \
                    write `overflow = Fail`, or leave it out";
        errors.at(*policy_at, text);
    }
    // C34
    let bound =
        if settings.bound.is_absent() { Some(DEFAULT_BOUND) } else { settings.bound.set().map(|set| set.value) };
    if let (Some(bound), Some(concurrency)) = (bound, settings.concurrency.set())
        && concurrency.value > bound
    {
        let text = format!(
            "`concurrency` is above the bound of {bound}, so that many are never at hand; raise `bound`, or lower it"
        );
        errors.at(concurrency.at, text);
    }
    // C17
    if let (Some(Set { value: SlowHandler::Redeliver, .. }), Some(limit)) =
        (settings.slow_handler.set(), settings.max_processing_time.set())
    {
        let text =
            "`max_processing_time` bounds `ExtendLease`; under `Redeliver` leave it out, the lease is `ack_wait`";
        errors.at(limit.word, text);
    }
    // C23
    if let (Some(backoff), Some(longest)) = (settings.backoff.set(), settings.max_nack_delay.set())
        && longest.value < backoff.value.max
    {
        errors.at(longest.at, "`max_nack_delay` is below `backoff`'s `max`; raise it, or leave it out");
    }
}

fn declared(kind: Kind, settings: Settings, function: &Ident) -> Option<Declared> {
    let default_name = || LitStr::new(&function.unraw().to_string(), function.span());
    let group_at = settings.group.set().map(|group| group.at);
    let mode_at = match kind {
        Kind::Subscription => settings.mode.set().map(|mode| mode.at),
        Kind::Responder => group_at,
    };
    let mode_at = mode_at.unwrap_or(function.span());
    let mode = match settings.mode.into_value().unwrap_or(Mode::AtMostOnce) {
        _ if kind == Kind::Responder => DeclaredMode::Answering { group: settings.group.into_value()? },
        Mode::AtMostOnce => DeclaredMode::AtMostOnce { group: settings.group.into_value() },
        Mode::AtLeastOnce => DeclaredMode::AtLeastOnce(Box::new(AtLeastOnce {
            durable: settings.durable.into_value()?,
            max_deliver: settings.max_deliver.into_value()?,
            allow_volatile: settings.allow_volatile.set().is_some(),
            start_at: settings.start_at.into_set(),
            slow_handler: settings.slow_handler.into_set(),
            ack_wait: settings.ack_wait.into_value(),
            max_processing_time: settings.max_processing_time.into_value(),
            backoff: settings.backoff.into_set(),
            max_nack_delay: settings.max_nack_delay.into_set(),
        })),
    };
    let subject = settings.subject.into_value().map(Selects::Subject);
    Some(Declared {
        name: settings.name.into_value().unwrap_or_else(default_name),
        selects: subject.or_else(|| settings.pattern.into_value().map(Selects::Pattern))?,
        mode_at,
        mode,
        bound: settings.bound.into_value(),
        overflow: settings.overflow.into_value(),
        concurrency: settings.concurrency.into_value(),
        keyed: settings.keyed.into_value(),
        ordered: settings.ordered.into_set().map(|set| set.word),
        restart: settings.restart.into_value(),
    })
}
