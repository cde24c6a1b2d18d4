#[allow(
    non_camel_case_types,
    missing_debug_implementations,
    missing_copy_implementations
)]
pub struct price;
const _: () = {
    #[allow(dead_code, clippy::unused_async)]
    async fn price(
        ask: Payload<Ask<'_>>,
        State(prices): State<Prices>,
    ) -> Result<Quote, UnknownItem> {
        prices.quote(ask.item)
    }
    #[allow(deprecated)]
    impl price {
        /// Calls the function itself, as a unit test does.
        #[allow(unreachable_pub, private_interfaces)]
        pub fn call(
            ask: Payload<Ask<'_>>,
            argument1: State<Prices>,
        ) -> impl ::core::future::Future<Output = Result<Quote, UnknownItem>> {
            price(ask, argument1)
        }
    }
    const _: () = {
        const NAME: ::tramline::__private::Name = ::tramline::__private::name_literal(
            "price",
        );
        const PATTERN: ::tramline::__private::Pattern = {
            ::tramline::__private::check_subject_literal("price.ask");
            ::tramline::__private::pattern_literal("price.ask")
        };
        const GROUP: ::tramline::__private::Group = ::tramline::__private::group_literal(
            "pricing",
        );
        #[allow(unused_imports)]
        use ::tramline::__private::NoTopic as _;
        #[allow(deprecated)]
        const _: () = ::tramline::__private::check_selects_literal(
            "price.ask",
            <::tramline::__private::Carries<Payload<Ask<'static>>>>::TOPIC,
        );
        #[allow(deprecated)]
        const _: () = ::tramline::__private::check_selects_literal(
            "price.ask",
            <::tramline::__private::Carries<State<Prices>>>::TOPIC,
        );
        #[automatically_derived]
        #[allow(deprecated)]
        impl ::tramline::subscription::Subscription for price {
            type Mode = ::tramline::subscription::Answering;
            fn settings(&self) -> ::tramline::subscription::Settings {
                ::tramline::subscription::Settings::responder(NAME, PATTERN, GROUP)
                    .bound(::core::num::NonZeroUsize::MIN.saturating_add(63))
                    .concurrency(::core::num::NonZeroUsize::MIN.saturating_add(7))
                    .restart(::tramline::subscription::Restart::new())
            }
        }
        #[automatically_derived]
        #[allow(deprecated)]
        impl<
            B: ::tramline::contract::Backend + ::tramline::contract::AnswersRequests,
        > ::tramline::subscription::RunsOn<B> for price {
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
        > ::tramline::subscription::Handler<__AnyBus> for price
        where
            for<'d> Payload<
                Ask<'d>,
            >: ::tramline::subscription::Extract<
                'd,
                __AnyBus,
                ::tramline::subscription::Answering,
            >,
            for<'d> State<
                Prices,
            >: ::tramline::subscription::Extract<
                'd,
                __AnyBus,
                ::tramline::subscription::Answering,
            >,
            for<'d> <__AnyBus as ::tramline::subscription::BusContext>::Codec: ::tramline::codec::Encodes<
                Quote,
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
                let argument1 = match ::tramline::subscription::Extract::<
                    'd,
                    __AnyBus,
                    ::tramline::subscription::Answering,
                >::extract(&parts) {
                    ::core::result::Result::Ok(argument) => argument,
                    ::core::result::Result::Err(rejection) => {
                        return ::tramline::__private::AnsweringCall::rejected(rejection);
                    }
                };
                ::tramline::__private::AnsweringCall::result::<
                    <__AnyBus as ::tramline::subscription::BusContext>::Codec,
                    _,
                    _,
                >(price(argument0, argument1), parts.source(), "com.example.quote.v1")
            }
        }
    };
};
