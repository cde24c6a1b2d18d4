//! Reads `#[topic(..)]`.

use proc_macro2::Span;
use syn::{Attribute, Data, DeriveInput, Field, LitStr, Meta, spanned::Spanned};

use crate::{errors::Errors, parse, read, settings::Slot, words::Words};

/// What was written, and where something that is missing is missing.
pub(crate) struct Settings {
    pub(crate) subject: Slot<LitStr>,
    pub(crate) event_type: Slot<LitStr>,
    pub(crate) schema: Slot<LitStr>,
    /// The attribute, or the type's name where there is none.
    pub(crate) at: Span,
    /// Whether something could not be read, so that nothing is known to be missing.
    pub(crate) is_broken: bool,
}

/// Several attributes are read as one.
pub(crate) fn read(item: &DeriveInput, errors: &mut Errors) -> Settings {
    let (mut entries, mut at, mut is_broken) = (Vec::new(), None, false);
    for attribute in item.attrs.iter().filter(|attribute| is_topic(attribute)) {
        at.get_or_insert(attribute.path().span());
        if let Meta::List(list) = &attribute.meta {
            entries.extend(parse::attribute(list.tokens.clone(), errors));
        } else {
            errors.over(&attribute.meta, format!("`topic` has its parts in parentheses; {AS_IN}"));
            is_broken = true;
        }
    }
    refuse_inner(item, errors);
    let mut words = Words::of_topic(entries, errors);
    Settings {
        subject: Slot::read(words.take("subject"), errors, read::text),
        event_type: Slot::read(words.take("event_type"), errors, read::text),
        schema: Slot::read(words.take("schema"), errors, read::text),
        at: at.unwrap_or(item.ident.span()),
        is_broken,
    }
}

pub(crate) const AS_IN: &str = "write it as in `#[topic(subject = \"..\", event_type = \"..\")]`";

/// On a field, or a variant, rustc lets the attribute stand, and it would say nothing.
fn refuse_inner(item: &DeriveInput, errors: &mut Errors) {
    let mut refuse = |attributes: &[Attribute]| {
        for attribute in attributes.iter().filter(|attribute| is_topic(attribute)) {
            let text = "`#[topic(..)]` goes on the type itself; a field fills a place by its name, as in `subject = \"order.{region}\"`";
            errors.at(attribute.path().span(), text);
        }
    };
    let mut fields = |fields: &mut dyn Iterator<Item = &Field>| fields.for_each(|field| refuse(&field.attrs));
    match &item.data {
        Data::Struct(data) => fields(&mut data.fields.iter()),
        Data::Union(data) => fields(&mut data.fields.named.iter()),
        Data::Enum(data) => {
            for variant in &data.variants {
                fields(&mut variant.fields.iter());
            }
            data.variants.iter().for_each(|variant| refuse(&variant.attrs));
        }
    }
}

fn is_topic(attribute: &Attribute) -> bool {
    attribute.path().is_ident("topic")
}
