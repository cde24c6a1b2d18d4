//! Emits a subscription that did not compile: enough that nothing else becomes an error because of it.
//!
//! The struct, its function, `call`, and implementations without any bound. Nothing of it ever runs.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Attribute, Ident, Item};

use crate::{expand, function::Function, lower::ModeType, paths};

/// In place of a function whose attribute or signature has mistakes.
pub(crate) fn of_function(function: &Function, mode: ModeType, sound: bool) -> TokenStream {
    if function.has_receiver {
        // It stands in an implementation, where no struct can stand.
        let (visibility, item) = (&function.visibility, &function.item);
        return quote!(#visibility #item);
    }
    let mut inner = TokenStream::new();
    if function.has_sound_types {
        let (site, item) = (Span::mixed_site(), expand::itself(function));
        inner.extend(quote_spanned!(site=> #[allow(unused)] #item));
    }
    if sound {
        inner.extend(expand::call(function));
    }
    let (item, implementations) = (expand::structure(function), implementations(function.ident(), mode));
    behind(&item, &function.conditions, &quote!(#inner #implementations))
}

/// In place of something that is no function with a body, if it has a function's name, or is a type.
pub(crate) fn of_tokens(tokens: TokenStream) -> TokenStream {
    let site = Span::mixed_site();
    if let Ok(item) = syn::parse2::<Item>(tokens.clone())
        && !matches!(item, Item::Verbatim(_))
    {
        let implementations = match &item {
            Item::Struct(item) if item.generics.params.is_empty() => implementations(&item.ident, ModeType::AtMostOnce),
            Item::Enum(item) if item.generics.params.is_empty() => implementations(&item.ident, ModeType::AtMostOnce),
            _ => TokenStream::new(),
        };
        return behind(&item.to_token_stream(), &[], &implementations);
    }
    let Some(ident) = name(tokens) else { return TokenStream::new() };
    let item = quote_spanned!(site=> #[allow(non_camel_case_types)] struct #ident;);
    behind(&item, &[], &implementations(&ident, ModeType::AtMostOnce))
}

fn behind(item: &TokenStream, conditions: &[Attribute], inner: &TokenStream) -> TokenStream {
    let site = Span::mixed_site();
    quote_spanned! {site=>
        #item
        #(#conditions)*
        const _: () = { #inner };
    }
}

fn implementations(ident: &Ident, mode: ModeType) -> TokenStream {
    let site = Span::mixed_site();
    let mode = mode.path(site);
    let (subscription, settings, unreachable) =
        (paths::subscription(site), paths::settings(site), paths::unreachable(site));
    let (runs_on, backend, no_source) = (paths::runs_on(site), paths::backend(site), paths::no_source(site));
    let (opening, source_id, failure_reply) =
        (paths::opening(site), paths::source_id(site), paths::failure_reply(site));
    let (boxed, pending) = (paths::boxed(site), paths::pending(site));
    let (head, handle) = expand::handle(ident, &quote_spanned!(site=> _));
    quote_spanned! {site=>
        #[allow(deprecated)]
        impl #subscription for #ident {
            type Mode = #mode;

            fn settings(&self) -> #settings {
                #unreachable!("this subscription did not compile")
            }
        }

        #[allow(deprecated)]
        impl<B: #backend> #runs_on<B> for #ident {
            type Source = #no_source;

            fn open<'s>(
                _: &'s <B as #backend>::Session,
                _: &#settings,
                _: #source_id,
                _: &#failure_reply,
            ) -> #opening<'s, #no_source> {
                #boxed::pin(#pending())
            }
        }

        #head {
            #handle {
                #pending()
            }
        }
    }
}

/// The word after `fn`.
fn name(tokens: TokenStream) -> Option<Ident> {
    let mut tokens = tokens.into_token_stream().into_iter().skip_while(|token| !is_fn(token));
    tokens.next()?;
    match tokens.next()? {
        TokenTree::Ident(ident) => Some(ident),
        _ => None,
    }
}

fn is_fn(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident == "fn")
}
