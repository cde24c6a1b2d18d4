//! Names the lifetimes that an argument's type leaves out: all of them are the delivery's, or `'static` where only the
//! type as such is asked about.

use proc_macro2::Span;
use syn::{
    Lifetime, ParenthesizedGenericArguments, Type, TypeBareFn, TypeReference,
    spanned::Spanned,
    visit_mut::{self, VisitMut},
};

/// The delivery's lifetime, where `span` is.
pub(crate) fn delivery(span: Span) -> Lifetime {
    Lifetime::new("'d", span.resolved_at(Span::mixed_site()))
}

/// The type with each `'_` and each `&` without a lifetime given the delivery's.
pub(crate) fn named(ty: &Type) -> Type {
    with(ty, delivery)
}

/// The type with each of them `'static`.
pub(crate) fn for_ever(ty: &Type) -> Type {
    with(ty, |span| Lifetime::new("'static", span))
}

fn with(ty: &Type, lifetime: fn(Span) -> Lifetime) -> Type {
    let mut ty = ty.clone();
    Named(lifetime).visit_type_mut(&mut ty);
    ty
}

struct Named(fn(Span) -> Lifetime);

impl VisitMut for Named {
    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if lifetime.ident == "_" {
            *lifetime = (self.0)(lifetime.span());
        }
    }

    fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
        if reference.lifetime.is_none() {
            reference.lifetime = Some((self.0)(reference.and_token.span()));
        }
        visit_mut::visit_type_reference_mut(self, reference);
    }

    // Function types have lifetimes of their own.
    fn visit_type_bare_fn_mut(&mut self, _: &mut TypeBareFn) {}
    fn visit_parenthesized_generic_arguments_mut(&mut self, _: &mut ParenthesizedGenericArguments) {}
}

#[cfg(test)]
mod tests {
    use quote::ToTokens;

    use super::*;

    #[test]
    fn every_left_out_lifetime_is_the_deliverys() {
        let cases = [
            ("&Subject", "& 'd Subject"),
            ("Payload<Invoice<'_>>", "Payload < Invoice < 'd > >"),
            ("Payload<(&str, Cow<'_, [&u8]>)>", "Payload < (& 'd str , Cow < 'd , [& 'd u8] >) >"),
            ("&'static str", "& 'static str"),
            ("State<fn(&u8) -> &u8>", "State < fn (& u8) -> & u8 >"),
            ("State<Box<dyn Fn(&u8)>>", "State < Box < dyn Fn (& u8) > >"),
        ];
        for (given, expected) in cases {
            let ty = syn::parse_str(given).expect("a type");
            assert_eq!(named(&ty).to_token_stream().to_string(), expected);
        }
    }
}
