//! The macros as wholes: what they refuse, and what they emit.

mod golden;
mod refusals;
mod responder;
mod topics;

use proc_macro2::{TokenStream, TokenTree};

use crate::settings::Kind;

/// Expands `#[subscription(attribute)] item`.
fn expand(attribute: &str, item: &str) -> TokenStream {
    expand_as(Kind::Subscription, attribute, item)
}

/// Expands `#[responder(attribute)] item`.
fn respond(attribute: &str, item: &str) -> TokenStream {
    expand_as(Kind::Responder, attribute, item)
}

fn expand_as(kind: Kind, attribute: &str, item: &str) -> TokenStream {
    crate::subscription::expand(kind, tokens(attribute), tokens(item))
}

fn tokens(text: &str) -> TokenStream {
    text.parse().expect("the test's tokens are well-formed")
}

/// Where each error stands, as source text, and what it says.
fn errors(expansion: TokenStream) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut tokens = expansion.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Ident(ident) if ident == "compile_error" => {
                let at = ident.span().source_text().unwrap_or_default();
                let text = tokens.find_map(|token| match token {
                    TokenTree::Group(group) => syn::parse2::<syn::LitStr>(group.stream()).ok(),
                    _ => None,
                });
                found.push((at, text.expect("`compile_error!` has a text").value()));
            }
            TokenTree::Group(group) => found.extend(errors(group.stream())),
            _ => {}
        }
    }
    found
}
