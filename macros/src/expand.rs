//! Emits a subscription: the struct of the function's name, and behind it what a bus calls.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Ident, ReturnType, Type};

use crate::{
    function::Function,
    lifetimes,
    lower::{ModeType, Model, here},
    paths,
};

pub(crate) fn expand(model: &Model, function: &Function) -> TokenStream {
    let item = structure(function);
    let body = [
        function.item.to_token_stream(),
        call(function),
        arguments(function),
        subscription(model, function),
        runs_on(model, function),
        handler(model, function),
    ];
    let conditions = &function.conditions;
    let site = Span::mixed_site();
    quote_spanned! {site=>
        #item
        #(#conditions)*
        const _: () = { #(#body)* };
    }
}

/// The unit struct that stands for the subscription. `struct` is where the function is, for lints about it.
pub(crate) fn structure(function: &Function) -> TokenStream {
    let (conditions, attributes) = (&function.conditions, &function.struct_attributes);
    let (visibility, ident) = (&function.visibility, function.ident());
    let site = Span::mixed_site();
    let allow = quote_spanned!(site=> #[allow(non_camel_case_types, missing_debug_implementations, missing_copy_implementations)]);
    let item = quote_spanned!(ident.span()=> struct #ident;);
    quote!(#(#conditions)* #(#attributes)* #allow #visibility #item)
}

/// `name::call(..)`, which calls the function as it is.
pub(crate) fn call(function: &Function) -> TokenStream {
    let site = Span::mixed_site();
    let (ident, visibility, output) = (function.ident(), &function.visibility, function.output());
    let types: Vec<_> = function.arguments().collect();
    let names: Vec<_> = names(types.len());
    quote_spanned! {site=>
        #[allow(deprecated)]
        impl #ident {
            /// Calls the function itself, as a unit test does.
            #[allow(dead_code, unreachable_pub)]
            #visibility async fn call(#(#names: #types),*) #output {
                #ident(#(#names),*).await
            }
        }
    }
}

/// The arguments' types with the delivery's lifetime, each behind a name that captures nothing of the user's.
fn arguments(function: &Function) -> TokenStream {
    function
        .arguments()
        .enumerate()
        .map(|(index, ty)| {
            let site = Span::mixed_site();
            let (alias, lifetime, ty) = (alias(index, site), lifetimes::delivery(site), lifetimes::named(ty));
            quote_spanned!(site=> type #alias<#lifetime> = #ty;)
        })
        .collect()
}

fn subscription(model: &Model, function: &Function) -> TokenStream {
    let site = Span::mixed_site();
    let (path, settings) = (paths::subscription(site), paths::settings(site));
    let (mode, body, ident) = (model.mode.path(site), &model.settings, function.ident());
    quote_spanned! {site=>
        #[automatically_derived]
        #[allow(deprecated)]
        impl #path for #ident {
            type Mode = #mode;

            fn settings(&self) -> #settings {
                #body
            }
        }
    }
}

/// The one implementation whose bounds are what the settings ask for.
fn runs_on(model: &Model, function: &Function) -> TokenStream {
    let site = Span::mixed_site();
    let (ident, bounds) = (function.ident(), &model.bounds);
    let at_ident = here(ident.span());
    let (runs_on, backend) = (paths::runs_on(at_ident), paths::backend(site));
    let (source_id, settings, opening) = (paths::source_id(site), paths::settings(site), paths::opening(site));
    let (delivers, open) = match model.mode {
        ModeType::AtMostOnce => (paths::delivers_at_most_once(site), paths::open_at_most_once(site)),
        ModeType::Immediate | ModeType::Delayed => {
            (paths::delivers_at_least_once(site), paths::open_at_least_once(site))
        }
    };
    let self_type = located(ident, at_ident);
    quote_spanned! {site=>
        #[automatically_derived]
        #[allow(deprecated)]
        impl<B: #backend #(+ #bounds)*> #runs_on<B> for #self_type {
            type Source = <B as #delivers>::Source;

            fn open<'s>(
                session: &'s <B as #backend>::Session,
                settings: &#settings,
                id: #source_id,
            ) -> #opening<'s, Self::Source> {
                #open::<B>(session, settings, id)
            }
        }
    }
}

