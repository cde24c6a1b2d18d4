//! `MessagePack`, by `rmp-serde`.

use bytes::Bytes;

use super::{Codec, CodecError, Decodes, Encodes};
use crate::event::Data;

/// Arrays and maps within each other.
const DEEPEST: usize = 128;

/// `application/vnd.msgpack`, by `rmp-serde`.
///
/// Reads too what was in use before the type was
/// [registered](https://www.iana.org/assignments/media-types/application/vnd.msgpack) in 2024: `application/msgpack` and
/// `application/x-msgpack`. Structs are written as maps by field name, so that fields may come, go and change places; they
/// are read from arrays too. Text and bytes are borrowed from the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessagePack;

impl Codec for MessagePack {
    const ALSO_READS: &'static [&'static str] = &["application/msgpack", "application/x-msgpack"];
    const CONTENT_TYPE: &'static str = "application/vnd.msgpack";
}

// Keeps the first line of an error ours instead of serde's.
#[diagnostic::do_not_recommend]
impl<T: serde::Serialize + ?Sized> Encodes<T> for MessagePack {
    fn encode(value: &T) -> Result<Data, CodecError> {
        match rmp_serde::to_vec_named(value) {
            Ok(bytes) => Ok(Data::Binary(bytes.into())),
            Err(error) => Err(CodecError::Encode { source: error.into() }),
        }
    }
}

#[diagnostic::do_not_recommend]
impl<'d, T: serde::Deserialize<'d>> Decodes<'d, T> for MessagePack {
    fn decode(data: &'d Bytes) -> Result<T, CodecError> {
        check_shape(data).map_err(|error| CodecError::Decode { source: error.into() })?;
        rmp_serde::from_slice(data).map_err(|error| CodecError::Decode { source: error.into() })
    }
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum ShapeError {
    #[error("the data ends within a value")]
    Truncated,
    #[error("the data goes on for {0} B after the value")]
    Trailing(usize),
    #[error("the value is nested deeper than {DEEPEST} levels")]
    TooDeep,
    #[error("the byte 0xc1 begins no value")]
    Reserved,
}

/// Checks that the data is one whole value that is not nested too deeply.
///
/// `rmp-serde` leaves what follows a value unread, and counts no level for an enum within an enum: a few kilobytes of
/// them would use up the stack of whoever decodes them.
fn check_shape(data: &[u8]) -> Result<(), ShapeError> {
    // For each level that is open, how many values it still lacks.
    let mut lacking = [0_u64; DEEPEST + 1];
    lacking[0] = 1;
    let mut level = 0;
    let mut rest = Rest(data);
    loop {
        while lacking[level] == 0 {
            if level == 0 {
                return if rest.0.is_empty() { Ok(()) } else { Err(ShapeError::Trailing(rest.0.len())) };
            }
            level -= 1;
        }
        lacking[level] -= 1;
        let values = rest.head()?;
        if values > 0 {
            level += 1;
            *lacking.get_mut(level).ok_or(ShapeError::TooDeep)? = values;
        }
    }
}

