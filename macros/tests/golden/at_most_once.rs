#[cfg(feature = "greetings")]
/// Greets.
#[allow(
    non_camel_case_types,
    missing_debug_implementations,
    missing_copy_implementations
)]
pub(crate) struct greeter;
#[cfg(feature = "greetings")]
const _: () = {
    #[allow(dead_code, clippy::unused_async)]
    #[tracing::instrument]
    async fn greeter(subject: &Subject, hello: Payload<Hello<'_>>) {
        println!("{subject}: {}", hello.text)
    }
    #[allow(deprecated)]
    impl greeter {
        /// Calls the function itself, as a unit test does.
        #[allow(unreachable_pub, private_interfaces)]
        pub(crate) fn call(
            subject: &Subject,
            hello: Payload<Hello<'_>>,
        ) -> impl ::core::future::Future<Output = ()> {
            greeter(subject, hello)
        }
    }
    const _: () = {
        const NAME: ::tramline::__private::Name = ::tramline::__private::name_literal(
            "greeter",
        );
        const PATTERN: ::tramline::__private::Pattern = ::tramline::__private::pattern_literal(
            "greeting.>",
        );
        #[allow(unused_imports)]
        use ::tramline::__private::NoTopic as _;
        #[allow(deprecated)]
        const _: () = ::tramline::__private::check_selects_literal(
            "greeting.>",
            <::tramline::__private::Carries<Payload<Hello<'static>>>>::TOPIC,
        );
        #[automatically_derived]
        #[allow(deprecated)]
        impl ::tramline::subscription::Subscription for greeter {
            type Mode = ::tramline::subscription::AtMostOnce;
            fn settings(&self) -> ::tramline::subscription::Settings {
                ::tramline::subscription::Settings::at_most_once(NAME, PATTERN)
            }
        }
        #[automatically_derived]
        #[allow(deprecated)]
        impl<
            B: ::tramline::contract::Backend + ::tramline::contract::DeliversAtMostOnce
                + ::tramline::contract::MatchesPatterns,
        > ::tramline::subscription::RunsOn<B> for greeter {
            type Source = <B as ::tramline::contract::DeliversAtMostOnce>::Source;
            fn open<'s>(
                session: &'s <B as ::tramline::contract::Backend>::Session,
                settings: &::tramline::subscription::Settings,
                id: ::tramline::contract::SourceId,
                _: &::tramline::contract::FailureReply,
            ) -> ::tramline::subscription::Opening<'s, Self::Source> {
                ::tramline::subscription::open_at_most_once::<B>(session, settings, id)
            }
        }
        #[automatically_derived]
        #[allow(deprecated, clippy::absolute_paths)]
        impl<
            __AnyBus: ::tramline::subscription::BusContext,
        > ::tramline::subscription::Handler<__AnyBus> for greeter
        where
            for<'d> &'d Subject: ::tramline::subscription::Extract<
                'd,
                __AnyBus,
                ::tramline::subscription::AtMostOnce,
            >,
            for<'d> Payload<
                Hello<'d>,
            >: ::tramline::subscription::Extract<
                'd,
                __AnyBus,
                ::tramline::subscription::AtMostOnce,
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
                    ::tramline::subscription::AtMostOnce,
                >::extract(&parts) {
                    ::core::result::Result::Ok(argument) => argument,
                    ::core::result::Result::Err(rejection) => {
                        return ::tramline::__private::Handling::rejected(rejection);
                    }
                };
                let argument1 = match ::tramline::subscription::Extract::<
                    'd,
                    __AnyBus,
                    ::tramline::subscription::AtMostOnce,
                >::extract(&parts) {
                    ::core::result::Result::Ok(argument) => argument,
                    ::core::result::Result::Err(rejection) => {
                        return ::tramline::__private::Handling::rejected(rejection);
                    }
                };
                ::tramline::__private::Handling::called::<
                    ::tramline::subscription::AtMostOnce,
                >(greeter(argument0, argument1))
            }
        }
    };
};
