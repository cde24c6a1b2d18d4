//! A point in time that keeps its offset and every digit, because it keeps its text.

use std::{
    fmt,
    str::FromStr,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use super::error::Excerpt;

/// A time of RFC 3339, kept byte for byte: offset, case and fraction stay as they were written (contract Q2).
///
/// Two are equal when their texts are. To compare instants, compare [`to_system_time`](Self::to_system_time).
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Timestamp(String);

/// A text is no time of RFC 3339, or a time is outside of what RFC 3339 can write.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no RFC 3339 time: {rule}")]
pub struct TimestampError {
    text: Excerpt,
    rule: &'static str,
}

/// The seconds of the year 10000, which has one digit too many.
const TOO_LATE: u64 = 253_402_300_800;

impl Timestamp {
    /// Checks the text and keeps it.
    ///
    /// # Errors
    /// The text is not in the grammar of RFC 3339, section 5.6, or names a day, an hour or a leap second that there is not.
    pub fn new(text: impl Into<String>) -> Result<Self, TimestampError> {
        let text = text.into();
        match Written::read(text.as_bytes()) {
            Ok(_) => Ok(Self(text)),
            Err(rule) => Err(TimestampError { text: Excerpt::of(&text), rule }),
        }
    }

    /// The time now, in UTC with as many digits of fraction as the clock has.
    pub fn now() -> Self {
        Self::of_clock(SystemTime::now().max(UNIX_EPOCH))
    }

    /// The text, as it was given.
    #[inline]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The instant, cut off after nanoseconds. A leap second is the second after it, as in POSIX time.
    /// `None` if the clock of this platform cannot hold it; that of Unix holds every one.
    pub fn to_system_time(&self) -> Option<SystemTime> {
        let (seconds, nanos) = parse(&self.0).ok()?;
        let whole = Duration::from_secs(seconds.unsigned_abs());
        let base = if seconds < 0 { UNIX_EPOCH.checked_sub(whole) } else { UNIX_EPOCH.checked_add(whole) };
        base?.checked_add(Duration::from_nanos(nanos.into()))
    }

    /// Written with three, six, nine or no digits of fraction, as few as it takes: a form that most libraries write too.
    pub(super) fn of_clock(time: SystemTime) -> Self {
        let nanos = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.subsec_nanos());
        let formatted = if nanos == 0 {
            humantime::format_rfc3339_seconds(time)
        } else if nanos.is_multiple_of(1_000_000) {
            humantime::format_rfc3339_millis(time)
        } else if nanos.is_multiple_of(1_000) {
            humantime::format_rfc3339_micros(time)
        } else {
            humantime::format_rfc3339_nanos(time)
        };
        Self(formatted.to_string())
    }
}

impl TryFrom<SystemTime> for Timestamp {
    type Error = TimestampError;

    /// In UTC. Times before 1970 and after 9999 are refused.
    fn try_from(time: SystemTime) -> Result<Self, TimestampError> {
        match time.duration_since(UNIX_EPOCH) {
            Ok(since) if since.as_secs() < TOO_LATE => Ok(Self::of_clock(time)),
            _ => {
                let text = Excerpt::of(&format!("{time:?}"));
                Err(TimestampError { text, rule: "a clock reading must be within the years 1970 to 9999" })
            }
        }
    }
}

impl FromStr for Timestamp {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, TimestampError> {
        Self::new(text)
    }
}

impl AsRef<str> for Timestamp {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

const SHAPE: &str =
    "write it as `2026-01-31T12:34:56Z`, with a fraction of the second and an offset such as `+01:00` if need be";

/// Seconds since 1970 and nanoseconds, or the rule that the text breaks.
fn parse(text: &str) -> Result<(i64, u32), &'static str> {
    let written = Written::read(text.as_bytes())?;
    Ok((written.seconds(), nanos(written.fraction)))
}

/// The numbers of a time as they are written, checked.
struct Written<'t> {
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    /// The digits behind the point.
    fraction: &'t [u8],
    /// The offset from UTC in seconds.
    offset: i64,
}

impl<'t> Written<'t> {
    fn read(bytes: &'t [u8]) -> Result<Self, &'static str> {
        let Some((
            &[y1, y2, y3, y4, b'-', mo1, mo2, b'-', d1, d2, b'T' | b't', h1, h2, b':', mi1, mi2, b':', s1, s2],
            rest,
        )) = bytes.split_first_chunk::<19>()
        else {
            return Err(SHAPE);
        };
        let (year, month, day) = (number([y1, y2, y3, y4])?, number([mo1, mo2])?, number([d1, d2])?);
        let (hour, minute, second) = (number([h1, h2])?, number([mi1, mi2])?, number([s1, s2])?);
        let (fraction, zone) = fraction(rest)?;
        let written = Self { year, month, day, hour, minute, second, fraction, offset: offset(zone)? };

        if !(1..=12).contains(&month) || day < 1 || day > days_in(year, month) {
            return Err("there is no such day");
        }
        if hour > 23 || minute > 59 || second > 60 {
            return Err("there is no such time of day");
        }
        if second == 60 && !ends_a_month(written.seconds()) {
            return Err("a leap second is only at the end of a month in UTC");
        }
        Ok(written)
    }

    /// Since 1970.
    fn seconds(&self) -> i64 {
        let days = days_since_1970(self.year, self.month, self.day);
        days * 86_400 + self.hour * 3_600 + self.minute * 60 + self.second - self.offset
    }
}

#[inline]
fn number<const N: usize>(digits: [u8; N]) -> Result<i64, &'static str> {
    let digits = digits.map(|byte| byte.wrapping_sub(b'0'));
    if digits.iter().all(|digit| *digit < 10) {
        Ok(digits.iter().fold(0, |sum, digit| sum * 10 + i64::from(*digit)))
    } else {
        Err(SHAPE)
    }
}

