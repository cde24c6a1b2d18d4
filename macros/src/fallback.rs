//! Emits a subscription that did not compile: enough that nothing else becomes an error because of it.
//!
//! The struct, its function, `call`, and implementations without any bound. Nothing of it ever runs.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Ident, ItemFn, Visibility};

use crate::{expand, function::Function, lower::ModeType, paths};

/// In place of a function whose attribute or signature has mistakes.
pub(crate) fn of_function(function: &Function, mode: ModeType, sound: bool) -> TokenStream {
    if function.has_receiver {
        // It stands in an implementation, where no struct can stand.
        let (visibility, item) = (&function.visibility, &function.item);
        return quote!(#visibility #item);
    }
    let item = expand::itself(function);
    let site = Span::mixed_site();
    let allowed = quote_spanned!(site=> #[allow(unused)] #item);
    let call = if sound { expand::call(function) } else { TokenStream::new() };
    around(function, mode, &quote!(#allowed #call))
}

/// In place of something that is no function with a body, if it has a function's name.
pub(crate) fn of_tokens(tokens: TokenStream) -> TokenStream {
    let Some(ident) = name(tokens) else { return TokenStream::new() };
    let site = Span::mixed_site();
    let item: Result<ItemFn, _> = syn::parse2(quote_spanned!(site=> async fn #ident() {}));
    let Ok(item) = item else { return TokenStream::new() };
    let function = Function {
        item,
        visibility: Visibility::Inherited,
        struct_attributes: Vec::new(),
        conditions: Vec::new(),
        has_receiver: false,
    };
    around(&function, ModeType::AtMostOnce, &TokenStream::new())
}

fn around(function: &Function, mode: ModeType, inner: &TokenStream) -> TokenStream {
    let site = Span::mixed_site();
    let item = expand::structure(function);
    let (ident, conditions, mode) = (function.ident(), &function.conditions, mode.path(site));
    let (subscription, settings, unreachable) =
        (paths::subscription(site), paths::settings(site), paths::unreachable(site));
    let (runs_on, backend, no_source) = (paths::runs_on(site), paths::backend(site), paths::no_source(site));
    let (opening, source_id) = (paths::opening(site), paths::source_id(site));
    let (boxed, pending) = (paths::boxed(site), paths::pending(site));
    let (head, handle) = expand::handle(function, &quote_spanned!(site=> _));
    quote_spanned! {site=>
        #item
        #(#conditions)*
        const _: () = {
            #inner

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
                ) -> #opening<'s, #no_source> {
                    #boxed::pin(#pending())
                }
            }

            #head {
                #handle {
                    #pending()
                }
            }
        };
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
