//! The unit that the bus carries: a `CloudEvent` that stays exactly what it was (contract, section Q).
//!
//! [`Event`] is a shared handle: a clone costs one reference count, and nobody can change what it shows.
//! Whoever wants another event takes [`Event::to_builder`] and builds one of their own (Q7).
//!
//! Attribute text is kept byte for byte and data bytes are never touched (Q2), so [`Uri`], [`UriReference`] and
//! [`Timestamp`] check their text and keep it; nothing is normalised, and equality is equality of the text.
//!
//! ```
//! use tramline::{event::Event, source};
//!
//! let event = Event::builder("17", source!("urn:example:billing"), "com.example.invoice.raised.v1")
//!     .subject("invoice-17")
//!     .extension("priority", 3)
//!     .json(r#"{"total": "12.50"}"#)
//!     .build()?;
//! assert_eq!(event.data_content_type(), Some("application/json"));
//! # Ok::<(), tramline::event::EventError>(())
//! ```

mod builder;
mod data;
mod envelope;
mod error;
mod event_type;
pub(crate) mod extension_name;
pub mod headers;
mod json;
mod literal;
pub mod media_type;
mod on_demand;
#[cfg(feature = "cloudevents-sdk")]
mod sdk;
mod timestamp;
mod uri;
mod uri_syntax;
mod value;

#[cfg(feature = "cloudevents-sdk")]
pub use self::sdk::{FromSdkError, IntoSdkError};
pub use self::{
    builder::EventBuilder,
    data::{Data, Utf8Bytes},
    envelope::Event,
    error::{EventError, Excerpt},
    json::FormatError,
    timestamp::{Timestamp, TimestampError},
    uri::{Uri, UriError, UriReference},
    value::Value,
};
#[doc(hidden)]
pub use self::{
    literal::check_event_type_literal,
    uri::{source_literal, topic_schema_literal, uri_literal},
};
