//! What only the assembled set of subscriptions shows, checked when a bus is built (contract C).

use std::fmt;

use crate::{
    contract::{Capabilities, Overflow},
    subject::{Group, Name},
    subscription::{ModeSettings, OverflowChoice, Settings},
};

/// One refusal: the subscription, or the bus as a whole, the setting with its value, what is wrong and how to mend it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// The subscription; `None` where it is a setting of the bus.
    pub subscription: Option<Name>,
    /// The setting's name, as written in the attribute, or the builder's method.
    pub setting: &'static str,
    /// Its value; empty where it was left out.
    pub value: String,
    /// What is wrong and how to mend it.
    pub reason: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { subscription, setting, value, reason } = self;
        match subscription {
            Some(subscription) => write!(f, "subscription `{subscription}`: ")?,
            None => f.write_str("the bus: ")?,
        }
        if value.is_empty() {
            write!(f, "`{setting}` is not named: {reason}")
        } else {
            write!(f, "`{setting} = {value}`: {reason}")
        }
    }
}

/// A setting that was preferred and is not offered: the subscription gets the backend's own behaviour (contract C31).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DroppedSetting {
    /// The subscription.
    pub subscription: Name,
    /// The setting's name, as written in the attribute.
    pub setting: &'static str,
    /// The value that was preferred.
    pub value: String,
}

impl fmt::Display for DroppedSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { subscription, setting, value } = self;
        write!(
            f,
            "subscription `{subscription}`: `{setting} = prefer({value})` is not offered; the backend does its own"
        )
    }
}

/// Everything that is wrong with a set of subscriptions.
pub(super) fn refusals<'s>(settings: impl Iterator<Item = &'s Settings>, capabilities: &Capabilities) -> Vec<Refusal> {
    let settings: Vec<_> = settings.collect();
    let each = settings.iter().enumerate();
    each.flat_map(|(index, one)| refusals_of(one, settings[..index].iter().copied(), capabilities)).collect()
}

/// Everything that is wrong with one subscription, by itself and beside earlier ones.
pub(super) fn refusals_of<'s>(
    one: &Settings,
    earlier: impl Iterator<Item = &'s Settings>,
    capabilities: &Capabilities,
) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    alone(one, capabilities, &mut refusals);
    for earlier in earlier {
        beside(one, earlier, &mut refusals);
    }
    refusals
}

/// What is wrong with one subscription by itself.
fn alone(settings: &Settings, capabilities: &Capabilities, refusals: &mut Vec<Refusal>) {
    let mut refuse = |setting, value: String, reason: String| {
        refusals.push(Refusal { subscription: Some(settings.name.clone()), setting, value, reason });
    };
    let concurrency = settings.concurrency;
    if settings.ordered && concurrency.get() > 1 && settings.keyed.is_none() {
        // C32
        refuse(
            "concurrency",
            concurrency.to_string(),
            "order within one subscription holds only one message at a time: leave `ordered` or `concurrency` out, or say what `keyed` goes by"
                .into(),
        );
    }
    if let Some((part, value, reason)) = settings.restart.and_then(|restart| restart.flaw()) {
        // V2
        refuse(part, format!("{value:?}"), reason.into());
    }
    let ModeSettings::AtLeastOnce { backoff, max_nack_delay, .. } = &settings.mode else { return };
    if concurrency > settings.bound {
        // C34
        let reason = format!(
            "is above `bound = {}`, and at least once what is in hand counts against the bound: lower it, or raise `bound`",
            settings.bound
        );
        refuse("concurrency", concurrency.to_string(), reason);
    }
    if let (Some(backoff), Some(longest)) = (backoff, max_nack_delay)
        && *longest < backoff.max()
    {
        // C23
        let reason = format!("is below `backoff.max = {:?}`: raise it, or lower the backoff's", backoff.max());
        refuse("max_nack_delay", format!("{longest:?}"), reason);
    }
    if settings.ordered && backoff.is_some() && settings.keyed.is_none() {
        // C32
        refuse(
            "backoff",
            "..".into(),
            "a declined message would be overtaken: leave `ordered` or `backoff` out, or say what `keyed` goes by"
                .into(),
        );
    }
    if let Some(limit) = capabilities.longest_delay() {
        // C29
        let reason =
            || format!("backend `{}` holds a message back for at most {limit:?}: lower it", capabilities.backend());
        if let Some(backoff) = backoff.filter(|backoff| backoff.max() > limit) {
            refuse("backoff.max", format!("{:?}", backoff.max()), reason());
        }
        if let Some(longest) = max_nack_delay.filter(|longest| *longest > limit) {
            refuse("max_nack_delay", format!("{longest:?}"), reason());
        }
    }
}

