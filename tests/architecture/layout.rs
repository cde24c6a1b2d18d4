//! How the files themselves look: their length, their opening, their feature gates.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{
    Attribute, Expr, ExprLit, Item, Lit, Macro, Meta,
    visit::{self, Visit},
};

use crate::tree::{Source, attributes, is_for_tests};

/// About 300 is the aim (design).
const MOST_LINES: usize = 400;

/// A file with too much in it.
pub(crate) fn too_long(source: &Source) -> Option<String> {
    let lines = lines_of_code(source);
    (lines > MOST_LINES)
        .then(|| format!("{}: {lines} lines of code, and {MOST_LINES} are the most: split it", source.file))
}

/// Lines with code on them: no comment, no documentation, no test.
fn lines_of_code(source: &Source) -> usize {
    let mut lines = BTreeSet::new();
    for item in source.syntax.items.iter().filter(|item| !is_for_tests(attributes(item))) {
        count(item.to_token_stream(), &mut lines);
    }
    lines.len()
}

fn count(tokens: TokenStream, lines: &mut BTreeSet<usize>) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        if matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '#')
            && tokens.peek().is_some_and(is_documentation)
        {
            tokens.next();
            continue;
        }
        match token {
            TokenTree::Group(group) => {
                lines.extend([group.span_open().start().line, group.span_close().end().line]);
                count(group.stream(), lines);
            }
            token => lines.extend(token.span().start().line..=token.span().end().line),
        }
    }
}

fn is_documentation(token: &TokenTree) -> bool {
    let TokenTree::Group(group) = token else { return false };
    let mut inside = group.stream().into_iter();
    group.delimiter() == Delimiter::Bracket
        && matches!(inside.next(), Some(TokenTree::Ident(ident)) if ident == "doc")
        && matches!(inside.next(), Some(TokenTree::Punct(_)))
}

/// A file that does not say what it is for.
pub(crate) fn without_opening(source: &Source) -> Option<String> {
    let lines: Vec<String> = source.syntax.attrs.iter().filter_map(documentation).collect();
    let paragraph: Vec<&str> = lines.iter().map(|line| line.trim()).take_while(|line| !line.is_empty()).collect();
    let paragraph = paragraph.join(" ");
    let sentence = paragraph.split_inclusive('.').scan(false, |over, part| {
        // A full stop ends a sentence where a space follows it, or nothing.
        if *over && part.starts_with(' ') {
            return None;
        }
        *over = true;
        Some(part)
    });
    let sentence: String = sentence.collect();
    let reason = if paragraph.is_empty() {
        "does not open with `//!`"
    } else if !sentence.ends_with('.') {
        "does not open with a sentence"
    } else if sentence.len() > 200 {
        "opens with a sentence that is too long"
    } else {
        return None;
    };
    Some(format!("{}: {reason}: say what the file is for", source.file))
}

fn documentation(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(doc) = &attribute.meta else { return None };
    let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &doc.value else { return None };
    doc.path.is_ident("doc").then(|| text.value())
}

/// Feature gates that stand elsewhere than on a `mod` line, or on the line that re-exports what it holds; and features
/// whose `mod` lines are in several files.
pub(crate) fn gates(sources: &[Source]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut files = BTreeMap::<String, BTreeSet<&str>>::new();
    for source in sources {
        let mut visitor = Gates { allowed: false, on_mod: Vec::new(), misplaced: Vec::new() };
        visitor.visit_file(&source.syntax);
        for line in visitor.misplaced {
            let said = "a feature gate stands on a `mod` line, or on the `pub use` of what it holds, and nowhere else";
            wrong.push(format!("{}:{line}: {said}", source.file));
        }
        for feature in visitor.on_mod {
            files.entry(feature).or_default().insert(&source.file);
        }
    }
    for (feature, files) in files.into_iter().filter(|(_, files)| files.len() > 1) {
        wrong.push(format!("feature {feature} gates `mod` lines in {files:?}: keep them in one file"));
    }
    wrong
}

struct Gates {
    /// The attributes that are visited now stand where a gate may.
    allowed: bool,
    on_mod: Vec<String>,
    misplaced: Vec<usize>,
}

impl<'ast> Visit<'ast> for Gates {
    fn visit_item(&mut self, item: &'ast Item) {
        match item {
            Item::Mod(item) if item.content.is_none() => {
                self.on_mod.extend(item.attrs.iter().flat_map(features));
                self.allowed = true;
            }
            Item::Use(item) => self.allowed = matches!(item.vis, syn::Visibility::Public(_)),
            _ => {}
        }
        visit::visit_item(self, item);
        self.allowed = false;
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if !self.allowed && !features(attribute).is_empty() && !is_lint_level(attribute) {
            self.misplaced.push(attribute.pound_token.span.start().line);
        }
    }

    fn visit_macro(&mut self, item: &'ast Macro) {
        if item.path.is_ident("cfg") && !features_in(item.tokens.clone()).is_empty() {
            self.misplaced.push(item.bang_token.span.start().line);
        }
    }
}

/// Whether it only allows a lint, which changes nothing of what is compiled.
fn is_lint_level(attribute: &Attribute) -> bool {
    let Meta::List(list) = &attribute.meta else { return false };
    let tokens: Vec<TokenTree> = list.tokens.clone().into_iter().collect();
    let allows = tokens.iter().filter(|token| matches!(token, TokenTree::Ident(ident) if ident == "allow")).count();
    list.path.is_ident("cfg_attr") && allows == 1
}

