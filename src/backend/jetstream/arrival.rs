//! What comes to a source's inbox: a message, or a word about the pull that asked for some.

use std::num::NonZeroU32;

use async_nats::{Message as Wire, StatusCode};

use super::held::Arrival;
use crate::backend::nats::wire::Reader;

/// What came.
#[derive(Debug)]
pub(super) enum Came {
    Message(Arrival),
    Status(Status),
    /// Something that the server did not send.
    Foreign,
}

/// What became of a pull.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Status {
    /// The server is alive.
    Idle,
    /// It brought what there was in its time.
    Over,
    /// The next message has more bytes than it may still bring.
    Full,
    /// The server ended it; another one may do better.
    Broken(String),
    /// There may be no such consumer any more.
    Gone(String),
    /// The consumer does not take such a pull.
    Refused(String),
}

/// Sorts a message out.
pub(super) fn sort(mut message: Wire, reader: &mut Reader) -> Came {
    // Before the status, which whoever published the message may have put there: the server's own words are not settled.
    if let Some(Numbers { attempt, sequence, stored }) = message.reply.as_deref().and_then(numbers) {
        let Some(address) = message.reply.take() else { return Came::Foreign };
        return Came::Message(Arrival { message: reader.message(message), address, sequence, stored, attempt });
    }
    match message.status {
        Some(status) => Came::Status(Status::of(status, message.description.unwrap_or_default())),
        None => Came::Foreign,
    }
}

impl Status {
    fn of(code: StatusCode, description: String) -> Self {
        let said = description.to_ascii_lowercase();
        match code.as_u16() {
            100 => Self::Idle,
            404 | 408 => Self::Over,
            409 if said.contains("batch completed") => Self::Over,
            409 if said.contains("maxbytes") => Self::Full,
            503 => Self::Gone("nobody answers for the consumer".to_owned()),
            409 if said.contains("consumer deleted") => Self::Gone(description),
            409 if said.contains("push based") || said.contains("maxrequest") => Self::Refused(description),
            400 => Self::Refused(description),
            code => Self::Broken(format!("{code} {description}")),
        }
    }
}

/// What the server says of a message in the subject of its settlement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Numbers {
    attempt: NonZeroU32,
    sequence: u64,
    stored: u64,
}

/// How often the server has sent a message, where it stands in the stream and since when, as the subject of its settlement says:
/// `$JS.ACK.<stream>.<consumer>.<sent>.<place>.<place at the consumer>.<time>.<pending>`, in its newer form with a domain and
/// an account before the stream, and something after the end.
fn numbers(address: &str) -> Option<Numbers> {
    let tokens = address.strip_prefix("$JS.ACK.")?.as_bytes();
    // For so short a text that is quicker than to split it.
    let (mut dots, mut count) = ([0; 9], 0);
    for (at, _) in tokens.iter().enumerate().filter(|(_, byte)| **byte == b'.') {
        if let Some(dot) = dots.get_mut(count) {
            *dot = at;
        }
        count += 1;
    }
    let before = match count + 1 {
        7 => 1,
        9.. => 3,
        _ => return None,
    };
    let number = |dot: usize| digits(tokens.get(dots.get(dot)? + 1..*dots.get(dot + 1)?)?);
    let attempt = NonZeroU32::new(u32::try_from(number(before)?).unwrap_or(u32::MAX))?;
    Some(Numbers { attempt, sequence: number(before + 1)?, stored: number(before + 3)? })
}

