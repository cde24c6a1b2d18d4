//! What the server denies a bus on JetStream.

use std::time::{Duration, Instant};

use tramline::{Bus, JetStream, bus::StartError, contract::OpenError, source};

use super::support::{
    Desk, Order, PATIENCE, bare, chain, jetstream, on_both_with, owed, probe, publish_surely, publisher, quick, serve,
    stop, till, until, within,
};
use crate::server::Setup;

/// What the service `some` needs to publish and to subscribe, and no more.
const SOME: [&str; 6] = [
    "shop.order",
    "$JS.API.STREAM.INFO.SHOP",
    "$JS.API.CONSUMER.INFO.SHOP.*",
    "$JS.API.CONSUMER.CREATE.SHOP.>",
    "$JS.API.CONSUMER.MSG.NEXT.SHOP.>",
    "$JS.ACK.SHOP.>",
];

fn rights(setup: Setup) -> Setup {
    let inbox = ["_INBOX.>"];
    let mut reader = SOME.to_vec();
    reader.extend(inbox);
    let without = |what: &str| -> Vec<_> { reader.iter().copied().filter(|subject| !subject.contains(what)).collect() };
    let (no_acks, no_pulls) = (without("ACK"), without("MSG.NEXT"));
    let no_consumers: Vec<_> = reader.iter().copied().filter(|subject| !subject.contains("CONSUMER")).collect();
    let no_publish: Vec<_> = reader.iter().copied().filter(|subject| !subject.starts_with("shop")).collect();
    setup
        .user("all", "pw")
        .user_who_may("some", "pw", &reader, &inbox)
        .user_who_may("no-consumers", "pw", &no_consumers, &inbox)
        .user_who_may("no-publish", "pw", &no_publish, &inbox)
        .user_who_may("no-pulls", "pw", &no_pulls, &inbox)
        .user_who_may("no-acks", "pw", &no_acks, &inbox)
        .user_who_may("no-stream", "pw", &inbox, &inbox)
}

fn as_user(url: &str, user: &str) -> JetStream {
    jetstream(url).options(quick().user_and_password(user, "pw"))
}

async fn start_error(backend: JetStream) -> StartError {
    let bus = Bus::builder(backend, source!("urn:example:test")).state(Desk::new(Order::Accept)).subscribe(till);
    let begun = Instant::now();
    let error = bus.build().unwrap().start_within(PATIENCE).await.unwrap_err().error;
    assert!(begun.elapsed() < PATIENCE, "it is known before the budget is used up: {error}");
    error
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_needs_no_more_rights_than_it_uses() {
    on_both_with(
        rights,
        |_| {},
        async |server| {
            let desk = Desk::new(Order::DeclineFirst);
            let bus = serve(as_user(&server.url(), "some"), &desk).await;
            for id in 0..20 {
                publish_surely(&bus.handle(), id).await;
            }
            until("all have come twice", async || desk.came().values().filter(|came| came.len() == 2).count() == 20)
                .await;
            until("nothing is owed", async || matches!(owed(&server.url(), "till").await, (0, 0, _))).await;
            stop(bus).await;
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_publish_that_is_denied_is_an_error_that_names_the_subject_and_nothing_else_suffers() {
    on_both_with(
        rights,
        |_| {},
        async |server| {
            let desk = Desk::new(Order::Accept);
            let bus = serve(as_user(&server.url(), "no-publish"), &desk).await;
            let begun = Instant::now();
            let error = within("the answer", probe(&bus.handle())).await.unwrap_err();
            assert!(begun.elapsed() < Duration::from_secs(3), "it is told before the stream could have been silent");
            assert!(chain(&error).contains("denies publishing to `shop.order`"), "{}", chain(&error));
            let writer = publisher(as_user(&server.url(), "some")).await;
            publish_surely(&writer.handle(), "others").await;
            until("it comes", async || desk.count() == 1).await;
            let stats = stop(bus).await;
            assert_eq!(stats.incidents, 0, "{stats}");
            within("the stop", writer.stop(Duration::from_secs(5))).await;
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_may_not_pull_or_not_acknowledge_fails_and_says_so() {
    on_both_with(
        rights,
        |_| {},
        async |server| {
            let writer = publisher(as_user(&server.url(), "some")).await;
            for (user, denied) in
                [("no-pulls", "$JS.API.CONSUMER.MSG.NEXT.SHOP.till"), ("no-acks", "$JS.ACK.SHOP.till.")]
            {
                let desk = Desk::new(Order::Accept);
                let bus = serve(as_user(&server.url(), user), &desk).await;
                publish_surely(&writer.handle(), user).await;
                let mut changes = bus.status_changes();
                let is_said = changes.wait_for(|status| {
                    status.consumers[0]
                        .cause
                        .as_deref()
                        .is_some_and(|cause| cause.contains(denied) && cause.contains("grant"))
                });
                within("it is said", is_said).await.unwrap();
                within("the stop", bus.stop(Duration::from_secs(5))).await;
            }
            within("the stop", writer.stop(Duration::from_secs(5))).await;
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_who_may_make_no_consumer_is_told_what_to_grant() {
    on_both_with(
        rights,
        |_| {},
        async |server| {
            let error = start_error(as_user(&server.url(), "no-consumers")).await;
            let said = chain(&error);
            assert!(said.contains("`till`") && said.contains("$JS.API.CONSUMER"), "{said}");
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_who_may_not_see_the_stream_is_told_what_to_grant() {
    on_both_with(
        rights,
        |_| {},
        async |server| {
            let error = start_error(as_user(&server.url(), "no-stream")).await;
            let said = chain(&error);
            assert!(said.contains("$JS.API.STREAM.INFO.SHOP"), "{said}");
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_credentials_are_an_error_that_says_so_at_once() {
    on_both_with(
        rights,
        |_| {},
        async |server| {
            let wrong = jetstream(server.url()).options(quick().user_and_password("some", "secret-and-wrong"));
            let error = start_error(wrong).await;
            let is_credentials =
                matches!(&error, StartError::Open { source: OpenError::Setting { setting: "credentials", .. } });
            assert!(is_credentials, "{error:?}");
            assert!(!chain(&error).contains("secret"), "{}", chain(&error));
            let stream = bare(&server.url()).await.get_stream("SHOP").await.unwrap();
            assert!(stream.consumer_info("till").await.is_err(), "nothing was made");
        },
    )
    .await;
}
