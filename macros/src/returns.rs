//! What a responder returns: an event, or a value that an event of a named type carries.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::{GenericArgument, LitStr, PathArguments, ReturnType, Type, TypeImplTrait, visit::Visit};

use crate::{
    errors::Errors,
    expand::{ends, spread},
    function::Function,
    lifetimes, paths,
    settings::Slot,
};

/// What a responder returns.
pub(crate) struct Returns {
    /// All of it.
    output: Type,
    /// What is the reply of it.
    reply: Reply,
}

enum Reply {
    /// It says itself what the event is.
    Event,
    /// The whole of it is a value, carried by an event of this type.
    Value(LitStr),
    /// It is a `Result` of such a value.
    Result(Box<Type>, LitStr),
}

impl Returns {
    /// Reads the return type; none where a mistake has been reported.
    pub(crate) fn read(function: &Function, event_type: &Slot<LitStr>, errors: &mut Errors) -> Option<Self> {
        const RETURNS_ITS_REPLY: &str = "a responder returns its reply: a value beside `reply = \"..\"`, an `Event`, or a \
                                         `Result` of one of them;\nto reply nothing write `#[subscription(..)]`";
        let ReturnType::Type(_, output) = function.output() else {
            errors.at(function.ident().span(), RETURNS_ITS_REPLY);
            return None;
        };
        let mut opaque = Opaque { at: None };
        opaque.visit_type(output);
        if let Some(at) = opaque.at {
            errors.at(at, "a responder's reply has one type; write it instead of `impl Trait`");
            return None;
        }
        let of_result = of_result(output);
        let value = of_result.unwrap_or(output);
        if matches!(value, Type::Tuple(tuple) if tuple.elems.is_empty()) {
            errors.over(value, RETURNS_ITS_REPLY);
            return None;
        }
        let reply = match (event_type, of_result) {
            (Slot::Broken, _) => return None,
            (Slot::Absent, _) => Reply::Event,
            (Slot::Set(event_type), None) => Reply::Value(event_type.value.clone()),
            (Slot::Set(event_type), Some(value)) => Reply::Result(Box::new(value.clone()), event_type.value.clone()),
        };
        Some(Self { output: (**output).clone(), reply })
    }

    /// What is asked of the return type, or of the bus's codec, where the type is.
    pub(crate) fn bound(&self) -> TokenStream {
        let asked = match &self.reply {
            Reply::Event | Reply::Value(_) => &self.output,
            Reply::Result(value, _) => value,
        };
        let ends = ends(asked);
        let (at, ty) = (ends.0, lifetimes::named(asked));
        let (lifetime, codec) = (lifetimes::delivery(at), codec(at));
        if let Reply::Event = self.reply {
            let answer = paths::answer(at);
            let bound = spread(quote_spanned!(at=> #answer<#codec>), ends);
            quote_spanned!(at=> for<#lifetime> #ty: #bound)
        } else {
            let encodes = paths::encodes(at);
            let bound = quote_spanned!(at=> #encodes<#ty>);
            quote_spanned!(at=> for<#lifetime> #codec: #bound)
        }
    }

    /// The future of a call, from the call of the function itself.
    pub(crate) fn call(&self, said: &TokenStream, output: (Span, Span)) -> TokenStream {
        let site = Span::mixed_site();
        let (call, codec) = (paths::answering_call(site), codec(site));
        let spread = |tokens| spread(tokens, output);
        match &self.reply {
            Reply::Event => {
                let call = spread(quote_spanned!(site=> #call::event::<#codec>));
                quote_spanned!(site=> #call(#said, parts.source()))
            }
            Reply::Value(event_type) => {
                let (is_result, no_result, refuse) =
                    (paths::is_result(site), paths::no_result(site), paths::refuse_hidden_result(output.0));
                let ty = &self.output;
                let refuse = quote_spanned!(output.0=> #refuse(#is_result::<#ty>::HIDDEN));
                let call = spread(quote_spanned!(site=> #call::value::<#codec>));
                quote_spanned! {site=>
                    const { use #no_result as _; #refuse };
                    #call(#said, parts.source(), #event_type)
                }
            }
            Reply::Result(_, event_type) => {
                let call = spread(quote_spanned!(site=> #call::result::<#codec, _, _>));
                quote_spanned!(site=> #call(#said, parts.source(), #event_type))
            }
        }
    }
}

/// The bus's codec.
fn codec(at: Span) -> TokenStream {
    let context = paths::bus_context(at);
    quote_spanned!(at=> <__AnyBus as #context>::Codec)
}

/// What is in a `Result<..>` that is written as one.
fn of_result(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == "Result")?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

/// Finds an `impl Trait`.
struct Opaque {
    at: Option<Span>,
}

impl<'t> Visit<'t> for Opaque {
    fn visit_type_impl_trait(&mut self, found: &'t TypeImplTrait) {
        self.at.get_or_insert(found.impl_token.span);
    }
}
