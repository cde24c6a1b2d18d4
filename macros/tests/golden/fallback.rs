::core::compile_error! {
    "`AtLeastOnce` needs a durable name, under which what is owed is kept; add `durable = \"..\"`"
}
#[allow(
    non_camel_case_types,
    missing_debug_implementations,
    missing_copy_implementations
)]
struct invoices;
const _: () = {
    #[allow(unused)]
    #[allow(dead_code, clippy::unused_async)]
    async fn invoices(attempt: Attempt) -> Ack {
        Ack
    }
    #[allow(deprecated)]
    impl invoices {
        /// Calls the function itself, as a unit test does.
        #[allow(unreachable_pub, private_interfaces)]
        fn call(attempt: Attempt) -> impl ::core::future::Future<Output = Ack> {
            invoices(attempt)
        }
    }
    #[allow(deprecated)]
    impl ::tramline::subscription::Subscription for invoices {
        type Mode = ::tramline::subscription::AtLeastOnce<
            ::tramline::subscription::Immediate,
        >;
        fn settings(&self) -> ::tramline::subscription::Settings {
            ::core::unreachable!("this subscription did not compile")
        }
    }
    #[allow(deprecated)]
    impl<B: ::tramline::contract::Backend> ::tramline::subscription::RunsOn<B>
    for invoices {
        type Source = ::tramline::__private::NoSource;
        fn open<'s>(
            _: &'s <B as ::tramline::contract::Backend>::Session,
            _: &::tramline::subscription::Settings,
            _: ::tramline::contract::SourceId,
            _: &::tramline::contract::FailureReply,
        ) -> ::tramline::subscription::Opening<'s, ::tramline::__private::NoSource> {
            ::std::boxed::Box::pin(::core::future::pending())
        }
    }
    #[automatically_derived]
    #[allow(deprecated, clippy::absolute_paths)]
    impl<
        __AnyBus: ::tramline::subscription::BusContext,
    > ::tramline::subscription::Handler<__AnyBus> for invoices {
        fn handle<'d>(
            &'d self,
            _: ::tramline::subscription::Parts<'d, __AnyBus>,
        ) -> impl ::core::future::Future<
            Output = ::core::result::Result<
                ::tramline::subscription::Judgement,
                ::tramline::subscription::Rejection,
            >,
        > + ::core::marker::Send + 'd {
            ::core::future::pending()
        }
    }
};