/// What is wrong with a subscription beside another.
fn beside(one: &Settings, earlier: &Settings, refusals: &mut Vec<Refusal>) {
    let mut refuse = |setting, value: String, reason: String| {
        refusals.push(Refusal { subscription: Some(one.name.clone()), setting, value, reason });
    };
    if one.name == earlier.name {
        // C5b
        refuse(
            "name",
            one.name.to_string(),
            "another subscription of this bus has this name: give each its own".into(),
        );
    }
    match (&one.mode, &earlier.mode) {
        (ModeSettings::AtLeastOnce { durable, .. }, ModeSettings::AtLeastOnce { durable: other, .. })
            if durable == other =>
        {
            // C5b
            let reason = format!(
                "subscription `{}` of this bus has it too: more hands in one process are `concurrency`",
                earlier.name
            );
            refuse("durable", durable.to_string(), reason);
        }
        (mode, other) if mode.group().is_some() && mode.group() == other.group() && one.pattern == earlier.pattern => {
            let group = mode.group().map_or("", Group::as_str);
            // R9
            if mode.answers() != other.answers() {
                let reason = if mode.answers() {
                    format!(
                        "a request may go to `{}`, which does not answer: give each a group of its own",
                        earlier.name
                    )
                } else {
                    format!(
                        "a request to `{}` may come here and get no reply: give each a group of its own",
                        earlier.name
                    )
                };
                refuse("group", group.to_owned(), reason);
                return;
            }
            // G2
            if let Some(by) = one.keyed.as_ref().or(earlier.keyed.as_ref()) {
                let reason = format!(
                    "messages of one key would go to `{}` too, side by side: more hands in one process are `concurrency`",
                    earlier.name
                );
                refuse("keyed", by.to_string(), reason);
            }
            // C35
            if one.bound != earlier.bound {
                let reason = format!(
                    "members of group `{group}` have one bound, and `{}` has {}: give both the same",
                    earlier.name, earlier.bound
                );
                refuse("bound", one.bound.to_string(), reason);
            }
            if one.overflow.policy() != earlier.overflow.policy() {
                let other = match earlier.overflow.policy() {
                    Some(policy) => format!("has `{policy}`"),
                    None => "names none".to_owned(),
                };
                let reason = format!(
                    "members of group `{group}` have one policy, and `{}` {other}: give both the same",
                    earlier.name
                );
                let own = one.overflow.policy().map_or_else(String::new, |policy| policy.to_string());
                refuse("overflow", own, reason);
            }
        }
        _ => {}
    }
}

/// Request names that are declared more than once (R5), each once.
pub(super) fn repeated(names: &[Name]) -> impl Iterator<Item = Refusal> {
    let again = names
        .iter()
        .enumerate()
        .filter(|(index, name)| names[..*index].iter().filter(|earlier| earlier == name).count() == 1);
    again.map(|(_, name)| Refusal {
        subscription: None,
        setting: "request_names",
        value: name.to_string(),
        reason: "is declared twice, and has one row of counters: declare it once".into(),
    })
}

/// At least once without a restart policy is allowed, and worth a word.
pub(super) fn warn_of_no_restart(settings: &Settings) {
    if settings.restart.is_none() && matches!(settings.mode, ModeSettings::AtLeastOnce { .. }) {
        tracing::warn!(
            name: "no_restart",
            target: "tramline",
            subscription = %settings.name,
            "at least once without `restart`: one panic ends this subscription for good",
        );
    }
}

/// Takes the backend's own behaviour where a preferred one is not offered (contract C31).
pub(super) fn degrade(settings: &mut Settings, capabilities: &Capabilities) -> Option<DroppedSetting> {
    let OverflowChoice::Preferred(policy) = settings.overflow else { return None };
    let offered = match policy {
        Overflow::ShedNewest => capabilities.sheds_newest(),
        Overflow::ShedOldest => capabilities.sheds_oldest(),
        Overflow::Fail => capabilities.fails_when_full(),
    };
    if offered {
        return None;
    }
    settings.overflow = OverflowChoice::Native;
    Some(DroppedSetting { subscription: settings.name.clone(), setting: "overflow", value: policy.to_string() })
}
