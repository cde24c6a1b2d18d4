//! What is missing, and whether each place names a field. Gives a topic that has no mistakes.

use proc_macro2::Span;
use syn::{Data, DeriveInput, Field, Fields, Index, LitStr, Member, Type, ext::IdentExt};

use super::{
    attribute::{AS_IN, Settings},
    template::{self, Token},
};
use crate::{
    errors::Errors,
    suggest::{listed, nearest},
};

/// A topic that can be written.
pub(crate) struct Declared {
    pub(crate) subject: LitStr,
    pub(crate) pieces: Vec<Piece>,
    pub(crate) event_type: LitStr,
    pub(crate) schema: Option<LitStr>,
}

/// One token of the subject.
pub(crate) enum Piece {
    Word(String),
    Place(Box<Place>),
}

/// A field, as a place names it.
pub(crate) struct Place {
    pub(crate) name: String,
    pub(crate) member: Member,
    pub(crate) ty: Type,
}

/// Checks the whole; none where a mistake left something needed out.
pub(crate) fn validate(settings: Settings, item: &DeriveInput, errors: &mut Errors) -> Option<Declared> {
    if let Data::Union(data) = &item.data {
        errors.at(data.union_token.span, "a union is no topic; derive `Topic` on a struct");
        return None;
    }
    missing(&settings, item, errors);
    let subject = settings.subject.into_value()?;
    let pieces = pieces(template::read(&subject, errors)?, subject.span(), item, errors);
    Some(Declared {
        subject,
        pieces: pieces?,
        event_type: settings.event_type.into_value()?,
        schema: settings.schema.into_value(),
    })
}

fn missing(settings: &Settings, item: &DeriveInput, errors: &mut Errors) {
    let required = [("subject", settings.subject.is_absent()), ("event_type", settings.event_type.is_absent())];
    let missing: Vec<_> = required.into_iter().filter_map(|(word, absent)| absent.then_some(word)).collect();
    if settings.is_broken || missing.is_empty() {
        return;
    }
    let text = match missing[..] {
        ["subject"] => "`#[topic(..)]` lacks `subject`, where its values go; add `subject = \"..\"`".to_owned(),
        ["event_type"] => {
            "`#[topic(..)]` lacks `event_type`, the type of its events; add `event_type = \"com.example.order.placed.v1\"`".to_owned()
        }
        _ => format!("`{}` lacks its subject and its event type; {AS_IN}", item.ident.unraw()),
    };
    errors.at(settings.at, text);
}

/// The tokens, each place with its field.
fn pieces(tokens: Vec<Token>, at: Span, item: &DeriveInput, errors: &mut Errors) -> Option<Vec<Piece>> {
    let fields = match &item.data {
        Data::Struct(data) => Some(&data.fields),
        Data::Enum(_) | Data::Union(_) => None,
    };
    let mut pieces = Vec::new();
    let mut sound = true;
    for token in tokens {
        let name = match token {
            Token::Word(word) => {
                pieces.push(Piece::Word(word));
                continue;
            }
            Token::Place(name) => name,
        };
        let Some(fields) = fields else {
            let text = format!(
                "an enum has no fields that all its variants share, so its subject has no places; \
                 leave `{{{name}}}` out, or derive `Topic` on a struct"
            );
            errors.at(at, text);
            return None;
        };
        if let Some((member, field)) = members(fields).find(|(member, _)| written(member) == name) {
            pieces.push(Piece::Place(Box::new(Place { name, member, ty: field.ty.clone() })));
        } else {
            errors.at(at, no_field(&name, fields, item));
            sound = false;
        }
    }
    sound.then_some(pieces)
}

fn members(fields: &Fields) -> impl Iterator<Item = (Member, &Field)> {
    fields.iter().enumerate().map(|(index, field)| {
        let member = field.ident.clone().map_or_else(|| Member::Unnamed(Index::from(index)), Member::Named);
        (member, field)
    })
}

/// The member as a place names it.
fn written(member: &Member) -> String {
    match member {
        Member::Named(ident) => ident.unraw().to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    }
}

fn no_field(name: &str, fields: &Fields, item: &DeriveInput) -> String {
    let ty = item.ident.unraw();
    let names: Vec<_> = members(fields).map(|(member, _)| written(&member)).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    if names.is_empty() {
        return format!("`{ty}` has no field `{name}`; it has none at all, leave `{{{name}}}` out");
    }
    let near = nearest(name, &names).map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
    format!("`{ty}` has no field `{name}`; {near}a place takes one of {}", listed(&names, ","))
}
