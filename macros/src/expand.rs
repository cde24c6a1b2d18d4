//! Emits a subscription: the struct of the function's name, and behind it what a bus calls.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Ident, ReturnType, Type};

use crate::{
    carries,
    function::Function,
    lifetimes,
    lower::{Bound, ModeType, Model},
    paths,
    returns::Returns,
};

/// The struct, and behind it two blocks: the outer has what is the user's, the inner what is generated, so that no
/// generated name is in sight of the user's body and types.
pub(crate) fn expand(model: &Model, function: &Function, returns: Option<&Returns>) -> TokenStream {
    let item = structure(function);
    let (conditions, constants) = (&function.conditions, &model.constants);
    let users = [itself(function), call(function)];
    let (subscription, runs_on) = (subscription(model, function), runs_on(model, function));
    let generated = [carries::checks(model, function), subscription, runs_on, handler(model, function, returns)];
    let site = Span::mixed_site();
    quote_spanned! {site=>
        #item
        #(#conditions)*
        const _: () = {
            #(#users)*
            const _: () = {
                #constants
                #(#generated)*
            };
        };
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

/// The function as it is. Its name's place is ours, or rustc would advise on generics, once more for each copy of a type.
pub(crate) fn itself(function: &Function) -> TokenStream {
    let mut item = function.item.clone();
    let at = item.sig.ident.span();
    let site = Span::mixed_site();
    item.sig.ident.set_span(at.resolved_at(site));
    // A handler that nobody subscribes is reported as the struct that nobody makes; and a handler is async, also where it
    // waits for nothing.
    quote_spanned!(site=> #[allow(dead_code, clippy::unused_async)] #item)
}

/// `name::call(..)`, which calls the function as it is.
pub(crate) fn call(function: &Function) -> TokenStream {
    let site = Span::mixed_site();
    let (ident, visibility, future) = (function.ident(), &function.visibility, paths::future(site));
    let output = match function.output() {
        ReturnType::Default => quote_spanned!(site=> ()),
        ReturnType::Type(_, ty) => ty.to_token_stream(),
    };
    let types = function.arguments();
    let names: Vec<_> = function.names().zip(names()).map(|(own, other)| own.unwrap_or(other)).collect();
    quote_spanned! {site=>
        #[allow(deprecated)]
        impl #ident {
            /// Calls the function itself, as a unit test does.
            #[allow(unreachable_pub, private_interfaces)]
            #visibility fn call(#(#names: #types),*) -> impl #future<Output = #output> {
                #ident(#(#names),*)
            }
        }
    }
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
    let ident = function.ident();
    let (runs_on, backend) = (paths::runs_on(ident.span()), paths::backend(site));
    let runs_on = quote_spanned!(ident.span()=> #runs_on<B>);
    let (source_id, settings, opening) = (paths::source_id(site), paths::settings(site), paths::opening(site));
    let (mode, source) = match model.mode {
        ModeType::AtMostOnce => (paths::delivers_at_most_once(site), "Source"),
        ModeType::Immediate | ModeType::Delayed => (paths::delivers_at_least_once(site), "Source"),
        ModeType::Answering => (paths::answers_requests(site), "Requests"),
    };
    let source = Ident::new(source, site);
    let open = match model.mode {
        ModeType::AtMostOnce => paths::open_at_most_once(site),
        ModeType::Immediate | ModeType::Delayed => paths::open_at_least_once(site),
        ModeType::Answering => paths::open_responder(site),
    };
    let failure_reply = paths::failure_reply(site);
    let (failure, arguments) = match model.mode {
        ModeType::Answering => (quote_spanned!(site=> failure), quote_spanned!(site=> session, settings, id, failure)),
        _ => (quote_spanned!(site=> _), quote_spanned!(site=> session, settings, id)),
    };
    let always = model.bounds.iter().filter(|bound| !bound.in_mode).map(|bound| &bound.capability);
    let in_mode = model.bounds.iter().filter(|bound| bound.in_mode).map(|Bound { capability, .. }| {
        let in_mode = paths::in_mode(site);
        quote_spanned!(site=> <<B as #mode>::#source as #in_mode<B>>::Backend: #capability)
    });
    let clause = where_clause(in_mode);
    quote_spanned! {site=>
        #[automatically_derived]
        #[allow(deprecated)]
        impl<B: #backend #(+ #always)*> #runs_on for #ident #clause {
            type Source = <B as #mode>::#source;

            fn open<'s>(
                session: &'s <B as #backend>::Session,
                settings: &#settings,
                id: #source_id,
                #failure: &#failure_reply,
            ) -> #opening<'s, Self::Source> {
                #open::<B>(#arguments)
            }
        }
    }
}

