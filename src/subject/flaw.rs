//! What can be wrong with a subject, a pattern or a name, each with its rule and the fix in words.
//!
//! The words are static text: the compiler prints them for a bad literal, and the error types for a bad value.

use std::fmt;

/// Declares the flaws of one type. The rule in words is the variant's documentation, too.
macro_rules! flaws {
    ($flaws:ident of $what:literal: $($variant:ident = $rule:literal,)+) => {
        #[doc = concat!("Why a text is not ", $what, ".")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $flaws {
            $(
                #[doc = concat!("Broken rule: ", $what, " ", $rule, ".")]
                $variant,
            )+
        }

        impl $flaws {
            /// The broken rule and the fix in words, with the rule's number in the contract.
            #[must_use]
            pub const fn rule(self) -> &'static str {
                match self {
                    $(Self::$variant => concat!($what, " ", $rule),)+
                }
            }
        }

        impl fmt::Display for $flaws {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.rule())
            }
        }
    };
}

flaws! { SubjectFlaw of "a subject":
    Empty = "is not empty (S2): name at least one token, as in `invoice.raised`",
    EmptyToken = "has no empty token (S2): put a name on both sides of every dot",
    Wildcard = "has no `*` and no `>` (S2): name the one subject that is meant; wildcards are for patterns",
    Whitespace = "has no whitespace (S6): join words with `-` or `_`",
    Control = "has no control character (S6): take it out",
    Reserved = "does not begin with `$` (S6), which brokers reserve: begin with another character",
    TooLong = "has at most 255 bytes (S6): shorten it",
}

flaws! { PatternFlaw of "a pattern":
    Empty = "is not empty (S3): name at least one token, or write `>` for every subject",
    EmptyToken = "has no empty token (S3): put a name, `*` or `>` on both sides of every dot",
    TailNotLast = "has `>` only as its last token (S3): write `*` for one token in the middle",
    WildcardInToken = "has `*` and `>` only as whole tokens (S5): write `a.*` or `a.>`, not `a*`, `a.**` or `a.>>`",
    Whitespace = "has no whitespace (S6): join words with `-` or `_`",
    Control = "has no control character (S6): take it out",
    Reserved = "does not begin with `$` (S6), which brokers reserve: begin with another character",
    TooLong = "has at most 255 bytes (S6): shorten it",
}

flaws! { PlaceFlaw of "a token":
    Empty = "is not empty (S2): give the field a value",
    Dot = "has no dot (S1): join words with `-` or `_`",
    Wildcard = "has no `*` and no `>` (S2): take it out",
    Whitespace = "has no whitespace (S6): join words with `-` or `_`",
    Control = "has no control character (S6): take it out",
    Reserved = "that opens a subject does not begin with `$` (S6), which brokers reserve: begin with another character",
    TooLong = "leaves the whole subject at most 255 bytes (S6): shorten it",
    Unwritten = "is what the field's `Display` writes, which failed: mend it",
}

flaws! { NameFlaw of "a subscription's name":
    Empty = "is not empty (C5): name what the subscription does",
    Control = "has no control character (C5): take it out",
    TooLong = "has at most 255 bytes (C5): shorten it",
}

/// Durable names and groups share rule I1; only the words that open the message differ.
macro_rules! identity_flaws {
    ($flaws:ident of $what:literal) => {
        flaws! { $flaws of $what:
            Empty = "is not empty (I1): name who keeps what is owed, as in `billing-invoices`",
            Whitespace = "has no whitespace (I1): join words with `-` or `_`",
            Dot = "has no dot (I1): join words with `-` or `_`",
            Wildcard = "has no `*` and no `>` (I1): take it out",
            Slash = "has no `/` and no `\\` (I1): join words with `-` or `_`",
            NonPrintable = "has no character that cannot be printed (I1): take it out",
            TooLong = "has at most 255 bytes (I1): shorten it",
        }
    };
}

identity_flaws! { DurableNameFlaw of "a durable name" }
identity_flaws! { GroupFlaw of "a group" }
