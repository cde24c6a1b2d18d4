//! Reading: members first, as they are written, then what each of them means.

use std::{borrow::Cow, fmt};

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

use super::FormatError;
use crate::event::{
    Data, Event, EventBuilder, Excerpt, Timestamp, Uri, UriReference, Utf8Bytes, Value, error::version_flaw, media_type,
};

/// `shared` is the same document, if slices of it may be kept.
pub(super) fn event(document: &[u8], shared: Option<&Bytes>) -> Result<Event, FormatError> {
    serde_json::from_slice::<Members<'_>>(document).map_err(FormatError::Document)?.into_event(shared)
}

pub(super) fn batch(document: &[u8], shared: Option<&Bytes>) -> Result<Vec<Event>, FormatError> {
    let elements: Vec<&RawValue> = serde_json::from_slice(document).map_err(FormatError::Document)?;
    let read = |(index, element): (usize, &RawValue)| {
        event(element.get().as_bytes(), shared).map_err(|source| FormatError::InBatch { index, source: source.into() })
    };
    elements.into_iter().enumerate().map(read).collect()
}

/// The members of the document in their order, duplicates included.
struct Members<'d>(Vec<(Cow<'d, str>, &'d RawValue)>);

/// A string that is borrowed if it has no escapes. (A bare `Cow` never borrows with serde.)
#[derive(Deserialize)]
struct Str<'d>(#[serde(borrow)] Cow<'d, str>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;

        impl<'de> Visitor<'de> for Collect {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an event, which is a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                // As many as most events have.
                let mut members = Vec::with_capacity(12);
                while let Some((Str(name), value)) = map.next_entry()? {
                    members.push((name, value));
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(Collect)
    }
}

impl<'d> Members<'d> {
    fn into_event(self, shared: Option<&Bytes>) -> Result<Event, FormatError> {
        // Before all else: an event of another version has other members, and its version is what to say about it.
        self.check_version()?;
        self.check_duplicates()?;
        let Self(members) = self;

        let mut known = Known::default();
        let mut extensions = Vec::new();
        for (name, value) in members {
            match known.member(&name) {
                Some(member) => *member = Some(value),
                None if is_null(value) => check_null_extension(&name)?,
                None => extensions.push((name, value)),
            }
        }
        let mut builder = known.into_builder(shared)?;
        for (name, value) in extensions {
            let value = extension(&name, value)?;
            builder = builder.extension(name, value);
        }
        Ok(builder.build_with_plain_json()?)
    }

    fn check_version(&self) -> Result<(), FormatError> {
        let version = self.0.iter().find(|(name, value)| name == "specversion" && !is_null(value));
        let Some((name, value)) = version else {
            return Err(FormatError::Missing { member: "specversion" });
        };
        let found = string(name, value)?;
        match version_flaw(&found) {
            None => Ok(()),
            Some(hint) => Err(FormatError::Version { found: Excerpt::of(&found), hint }),
        }
    }

    fn check_duplicates(&self) -> Result<(), FormatError> {
        let mut names: Vec<&str> = self.0.iter().map(|(name, _)| &**name).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(FormatError::Duplicate { member: Excerpt::of(pair[0]) }),
            None => Ok(()),
        }
    }
}

/// The members that the specification names.
#[derive(Default)]
struct Known<'d> {
    version: Option<&'d RawValue>,
    id: Option<&'d RawValue>,
    source: Option<&'d RawValue>,
    event_type: Option<&'d RawValue>,
    subject: Option<&'d RawValue>,
    time: Option<&'d RawValue>,
    content_type: Option<&'d RawValue>,
    schema: Option<&'d RawValue>,
    data: Option<&'d RawValue>,
    base64: Option<&'d RawValue>,
}

impl<'d> Known<'d> {
    fn member(&mut self, name: &str) -> Option<&mut Option<&'d RawValue>> {
        Some(match name {
            "specversion" => &mut self.version,
            "id" => &mut self.id,
            "source" => &mut self.source,
            "type" => &mut self.event_type,
            "subject" => &mut self.subject,
            "time" => &mut self.time,
            "datacontenttype" => &mut self.content_type,
            "dataschema" => &mut self.schema,
            "data" => &mut self.data,
            "data_base64" => &mut self.base64,
            _ => return None,
        })
    }

    fn into_builder(self, shared: Option<&Bytes>) -> Result<EventBuilder, FormatError> {
        let id = required("id", self.id)?;
        let source = required("source", self.source)?;
        let event_type = required("type", self.event_type)?;
        let source = UriReference::new(source).map_err(|source| FormatError::Uri { member: "source", source })?;

        let mut builder = Event::builder(id, source, event_type);
        if let Some(subject) = optional("subject", self.subject)? {
            builder = builder.subject(subject);
        }
        if let Some(time) = optional("time", self.time)? {
            builder = builder.time(Timestamp::new(time).map_err(FormatError::Time)?);
        }
        if let Some(schema) = optional("dataschema", self.schema)? {
            builder = builder
                .data_schema(Uri::new(schema).map_err(|source| FormatError::Uri { member: "dataschema", source })?);
        }
        let content_type = optional("datacontenttype", self.content_type)?;
        if let Some(data) = data(self.data, self.base64, content_type.as_deref(), shared)? {
            builder = builder.data(content_type.as_deref(), data);
        } else if let Some(content_type) = content_type {
            builder = builder.data_content_type(content_type);
        }
        Ok(builder)
    }
}

