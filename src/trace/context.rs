//! Where a trace stands, as an event carries it: `traceparent` and `tracestate`, checked.

use std::fmt;

use crate::event::{Event, Value};

/// The attribute that says which span of which trace an event was made in.
const TRACEPARENT: &str = "traceparent";
/// The attribute with what tracers want to know besides.
const TRACESTATE: &str = "tracestate";

/// `00-`, 32 digits, `-`, 16 digits, `-`, 2 digits.
const TRACEPARENT_LENGTH: usize = 55;
/// The longest `tracestate` that everybody has to pass on.
const LONGEST_TRACESTATE: usize = 512;
const MOST_MEMBERS: usize = 32;

/// Where a trace stands, in the words of [W3C Trace Context](https://www.w3.org/TR/trace-context/): checked when it is
/// made, so that what a bus puts into an event is always valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceContext {
    traceparent: String,
    tracestate: Option<String>,
}

impl TraceContext {
    /// Checks a `traceparent`, as in `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`.
    ///
    /// A version after 00 is taken with what it has besides, as the recommendation asks.
    ///
    /// # Errors
    /// It is none: of another form, of version `ff`, or with a trace or a span that is all zeros.
    pub fn new(traceparent: impl Into<String>) -> Result<Self, TraceContextError> {
        let traceparent = traceparent.into();
        if is_traceparent(&traceparent) {
            Ok(Self { traceparent, tracestate: None })
        } else {
            Err(TraceContextError { attribute: TRACEPARENT, length: traceparent.len() })
        }
    }

    /// Adds a `tracestate`, which is carried as it is. An empty one is none.
    ///
    /// # Errors
    /// It is longer than 512 bytes, has more than 32 members, one without a `=`, or a character other than printable ASCII.
    pub fn with_tracestate(self, tracestate: impl Into<String>) -> Result<Self, TraceContextError> {
        let tracestate = tracestate.into();
        if tracestate.is_empty() {
            Ok(Self { tracestate: None, ..self })
        } else if is_tracestate(&tracestate) {
            Ok(Self { tracestate: Some(tracestate), ..self })
        } else {
            Err(TraceContextError { attribute: TRACESTATE, length: tracestate.len() })
        }
    }

    /// What an event carries. A `traceparent` that is not valid is none, and a `tracestate` that is not valid is left out:
    /// whoever sent it, it is no reason not to handle the event.
    pub fn of(event: &Event) -> Option<Self> {
        let text = |name| match event.extension(name) {
            Some(Value::String(text)) => Some(text.as_str()),
            _ => None,
        };
        let context = Self::new(text(TRACEPARENT)?).ok()?;
        let tracestate = text(TRACESTATE).filter(|text| is_tracestate(text)).map(str::to_owned);
        Some(Self { tracestate, ..context })
    }

    /// The attribute `traceparent`.
    pub fn traceparent(&self) -> &str {
        &self.traceparent
    }

    /// The attribute `tracestate`, if there is one.
    pub fn tracestate(&self) -> Option<&str> {
        self.tracestate.as_deref()
    }

    /// The trace: 32 hexadecimal digits.
    pub fn trace_id(&self) -> &str {
        self.part(3, 35)
    }

    /// The span: 16 hexadecimal digits.
    pub fn span_id(&self) -> &str {
        self.part(36, 52)
    }

    /// The flags: 2 hexadecimal digits, of which the lowest bit says that the trace is recorded.
    pub fn flags(&self) -> &str {
        self.part(53, TRACEPARENT_LENGTH)
    }

    fn part(&self, from: usize, to: usize) -> &str {
        self.traceparent.get(from..to).unwrap_or_default()
    }

    /// The event with this context. One that has a `traceparent` keeps what it has: it says where the event was made, and
    /// whoever only passes it on was not there.
    pub(crate) fn set_on(self, event: Event) -> Event {
        let Self { traceparent, tracestate } = self;
        if event.extension(TRACEPARENT).is_some() || event.extension(TRACESTATE).is_some() {
            return event;
        }
        let attributes = [Some((TRACEPARENT, traceparent)), tracestate.map(|state| (TRACESTATE, state))];
        event.with_extensions(attributes.into_iter().flatten())
    }
}

/// What was given is no `traceparent` or no `tracestate`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceContextError {
    attribute: &'static str,
    length: usize,
}

/// Without the value: it comes from anywhere.
impl fmt::Display for TraceContextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { attribute, length } = self;
        write!(f, "{length} bytes were given as `{attribute}` and are none: ")?;
        f.write_str(if *attribute == TRACEPARENT {
            "write it as `00-<32 digits>-<16 digits>-<2 digits>`, in lower-case hexadecimal and not all zeros"
        } else {
            "write up to 32 members `key=value` with commas between, 512 bytes of printable ASCII at most"
        })
    }
}

impl std::error::Error for TraceContextError {}

fn is_traceparent(text: &str) -> bool {
    let bytes = text.as_bytes();
    let Some((known, rest)) = bytes.split_at_checked(TRACEPARENT_LENGTH) else { return false };
    let digits = |part: &[u8]| part.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let some = |part: &[u8]| digits(part) && part.iter().any(|byte| *byte != b'0');
    let version = &known[..2];
    let dashes = [2, 35, 52].into_iter().all(|at| known[at] == b'-');
    let may_have_more = version != b"00" && rest.first() == Some(&b'-');
    dashes
        && digits(version)
        && version != b"ff"
        && some(&known[3..35])
        && some(&known[36..52])
        && digits(&known[53..])
        && (rest.is_empty() || may_have_more)
        && rest.iter().all(u8::is_ascii_graphic)
}

fn is_tracestate(text: &str) -> bool {
    // No tab: an event's strings have no control characters (contract Q4).
    let printable = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    let mut members = text.split(',').map(str::trim).filter(|member| !member.is_empty());
    let is_member =
        |member: &str| member.split_once('=').is_some_and(|(key, value)| !key.is_empty() && !value.is_empty());
    printable
        && text.len() <= LONGEST_TRACESTATE
        && members.clone().next().is_some()
        && members.clone().count() <= MOST_MEMBERS
        && members.all(is_member)
}