/// The digits of the fraction, and what follows it.
fn fraction(rest: &[u8]) -> Result<(&[u8], &[u8]), &'static str> {
    let Some(digits) = rest.strip_prefix(b".") else {
        return Ok((&[], rest));
    };
    let end = digits.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(digits.len());
    if end == 0 { Err(SHAPE) } else { Ok(digits.split_at(end)) }
}

/// What a fraction of a second comes to, cut off.
fn nanos(fraction: &[u8]) -> u32 {
    let nine = fraction.iter().copied().chain(std::iter::repeat(b'0')).take(9);
    nine.fold(0, |sum, byte| sum * 10 + u32::from(byte - b'0'))
}

/// The offset from UTC in seconds.
fn offset(zone: &[u8]) -> Result<i64, &'static str> {
    match zone {
        [b'Z' | b'z'] => Ok(0),
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
            let (hours, minutes) = (number([*h1, *h2])?, number([*m1, *m2])?);
            if hours > 23 || minutes > 59 {
                return Err("there is no such offset");
            }
            let seconds = hours * 3_600 + minutes * 60;
            Ok(if *sign == b'-' { -seconds } else { seconds })
        }
        _ => Err(SHAPE),
    }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01, in the Gregorian calendar as it would have been before it began.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    // Every leap day in the years 0 to `year - 1`; the year 0 is one itself, hence the offsets.
    let leap_days = (year + 3) / 4 - (year + 99) / 100 + (year + 399) / 400;
    let days_before = |month| (1..month).map(|month| days_in(year, month)).sum::<i64>();
    year * 365 + leap_days + days_before(month) + day - 1 - 719_528
}

/// Whether the second `:60`, counted as the one after it, is midnight of the first day of a month.
fn ends_a_month(seconds: i64) -> bool {
    seconds.rem_euclid(86_400) == 0 && is_first_of_month(seconds.div_euclid(86_400))
}

fn is_first_of_month(days: i64) -> bool {
    // A year begins at most one day off this estimate, so that the search is short.
    let guess = (days + 719_528) * 400 / 146_097;
    (guess - 1..=guess + 1).any(|year| (1..=12).any(|month| days_since_1970(year, month, 1) == days))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn seconds(text: &str) -> i64 {
        parse(text).unwrap().0
    }

    #[test]
    fn the_instant_is_right() {
        assert_eq!(seconds("1970-01-01T00:00:00Z"), 0);
        assert_eq!(seconds("2000-03-01T00:00:00Z"), 951_868_800);
        assert_eq!(seconds("1969-12-31T23:59:59-00:00"), -1);
        assert_eq!(seconds("1996-12-19T16:39:57-08:00"), seconds("1996-12-20T00:39:57Z"));
        assert_eq!(seconds("0000-01-01T00:00:00Z"), -62_167_219_200);
        assert_eq!(seconds("9999-12-31T23:59:59Z"), 253_402_300_799);
        assert_eq!(parse("1985-04-12T23:20:50.52Z").unwrap().1, 520_000_000);
        assert_eq!(parse("1985-04-12t23:20:50.1234567899z").unwrap().1, 123_456_789);
    }

    #[test]
    fn it_agrees_with_the_clock_of_another_crate() {
        for seconds in (0..TOO_LATE).step_by(86_400 * 97 + 12_345) {
            let time = UNIX_EPOCH + Duration::new(seconds, 7);
            assert_eq!(Timestamp::try_from(time).unwrap().to_system_time(), Some(time));
        }
    }

    #[test]
    fn a_leap_second_is_at_the_end_of_a_month() {
        assert_eq!(seconds("1990-12-31T23:59:60Z"), seconds("1991-01-01T00:00:00Z"));
        assert!(parse("1990-12-31T15:59:60-08:00").is_ok());
        assert!(parse("1990-12-30T23:59:60Z").is_err());
        assert!(parse("1990-12-31T22:59:60Z").is_err());
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for bad in [
            "",
            "2026-01-31",
            "2026-01-31T12:34:56",
            "2026-01-31 12:34:56Z",
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-00-01T00:00:00Z",
            "2026-01-00T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:60:00Z",
            "2026-01-01T00:00:61Z",
            "2026-01-01T00:00:00.Z",
            "2026-01-01T00:00:00+24:00",
            "2026-01-01T00:00:00+0100",
            "2026-01-01T00:00:00+01:60",
            "2026-01-01T00:00:00Z ",
            "+026-01-01T00:00:00Z",
            "2026-01-01T00:00:00,5Z",
            "1900-02-29T00:00:00Z",
            "2026-01-01T00:00:0\u{e9}Z",
        ] {
            assert!(Timestamp::new(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn now_is_now() {
        let now = Timestamp::now();
        assert!(now.as_str().ends_with('Z'));
        assert!(now.to_system_time().unwrap() <= SystemTime::now());
    }
}
