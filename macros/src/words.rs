//! The words of the attributes: which are accepted where, and what is said to one that is not.

use std::collections::BTreeMap;

use syn::ext::IdentExt;

use crate::{
    errors::Errors,
    parse::{Entry, Value},
    suggest::{listed, nearest},
};

/// Settings of both modes.
pub(crate) const IN_BOTH_MODES: &[&str] =
    &["name", "subject", "pattern", "mode", "bound", "overflow", "concurrency", "keyed", "ordered", "restart"];

/// Settings of at most once only (contract C8, C21).
pub(crate) const AT_MOST_ONCE_ONLY: &[&str] = &["group"];

/// Settings of at least once only (contract C15).
pub(crate) const AT_LEAST_ONCE_ONLY: &[&str] = &[
    "durable",
    "max_deliver",
    "allow_volatile",
    "start_at",
    "slow_handler",
    "ack_wait",
    "max_processing_time",
    "backoff",
    "max_nack_delay",
];

/// The parts of `#[topic(..)]`.
pub(crate) const TOPIC: &[&str] = &["subject", "event_type", "schema"];

pub(crate) const RESTART: &[&str] = &["max_restarts", "initial", "max", "reset_after"];
pub(crate) const BACKOFF: &[&str] = &["initial", "max", "multiplier"];

/// What is said to a bound that is none (contract C24).
pub(crate) const UNBOUNDED: &str = "unbounded is not a policy; write `bound = N`, or leave it out for 256";

/// Words that people try, what is said to them, and the setting that they stand for.
const REFUSED: &[(&str, &str, &str)] = &[
    (
        "competing",
        "`competing` is not a setting; write `group = \"..\"`, or at least once nothing, the durable name is the group",
        "group",
    ),
    ("unbounded", UNBOUNDED, "bound"),
    ("reply", "`reply` is a setting of `#[responder(..)]`; write that instead, a subscription does not reply", "mode"),
];

/// Settings of a responder.
pub(crate) const OF_A_RESPONDER: &[&str] =
    &["name", "subject", "pattern", "group", "reply", "bound", "concurrency", "restart"];

/// Settings of a subscription that a responder has not, beside the mode, and why (contract R9, C25).
const NOT_OF_A_RESPONDER: &[(&[&str], &str)] = &[
    (&["durable", "start_at"], "nothing is kept for a responder: a request is answered now or not at all"),
    (&["max_deliver", "backoff", "max_nack_delay"], "a request has one attempt, and its requester tries again"),
    (&["allow_volatile"], "nothing is kept for a responder, so a restart loses nothing"),
    (&["slow_handler", "ack_wait", "max_processing_time"], "a request has no lease, its requester has a deadline"),
    (&["overflow"], "a request above the bound is turned away, and its requester told at once"),
    (&["keyed", "ordered"], "requests have no order: each requester waits for its own reply"),
];

/// The entries of one list by their words, each once. A word that is near an accepted one counts as that one.
pub(crate) struct Words(BTreeMap<&'static str, Entry>);

impl Words {
    /// The settings of a responder's attribute.
    pub(crate) fn of_responder(entries: Vec<Entry>, errors: &mut Errors) -> Self {
        let given = |entry: &Entry| entry.word.unraw().to_string();
        let (foreign, own): (Vec<_>, Vec<_>) = entries.into_iter().partition(|entry| {
            let given = given(entry);
            given == "mode" || NOT_OF_A_RESPONDER.iter().any(|(words, _)| words.contains(&given.as_str()))
        });
        let leave = |words: &[&str]| {
            format!("leave {} out, or write `#[subscription(..)]`, which does not reply", listed(words, "and"))
        };
        // With a mode, and what belongs to it, there is one mistake: the mode.
        let of_mode: Vec<_> = foreign
            .iter()
            .map(given)
            .filter(|word| word == "mode" || AT_LEAST_ONCE_ONLY.contains(&word.as_str()))
            .collect();
        let mode = foreign.iter().find(|entry| given(entry) == "mode");
        if let Some(mode) = mode {
            let words: Vec<_> = of_mode.iter().map(String::as_str).collect();
            errors.at(mode.word.span(), format!("a responder answers each request at most once; {}", leave(&words)));
        }
        for entry in &foreign {
            let word = given(entry);
            let why = NOT_OF_A_RESPONDER.iter().find(|(words, _)| words.contains(&word.as_str()));
            if let Some((_, why)) = why
                && (mode.is_none() || !of_mode.contains(&word))
            {
                errors.at(entry.word.span(), format!("{why}; {}", leave(&[&word])));
            }
        }
        let all = listed(OF_A_RESPONDER, ",");
        let unknown = |word: &str, hint: &str| format!("unknown setting `{word}`; {hint}the settings are\n{all}");
        Self::sort(own, OF_A_RESPONDER, &unknown, errors)
    }

    /// The settings of the attribute itself.
    pub(crate) fn of_attribute(entries: Vec<Entry>, errors: &mut Errors) -> Self {
        let known: Vec<_> = [IN_BOTH_MODES, AT_MOST_ONCE_ONLY, AT_LEAST_ONCE_ONLY].concat();
        let all = format!(
            "in both modes: {}\nat most once: {}\nat least once: {}",
            listed(IN_BOTH_MODES, ","),
            listed(AT_MOST_ONCE_ONLY, ","),
            listed(AT_LEAST_ONCE_ONLY, ",")
        );
        Self::sort(
            entries,
            &known,
            &|word, hint| format!("unknown setting `{word}`; {hint}the settings are\n{all}"),
            errors,
        )
    }

    /// The parts of `#[topic(..)]`.
    pub(crate) fn of_topic(entries: Vec<Entry>, errors: &mut Errors) -> Self {
        Self::of_parts("topic", entries, TOPIC, errors)
    }

    /// The parts of `setting(..)`.
    pub(crate) fn of_parts(setting: &str, entries: Vec<Entry>, known: &[&'static str], errors: &mut Errors) -> Self {
        let all = listed(known, ",");
        Self::sort(
            entries,
            known,
            &|word, hint| format!("`{setting}` has no `{word}`; {hint}its parts are {all}"),
            errors,
        )
    }

    fn sort(
        entries: Vec<Entry>,
        known: &[&'static str],
        unknown: &dyn Fn(&str, &str) -> String,
        errors: &mut Errors,
    ) -> Self {
        let mut sorted = BTreeMap::new();
        for entry in entries {
            let given = entry.word.unraw().to_string();
            if let Some(word) = known.iter().copied().find(|word| *word == given) {
                if sorted.contains_key(word) {
                    errors.at(entry.word.span(), format!("`{word}` is given twice; leave one of them"));
                } else {
                    sorted.insert(word, entry);
                }
                continue;
            }
            let refused = REFUSED.iter().find(|(word, _, meant)| *word == given && known.contains(meant));
            let meant = if let Some((_, text, meant)) = refused {
                errors.at(entry.word.span(), text);
                Some(*meant)
            } else {
                let near = nearest(&given, known);
                let hint = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
                errors.at(entry.word.span(), unknown(&given, &hint));
                near
            };
            if let Some(meant) = meant {
                sorted.entry(meant).or_insert(Entry { value: Value::Broken, ..entry });
            }
        }
        Self(sorted)
    }

    pub(crate) fn take(&mut self, word: &str) -> Option<Entry> {
        self.0.remove(word)
    }
}
