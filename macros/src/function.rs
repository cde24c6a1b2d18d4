//! The function under the attribute: what of it goes where, and what a handler cannot be.

use proc_macro2::{Span, TokenStream};
use syn::{
    Attribute, BoundLifetimes, FnArg, GenericParam, Ident, ItemFn, Lifetime, Meta, Pat, PatIdent, PatType, ReturnType,
    Token, Type, TypeImplTrait, TypeInfer, Visibility, punctuated::Punctuated, visit::Visit,
};

use crate::errors::Errors;

/// A handler's function, taken apart.
pub(crate) struct Function {
    /// The function itself, private, with the attributes that are its own.
    pub(crate) item: ItemFn,
    /// Its visibility, which the struct gets.
    pub(crate) visibility: Visibility,
    /// Documentation, deprecation and lint levels, for the struct.
    pub(crate) struct_attributes: Vec<Attribute>,
    /// Conditions, for everything that is generated.
    pub(crate) conditions: Vec<Attribute>,
    /// Whether it is written like a method, so that it can only stand where it stood.
    pub(crate) has_receiver: bool,
    /// Whether rustc has nothing to say about its signature that has been said already.
    pub(crate) has_sound_types: bool,
}

impl Function {
    pub(crate) fn read(mut item: ItemFn, errors: &mut Errors) -> Self {
        let has_sound_types = refuse(&item, errors);
        let visibility = std::mem::replace(&mut item.vis, Visibility::Inherited);
        let (mut own, mut struct_attributes, mut conditions) = (Vec::new(), Vec::new(), Vec::new());
        for attribute in std::mem::take(&mut item.attrs) {
            match place(&attribute) {
                Place::Everywhere => conditions.push(attribute),
                Place::Struct => struct_attributes.push(attribute),
                Place::Function => own.push(attribute),
                Place::Both => {
                    struct_attributes.push(attribute.clone());
                    own.push(attribute);
                }
            }
        }
        item.attrs = own;
        let has_receiver = item.sig.receiver().is_some();
        Self { item, visibility, struct_attributes, conditions, has_receiver, has_sound_types }
    }

    pub(crate) fn ident(&self) -> &Ident {
        &self.item.sig.ident
    }

    /// The types of the arguments.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = &Type> {
        self.item.sig.inputs.iter().filter_map(|argument| match argument {
            FnArg::Typed(argument) => Some(&*argument.ty),
            FnArg::Receiver(_) => None,
        })
    }

    /// The arguments' names, where they are names and no other patterns; as locals of ours, since a function may have an
    /// argument of its own name.
    pub(crate) fn names(&self) -> impl Iterator<Item = Option<Ident>> {
        self.item.sig.inputs.iter().map(|argument| match argument {
            FnArg::Typed(PatType { pat, .. }) => match &**pat {
                Pat::Ident(PatIdent { ident, .. }) => Some(Ident::new(&ident.to_string(), Span::mixed_site())),
                _ => None,
            },
            FnArg::Receiver(_) => None,
        })
    }

    pub(crate) fn output(&self) -> &ReturnType {
        &self.item.sig.output
    }
}

/// Where an attribute of the function goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Everywhere,
    Struct,
    Function,
    Both,
}

fn place(attribute: &Attribute) -> Place {
    let path = attribute.path();
    if !path.is_ident("cfg_attr") {
        return path.get_ident().map_or(Place::Function, place_of);
    }
    // `cfg_attr(condition, attribute, ..)` goes where its first attribute goes.
    let Meta::List(list) = &attribute.meta else { return Place::Function };
    let inner = list.parse_args_with(Punctuated::<TokenStreamUpToComma, Token![,]>::parse_terminated);
    let first = inner.ok().and_then(|inner| inner.into_iter().nth(1));
    first
        .and_then(|first| syn::parse2::<Meta>(first.0).ok())
        .map_or(Place::Function, |meta| meta.path().get_ident().map_or(Place::Function, place_of))
}

fn place_of(name: &Ident) -> Place {
    match name.to_string().as_str() {
        "cfg" => Place::Everywhere,
        "doc" | "deprecated" => Place::Struct,
        "allow" | "warn" | "deny" | "forbid" => Place::Both,
        _ => Place::Function,
    }
}

struct TokenStreamUpToComma(TokenStream);

