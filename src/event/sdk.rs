//! Conversion from and to the event of the `cloudevents-sdk` crate, which refuses what it would change (contract Q9).
//!
//! Attributes, their text included, and data bytes come out of both directions as they went in, or the conversion is an error.
//! Two things are no change, because they are none to an [`Event`] either: an extension of a type that the SDK does not have goes
//! over as its string form, and JSON goes over as a parsed value where writing that gives the same bytes, else as its bytes.

use bytes::Bytes;
use chrono::{DateTime, SecondsFormat, Utc};
use cloudevents::{
    AttributesReader, AttributesWriter, EventBuilder, EventBuilderV10,
    event::{Data as SdkData, ExtensionValue, SpecVersion},
};
use url::Url;

use super::{
    Data, Event, EventError, Excerpt, Timestamp, TimestampError, Uri, UriError, UriReference, Value, media_type,
};

/// The SDK's event cannot hold an event as it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IntoSdkError {
    /// An attribute would not be the same text afterwards: the SDK holds a URL in its normal form, and a time in UTC.
    #[error("the SDK's event would change `{attribute}` from {from:?} to {to:?}")]
    Changed {
        /// The attribute's name.
        attribute: &'static str,
        /// What it is.
        from: Excerpt,
        /// What it would become.
        to: Excerpt,
    },

    /// `dataschema` is a URI, and no URL as the SDK's library understands it.
    #[error("the SDK's event cannot hold `dataschema` {from:?}: {source}")]
    Schema {
        /// What it is.
        from: Excerpt,
        /// What is wrong with it.
        source: url::ParseError,
    },

    /// `time` is beyond what the SDK's library can hold.
    #[error("the SDK's event cannot hold `time` {from:?}: {source}")]
    Time {
        /// What it is.
        from: Excerpt,
        /// What is wrong with it.
        source: chrono::ParseError,
    },

    /// JSON without a media type whose bytes would not be the same afterwards.
    #[error(
        "the SDK's event would write the JSON data with other bytes: give it `datacontenttype`, and it goes over as bytes"
    )]
    Data,

    /// The SDK's builder refuses what is valid.
    #[error("the SDK's event cannot be built: {0}")]
    Refused(#[source] cloudevents::event::EventBuilderError),
}

