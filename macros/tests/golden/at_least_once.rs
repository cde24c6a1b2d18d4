#[allow(
    non_camel_case_types,
    missing_debug_implementations,
    missing_copy_implementations
)]
struct invoices;
const _: () = {
    #[allow(dead_code, clippy::unused_async)]
    async fn invoices(
        State(db): State<Db>,
        delivery: Delivery<AtLeastOnce<Delayed>>,
    ) -> Result<Settled, Failed> {
        db.insert(delivery).await
    }
    #[allow(deprecated)]
    impl invoices {
        /// Calls the function itself, as a unit test does.
        #[allow(unreachable_pub, private_interfaces)]
        fn call(
            argument0: State<Db>,
            delivery: Delivery<AtLeastOnce<Delayed>>,
        ) -> impl ::core::future::Future<Output = Result<Settled, Failed>> {
            invoices(argument0, delivery)
        }
    }
    const _: () = {
        const NAME: ::tramline::__private::Name = ::tramline::__private::name_literal(
            "billing invoices",
        );
        const PATTERN: ::tramline::__private::Pattern = {
            ::tramline::__private::check_subject_literal("invoice.raised");
            ::tramline::__private::pattern_literal("invoice.raised")
        };
        const DURABLE: ::tramline::__private::DurableName = ::tramline::__private::durable_literal(
            "invoices",
        );
        const KEY: ::tramline::subscription::KeyedBy = ::tramline::__private::keyed_by_literal(
            "partitionkey",
        );
        #[allow(unused_imports)]
        use ::tramline::__private::NoTopic as _;
        #[allow(deprecated)]
        const _: () = ::tramline::__private::check_selects_literal(
            "invoice.raised",
            <::tramline::__private::Carries<State<Db>>>::TOPIC,
        );
        #[allow(deprecated)]
        const _: () = ::tramline::__private::check_selects_literal(
            "invoice.raised",
            <::tramline::__private::Carries<Delivery<AtLeastOnce<Delayed>>>>::TOPIC,
        );
        #[automatically_derived]
        #[allow(deprecated)]
        impl ::tramline::subscription::Subscription for invoices {
            type Mode = ::tramline::subscription::AtLeastOnce<
                ::tramline::subscription::Delayed,
            >;
            fn settings(&self) -> ::tramline::subscription::Settings {
                ::tramline::subscription::Settings::at_least_once(
                        NAME,
                        PATTERN,
                        DURABLE,
                        ::core::num::NonZeroU32::MIN.saturating_add(4),
                    )
                    .start_at(::tramline::contract::StartAt::AllAvailable)
                    .slow_handler(::tramline::contract::SlowHandler::ExtendLease {
                        max_processing_time: ::core::time::Duration::from_secs(300),
                    })
                    .ack_wait(::core::time::Duration::from_secs(30))
                    .backoff(
                        ::tramline::subscription::Backoff::checked(
                            ::core::time::Duration::new(1, 500000000),
                            ::core::time::Duration::from_secs(60),
                            2f64,
                        ),
                    )
                    .max_nack_delay(::core::time::Duration::from_secs(600))
                    .bound(::core::num::NonZeroUsize::MIN.saturating_add(511))
                    .overflow(::tramline::contract::Overflow::Fail)
                    .concurrency(::core::num::NonZeroUsize::MIN.saturating_add(3))
                    .keyed(KEY)
                    .ordered()
                    .restart(
                        ::tramline::subscription::Restart::new()
                            .max_restarts(5)
                            .initial(::core::time::Duration::from_secs(1))
                            .max(::core::time::Duration::from_secs(30))
                            .reset_after(::core::time::Duration::from_secs(3600)),
                    )
            }
        }
        #[automatically_derived]
        #[allow(deprecated)]
        impl<
            B: ::tramline::contract::Backend + ::tramline::contract::DeliversAtLeastOnce
                + ::tramline::contract::FailsWhenFull + ::tramline::contract::Orders,
        > ::tramline::subscription::RunsOn<B> for invoices
        where
            <<B as ::tramline::contract::DeliversAtLeastOnce>::Source as ::tramline::__private::InMode<
                B,
            >>::Backend: ::tramline::contract::SurvivesRestart,
            <<B as ::tramline::contract::DeliversAtLeastOnce>::Source as ::tramline::__private::InMode<
                B,
            >>::Backend: ::tramline::contract::KeepsForHandler,
            <<B as ::tramline::contract::DeliversAtLeastOnce>::Source as ::tramline::__private::InMode<
                B,
            >>::Backend: ::tramline::contract::Replays,
            <<B as ::tramline::contract::DeliversAtLeastOnce>::Source as ::tramline::__private::InMode<
                B,
            >>::Backend: ::tramline::contract::DelaysRedelivery,
        {
            type Source = <B as ::tramline::contract::DeliversAtLeastOnce>::Source;
            fn open<'s>(
                session: &'s <B as ::tramline::contract::Backend>::Session,
                settings: &::tramline::subscription::Settings,
                id: ::tramline::contract::SourceId,
                _: &::tramline::contract::FailureReply,
            ) -> ::tramline::subscription::Opening<'s, Self::Source> {
                ::tramline::subscription::open_at_least_once::<B>(session, settings, id)
            }
        }
        #[automatically_derived]
        #[allow(deprecated, clippy::absolute_paths)]
        impl<
            __AnyBus: ::tramline::subscription::BusContext,
        > ::tramline::subscription::Handler<__AnyBus> for invoices
        where
            for<'d> State<
                Db,
            >: ::tramline::subscription::Extract<
                'd,
                __AnyBus,
                ::tramline::subscription::AtLeastOnce<::tramline::subscription::Delayed>,
            >,
            for<'d> Delivery<
                AtLeastOnce<Delayed>,
            >: ::tramline::subscription::Extract<
                'd,
                __AnyBus,
                ::tramline::subscription::AtLeastOnce<::tramline::subscription::Delayed>,
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
                    ::tramline::subscription::AtLeastOnce<
                        ::tramline::subscription::Delayed,
                    >,
                >::extract(&parts) {
                    ::core::result::Result::Ok(argument) => argument,
                    ::core::result::Result::Err(rejection) => {
                        return ::tramline::__private::Handling::rejected(rejection);
                    }
                };
                let argument1 = match ::tramline::subscription::Extract::<
                    'd,
                    __AnyBus,
                    ::tramline::subscription::AtLeastOnce<
                        ::tramline::subscription::Delayed,
                    >,
                >::extract(&parts) {
                    ::core::result::Result::Ok(argument) => argument,
                    ::core::result::Result::Err(rejection) => {
                        return ::tramline::__private::Handling::rejected(rejection);
                    }
                };
                ::tramline::__private::Handling::called::<
                    ::tramline::subscription::AtLeastOnce<
                        ::tramline::subscription::Delayed,
                    >,
                >(invoices(argument0, argument1))
            }
        }
    };
};
