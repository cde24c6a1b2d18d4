//! What came of a row.

use std::{error::Error, fmt, time::Duration};

use super::Row;

/// What a row comes to: nothing to say, or why not.
pub type Result<T = ()> = std::result::Result<T, Failure>;

/// Why a row is not green.
#[derive(Debug)]
#[non_exhaustive]
pub enum Failure {
    /// This was seen, and it is not what was promised.
    Seen(String),
    /// The row does not apply, for this reason.
    NotApplicable(String),
}

impl Failure {
    /// This was seen, and it is not what was promised.
    pub fn seen(what: impl Into<String>) -> Self {
        Self::Seen(what.into())
    }

    /// The row does not apply, for this reason.
    pub fn not_applicable(why: impl Into<String>) -> Self {
        Self::NotApplicable(why.into())
    }

    /// What was tried came to an error.
    pub(super) fn error(what: impl fmt::Display, error: &(dyn Error + 'static)) -> Self {
        let mut said = format!("{what}: {error}");
        let mut cause = error.source();
        while let Some(error) = cause {
            said.push_str(&format!(": {error}"));
            cause = error.source();
        }
        Self::Seen(said)
    }
}

/// Fails the row with what was seen, unless the condition holds.
macro_rules! ensure {
    ($holds:expr, $($seen:tt)+) => {
        if !$holds {
            return Err($crate::conformance::Failure::seen(format!($($seen)+)));
        }
    };
}
pub(crate) use ensure;

/// Whether a promise was kept. [`Display`](fmt::Display) says so in a table's cell.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Standing {
    /// It was kept.
    Green,
    /// It was not made, for this reason.
    NotApplicable(String),
    /// It was broken.
    Red {
        /// What was seen instead.
        seen: String,
        /// What led there.
        log: String,
    },
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Green => f.write_str("green"),
            Self::NotApplicable(why) => write!(f, "not applicable: {why}"),
            Self::Red { seen, .. } => write!(f, "**red**: {seen}"),
        }
    }
}

/// One row, run on one backend.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Proof {
    /// The row.
    pub row: &'static Row,
    /// Which of its tests: the mode or the capability, and the row's name.
    pub case: &'static str,
    /// The backend, as its type is written.
    pub backend: &'static str,
    /// What came of it.
    pub standing: Standing,
    /// How long it took.
    pub took: Duration,
}

impl Proof {
    /// Whether a promise was broken.
    pub const fn is_red(&self) -> bool {
        matches!(self.standing, Standing::Red { .. })
    }
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { row, case, backend, standing, .. } = self;
        let Row { number, rules, promise, cause, .. } = row;
        match standing {
            Standing::Green | Standing::NotApplicable(_) => {
                writeln!(f, "row {number} `{case}` on `{backend}`: {standing}")
            }
            Standing::Red { seen, log } => {
                writeln!(f, "row {number} `{case}` on `{backend}`: red")?;
                writeln!(f, "  promised: {rules}: {promise}")?;
                writeln!(f, "  seen:     {seen}")?;
                write!(f, "{log}")?;
                writeln!(f, "  usually:  {cause}")
            }
        }
    }
}