/// The features that an attribute asks about.
fn features(attribute: &Attribute) -> Vec<String> {
    match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg") || list.path.is_ident("cfg_attr") => {
            features_in(list.tokens.clone())
        }
        _ => Vec::new(),
    }
}

fn features_in(tokens: TokenStream) -> Vec<String> {
    let mut found = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(group) => found.extend(features_in(group.stream())),
            TokenTree::Ident(ident)
                if ident == "feature"
                    && matches!(tokens.peek(), Some(TokenTree::Punct(punct)) if punct.as_char() == '=') =>
            {
                tokens.next();
                found.extend(tokens.next().map(|name| name.to_string()));
            }
            _ => {}
        }
    }
    found
}

/// What is in a file besides re-exports.
pub(crate) fn re_exports_only(source: &Source) -> Vec<String> {
    others(
        source,
        |item| matches!(item, Item::Use(item) if matches!(item.vis, syn::Visibility::Public(_))),
        "re-exports",
    )
}

/// What is in a file besides `mod` lines.
pub(crate) fn mod_lines_only(source: &Source) -> Vec<String> {
    others(source, |item| matches!(item, Item::Mod(item) if item.content.is_none()), "`mod` lines")
}

fn others(source: &Source, fits: impl Fn(&Item) -> bool, what: &str) -> Vec<String> {
    let others = source.syntax.items.iter().filter(|item| !fits(item));
    let first = |item: &Item| item.to_token_stream().into_iter().next().map_or(0, |token| token.span().start().line);
    others.map(|item| format!("{}:{}: holds {what} only", source.file, first(item))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source {
        Source::new("src/text.rs", text)
    }

    #[test]
    fn lines_of_code_leave_out_comments_documentation_and_tests() {
        let text = "//! Doc.\n\n// Comment.\n/// Doc.\n#[derive(Debug)]\nstruct S {\n    /// Doc.\n    a: u8, // Comment.\n\n}\n\
                    #[cfg(test)]\nmod tests {\n    fn f() {}\n}\nconst T: &str = \"\n\n\";\n";
        // `derive`, `struct`, `a`, `}` and the three lines of the literal.
        assert_eq!(lines_of_code(&source(text)), 7);
    }

    #[test]
    fn a_file_of_more_than_the_most_lines_is_too_long() {
        assert!(too_long(&source(&"const _: () = ();\n".repeat(MOST_LINES))).is_none());
        assert!(too_long(&source(&"const _: () = ();\n".repeat(MOST_LINES + 1))).is_some());
        assert!(too_long(&source(&format!("const _: () = ();\n{}", "// Comment.\n".repeat(MOST_LINES)))).is_none());
    }

    #[test]
    fn a_file_opens_with_a_sentence() {
        for opening in [
            "//! What it is.",
            "//! What it is:\n//! over two lines.",
            "//! `a..b` of version 1.0.\n//!\n//! More",
            "//! One. And two.",
        ] {
            assert_eq!(without_opening(&source(opening)), None, "{opening}");
        }
        for opening in
            ["", "// What it is.", "//! What it is", "//!\n//! What it is.", &format!("//! {}.", "very ".repeat(50))]
        {
            assert!(without_opening(&source(opening)).is_some(), "{opening}");
        }
    }

    #[test]
    fn a_feature_gate_stands_on_a_mod_line_or_its_re_export_and_nowhere_else() {
        let gate = |rest: &str| gates(&[source(&format!("#[cfg(feature = \"a\")]\n{rest}"))]).len();
        assert_eq!(gate("mod m;"), 0);
        assert_eq!(gate("pub use m::A;"), 0);
        assert_eq!(gate("fn f() {}"), 1);
        assert_eq!(gate("use m::A;"), 1);
        assert_eq!(gate("mod m {}"), 1);
        assert_eq!(gates(&[source("struct S { #[cfg(all(unix, feature = \"a\"))] a: u8 }")]).len(), 1);
        assert_eq!(gates(&[source("fn f() -> bool { cfg!(feature = \"a\") }")]).len(), 1);
        assert_eq!(gates(&[source("#![cfg_attr(docsrs, feature(doc_cfg))]")]).len(), 0);
        assert_eq!(gates(&[source("#![cfg_attr(not(feature = \"a\"), allow(some::lint))]")]).len(), 0);
        assert_eq!(gates(&[source("#![cfg_attr(feature = \"a\", no_std)]")]).len(), 1);
    }

    #[test]
    fn the_mod_lines_of_one_feature_are_in_one_file() {
        let gate = "#[cfg(feature = \"a\")] mod m;";
        assert_eq!(gates(&[Source::new("src/a.rs", gate)]).len(), 0);
        assert_eq!(gates(&[Source::new("src/a.rs", gate), Source::new("src/b.rs", gate)]).len(), 1);
    }

    #[test]
    fn what_is_no_re_export_and_no_mod_line_is_found() {
        assert_eq!(re_exports_only(&source("pub use a::b; fn f() {} use c;")).len(), 2);
        assert_eq!(mod_lines_only(&source("pub mod a; mod b; mod c {} pub use a::A;")).len(), 2);
    }
}