fn digits(digits: &[u8]) -> Option<u64> {
    let (first, others) = digits.split_first()?;
    let digit = |byte: &u8| byte.is_ascii_digit().then(|| u64::from(byte - b'0'));
    others.iter().try_fold(digit(first)?, |sum, byte| sum.checked_mul(10)?.checked_add(digit(byte)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pull_that_brought_what_it_may_is_over_and_needs_no_pause() {
        let said = |code: u16, text: &str| Status::of(StatusCode::from_u16(code).unwrap(), text.to_owned());
        for (code, text) in [(404, "No Messages"), (408, "Request Timeout"), (409, "Batch Completed")] {
            assert_eq!(said(code, text), Status::Over, "{code} {text}");
        }
        assert_eq!(said(409, "Message Size Exceeds MaxBytes"), Status::Full);
        assert_eq!(said(409, "Server Shutdown"), Status::Broken("409 Server Shutdown".to_owned()));
        assert_eq!(said(409, "Consumer Deleted"), Status::Gone("Consumer Deleted".to_owned()));
    }

    /// The same by splitting, which says plainly what is read.
    fn split(address: &str) -> Option<Numbers> {
        let tokens: Vec<&str> = address.strip_prefix("$JS.ACK.")?.split('.').collect();
        let numbers = match tokens.len() {
            7 => &tokens[2..],
            9.. => &tokens[4..],
            _ => return None,
        };
        let number =
            |at: usize| numbers[at].bytes().all(|byte| byte.is_ascii_digit()).then(|| numbers[at].parse().ok())?;
        let attempt = NonZeroU32::new(u32::try_from(number(0)?).unwrap_or(u32::MAX))?;
        Some(Numbers { attempt, sequence: number(1)?, stored: number(3)? })
    }

    proptest::proptest! {
        #[test]
        fn a_settlements_subject_is_read_in_one_pass_as_by_splitting_it(
            tokens in proptest::collection::vec("[0-9]{1,3}|[0-9]{18,21}|[a-z_+-]{0,2}|\u{e9}", 5..12),
        ) {
            let address = format!("$JS.ACK.{}", tokens.join("."));
            assert_eq!(numbers(&address), split(&address), "{address}");
        }

        #[test]
        fn numbers_are_read_in_one_pass_as_by_splitting(numbers in proptest::array::uniform5(0_u64..), is_newer: bool) {
            let numbers = numbers.map(|number| number.to_string()).join(".");
            let address = format!("$JS.ACK.{}S.d.{numbers}", if is_newer { "hub.ACC." } else { "" });
            assert_eq!(super::numbers(&address), split(&address), "{address}");
        }
    }

    /// A foreign client may write a status into the headers of what it publishes.
    #[test]
    fn q10_what_has_a_status_and_can_be_settled_is_a_message_and_not_a_word_of_the_server() {
        let message = |reply: Option<&str>| Wire {
            subject: "a.b".into(),
            reply: reply.map(Into::into),
            payload: "x".into(),
            headers: None,
            status: StatusCode::from_u16(503).ok(),
            description: None,
            length: 1,
        };
        let Came::Message(arrival) = sort(message(Some("$JS.ACK.S.d.1.2.3.4.0")), &mut Reader::default()) else {
            panic!("a message")
        };
        assert!(arrival.message.is_err(), "and no event");
        assert!(matches!(sort(message(None), &mut Reader::default()), Came::Status(Status::Gone(_))));
    }

    #[test]
    fn both_forms_of_a_settlements_subject_say_the_attempt_and_the_place() {
        let attempt = NonZeroU32::new(3).unwrap();
        let there = Some(Numbers { attempt, sequence: 41, stored: 1_796_073_244_678_843_012 });
        assert_eq!(numbers("$JS.ACK.S.d.3.41.7.1796073244678843012.0"), there);
        assert_eq!(numbers("$JS.ACK.hub.ACC.S.d.3.41.7.1796073244678843012.0"), there);
        assert_eq!(numbers("$JS.ACK._.ACC.S.d.3.41.7.1796073244678843012.0.x1"), there);
        for foreign in
            ["_INBOX.1", "$JS.ACK.S.d.3", "$JS.ACK.S.d.0.41.7.1.0", "$JS.ACK.S.d.x.41.7.1.0", "$JS.ACK.S.d.3.41.7.x.0"]
        {
            assert_eq!(numbers(foreign), None, "{foreign}");
        }
    }
}
