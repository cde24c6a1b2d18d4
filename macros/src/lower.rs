//! From a declaration to what is emitted: bounds, each at the value that asks for it, and settings.

use std::time::Duration;

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::{Ident, LitStr};

use crate::{
    paths,
    settings::{Keyed, Overflow, Policy, Restart, SlowHandler, StartAt},
    validate::{AtLeastOnce, Declared, DeclaredMode, Selects},
};

/// What is emitted for the attribute.
pub(crate) struct Model {
    /// `AtMostOnce`, `AtLeastOnce<..>`, at a place.
    pub(crate) mode: ModeType,
    /// What the backend must be able to do; first of all, deliver in the mode.
    pub(crate) bounds: Vec<Bound>,
    /// The literal that selects.
    pub(crate) selects: LitStr,
    /// The literals, as constant items that the compiler checks.
    pub(crate) constants: TokenStream,
    /// The body of `Subscription::settings`, which names the constants.
    pub(crate) settings: TokenStream,
}

/// One capability, at the value that asks for it.
pub(crate) struct Bound {
    pub(crate) capability: TokenStream,
    /// Whether it is asked only of a backend that has the mode: one missing mode is one error.
    pub(crate) in_mode: bool,
}

/// The mode as a type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ModeType {
    AtMostOnce,
    Immediate,
    Delayed,
    Answering,
}