impl syn::parse::Parse for TokenStreamUpToComma {
    fn parse(input: syn::parse::ParseStream<'_>) -> syn::Result<Self> {
        let mut tokens = TokenStream::new();
        while !input.is_empty() && !input.peek(Token![,]) {
            tokens.extend([input.parse::<proc_macro2::TokenTree>()?]);
        }
        Ok(Self(tokens))
    }
}

/// One error for each thing that a handler cannot be. Whether rustc would find nothing wrong with the types.
fn refuse(item: &ItemFn, errors: &mut Errors) -> bool {
    let signature = &item.sig;
    let mut has_sound_types = signature.variadic.is_none();
    if signature.asyncness.is_none() {
        errors.at(signature.fn_token.span, "a handler is asynchronous; write `async fn`");
    }
    if let Some(token) = signature.constness {
        errors.at(token.span, "a handler cannot be `const`; leave `const` out");
    }
    if let Some(token) = signature.unsafety {
        errors.at(token.span, "a handler cannot be `unsafe`, the bus calls it; leave `unsafe` out");
    }
    if let Some(abi) = &signature.abi {
        errors.over(abi, "a handler cannot be `extern`; leave the ABI out");
    }
    if let Some(variadic) = &signature.variadic {
        errors.over(variadic, "a handler cannot be variadic; name each argument");
    }
    refuse_generics(item, errors);
    for argument in &signature.inputs {
        match argument {
            FnArg::Receiver(receiver) => {
                let text = "a handler has no `self`; write a free function, and take what it needs as `State<T>`";
                errors.at(receiver.self_token.span, text);
            }
            FnArg::Typed(argument) => {
                if let Some(attribute) = argument.attrs.first() {
                    errors.over(attribute, "a handler's argument has no attributes; leave it out");
                }
                let declared = item.sig.generics.lifetimes().map(|parameter| parameter.lifetime.ident.clone());
                let mut types = Types { errors, declared: declared.collect(), sound: true };
                types.visit_type(&argument.ty);
                has_sound_types &= types.sound;
            }
        }
    }
    has_sound_types
}

fn refuse_generics(item: &ItemFn, errors: &mut Errors) {
    for parameter in &item.sig.generics.params {
        match parameter {
            GenericParam::Lifetime(parameter) => {
                errors.at(parameter.lifetime.span(), NAMES_NO_LIFETIME);
            }
            GenericParam::Type(parameter) => {
                let text = "a handler is not generic, it is registered by its name; write the type, or use `Bus::builder`'s closures";
                errors.at(parameter.ident.span(), text);
            }
            GenericParam::Const(parameter) => {
                let text = "a handler is not generic, it is registered by its name; write the value, or a constant";
                errors.at(parameter.ident.span(), text);
            }
        }
    }
    if let Some(clause) = &item.sig.generics.where_clause
        && item.sig.generics.params.is_empty()
    {
        errors.at(clause.where_token.span, "a handler has no `where` clause; leave it out");
    }
}

/// Refuses what an argument's type cannot hold.
struct Types<'e> {
    errors: &'e mut Errors,
    /// Lifetimes that are refused where they are declared, or are a part's own.
    declared: Vec<Ident>,
    sound: bool,
}

impl<'t> Visit<'t> for Types<'_> {
    fn visit_type_impl_trait(&mut self, found: &'t TypeImplTrait) {
        self.errors.at(found.impl_token.span, "a handler's argument has one type; write it instead of `impl Trait`");
    }

    fn visit_type_infer(&mut self, found: &'t TypeInfer) {
        self.errors.at(found.underscore_token.span, "a handler's argument has one type; write it instead of `_`");
        self.sound = false;
    }

    fn visit_lifetime(&mut self, found: &'t Lifetime) {
        if found.ident != "static" && found.ident != "_" && !self.declared.contains(&found.ident) {
            self.errors.at(found.span(), NAMES_NO_LIFETIME);
            self.sound = false;
        }
    }

    fn visit_bound_lifetimes(&mut self, found: &'t BoundLifetimes) {
        let own = found.lifetimes.iter().filter_map(|parameter| match parameter {
            GenericParam::Lifetime(parameter) => Some(parameter.lifetime.ident.clone()),
            GenericParam::Type(_) | GenericParam::Const(_) => None,
        });
        self.declared.extend(own);
    }
}

const NAMES_NO_LIFETIME: &str = "a handler names no lifetime; write `'_`, all arguments borrow from the delivery";
