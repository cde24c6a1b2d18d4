//! Emits the check that a subscription can select the topic of its payload (contract C33).
//!
//! Whether a type is a topic is for the library to say, also where it stands behind an alias. So each argument that could
//! be a payload is asked; a reference is none.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::Type;

use crate::{function::Function, lifetimes, lower::Model, paths};

/// A constant item for each argument that may carry a topic, which holds the topic to what is selected (contract C33).
pub(crate) fn checks(model: &Model, function: &Function) -> TokenStream {
    let (site, at) = (Span::mixed_site(), model.selects.span());
    let (carries, no_topic) = (paths::carries(site), paths::no_topic(site));
    let (check, selects) = (paths::check_selects_literal(at), &model.selects);
    let owned = function.arguments().filter(|ty| matches!(ty, Type::Path(_)));
    let checks: Vec<_> = owned
        .map(|ty| {
            let ty = lifetimes::for_ever(ty);
            let topic = quote_spanned!(site=> <#carries<#ty>>::TOPIC);
            let checked = quote_spanned!(at=> #check(#selects, #topic));
            quote_spanned!(site=> #[allow(deprecated)] const _: () = #checked;)
        })
        .collect();
    if checks.is_empty() {
        return TokenStream::new();
    }
    quote_spanned! {site=>
        #[allow(unused_imports)]
        use #no_topic as _;
        #(#checks)*
    }
}