/// The SDK's event is no valid event, or would not be the same.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FromSdkError {
    /// The SDK's event is of version 0.3 (contract Q1).
    #[error("`specversion` is {found:?}, and only \"1.0\" is taken")]
    Version {
        /// The version that it has.
        found: Excerpt,
    },

    /// `source` or `dataschema` is not in the grammar of RFC 3986.
    #[error("`{attribute}`: {source}")]
    Uri {
        /// The attribute's name.
        attribute: &'static str,
        /// What is wrong with it.
        source: UriError,
    },

    /// `time` is outside of what RFC 3339 can write.
    #[error("`time`: {0}")]
    Time(#[source] TimestampError),

    /// An extension is a number beyond 32 bits (contract Q4).
    #[error("`{attribute}` is {value}, and an Integer has 32 bits: send it as a string")]
    Integer {
        /// The extension's name.
        attribute: Excerpt,
        /// The number.
        value: i64,
    },

    /// A string under a JSON media type, which the SDK writes as a JSON string in one format and as bytes in another.
    #[error(
        "the data is a string under the JSON media type {content_type}, which can mean a JSON string or JSON text: set it as JSON or as bytes"
    )]
    AmbiguousString {
        /// The media type.
        content_type: Excerpt,
    },

    /// A parsed JSON value cannot be written.
    #[error("the JSON data cannot be written: {0}")]
    Json(#[source] serde_json::Error),

    /// The parts together are no valid event.
    #[error(transparent)]
    Event(#[from] EventError),
}

impl TryFrom<&Event> for cloudevents::Event {
    type Error = IntoSdkError;

    /// # Errors
    /// Something would not be the same afterwards; the error says what (contract Q9).
    fn try_from(event: &Event) -> Result<Self, IntoSdkError> {
        let mut builder = EventBuilderV10::new().id(event.id()).source(event.source().as_str()).ty(event.event_type());
        if let Some(subject) = event.subject() {
            builder = builder.subject(subject);
        }
        for (name, value) in event.extensions() {
            builder = builder.extension(name, extension_to_sdk(value));
        }
        let mut sdk = builder.build().map_err(IntoSdkError::Refused)?;
        sdk.set_time(event.time().map(time_to_sdk).transpose()?);
        sdk.set_dataschema(event.data_schema().map(schema_to_sdk).transpose()?);
        sdk.set_datacontenttype(event.data_content_type());
        if let Some(data) = event.data() {
            sdk.set_data_unchecked(data_to_sdk(data, event.data_content_type())?);
        }
        Ok(sdk)
    }
}

impl TryFrom<cloudevents::Event> for Event {
    type Error = FromSdkError;

    /// # Errors
    /// It is no valid event, or would not be the same afterwards (contract Q9).
    fn try_from(mut sdk: cloudevents::Event) -> Result<Self, FromSdkError> {
        let version = sdk.specversion();
        if version != SpecVersion::V10 {
            return Err(FromSdkError::Version { found: Excerpt::of(version.as_str()) });
        }
        let uri_error = |attribute| move |source| FromSdkError::Uri { attribute, source };
        let source = UriReference::new(sdk.source()).map_err(uri_error("source"))?;
        let mut builder = Event::builder(sdk.id(), source, sdk.ty());
        if let Some(subject) = sdk.subject() {
            builder = builder.subject(subject);
        }
        if let Some(time) = sdk.time() {
            builder = builder.time(Timestamp::new(time_text(*time)).map_err(FromSdkError::Time)?);
        }
        for (name, value) in sdk.iter_extensions() {
            builder = builder.extension(name, extension_from_sdk(name, value)?);
        }
        let (content_type, schema, data) = sdk.take_data();
        if let Some(schema) = schema {
            builder = builder.data_schema(Uri::new(schema).map_err(uri_error("dataschema"))?);
        }
        if let Some(data) = data {
            builder = builder.data(content_type.as_deref(), data_from_sdk(data, content_type.as_deref())?);
        } else if let Some(content_type) = content_type {
            builder = builder.data_content_type(content_type);
        }
        Ok(builder.build()?)
    }
}

fn extension_to_sdk(value: &Value) -> ExtensionValue {
    match value {
        Value::Boolean(value) => ExtensionValue::Boolean(*value),
        Value::Integer(value) => ExtensionValue::Integer((*value).into()),
        text => ExtensionValue::String(text.to_text().into_owned()),
    }
}

fn extension_from_sdk(name: &str, value: &ExtensionValue) -> Result<Value, FromSdkError> {
    match value {
        ExtensionValue::Boolean(value) => Ok(Value::Boolean(*value)),
        ExtensionValue::String(text) => Ok(Value::String(text.clone())),
        ExtensionValue::Integer(value) => match i32::try_from(*value) {
            Ok(value) => Ok(Value::Integer(value)),
            Err(_) => Err(FromSdkError::Integer { attribute: Excerpt::of(name), value: *value }),
        },
    }
}

fn time_to_sdk(time: &Timestamp) -> Result<DateTime<Utc>, IntoSdkError> {
    let from = time.as_str();
    match DateTime::parse_from_rfc3339(from) {
        Ok(parsed) => {
            let parsed = parsed.to_utc();
            unchanged("time", from, &time_text(parsed))?;
            Ok(parsed)
        }
        Err(source) => Err(IntoSdkError::Time { from: Excerpt::of(from), source }),
    }
}

/// The one text that a time of the SDK stands for; that of [`Timestamp::now`] is of this form.
fn time_text(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::AutoSi, true)
}

fn schema_to_sdk(schema: &Uri) -> Result<Url, IntoSdkError> {
    let from = schema.as_str();
    let url = Url::parse(from).map_err(|source| IntoSdkError::Schema { from: Excerpt::of(from), source })?;
    unchanged("dataschema", from, url.as_str())?;
    Ok(url)
}

fn unchanged(attribute: &'static str, from: &str, to: &str) -> Result<(), IntoSdkError> {
    if from == to {
        Ok(())
    } else {
        Err(IntoSdkError::Changed { attribute, from: Excerpt::of(from), to: Excerpt::of(to) })
    }
}

fn data_to_sdk(data: &Data, content_type: Option<&str>) -> Result<SdkData, IntoSdkError> {
    match data {
        Data::Text(text) => Ok(SdkData::String(text.as_str().to_owned())),
        Data::Binary(bytes) => Ok(SdkData::Binary(bytes.to_vec())),
        Data::Json(bytes) => match parsed_without_change(bytes) {
            Some(value) => Ok(SdkData::Json(value)),
            None if content_type.is_some() => Ok(SdkData::Binary(bytes.to_vec())),
            None => Err(IntoSdkError::Data),
        },
    }
}

fn parsed_without_change(bytes: &Bytes) -> Option<serde_json::Value> {
    let value = serde_json::from_slice(bytes).ok()?;
    (serde_json::to_vec(&value).ok()? == *bytes).then_some(value)
}

fn data_from_sdk(data: SdkData, content_type: Option<&str>) -> Result<Data, FromSdkError> {
    match (data, content_type) {
        (SdkData::String(_), Some(content_type)) if media_type::is_json(content_type) => {
            Err(FromSdkError::AmbiguousString { content_type: Excerpt::of(content_type) })
        }
        (SdkData::String(text), _) => Ok(Data::Text(text.into())),
        (SdkData::Binary(bytes), _) => Ok(Data::Binary(bytes.into())),
        (SdkData::Json(value), _) => Ok(Data::Json(serde_json::to_vec(&value).map_err(FromSdkError::Json)?.into())),
    }
}
