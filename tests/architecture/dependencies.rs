//! What each module may name, and whether the conformance suite keeps to what is public.

use crate::{
    paths::named,
    tree::{Source, Tree},
};

/// A module, or a backend by itself, and what it may name besides itself. What is not listed may name anything.
const MAY_NAME: &[(&str, &[&str])] = &[
    ("text", &[]),
    ("event", &["text"]),
    ("subject", &["text"]),
    ("codec", &["event", "text"]),
    ("contract", &["event", "subject", "text"]),
    // What JetStream does at most once, and its connection, are core NATS.
    ("backend::jetstream", &["backend::nats", "contract", "event", "subject", "text"]),
    ("backend::*", &["contract", "event", "subject", "text"]),
    ("topic", &["event", "subject"]),
    ("subscription", &["codec", "contract", "event", "subject", "text", "topic"]),
    ("trace", &["event"]),
    ("bus", &["codec", "contract", "event", "subject", "subscription", "text", "topic", "trace"]),
    ("testing", &["backend::memory", "bus", "codec", "contract", "event", "subject", "subscription"]),
    ("conformance", &["backend::*", "bus", "codec", "contract", "event", "subject", "subscription", "topic"]),
];

/// What a file names and must not.
pub(crate) fn wrong(source: &Source, tree: &Tree) -> Vec<String> {
    let own = unit(&source.module);
    let Some((_, allowed)) = MAY_NAME.iter().find(|(unit, _)| covers(unit, &own)) else { return Vec::new() };
    let mut wrong = Vec::new();
    for named in named(source) {
        let path = tree.resolve(&named.path);
        let other = unit(&path);
        let known = path.first().is_some_and(|first| tree.has_module(first) || first.starts_with("tramline"));
        let reason = if path.first().is_some_and(|first| first == "*") {
            "takes everything of the root".to_owned()
        } else if path.is_empty() || other == own || (named.in_macro && other == "__private") {
            continue;
        } else if !known {
            format!("names `crate::{}`, which this test finds nowhere", named.path.join("::"))
        } else if allowed.iter().any(|allowed| covers(allowed, &other)) {
            continue;
        } else {
            format!("`{own}` names `{}`, and may only name {}", path.join("::"), list(allowed))
        };
        wrong.push(format!("{}:{}: {reason}", source.file, named.line));
    }
    wrong
}

/// What the conformance suite names and a crate that brings a backend could not.
pub(crate) fn not_public(source: &Source, tree: &Tree) -> Vec<String> {
    if unit(&source.module) != "conformance" {
        return Vec::new();
    }
    let mut wrong = Vec::new();
    for named in named(source) {
        if named.path.first().is_none_or(|first| first == "conformance") {
            continue;
        }
        // Each part must be public in the module before it, down to an item.
        let mut module: &[String] = &[];
        for (depth, part) in named.path.iter().enumerate() {
            let Some(public) = tree.public_names(module) else { break };
            let exported = module.is_empty() && tree.resolve(&named.path) != named.path;
            if part != "*" && !public.contains(part) && !exported {
                let path = named.path.join("::");
                wrong.push(format!("{}:{}: names `{path}`, and `{part}` is not public", source.file, named.line));
                break;
            }
            module = &named.path[..=depth];
        }
    }
    wrong
}

/// The module that a path leads into; each backend is one by itself.
fn unit(path: &[String]) -> String {
    match path {
        [] => String::new(),
        [first, second, ..] if first == "backend" => format!("backend::{second}"),
        [first, ..] => first.clone(),
    }
}

fn covers(pattern: &str, unit: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => unit.starts_with(start),
        None => pattern == unit,
    }
}

