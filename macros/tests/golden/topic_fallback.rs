::core::compile_error! {
    "`#[topic(..)]` lacks `event_type`, the type of its events; add `event_type = \"com.example.order.placed.v1\"`"
}
#[automatically_derived]
#[allow(deprecated)]
impl<'a> ::tramline::topic::Topic for Order<'a> {
    const PATTERN: ::tramline::__private::Pattern = ::tramline::__private::topic_pattern_literal(
        ">",
    );
    const EVENT_TYPE: &'static str = "";
    const SCHEMA: ::core::option::Option<::tramline::event::Uri> = ::core::option::Option::None;
    fn subject(
        &self,
    ) -> ::core::result::Result<
        ::tramline::subject::Subject,
        ::tramline::topic::TopicError,
    > {
        ::core::unreachable!("this topic did not compile")
    }
}
