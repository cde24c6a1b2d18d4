//! The derive from end to end: parse, validate, expand; or a topic that nothing complains about.

mod attribute;
mod expand;
mod template;
mod validate;

use proc_macro2::TokenStream;
use quote::quote;
use syn::DeriveInput;

use crate::errors::Errors;

pub(crate) fn topic(item: TokenStream) -> TokenStream {
    let item = match syn::parse2::<DeriveInput>(item) {
        Ok(item) => item,
        Err(error) => return error.to_compile_error(),
    };
    let mut errors = Errors::new();
    let settings = attribute::read(&item, &mut errors);
    let declared = validate::validate(settings, &item, &mut errors);
    match (errors.check(), declared) {
        (Ok(()), Some(declared)) => expand::expand(&declared, &item),
        (mistakes, _) => {
            let (mistakes, fallback) = (mistakes.err(), expand::fallback(&item));
            quote!(#mistakes #fallback)
        }
    }
}
