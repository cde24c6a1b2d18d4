//! Every path that the generated code names, spelled here only. All are absolute, so that nothing of the user's captures
//! them.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;

macro_rules! paths {
    ($($name:ident = $($path:tt)::+;)*) => {$(
        pub(crate) fn $name(span: Span) -> TokenStream {
            quote_spanned!(span=> $(::$path)+)
        }
    )*};
}

paths! {
    // The standard library.
    boxed = std::boxed::Box;
    duration = core::time::Duration;
    err = core::result::Result::Err;
    future = core::future::Future;
    none = core::option::Option::None;
    nonzero_u32 = core::num::NonZeroU32;
    nonzero_usize = core::num::NonZeroUsize;
    ok = core::result::Result::Ok;
    option = core::option::Option;
    pending = core::future::pending;
    result = core::result::Result;
    send = core::marker::Send;
    unreachable = core::unreachable;

    // What a backend can do.
    answers_requests = tramline::contract::AnswersRequests;
    backend = tramline::contract::Backend;
    delays_redelivery = tramline::contract::DelaysRedelivery;
    delivers_at_least_once = tramline::contract::DeliversAtLeastOnce;
    delivers_at_most_once = tramline::contract::DeliversAtMostOnce;
    fails_when_full = tramline::contract::FailsWhenFull;
    keeps_for_handler = tramline::contract::KeepsForHandler;
    matches_patterns = tramline::contract::MatchesPatterns;
    orders = tramline::contract::Orders;
    replays = tramline::contract::Replays;
    sheds_newest = tramline::contract::ShedsNewest;
    sheds_oldest = tramline::contract::ShedsOldest;
    survives_restart = tramline::contract::SurvivesRestart;

    // What a subscription is.
    answer = tramline::subscription::Answer;
    answering = tramline::subscription::Answering;
    at_least_once = tramline::subscription::AtLeastOnce;
    at_most_once = tramline::subscription::AtMostOnce;
    backoff = tramline::subscription::Backoff;
    bus_context = tramline::subscription::BusContext;
    delayed = tramline::subscription::Delayed;
    extract = tramline::subscription::Extract;
    failure_reply = tramline::contract::FailureReply;
    handler = tramline::subscription::Handler;
    immediate = tramline::subscription::Immediate;
    judgement = tramline::subscription::Judgement;
    keyed_by = tramline::subscription::KeyedBy;
    open_at_least_once = tramline::subscription::open_at_least_once;
    open_at_most_once = tramline::subscription::open_at_most_once;
    open_responder = tramline::subscription::open_responder;
    opening = tramline::subscription::Opening;
    overflow = tramline::contract::Overflow;
    parts = tramline::subscription::Parts;
    rejection = tramline::subscription::Rejection;
    encodes = tramline::codec::Encodes;
    restart = tramline::subscription::Restart;
    runs_on = tramline::subscription::RunsOn;
    settings = tramline::subscription::Settings;
    slow_handler = tramline::contract::SlowHandler;
    source_id = tramline::contract::SourceId;
    start_at = tramline::contract::StartAt;
    subscription = tramline::subscription::Subscription;

    // What a topic is.
    fills_place = tramline::topic::FillsPlace;
    subject = tramline::subject::Subject;
    topic = tramline::topic::Topic;
    topic_error = tramline::topic::TopicError;
    uri = tramline::event::Uri;

    // Only for these macros.
    answering_call = tramline::__private::AnsweringCall;
    carries = tramline::__private::Carries;
    check_event_type_literal = tramline::__private::check_event_type_literal;
    check_selects_literal = tramline::__private::check_selects_literal;
    check_subject_literal = tramline::__private::check_subject_literal;
    durable_literal = tramline::__private::durable_literal;
    durable_name = tramline::__private::DurableName;
    fill = tramline::__private::fill;
    group = tramline::__private::Group;
    group_literal = tramline::__private::group_literal;
    handling = tramline::__private::Handling;
    in_mode = tramline::__private::InMode;
    is_result = tramline::__private::IsResult;
    keyed_by_literal = tramline::__private::keyed_by_literal;
    name = tramline::__private::Name;
    name_literal = tramline::__private::name_literal;
    no_result = tramline::__private::NoResult;
    no_source = tramline::__private::NoSource;
    no_topic = tramline::__private::NoTopic;
    pattern = tramline::__private::Pattern;
    pattern_literal = tramline::__private::pattern_literal;
    piece = tramline::__private::Piece;
    place = tramline::__private::place;
    refuse_hidden_result = tramline::__private::refuse_hidden_result;
    topic_pattern_literal = tramline::__private::topic_pattern_literal;
    topic_schema_literal = tramline::__private::topic_schema_literal;
    topic_subject_literal = tramline::__private::topic_subject_literal;
    uri_literal = tramline::__private::uri_literal;
}