fn list(names: &[&str]) -> String {
    if names.is_empty() { "itself".to_owned() } else { format!("{} and itself", names.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is wrong with a file of a small crate.
    fn check(file: &str, text: &str) -> Vec<String> {
        let tree = small(file, text);
        wrong(tree.source(file), &tree)
    }

    fn small(file: &str, text: &str) -> Tree {
        let rest = [
            (
                "src/lib.rs",
                "pub mod backend; pub mod bus; pub mod conformance; pub mod contract; pub mod event; pub mod subject;
                 pub mod subscription; mod text; #[doc(hidden)] pub mod __private;
                 pub use crate::{backend::memory::Memory, bus::Bus, event::Event};
                 pub use tramline_macros::subscription;",
            ),
            ("src/__private.rs", ""),
            ("src/backend/memory/mod.rs", "pub struct Memory;"),
            ("src/backend/nats/mod.rs", ""),
            ("src/bus/mod.rs", "pub struct Bus; pub(crate) struct Core;"),
            ("src/contract/capabilities.rs", "#[macro_export] macro_rules! capabilities { () => {} }"),
            ("src/contract/mod.rs", "pub use self::backend::Backend; mod spec;"),
            ("src/event/mod.rs", "pub struct Event;"),
            ("src/subject/mod.rs", "pub(crate) mod literal;"),
            ("src/subscription/mod.rs", ""),
            ("src/text.rs", ""),
        ];
        let rest = rest.into_iter().filter(|(other, _)| *other != file);
        Tree::new(rest.chain([(file, text)]).map(|(file, text)| Source::new(file, text)).collect())
    }

    #[track_caller]
    fn refused(file: &str, text: &str) {
        assert_eq!(check(file, text).len(), 1, "{file}: {text}: {:?}", check(file, text));
    }

    #[track_caller]
    fn allowed(file: &str, text: &str) {
        assert_eq!(check(file, text), <[String; 0]>::default(), "{file}: {text}");
    }

    #[test]
    fn the_contract_names_event_and_subject_only() {
        allowed("src/contract/spec.rs", "use super::Backend; use crate::{event::Event, subject::Subject, text::Text};");
        refused("src/contract/spec.rs", "use crate::bus::Bus;");
        refused("src/contract/spec.rs", "fn f(_: crate::subscription::Settings) {}");
        refused("src/contract/spec.rs", "use crate::backend::memory::Memory;");
    }

    #[test]
    fn a_backend_names_neither_the_bus_nor_subscriptions_nor_a_sibling() {
        allowed(
            "src/backend/memory/queue.rs",
            "use crate::{capabilities, contract::Backend, event::Event}; use super::sync;",
        );
        refused("src/backend/memory/queue.rs", "use crate::subscription::Settings;");
        refused("src/backend/memory/queue.rs", "use crate::bus::Bus;");
        refused("src/backend/memory/queue.rs", "use crate::backend::nats::Nats;");
        refused("src/backend/memory/queue.rs", "use super::super::nats::Nats;");
    }

    #[test]
    fn subscriptions_name_neither_the_bus_nor_a_backend() {
        allowed("src/subscription/delivery.rs", "use crate::contract::Outcome;");
        refused("src/subscription/delivery.rs", "use crate::bus::Core;");
        refused("src/subscription/delivery.rs", "use crate::backend::memory::Memory;");
    }

    #[test]
    fn the_bus_names_no_backend_not_even_by_the_roots_name_for_it() {
        allowed("src/bus/core.rs", "use crate::{contract::Backend, subscription::Settings};");
        refused("src/bus/core.rs", "use crate::backend::memory::Memory;");
        refused("src/bus/core.rs", "use crate::Memory;");
        refused("src/bus/core.rs", "fn f() { tokio::select! { _ = crate::Memory::new() => {} } }");
        refused("src/bus/core.rs", "fn f() { let _ = super::super::Memory; }");
    }

    #[test]
    fn nothing_takes_everything_of_the_root_and_no_name_of_it_is_unknown() {
        refused("src/bus/core.rs", "use crate::*;");
        refused("src/bus/core.rs", "use crate::Nowhere;");
    }

    #[test]
    fn only_a_macro_that_users_expand_may_name_the_hidden_module() {
        allowed("src/subject/literal.rs", "macro_rules! m { () => { $crate::__private::check() } }");
        refused("src/subject/literal.rs", "use crate::__private::check;");
    }

    #[test]
    fn the_conformance_suite_takes_what_is_public_from_where_it_is_public() {
        let check = |text| {
            not_public(
                small("src/conformance/rows.rs", text).source("src/conformance/rows.rs"),
                &small("src/conformance/rows.rs", text),
            )
        };
        assert_eq!(
            check("use crate::{Memory, capabilities, contract::Backend, event::Event}; use super::Row;"),
            <[String; 0]>::default()
        );
        for text in [
            "use crate::text::Text;",
            "use crate::bus::Core;",
            "use crate::subject::literal::check;",
            "use crate::contract::spec::Spec;",
            "fn f() { crate::__private::check() }",
        ] {
            assert_eq!(check(text).len(), 1, "{text}");
        }
    }
}
