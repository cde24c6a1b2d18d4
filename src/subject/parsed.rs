//! The part that subjects, patterns and names have in common: text that one check has let through.

use std::fmt;

/// Declares a type of checked text and its error.
///
/// `parsed!(Subject, SubjectError, SubjectFlaw, check_subject, "subject")`, with the type's documentation before it.
macro_rules! parsed {
    ($(#[$doc:meta])* $name:ident, $error:ident, $flaw:ident, $check:path, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub(super) crate::text::Text);

        impl $name {
            #[doc = concat!("Parses a ", $what, " from a value; a literal goes through the macro.")]
            ///
            /// # Errors
            #[doc = concat!("What [`", stringify!($flaw), "`] lists.")]
            pub fn new(text: impl AsRef<str>) -> Result<Self, $error> {
                let text = text.as_ref();
                match $check(text) {
                    Ok(()) => Ok(Self(text.into())),
                    Err(flaw) => Err($error { text: text.into(), flaw }),
                }
            }

            /// The text as it was given.
            #[inline]
            #[must_use]
            pub fn as_str(&self) -> &str {
                self.0.as_str()
            }
        }

        #[doc = concat!("A text that is no ", $what, ".")]
        #[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
        #[error("{what} {text}: {flaw}", what = $what, text = crate::subject::parsed::Quoted(.text))]
        #[non_exhaustive]
        pub struct $error {
            text: Box<str>,
            flaw: $flaw,
        }

        impl $error {
            /// The text that was refused.
            #[must_use]
            pub fn text(&self) -> &str {
                &self.text
            }

            /// What is wrong with it.
            #[must_use]
            pub fn flaw(&self) -> $flaw {
                self.flaw
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_tuple(stringify!($name)).field(&self.as_str()).finish()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                self.as_str()
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                self.as_str()
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                self.as_str() == other
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                self.as_str() == *other
            }
        }

        impl std::str::FromStr for $name {
            type Err = $error;

            fn from_str(text: &str) -> Result<Self, $error> {
                Self::new(text)
            }
        }

        impl TryFrom<&str> for $name {
            type Error = $error;

            fn try_from(text: &str) -> Result<Self, $error> {
                Self::new(text)
            }
        }

        impl TryFrom<String> for $name {
            type Error = $error;

            fn try_from(text: String) -> Result<Self, $error> {
                Self::new(text)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(deserializer)?;
                Self::new(text).map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(super) use parsed;

/// A refused text in a message: quoted, escaped, and cut where it would fill the screen.
pub(super) struct Quoted<'a>(pub(super) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 80;
        match self.0.char_indices().nth(SHOWN) {
            None => write!(f, "{:?}", self.0),
            Some((cut, _)) => write!(f, "{:?}… ({} bytes)", &self.0[..cut], self.0.len()),
        }
    }
}
