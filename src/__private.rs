//! Every path that the macros may name: re-exports only.

pub use crate::{
    contract::{Facts, derived},
    event::source_literal,
    subject::{
        DurableName, Group, Name, Pattern, Subject,
        literal::{
            check_durable_literal, check_group_literal, check_name_literal, check_pattern_literal,
            check_subject_literal, durable_literal, group_literal, name_literal, pattern_literal, subject_literal,
        },
    },
    subscription::{
        AnsweringCall, Handling, InMode, IsResult, NoResult, NoSource, keyed_by_literal, open_at_least_once,
        open_at_most_once, open_responder, refuse_hidden_result,
    },
};