fn data(
    data: Option<&RawValue>,
    base64: Option<&RawValue>,
    content_type: Option<&str>,
    shared: Option<&Bytes>,
) -> Result<Option<Data>, FormatError> {
    let keep = |part: &str| {
        shared.map_or_else(|| Bytes::copy_from_slice(part.as_bytes()), |all| all.slice_ref(part.as_bytes()))
    };
    match (data, base64) {
        (None, None) => Ok(None),
        (Some(_), Some(_)) => Err(FormatError::TwoData),
        // The builder makes it JSON if the media type says so.
        (None, Some(base64)) => {
            let text = string("data_base64", base64)?;
            let bytes = BASE64_STANDARD.decode(text.as_bytes()).map_err(|error| FormatError::Base64(error.into()))?;
            Ok(Some(Data::Binary(bytes.into())))
        }
        (Some(json), None) if content_type.is_none_or(media_type::is_json) => Ok(Some(Data::Json(keep(json.get())))),
        (Some(text), None) if is_string(text) => {
            let text = match string("data", text)? {
                Cow::Borrowed(text) => {
                    Utf8Bytes::new(keep(text)).map_err(|_| wrong_type("data", "not UTF-8", "text"))?
                }
                Cow::Owned(text) => text.into(),
            };
            Ok(Some(Data::Text(text)))
        }
        (Some(other), None) => {
            Err(wrong_type("data", kind(other), "a string, because `datacontenttype` is not a JSON media type"))
        }
    }
}

fn extension(name: &str, value: &RawValue) -> Result<Value, FormatError> {
    const WANTED: &str = "a Boolean, a string, or a whole number of 32 bits without fraction and exponent";
    let text = value.get();
    match text.as_bytes().first() {
        Some(b't') => Ok(Value::Boolean(true)),
        Some(b'f') => Ok(Value::Boolean(false)),
        Some(b'"') => Ok(Value::String(string(name, value)?.into_owned())),
        Some(b'-' | b'0'..=b'9') => {
            text.parse().map(Value::Integer).map_err(|_| wrong_type(name, "another number", WANTED))
        }
        _ => Err(wrong_type(name, kind(value), WANTED)),
    }
}

/// A null extension is absent, but its name must still be one.
fn check_null_extension(name: &str) -> Result<(), FormatError> {
    Ok(crate::event::extension_name::check(name)?)
}

fn required<'d>(member: &'static str, value: Option<&'d RawValue>) -> Result<Cow<'d, str>, FormatError> {
    optional(member, value)?.ok_or(FormatError::Missing { member })
}

fn optional<'d>(member: &'static str, value: Option<&'d RawValue>) -> Result<Option<Cow<'d, str>>, FormatError> {
    value.filter(|value| !is_null(value)).map(|value| string(member, value)).transpose()
}

fn string<'d>(member: &str, value: &'d RawValue) -> Result<Cow<'d, str>, FormatError> {
    if !is_string(value) {
        return Err(wrong_type(member, kind(value), "a string"));
    }
    match serde_json::from_str(value.get()) {
        Ok(Str(text)) => Ok(text),
        Err(source) => Err(FormatError::Text { member: Excerpt::of(member), source }),
    }
}

fn wrong_type(member: &str, found: &'static str, wanted: &'static str) -> FormatError {
    FormatError::Type { member: Excerpt::of(member), found, wanted }
}

fn is_null(value: &RawValue) -> bool {
    value.get() == "null"
}

fn is_string(value: &RawValue) -> bool {
    value.get().starts_with('"')
}

/// What a JSON value is: its first byte tells.
fn kind(value: &RawValue) -> &'static str {
    match value.get().as_bytes().first() {
        Some(b'"') => "a string",
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b't' | b'f') => "a Boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}
