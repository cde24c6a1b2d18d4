//! An attribute from end to end: parse, validate, lower, expand; or the fallback.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{Item, ItemFn};

use crate::{
    errors::Errors,
    expand, fallback,
    function::Function,
    lower::{self, ModeType},
    parse,
    returns::Returns,
    settings::{Kind, Mode, Settings},
    validate::validate,
};

pub(crate) fn expand(kind: Kind, attribute: TokenStream, item: TokenStream) -> TokenStream {
    let function = match syn::parse2::<ItemFn>(item.clone()) {
        Ok(function) => function,
        Err(error) => return not_a_function(kind, item, &error),
    };

    let mut of_function = Errors::new();
    let function = Function::read(function, &mut of_function);
    let function_mistakes = of_function.check().err();

    let mut errors = Errors::new();
    let entries = parse::attribute(attribute, &mut errors);
    let settings = Settings::read(kind, entries, &mut errors);
    let mode = mode(kind, &settings);
    let returns = match kind {
        Kind::Subscription => None,
        Kind::Responder => Returns::read(&function, &settings.reply, &mut errors),
    };
    let declared = validate(kind, settings, function.ident(), &mut errors);
    let mistakes = errors.check().err();

    match (declared, &function_mistakes, &mistakes) {
        (Some(declared), None, None) => expand::expand(&lower::lower(&declared), &function, returns.as_ref()),
        _ => {
            let fallback = fallback::of_function(&function, mode, function_mistakes.is_none());
            quote!(#mistakes #function_mistakes #fallback)
        }
    }
}

/// The mode of a subscription that may have mistakes.
fn mode(kind: Kind, settings: &Settings) -> ModeType {
    if kind == Kind::Responder {
        return ModeType::Answering;
    }
    match settings.mode.set().map(|mode| mode.value) {
        None | Some(Mode::AtMostOnce) => ModeType::AtMostOnce,
        Some(Mode::AtLeastOnce) if settings.backoff.is_absent() && settings.max_nack_delay.is_absent() => {
            ModeType::Immediate
        }
        Some(Mode::AtLeastOnce) => ModeType::Delayed,
    }
}

fn not_a_function(kind: Kind, item: TokenStream, error: &syn::Error) -> TokenStream {
    let mut errors = Errors::new();
    let attribute = kind.attribute();
    if syn::parse2::<Item>(item.clone()).is_ok_and(|item| !matches!(item, Item::Verbatim(_))) {
        errors.at(Span::call_site(), format!("`{attribute}` goes on an `async fn`"));
    } else {
        errors.at(error.span(), format!("`{attribute}` goes on an `async fn` with a body; {error}"));
    }
    let (mistakes, fallback) = (errors.check().err(), fallback::of_tokens(item));
    quote!(#mistakes #fallback)
}
