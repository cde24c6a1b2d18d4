#[allow(
    non_camel_case_types,
    missing_debug_implementations,
    missing_copy_implementations
)]
struct echo;
const _: () = {
    #[allow(dead_code, clippy::unused_async)]
    async fn echo(event: &Event) -> Event {
        event.clone()
    }
    #[allow(deprecated)]
    impl echo {
        /// Calls the function itself, as a unit test does.
        #[allow(unreachable_pub, private_interfaces)]
        fn call(event: &Event) -> impl ::core::future::Future<Output = Event> {
            echo(event)
        }
    }
    const _: () = {
        const NAME: ::tramline::__private::Name = ::tramline::__private::name_literal(
            "the echo",
        );
        const PATTERN: ::tramline::__private::Pattern = ::tramline::__private::pattern_literal(
            "echo.>",
        );
        const GROUP: ::tramline::__private::Group = ::tramline::__private::group_literal(
            "echo",
        );
        #[automatically_derived]
        #[allow(deprecated)]
        impl ::tramline::subscription::Subscription for echo {
            type Mode = ::tramline::subscription::Answering;
            fn settings(&self) -> ::tramline::subscription::Settings {
                ::tramline::subscription::Settings::responder(NAME, PATTERN, GROUP)
            }
        }
        #[automatically_derived]
        #[allow(deprecated)]
        impl<
            B: ::tramline::contract::Backend + ::tramline::contract::AnswersRequests
                + ::tramline::contract::MatchesPatterns,
        > ::tramline::subscription::RunsOn<B> for echo {
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
        > ::tramline::subscription::Handler<__AnyBus> for echo
        where
            for<'d> &'d Event: ::tramline::subscription::Extract<
                'd,
                __AnyBus,
                ::tramline::subscription::Answering,
            >,
            for<'d> Event: ::tramline::subscription::Answer<
                <__AnyBus as ::tramline::subscription::BusContext>::Codec,
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
                let argument0 = match ::tramline::subscription::Extract::<
                    'd,
                    __AnyBus,
                    ::tramline::subscription::Answering,
                >::extract(&parts) {
                    ::core::result::Result::Ok(argument) => argument,
                    ::core::result::Result::Err(rejection) => {
                        return ::tramline::__private::AnsweringCall::rejected(rejection);
                    }
                };
                ::tramline::__private::AnsweringCall::event::<
                    <__AnyBus as ::tramline::subscription::BusContext>::Codec,
                >(echo(argument0), parts.source())
            }
        }
    };
};
