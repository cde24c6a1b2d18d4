//! The JSON event format and the JSON batch format of `CloudEvents` 1.0.2, read and written (contract Q5, Q6).

mod error;
mod read;
mod write;

use bytes::Bytes;

pub use self::error::FormatError;
use super::Event;

impl Event {
    /// Reads an event in the JSON format. Of the document only what the event holds is copied.
    ///
    /// # Errors
    /// The document is no JSON or is cut off, a member is missing, duplicate, unknown or of the wrong type, or the event is not valid;
    /// the error names the member (contract Q6). Version 0.3 is refused as such (contract Q1).
    pub fn from_json(document: &[u8]) -> Result<Self, FormatError> {
        read::event(document, None)
    }

    /// Reads an event in the JSON format without copying its data where that can be avoided: JSON, and text without escapes,
    /// are slices of the document, which lives as long as they do.
    ///
    /// # Errors
    /// As [`from_json`](Self::from_json).
    pub fn from_json_bytes(document: &Bytes) -> Result<Self, FormatError> {
        read::event(document, Some(document))
    }

    /// Writes the event in the JSON format. There is no event that it cannot write.
    ///
    /// Writing an event and reading it back gives an equal event, for every event that can be built.
    ///
    /// # What the format cannot say
    /// It says less than an event does, and this is where the difference goes:
    /// - **Extension types.** Binary, URI, URI-reference and Timestamp are written as strings and read back as String. They are equal
    ///   to what they were, because [`Value`](super::Value) compares them by their string form.
    /// - **The kind of the data** is what the media type says (see [`EventBuilder::build`](super::EventBuilder::build)): `data` under a
    ///   JSON media type, or none, is JSON, and under any other a string, which is text; `data_base64` is JSON under a JSON media type
    ///   and binary under any other, or none.
    /// - **JSON that is not valid, or has white space around it**, is written as `data_base64`, so that its bytes stay as they are.
    /// - **Null.** An attribute that is `null` is absent, as the specification has it. `"data": null` is the JSON value `null`, which is
    ///   not the same as no `data`; under a media type that is not JSON it is an error.
    /// - White space and order *between* the members of the document are not part of the event.
    pub fn to_json(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(write::estimate(self));
        write::event(&mut out, self);
        out
    }

    /// Reads a batch in the JSON format. An empty batch is a batch.
    ///
    /// # Errors
    /// As [`from_json`](Self::from_json), with the position of the event; one bad event makes the batch an error.
    pub fn from_json_batch(document: &[u8]) -> Result<Vec<Self>, FormatError> {
        read::batch(document, None)
    }

    /// Reads a batch as [`from_json_bytes`](Self::from_json_bytes) reads an event.
    ///
    /// # Errors
    /// As [`from_json_batch`](Self::from_json_batch).
    pub fn from_json_batch_bytes(document: &Bytes) -> Result<Vec<Self>, FormatError> {
        read::batch(document, Some(document))
    }

    /// Writes a batch in the JSON format.
    pub fn to_json_batch<'e>(events: impl IntoIterator<Item = &'e Self>) -> Vec<u8> {
        let mut out = vec![b'['];
        for event in events {
            if out.len() > 1 {
                out.push(b',');
            }
            write::event(&mut out, event);
        }
        out.push(b']');
        out
    }
}