impl ModeType {
    pub(crate) fn path(self, span: Span) -> TokenStream {
        let at_least_once = paths::at_least_once(span);
        match self {
            Self::AtMostOnce => paths::at_most_once(span),
            Self::Immediate => {
                let immediate = paths::immediate(span);
                quote_spanned!(span=> #at_least_once<#immediate>)
            }
            Self::Delayed => {
                let delayed = paths::delayed(span);
                quote_spanned!(span=> #at_least_once<#delayed>)
            }
            Self::Answering => paths::answering(span),
        }
    }
}

pub(crate) fn lower(declared: &Declared) -> Model {
    Model {
        mode: mode(declared),
        bounds: bounds(declared),
        selects: declared.selects.literal().clone(),
        constants: constants(declared),
        settings: settings(declared),
    }
}

fn mode(declared: &Declared) -> ModeType {
    match &declared.mode {
        DeclaredMode::AtMostOnce { .. } => ModeType::AtMostOnce,
        DeclaredMode::Answering { .. } => ModeType::Answering,
        DeclaredMode::AtLeastOnce(mode) if mode.delays_at().is_some() => ModeType::Delayed,
        DeclaredMode::AtLeastOnce(_) => ModeType::Immediate,
    }
}

impl AtLeastOnce {
    /// The setting that asks for delays, if one does.
    fn delays_at(&self) -> Option<Span> {
        let backoff = self.backoff.as_ref().map(|backoff| backoff.word);
        backoff.or_else(|| self.max_nack_delay.as_ref().map(|longest| longest.at))
    }
}

/// What the mode asks for, at its own place, and then what the other settings ask for.
fn bounds(declared: &Declared) -> Vec<Bound> {
    let mode_at = declared.mode_at;
    let mut bounds = Vec::new();
    let mut ask = |capability: fn(Span) -> TokenStream, at: Span, in_mode: bool| {
        bounds.push(Bound { capability: capability(at), in_mode });
    };
    match &declared.mode {
        DeclaredMode::AtMostOnce { .. } => ask(paths::delivers_at_most_once, mode_at, false),
        DeclaredMode::Answering { .. } => ask(paths::answers_requests, mode_at, false),
        DeclaredMode::AtLeastOnce(mode) => {
            ask(paths::delivers_at_least_once, mode_at, false);
            if !mode.allow_volatile {
                ask(paths::survives_restart, mode_at, true);
            }
            match &mode.slow_handler {
                None => ask(paths::keeps_for_handler, mode_at, true),
                Some(slow) if slow.value == SlowHandler::ExtendLease => ask(paths::keeps_for_handler, slow.at, true),
                Some(_) => {}
            }
            if let Some(start) = mode.start_at.as_ref().filter(|start| start.value == StartAt::AllAvailable) {
                ask(paths::replays, start.at, true);
            }
            if let Some(at) = mode.delays_at() {
                ask(paths::delays_redelivery, at, true);
            }
        }
    }
    if let Selects::Pattern(pattern) = &declared.selects
        && pattern.value().contains(['*', '>'])
    {
        ask(paths::matches_patterns, pattern.span(), false);
    }
    if let Some(Overflow { policy, policy_at, preferred: false }) = declared.overflow {
        match policy {
            Policy::ShedNewest => ask(paths::sheds_newest, policy_at, true),
            Policy::ShedOldest => ask(paths::sheds_oldest, policy_at, true),
            Policy::Fail => ask(paths::fails_when_full, policy_at, false),
        }
    }
    if let Some(at) = declared.ordered {
        ask(paths::orders, at, false);
    }
    bounds
}

fn constants(declared: &Declared) -> TokenStream {
    let mut constants = constant("NAME", paths::name, paths::name_literal, &declared.name, None);
    constants.extend(match &declared.selects {
        Selects::Subject(text) => {
            let check = paths::check_subject_literal(text.span());
            constant("PATTERN", paths::pattern, paths::pattern_literal, text, Some(check))
        }
        Selects::Pattern(text) => constant("PATTERN", paths::pattern, paths::pattern_literal, text, None),
    });
    constants.extend(match &declared.mode {
        DeclaredMode::AtMostOnce { group: None } => TokenStream::new(),
        DeclaredMode::AtMostOnce { group: Some(group) } | DeclaredMode::Answering { group } => {
            constant("GROUP", paths::group, paths::group_literal, group, None)
        }
        DeclaredMode::AtLeastOnce(mode) => {
            constant("DURABLE", paths::durable_name, paths::durable_literal, &mode.durable, None)
        }
    });
    if let Some(Keyed::Attribute(name)) = &declared.keyed {
        constants.extend(constant("KEY", paths::keyed_by, paths::keyed_by_literal, name, None));
    }
    constants
}

/// `Settings::at_..(..)` with one call for each further setting.
fn settings(declared: &Declared) -> TokenStream {
    let site = Span::mixed_site();
    let path = paths::settings(site);
    let mut calls = Vec::new();
    let begin = match &declared.mode {
        DeclaredMode::AtMostOnce { group } => {
            if group.is_some() {
                calls.push(quote_spanned!(site=> group(GROUP)));
            }
            quote_spanned!(site=> at_most_once(NAME, PATTERN))
        }
        DeclaredMode::Answering { .. } => quote_spanned!(site=> responder(NAME, PATTERN, GROUP)),
        DeclaredMode::AtLeastOnce(mode) => {
            at_least_once_calls(mode, &mut calls);
            let max_deliver = nonzero(paths::nonzero_u32, u64::from(mode.max_deliver));
            quote_spanned!(site=> at_least_once(NAME, PATTERN, DURABLE, #max_deliver))
        }
    };
    common_calls(declared, &mut calls);
    quote_spanned!(site=> #path::#begin #(.#calls)*)
}

/// A constant item, so that `cargo check` evaluates it: a literal that breaks a rule is one error, at the literal.
fn constant(
    name: &str,
    ty: fn(Span) -> TokenStream,
    make: fn(Span) -> TokenStream,
    text: &LitStr,
    check: Option<TokenStream>,
) -> TokenStream {
    let (site, at) = (Span::mixed_site(), text.span());
    let (name, ty, make) = (Ident::new(name, site), ty(site), make(at));
    let value = quote_spanned!(at=> #make(#text));
    match check {
        None => quote_spanned!(site=> const #name: #ty = #value;),
        Some(check) => {
            let check = quote_spanned!(at=> #check(#text));
            quote_spanned!(site=> const #name: #ty = { #check; #value };)
        }
    }
}

fn at_least_once_calls(mode: &AtLeastOnce, calls: &mut Vec<TokenStream>) {
    let site = Span::mixed_site();
    if let Some(start) = &mode.start_at {
        let path = paths::start_at(site);
        let value = Ident::new(if start.value == StartAt::New { "New" } else { "AllAvailable" }, site);
        calls.push(quote_spanned!(site=> start_at(#path::#value)));
    }
    let redeliver = mode.slow_handler.as_ref().is_some_and(|slow| slow.value == SlowHandler::Redeliver);
    if redeliver {
        let path = paths::slow_handler(site);
        calls.push(quote_spanned!(site=> slow_handler(#path::Redeliver)));
    } else if let Some(limit) = mode.max_processing_time {
        let (path, limit) = (paths::slow_handler(site), duration(limit));
        calls.push(quote_spanned!(site=> slow_handler(#path::ExtendLease { max_processing_time: #limit })));
    }
    if let Some(lease) = mode.ack_wait.map(duration) {
        calls.push(quote_spanned!(site=> ack_wait(#lease)));
    }
    if let Some(backoff) = &mode.backoff {
        let path = paths::backoff(site);
        let (initial, max, multiplier) =
            (duration(backoff.value.initial), duration(backoff.value.max), backoff.value.multiplier);
        calls.push(quote_spanned!(site=> backoff(#path::checked(#initial, #max, #multiplier))));
    }
    if let Some(longest) = &mode.max_nack_delay {
        let longest = duration(longest.value);
        calls.push(quote_spanned!(site=> max_nack_delay(#longest)));
    }
}

fn common_calls(declared: &Declared, calls: &mut Vec<TokenStream>) {
    let site = Span::mixed_site();
    if let Some(bound) = declared.bound {
        let bound = nonzero(paths::nonzero_usize, bound as u64);
        calls.push(quote_spanned!(site=> bound(#bound)));
    }
    if let Some(Overflow { policy, preferred, .. }) = declared.overflow {
        let path = paths::overflow(site);
        let call = Ident::new(if preferred { "prefer" } else { "overflow" }, site);
        let policy = match policy {
            Policy::ShedNewest => Ident::new("ShedNewest", site),
            Policy::ShedOldest => Ident::new("ShedOldest", site),
            Policy::Fail => Ident::new("Fail", site),
        };
        calls.push(quote_spanned!(site=> #call(#path::#policy)));
    }
    if let Some(concurrency) = declared.concurrency {
        let concurrency = nonzero(paths::nonzero_usize, concurrency as u64);
        calls.push(quote_spanned!(site=> concurrency(#concurrency)));
    }
    match &declared.keyed {
        None => {}
        Some(Keyed::Subject) => {
            let path = paths::keyed_by(site);
            calls.push(quote_spanned!(site=> keyed(#path::subject())));
        }
        Some(Keyed::Attribute(_)) => calls.push(quote_spanned!(site=> keyed(KEY))),
    }
    if declared.ordered.is_some() {
        calls.push(quote_spanned!(site=> ordered()));
    }
    if let Some(restart) = declared.restart.map(restart) {
        calls.push(quote_spanned!(site=> restart(#restart)));
    }
}

fn restart(restart: Restart) -> TokenStream {
    let site = Span::mixed_site();
    let path = paths::restart(site);
    let mut value = quote_spanned!(site=> #path::new());
    if let Some(max_restarts) = restart.max_restarts {
        let max_restarts = proc_macro2::Literal::u32_unsuffixed(max_restarts);
        value.extend(quote_spanned!(site=> .max_restarts(#max_restarts)));
    }
    let waits = [("initial", restart.initial), ("max", restart.max), ("reset_after", restart.reset_after)];
    for (part, wait) in waits {
        if let Some(wait) = wait.map(duration) {
            let part = Ident::new(part, site);
            value.extend(quote_spanned!(site=> .#part(#wait)));
        }
    }
    value
}

/// A number of at least 1, as 1 and the rest: it cannot fail, and is no constant of its own to be evaluated.
fn nonzero(path: fn(Span) -> TokenStream, number: u64) -> TokenStream {
    let site = Span::mixed_site();
    let path = path(site);
    let rest = proc_macro2::Literal::u64_unsuffixed(number.saturating_sub(1));
    quote_spanned!(site=> #path::MIN.saturating_add(#rest))
}

fn duration(duration: Duration) -> TokenStream {
    let site = Span::mixed_site();
    let path = paths::duration(site);
    let (seconds, nanos) = (duration.as_secs(), duration.subsec_nanos());
    let seconds = proc_macro2::Literal::u64_unsuffixed(seconds);
    if nanos == 0 {
        return quote_spanned!(site=> #path::from_secs(#seconds));
    }
    let nanos = proc_macro2::Literal::u32_unsuffixed(nanos);
    quote_spanned!(site=> #path::new(#seconds, #nanos))
}