fn handler(model: &Model, function: &Function) -> TokenStream {
    let site = Span::mixed_site();
    let ident = function.ident();
    let at_ident = here(ident.span());
    let types: Vec<_> = function.arguments().collect();
    let names = names(types.len());
    let mode = model.mode.path(site);
    let (extract, ok, err) = (paths::extract(site), paths::ok(site), paths::err(site));
    let lifetime = lifetimes::delivery(site);
    let bounds = types.iter().enumerate().map(|(index, ty)| extract_bound(index, ty, model.mode));
    let extractions = names.iter().enumerate().map(|(index, name)| {
        let alias = alias(index, site);
        quote_spanned! {site=>
            let #name = match <#alias<#lifetime> as #extract<#lifetime, X, #mode>>::extract(&parts) {
                #ok(argument) => argument,
                #err(rejection) => return #err(rejection),
            };
        }
    });
    let parts = if names.is_empty() { quote_spanned!(site=> _) } else { quote_spanned!(site=> parts) };
    let said = spread(quote_spanned!(site=> #ident(#(#names),*).await), output_ends(function));
    let verdict = paths::verdict(site);
    let judged = quote_spanned!(site=> #verdict::<#mode>::judge(#said));
    let statements = quote_spanned!(site=> #(#extractions)* #ok(#judged));
    let future = quote_spanned!(at_ident=> async move { #statements });
    let (head, signature) = handle(function, &parts);
    quote_spanned! {site=>
        #head
        where
            #(#bounds,)*
        {
            #signature {
                #future
            }
        }
    }
}

/// `impl<X: BusContext> Handler<X> for name`, and the signature of its method.
pub(crate) fn handle(function: &Function, parts_name: &TokenStream) -> (TokenStream, TokenStream) {
    let site = Span::mixed_site();
    let ident = located(function.ident(), here(function.ident().span()));
    let (handler, context, parts) = (paths::handler(site), paths::bus_context(site), paths::parts(site));
    let (future, send, result) = (paths::future(site), paths::send(site), paths::result(site));
    let (judgement, rejection, lifetime) = (paths::judgement(site), paths::rejection(site), lifetimes::delivery(site));
    let head = quote_spanned! {site=>
        #[automatically_derived]
        #[allow(deprecated)]
        impl<X: #context> #handler<X> for #ident
    };
    let signature = quote_spanned! {site=>
        fn handle<#lifetime>(
            &#lifetime self,
            #parts_name: #parts<#lifetime, X>,
        ) -> impl #future<Output = #result<#judgement, #rejection>> + #send + #lifetime
    };
    (head, signature)
}

/// `for<'d> Arg<'d>: Extract<'d, X, Mode>`, all of it where the argument's type is.
fn extract_bound(index: usize, ty: &Type, mode: ModeType) -> TokenStream {
    let ends = ends(ty);
    let at = here(ends.0);
    let (alias, lifetime, extract, mode) =
        (alias(index, at), lifetimes::delivery(at), paths::extract(at), mode.path(at));
    let left = spread(quote_spanned!(at=> #alias<#lifetime>), ends);
    let right = spread(quote_spanned!(at=> #extract<#lifetime, X, #mode>), ends);
    quote_spanned!(at=> for<#lifetime> #left: #right)
}

fn names(count: usize) -> Vec<Ident> {
    (0..count).map(|index| format_ident!("argument{index}", span = Span::mixed_site())).collect()
}

fn alias(index: usize, span: Span) -> Ident {
    format_ident!("__Argument{index}", span = span)
}

fn located(ident: &Ident, span: Span) -> Ident {
    let mut ident = ident.clone();
    ident.set_span(span);
    ident
}

/// Where the return type is, or the function's name if there is none.
fn output_ends(function: &Function) -> (Span, Span) {
    match function.output() {
        ReturnType::Default => (function.ident().span(), function.ident().span()),
        ReturnType::Type(_, ty) => ends(ty),
    }
}

/// The first and the last token's place.
fn ends(tokens: impl ToTokens) -> (Span, Span) {
    let mut spans = tokens.into_token_stream().into_iter().map(|token| token.span());
    let first = spans.next().unwrap_or_else(Span::call_site);
    (first, spans.last().unwrap_or(first))
}

/// The tokens as if they reached from the first place to the last: rustc underlines what is between them.
fn spread(tokens: TokenStream, (first, last): (Span, Span)) -> TokenStream {
    let mut tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let end = tokens.len().saturating_sub(1);
    for (index, token) in tokens.iter_mut().enumerate() {
        let at = if index == end && index > 0 { last } else { first };
        token.set_span(here(at));
    }
    tokens.into_iter().collect()
}
