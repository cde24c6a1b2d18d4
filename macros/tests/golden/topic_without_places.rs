const _: () = ::tramline::__private::check_subject_literal("service.state");
const _: () = ::tramline::__private::check_event_type_literal("com.example.state.v1");
#[automatically_derived]
#[allow(deprecated)]
impl ::tramline::topic::Topic for State {
    const PATTERN: ::tramline::__private::Pattern = ::tramline::__private::topic_pattern_literal(
        "service.state",
    );
    const EVENT_TYPE: &'static str = "com.example.state.v1";
    const SCHEMA: ::core::option::Option<::tramline::event::Uri> = ::core::option::Option::None;
    fn subject(
        &self,
    ) -> ::core::result::Result<
        ::tramline::subject::Subject,
        ::tramline::topic::TopicError,
    > {
        const SUBJECT: ::tramline::subject::Subject = ::tramline::__private::topic_subject_literal(
            "service.state",
        );
        ::core::result::Result::Ok(SUBJECT)
    }
}