fn handler(model: &Model, function: &Function, returns: Option<&Returns>) -> TokenStream {
    let site = Span::mixed_site();
    let ident = function.ident();
    let types: Vec<_> = function.arguments().collect();
    let names: Vec<_> = names().take(types.len()).collect();
    let mode = model.mode.path(site);
    let (extract, ok, err) = (paths::extract(site), paths::ok(site), paths::err(site));
    let handling = if returns.is_some() { paths::answering_call(site) } else { paths::handling(site) };
    let lifetime = lifetimes::delivery(site);
    let reply_bound = returns.map(Returns::bound);
    let clause = where_clause(types.iter().map(|ty| extract_bound(ty, model.mode)).chain(reply_bound));
    let extractions = names.iter().map(|name| {
        quote_spanned! {site=>
            let #name = match #extract::<#lifetime, __AnyBus, #mode>::extract(&parts) {
                #ok(argument) => argument,
                #err(rejection) => return #handling::rejected(rejection),
            };
        }
    });
    let parts =
        if names.is_empty() && returns.is_none() { quote_spanned!(site=> _) } else { quote_spanned!(site=> parts) };
    let output = output_ends(function);
    let said = spread(quote_spanned!(site=> #ident(#(#names),*)), output);
    let called = match returns {
        None => {
            let called = spread(quote_spanned!(site=> #handling::called::<#mode>), output);
            quote_spanned!(site=> #called(#said))
        }
        Some(returns) => returns.call(&said, output),
    };
    let (head, signature) = handle(ident, &parts);
    quote_spanned! {site=>
        #head #clause {
            #signature {
                #(#extractions)*
                #called
            }
        }
    }
}

/// `impl<X: BusContext> Handler<X> for name`, and the signature of its method. What a future that is not `Send` is
/// reported for is where the function is.
pub(crate) fn handle(ident: &Ident, parts_name: &TokenStream) -> (TokenStream, TokenStream) {
    let (site, at) = (Span::mixed_site(), ident.span());
    let (handler, context, parts) = (paths::handler(at), paths::bus_context(site), paths::parts(site));
    let (future, send, result) = (paths::future(at), paths::send(at), paths::result(at));
    let (judgement, rejection) = (paths::judgement(at), paths::rejection(at));
    let lifetime = lifetimes::delivery(site);
    let handler = quote_spanned!(at=> #handler<__AnyBus>);
    let head = quote_spanned! {site=>
        #[automatically_derived]
        #[allow(deprecated, clippy::absolute_paths)]
        impl<__AnyBus: #context> #handler for #ident
    };
    let until = lifetimes::delivery(at);
    let handled = quote_spanned!(at=> impl #future<Output = #result<#judgement, #rejection>> + #send + #until);
    let signature = quote_spanned!(site=> fn handle<#lifetime>(&#lifetime self, #parts_name: #parts<#lifetime, __AnyBus>) -> #handled);
    (head, signature)
}

fn where_clause(bounds: impl Iterator<Item = TokenStream>) -> TokenStream {
    let bounds: Vec<_> = bounds.collect();
    let site = Span::mixed_site();
    if bounds.is_empty() { TokenStream::new() } else { quote_spanned!(site=> where #(#bounds,)*) }
}

/// `for<'d> Type: Extract<'d, X, Mode>`, all of it where the argument's type is, and its left-out lifetimes `'d`.
fn extract_bound(ty: &Type, mode: ModeType) -> TokenStream {
    let ends = ends(ty);
    let at = ends.0;
    let (ty, lifetime, extract, mode) =
        (lifetimes::named(ty), lifetimes::delivery(at), paths::extract(at), mode.path(at));
    let bound = spread(quote_spanned!(at=> #extract<#lifetime, __AnyBus, #mode>), ends);
    quote_spanned!(at=> for<#lifetime> #ty: #bound)
}

/// `argument0`, `argument1` and so on.
fn names() -> impl Iterator<Item = Ident> {
    (0..).map(|index: usize| format_ident!("argument{index}", span = Span::mixed_site()))
}

/// Where the return type is, or the function's name if there is none.
fn output_ends(function: &Function) -> (Span, Span) {
    match function.output() {
        ReturnType::Default => (function.ident().span(), function.ident().span()),
        ReturnType::Type(_, ty) => ends(ty),
    }
}

/// The first and the last token's place.
pub(crate) fn ends(tokens: impl ToTokens) -> (Span, Span) {
    let mut spans = tokens.into_token_stream().into_iter().map(|token| token.span());
    let first = spans.next().unwrap_or_else(Span::call_site);
    (first, spans.last().unwrap_or(first))
}

/// The tokens as if they reached from the first place to the last: rustc underlines what is between them.
pub(crate) fn spread(tokens: TokenStream, (first, last): (Span, Span)) -> TokenStream {
    let mut tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let end = tokens.len().saturating_sub(1);
    for (index, token) in tokens.iter_mut().enumerate() {
        let at = if index == end && index > 0 { last } else { first };
        token.set_span(at);
    }
    tokens.into_iter().collect()
}