/// What has not been looked at.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    /// Passes over one value, or over the head of an array or map, and says how many values that holds.
    fn head(&mut self) -> Result<u64, ShapeError> {
        // The format: https://github.com/msgpack/msgpack/blob/master/spec.md
        let marker = self.number(1)?;
        let (payload, values) = match marker {
            0x80..=0x8f => (0, 2 * (marker & 0x0f)),
            0x90..=0x9f => (0, marker & 0x0f),
            0xa0..=0xbf => (marker & 0x1f, 0),
            0xc1 => return Err(ShapeError::Reserved),
            0xc4 | 0xd9 => (self.number(1)?, 0),
            0xc5 | 0xda => (self.number(2)?, 0),
            0xc6 | 0xdb => (self.number(4)?, 0),
            // One more than the length: the kind of the extension.
            0xc7 => (self.number(1)? + 1, 0),
            0xc8 => (self.number(2)? + 1, 0),
            0xc9 => (self.number(4)? + 1, 0),
            0xd4..=0xd8 => ((1 << (marker - 0xd4)) + 1, 0),
            0xcc | 0xd0 => (1, 0),
            0xcd | 0xd1 => (2, 0),
            0xca | 0xce | 0xd2 => (4, 0),
            0xcb | 0xcf | 0xd3 => (8, 0),
            0xdc => (0, self.number(2)?),
            0xdd => (0, self.number(4)?),
            0xde => (0, 2 * self.number(2)?),
            0xdf => (0, 2 * self.number(4)?),
            _ => (0, 0),
        };
        self.take(payload)?;
        Ok(values)
    }

    /// A number of so many bytes, at most eight.
    fn number(&mut self, bytes: u64) -> Result<u64, ShapeError> {
        Ok(self.take(bytes)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn take(&mut self, bytes: u64) -> Result<&[u8], ShapeError> {
        let bytes = usize::try_from(bytes).map_err(|_| ShapeError::Truncated)?;
        let (taken, rest) = self.0.split_at_checked(bytes).ok_or(ShapeError::Truncated)?;
        self.0 = rest;
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_value_is_passed_over() {
        let long = |head: &[u8], length: usize| [head, &vec![7; length]].concat();
        for value in [
            vec![0x00],
            vec![0x7f],
            vec![0xe0],
            vec![0xc0],
            vec![0xc2],
            vec![0xc3],
            vec![0x80],
            vec![0x82, 1, 2, 3, 4],
            vec![0x92, 0x91, 1, 2],
            vec![0xa2, b'a', b'b'],
            long(&[0xc4, 3], 3),
            long(&[0xc5, 1, 0], 256),
            long(&[0xc6, 0, 1, 0, 0], 65_536),
            long(&[0xd9, 3], 3),
            long(&[0xda, 1, 0], 256),
            long(&[0xdb, 0, 1, 0, 0], 65_536),
            long(&[0xc7, 3], 4),
            long(&[0xc8, 1, 0], 257),
            long(&[0xc9, 0, 1, 0, 0], 65_537),
            long(&[0xd4], 2),
            long(&[0xd5], 3),
            long(&[0xd6], 5),
            long(&[0xd7], 9),
            long(&[0xd8], 17),
            long(&[0xcc], 1),
            long(&[0xcd], 2),
            long(&[0xce], 4),
            long(&[0xcf], 8),
            long(&[0xd0], 1),
            long(&[0xd1], 2),
            long(&[0xd2], 4),
            long(&[0xd3], 8),
            long(&[0xca], 4),
            long(&[0xcb], 8),
            long(&[0xdc, 1, 0], 256),
            long(&[0xdd, 0, 1, 0, 0], 65_536),
            long(&[0xde, 1, 0], 512),
            long(&[0xdf, 0, 1, 0, 0], 131_072),
        ] {
            let marker = value[0];
            assert_eq!(check_shape(&value), Ok(()), "{marker:#x}");
            assert_eq!(check_shape(&value[..value.len() - 1]), Err(ShapeError::Truncated), "{marker:#x}");
            assert_eq!(check_shape(&[&value[..], &[1, 2]].concat()), Err(ShapeError::Trailing(2)), "{marker:#x}");
        }
        assert_eq!(check_shape(&[0x91, 0xc1]), Err(ShapeError::Reserved));
    }

    #[test]
    fn so_many_levels_and_no_more() {
        let nested = |levels| [vec![0x91; levels], vec![0]].concat();
        assert_eq!(check_shape(&nested(DEEPEST)), Ok(()));
        assert_eq!(check_shape(&nested(DEEPEST + 1)), Err(ShapeError::TooDeep));
        assert_eq!(check_shape(&nested(1_000_000)), Err(ShapeError::TooDeep));
    }
}
