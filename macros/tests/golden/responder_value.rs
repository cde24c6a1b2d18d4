#[allow(
    non_camel_case_types,
    missing_debug_implementations,
    missing_copy_implementations
)]
struct clock;
const _: () = {
    #[allow(dead_code, clippy::unused_async)]
    async fn clock() -> Time {
        Time::now()
    }
    #[allow(deprecated)]
    impl clock {
        /// Calls the function itself, as a unit test does.
        #[allow(unreachable_pub, private_interfaces)]
        fn call() -> impl ::core::future::Future<Output = Time> {
            clock()
        }
    }
    const _: () = {
        const NAME: ::tramline::__private::Name = ::tramline::__private::name_literal(
            "clock",
        );
        const PATTERN: ::tramline::__private::Pattern = {
            ::tramline::__private::check_subject_literal("clock.ask");
            ::tramline::__private::pattern_literal("clock.ask")
        };
        const GROUP: ::tramline::__private::Group = ::tramline::__private::group_literal(
            "clock",
        );
        #[automatically_derived]
        #[allow(deprecated)]
        impl ::tramline::subscription::Subscription for clock {
            type Mode = ::tramline::subscription::Answering;
            fn settings(&self) -> ::tramline::subscription::Settings {
                ::tramline::subscription::Settings::responder(NAME, PATTERN, GROUP)
            }
        }
        #[automatically_derived]
        #[allow(deprecated)]
        impl<
            B: ::tramline::contract::Backend + ::tramline::contract::AnswersRequests,
        > ::tramline::subscription::RunsOn<B> for clock {
            type Source = <B as ::tramline::contract::AnswersRequests>::Requests;
            fn open<'s>(
                session: &'s <B as ::tramline::contract::Backend>::Session,
                settings: &::tramline::subscription::Settings,
                id: ::tramline::contract::SourceId,
                failure: &::tramline::contract::FailureReply,
            ) -> ::tramline::subscription::Opening<'s, Self::Source> {
                ::tramline::subscription::open_responder::<
                    B,
                >(session, settings, id, failure)
            }
        }
        #[automatically_derived]
        #[allow(deprecated, clippy::absolute_paths)]
        impl<
            __AnyBus: ::tramline::subscription::BusContext,
        > ::tramline::subscription::Handler<__AnyBus> for clock
        where
            for<'d> <__AnyBus as ::tramline::subscription::BusContext>::Codec: ::tramline::codec::Encodes<
                Time,
            >,
        {
            fn handle<'d>(
                &'d self,
                parts: ::tramline::subscription::Parts<'d, __AnyBus>,
            ) -> impl ::core::future::Future<
                Output = ::core::result::Result<
                    ::tramline::subscription::Judgement,
                    ::tramline::subscription::Rejection,
                >,
            > + ::core::marker::Send + 'd {
                const {
                    use ::tramline::__private::NoResult as _;
                    ::tramline::__private::refuse_hidden_result(
                        ::tramline::__private::IsResult::<Time>::HIDDEN,
                    )
                };
                ::tramline::__private::AnsweringCall::value::<
                    <__AnyBus as ::tramline::subscription::BusContext>::Codec,
                >(clock(), parts.source(), "com.example.time.v1")
            }
        }
    };
};
