//! Every path that the macros may name: re-exports only.

pub use crate::{
    contract::{Facts, derived},
    event::{check_event_type_literal, source_literal, topic_schema_literal, uri_literal},
    subject::{
        DurableName, Group, Name, Pattern, Piece, Subject, fill,
        literal::{
            check_durable_literal, check_group_literal, check_name_literal, check_pattern_literal,
            check_selects_literal, check_subject_literal, durable_literal, group_literal, name_literal,
            pattern_literal, subject_literal, topic_pattern_literal, topic_subject_literal,
        },
    },
    subscription::{
        AnsweringCall, Carries, Handling, InMode, IsResult, NoResult, NoSource, NoTopic, keyed_by_literal,
        open_at_least_once, open_at_most_once, open_responder, refuse_hidden_result,
    },
    topic::place,
};
