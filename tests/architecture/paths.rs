//! What a file names of its own crate: every path of its code, macros included, from the crate's root.

use proc_macro2::{TokenStream, TokenTree};
use syn::{
    Attribute, Item, ItemMod, ItemUse, Macro, Meta, Path, VisRestricted,
    visit::{self, Visit},
};

use crate::tree::{Source, attributes, is_for_tests, leaves};

/// A path from the crate's root, and the line where it is named.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Named {
    pub(crate) path: Vec<String>,
    /// Written with `$crate`: a macro's user depends on it, too.
    pub(crate) in_macro: bool,
    pub(crate) line: usize,
}

/// Everything that the code of a file names of its own crate. Comments, documentation and tests do not count.
pub(crate) fn named(source: &Source) -> Vec<Named> {
    let mut visitor = Visitor { module: source.module.clone(), named: Vec::new() };
    visitor.visit_file(&source.syntax);
    visitor.named
}

struct Visitor {
    module: Vec<String>,
    named: Vec<Named>,
}

impl Visitor {
    fn name(&mut self, parts: &[String], line: usize) {
        if let Some(path) = absolute(parts, &self.module) {
            self.named.push(Named { path, in_macro: parts[0] == "$crate", line });
        }
    }

    /// Paths in tokens that only some macro understands.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut parts: Vec<String> = Vec::new();
        let (mut line, mut colons, mut dollar) = (0, 0, false);
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.flush(&mut parts, line);
                    }
                    if parts.is_empty() {
                        line = ident.span().start().line;
                    }
                    parts.push(format!("{}{ident}", if dollar { "$" } else { "" }));
                    (colons, dollar) = (0, false);
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' && !parts.is_empty() => colons += 1,
                TokenTree::Group(group) => {
                    // `crate::{a, b}` names both.
                    if colons == 2 && !parts.is_empty() {
                        for inner in list(group.stream()) {
                            self.name(&[&parts[..], &inner[..]].concat(), line);
                        }
                        parts.clear();
                    }
                    self.flush(&mut parts, line);
                    (colons, dollar) = (0, false);
                    self.tokens(group.stream());
                }
                other => {
                    self.flush(&mut parts, line);
                    dollar = matches!(&other, TokenTree::Punct(punct) if punct.as_char() == '$');
                    colons = 0;
                }
            }
        }
        self.flush(&mut parts, line);
    }

    fn flush(&mut self, parts: &mut Vec<String>, line: usize) {
        if !parts.is_empty() {
            self.name(parts, line);
            parts.clear();
        }
    }
}

impl<'ast> Visit<'ast> for Visitor {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_for_tests(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        self.module.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let line = item.use_token.span.start().line;
        for path in leaves(item) {
            self.name(&path, line);
        }
    }

    fn visit_path(&mut self, path: &'ast Path) {
        let parts: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if let Some(first) = path.segments.first() {
            self.name(&parts, first.ident.span().start().line);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, item: &'ast Macro) {
        self.visit_path(&item.path);
        self.tokens(item.tokens.clone());
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if let Meta::List(list) = &attribute.meta {
            self.tokens(list.tokens.clone());
        }
    }

    /// `pub(super)` depends on nothing.
    fn visit_vis_restricted(&mut self, _: &'ast VisRestricted) {}
}

/// The first parts of `a::b, c`.
fn list(tokens: TokenStream) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => all.last_mut().expect("never empty").push(ident.to_string()),
            TokenTree::Punct(punct) if punct.as_char() == ',' => all.push(Vec::new()),
            _ => {}
        }
    }
    all.retain(|parts| !parts.is_empty());
    all
}

/// A path from the root; none for what is local or of another crate.
fn absolute(parts: &[String], module: &[String]) -> Option<Vec<String>> {
    let (first, rest) = parts.split_first()?;
    match first.as_str() {
        // The macros of the crate's own attribute name it from outside.
        "crate" | "$crate" | "tramline" => Some(rest.to_vec()),
        "self" => Some([module, rest].concat()).filter(|_| !rest.is_empty()),
        "super" => {
            let up = parts.iter().take_while(|part| *part == "super").count();
            let above = module.len().checked_sub(up)?;
            Some([&module[..above], &parts[up..]].concat())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(file: &str, text: &str) -> Vec<String> {
        named(&Source::new(file, text)).into_iter().map(|named| named.path.join("::")).collect()
    }

    #[test]
    fn a_use_names_each_of_its_leaves() {
        let text = "use crate::{bus::{self, Bus as B}, event::*}; use std::fmt;";
        assert_eq!(of("src/text.rs", text), ["bus", "bus::Bus", "event::*"]);
    }

    #[test]
    fn relative_paths_are_followed_from_where_they_stand() {
        assert_eq!(of("src/bus/core.rs", "use super::super::backend::Memory;"), ["backend::Memory"]);
        assert_eq!(of("src/bus/core.rs", "mod inner { use super::super::desk; }"), ["bus::desk"]);
        assert_eq!(of("src/bus/mod.rs", "fn f() { super::backend::open() }"), ["backend::open"]);
        assert_eq!(of("src/bus/mod.rs", "pub use self::core::Core;"), ["bus::core::Core"]);
    }

    #[test]
    fn paths_in_types_bounds_and_expressions_count() {
        let text = "fn f<T: crate::bus::A>(x: crate::codec::B) -> Vec<crate::event::C> { crate::subject::D::new(x) }";
        assert_eq!(of("src/text.rs", text), ["bus::A", "codec::B", "event::C", "subject::D::new"]);
    }

    #[test]
    fn paths_in_macros_count_those_with_crate_in_braces_too() {
        let text = "fn f() { select! { _ = crate::bus::stop(self::x) => {} } }
            macro_rules! m { () => { $crate::bus::Bus; use crate::{backend::Memory, codec}; } }";
        assert_eq!(of("src/text.rs", text), ["bus::stop", "text::x", "bus::Bus", "backend::Memory", "codec"]);
    }

    #[test]
    fn comments_documentation_and_tests_do_not_count() {
        let text = "//! [`crate::bus`]
            // crate::bus
            /// See [`Bus`](crate::bus::Bus).
            pub(in crate::bus) struct S;
            #[cfg(test)] mod tests { use crate::bus::Bus; }";
        assert_eq!(of("src/text.rs", text), <[&str; 0]>::default());
    }
}
