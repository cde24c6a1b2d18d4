const _: () = ::tramline::__private::check_subject_literal("x.placed.x.x");
const _: () = ::tramline::__private::check_event_type_literal("com.example.placed.v1");
const _: ::tramline::event::Uri = ::tramline::__private::uri_literal(
    "urn:example:order",
);
#[automatically_derived]
#[allow(deprecated)]
impl<'a, T: Clone, const N: usize> ::tramline::topic::Topic for Placed<'a, T, N>
where
    T: Ord,
    Wrapped<'a, T, N>: ::tramline::topic::FillsPlace,
{
    const PATTERN: ::tramline::__private::Pattern = ::tramline::__private::topic_pattern_literal(
        "*.placed.*.*",
    );
    const EVENT_TYPE: &'static str = "com.example.placed.v1";
    const SCHEMA: ::core::option::Option<::tramline::event::Uri> = ::tramline::__private::topic_schema_literal(
        "urn:example:order",
    );
    fn subject(
        &self,
    ) -> ::core::result::Result<
        ::tramline::subject::Subject,
        ::tramline::topic::TopicError,
    > {
        ::tramline::__private::fill(
            "Placed",
            &[
                ::tramline::__private::place::<Region>("region", &self.region),
                ::tramline::__private::Piece::Words(".placed."),
                ::tramline::__private::place::<u64>("total", &self.total),
                ::tramline::__private::Piece::Words("."),
                ::tramline::__private::place::<Wrapped<'a, T, N>>("note", &self.note),
            ],
        )
    }
}
