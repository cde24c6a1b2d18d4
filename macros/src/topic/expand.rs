//! Emits the topic: a check of each literal, and the implementation.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::{DeriveInput, GenericParam, Generics, Ident, LitStr, Type, ext::IdentExt, spanned::Spanned};

use super::validate::{Declared, Piece, Place};
use crate::paths;

/// The checks, and the implementation. They are apart, since `cargo check` evaluates no constant of a generic type's, and
/// so that a bad literal is an error once, where it stands.
pub(crate) fn expand(declared: &Declared, item: &DeriveInput) -> TokenStream {
    let (checks, constants) = (checks(declared), constants(declared));
    let subject = subject(declared, &item.ident);
    let implementation = implementation(item, &bounds(declared, &item.generics), &constants, &subject);
    quote!(#checks #implementation)
}

/// In place of a topic with mistakes: every pattern selects it, and nothing of it ever runs.
pub(crate) fn fallback(item: &DeriveInput) -> TokenStream {
    let site = Span::mixed_site();
    let (pattern, literal, uri) = (paths::pattern(site), paths::topic_pattern_literal(site), paths::uri(site));
    let (option, none, unreachable) = (paths::option(site), paths::none(site), paths::unreachable(site));
    let inner = quote_spanned! {site=>
        const PATTERN: #pattern = #literal(">");
        const EVENT_TYPE: &'static str = "";
        const SCHEMA: #option<#uri> = #none;
    };
    let subject = quote_spanned!(site=> #unreachable!("this topic did not compile"));
    implementation(item, &[], &inner, &subject)
}

fn implementation(
    item: &DeriveInput,
    bounds: &[TokenStream],
    constants: &TokenStream,
    subject: &TokenStream,
) -> TokenStream {
    let (site, ident) = (Span::mixed_site(), &item.ident);
    let (topic, result) = (paths::topic(site), paths::result(site));
    let (subject_type, error) = (paths::subject(site), paths::topic_error(site));
    let (parameters, arguments, clause) = item.generics.split_for_impl();
    let clause = match clause {
        _ if bounds.is_empty() => clause.to_token_stream(),
        None => quote_spanned!(site=> where #(#bounds),*),
        Some(clause) => {
            let own = clause.predicates.iter();
            quote_spanned!(site=> where #(#own,)* #(#bounds),*)
        }
    };
    quote_spanned! {site=>
        #[automatically_derived]
        #[allow(deprecated)]
        impl #parameters #topic for #ident #arguments #clause {
            #constants

            fn subject(&self) -> #result<#subject_type, #error> {
                #subject
            }
        }
    }
}

/// A constant item for each literal, at its place. The rules are those of a subject whose places are filled.
fn checks(declared: &Declared) -> TokenStream {
    let subject = with_places(declared, "x");
    let (site, nothing) = (Span::mixed_site(), quote!(()));
    let schema = declared.schema.as_ref().map(|schema| check(paths::uri_literal, schema, &paths::uri(site)));
    let subject = check(paths::check_subject_literal, &subject, &nothing);
    let event_type = check(paths::check_event_type_literal, &declared.event_type, &nothing);
    quote!(#subject #event_type #schema)
}

fn check(check: fn(Span) -> TokenStream, literal: &LitStr, gives: &TokenStream) -> TokenStream {
    let (site, at) = (Span::mixed_site(), literal.span());
    let check = check(at);
    let checked = quote_spanned!(at=> #check(#literal));
    quote_spanned!(site=> const _: #gives = #checked;)
}

/// The subject with this in each place.
fn with_places(declared: &Declared, place: &str) -> LitStr {
    let tokens = declared.pieces.iter().map(|piece| match piece {
        Piece::Word(word) => word,
        Piece::Place(_) => place,
    });
    LitStr::new(&tokens.collect::<Vec<_>>().join("."), declared.subject.span())
}

fn constants(declared: &Declared) -> TokenStream {
    let site = Span::mixed_site();
    let (pattern, make, selecting) =
        (paths::pattern(site), paths::topic_pattern_literal(site), with_places(declared, "*"));
    let (option, uri, event_type) = (paths::option(site), paths::uri(site), &declared.event_type);
    let schema = match &declared.schema {
        Some(schema) => {
            let make = paths::topic_schema_literal(site);
            quote_spanned!(site=> #make(#schema))
        }
        None => paths::none(site),
    };
    quote_spanned! {site=>
        const PATTERN: #pattern = #make(#selecting);
        const EVENT_TYPE: &'static str = #event_type;
        const SCHEMA: #option<#uri> = #schema;
    }
}

/// The body of `Topic::subject`.
fn subject(declared: &Declared, ident: &Ident) -> TokenStream {
    let site = Span::mixed_site();
    let ok = paths::ok(site);
    if !declared.pieces.iter().any(|piece| matches!(piece, Piece::Place(_))) {
        let (path, make, literal) = (paths::subject(site), paths::topic_subject_literal(site), &declared.subject);
        return quote_spanned! {site=>
            const SUBJECT: #path = #make(#literal);
            #ok(SUBJECT)
        };
    }
    let (fill, name) = (paths::fill(site), ident.unraw().to_string());
    let pieces = runs(&declared.pieces);
    quote_spanned!(site=> #fill(#name, &[#(#pieces),*]))
}

/// The places, and the words between them with their dots.
fn runs(pieces: &[Piece]) -> Vec<TokenStream> {
    let site = Span::mixed_site();
    let (piece, place) = (paths::piece(site), paths::place(site));
    let (mut runs, mut words) = (Vec::new(), String::new());
    let end = |words: &mut String, runs: &mut Vec<TokenStream>| {
        if !words.is_empty() {
            let words = std::mem::take(words);
            runs.push(quote_spanned!(site=> #piece::Words(#words)));
        }
    };
    for (index, token) in pieces.iter().enumerate() {
        if index > 0 {
            words.push('.');
        }
        match token {
            Piece::Word(word) => words.push_str(word),
            Piece::Place(field) => {
                let Place { name, member, ty } = &**field;
                end(&mut words, &mut runs);
                runs.push(quote_spanned!(site=> #place::<#ty>(#name, &self.#member)));
            }
        }
    }
    end(&mut words, &mut runs);
    runs
}

/// What fills a place can be displayed, where that is the type's user who decides it.
fn bounds(declared: &Declared, generics: &Generics) -> Vec<TokenStream> {
    let parameters: Vec<_> = generics
        .params
        .iter()
        .filter_map(|parameter| match parameter {
            GenericParam::Type(parameter) => Some(&parameter.ident),
            GenericParam::Lifetime(_) | GenericParam::Const(_) => None,
        })
        .collect();
    let places = declared.pieces.iter().filter_map(|piece| match piece {
        Piece::Place(place) => Some(&place.ty),
        Piece::Word(_) => None,
    });
    let generic = places.filter(|ty| names_any(ty.to_token_stream(), &parameters));
    generic.map(|ty: &Type| bound(ty)).collect()
}

fn bound(ty: &Type) -> TokenStream {
    let (site, fills_place) = (Span::mixed_site(), paths::fills_place(ty.span()));
    quote_spanned!(site=> #ty: #fills_place)
}

fn names_any(tokens: TokenStream, names: &[&Ident]) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => names.contains(&&ident),
        TokenTree::Group(group) => names_any(group.stream(), names),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}
