//! What the server denies.

use tramline::{
    Nats,
    contract::{
        AnswersRequests, Backend, DeliversAtMostOnce, OpenError, PublishError, RequestError, Session, SubscribeError,
    },
};

use super::support::{
    PATIENCE, Sink, chain, event, group, nats, on_both_with, open, publish, quick, spec, subject, until, within,
};
use crate::server::Setup;

/// `all` may do everything, `some` only what begins with `ours`.
fn rights(setup: Setup) -> Setup {
    setup.user("all", "pw").user_who_may("some", "pw", &["ours.>"], &["ours.>", "_INBOX.>"])
}

fn some(url: &str) -> Nats {
    nats(url).options(quick().user_and_password("some", "pw"))
}

fn all(url: &str) -> String {
    url.replace("://", "://all:pw@")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscription_that_the_server_denies_is_refused_by_the_pattern_s_name() {
    on_both_with(rights, async |server| {
        let session = some(&server.url()).open().await.unwrap();
        for spec in [spec("theirs.>"), spec("theirs.>").group(group("g"))] {
            let denied = Nats::at_most_once(&session, spec).await.map(drop).unwrap_err();
            let SubscribeError::Setting { setting, value, .. } = &denied else { panic!("{denied:?}") };
            assert_eq!((*setting, value.as_str()), ("pattern", "theirs.>"));
            assert!(denied.to_string().contains("grant its user `subscribe` on it"), "{denied}");
        }
        let mut ours = Sink::on(&session, "ours.>").await;
        publish(&session, "ours.a", 1).await.unwrap();
        assert_eq!(ours.id().await, "1", "the link lives on");
        assert_eq!(ours.stats().interruptions, 0);
        session.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_publish_that_the_server_denied_is_an_error_from_then_on() {
    on_both_with(rights, async |server| {
        let (session, elsewhere) = (some(&server.url()).open().await.unwrap(), open(all(&server.url())).await);
        let mut sink = Sink::on(&elsewhere, ">").await;
        until("it is denied", || async { publish(&session, "theirs.a", 0).await.is_err() }).await;
        let denied = publish(&session, "theirs.a", 0).await.unwrap_err();
        assert!(matches!(denied, PublishError::Unconfirmed { .. }), "{denied:?}");
        assert!(chain(&denied).contains("denies publishing to `theirs.a`"), "{}", chain(&denied));
        publish(&session, "ours.a", "ours").await.unwrap();
        assert_eq!(sink.id().await, "ours", "and nothing of theirs");
        let to = subject("theirs.b");
        let asked = Nats::request(&session, &to, event(0), PATIENCE * 10);
        let asked = within("the request", asked).await.unwrap_err();
        assert!(matches!(asked, RequestError::Failed { .. }), "{asked:?}");
        assert!(chain(&asked).contains("denies publishing to `theirs.b`"), "{}", chain(&asked));
        session.close().await.unwrap();
        elsewhere.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_without_an_inbox_is_told_which_prefix_to_grant() {
    let setup = |setup: Setup| setup.user_who_may("svc", "pw", &["a", "_REPLY.>"], &["a", "_REPLY.>"]);
    on_both_with(setup, async |server| {
        let options = quick().user_and_password("svc", "pw");
        let error = nats(server.url()).options(options.clone()).open().await.unwrap_err();
        assert!(matches!(error, OpenError::Setting { setting: "inbox_prefix", .. }), "{error:?}");
        assert!(error.to_string().contains("`_INBOX.>`"), "{error}");
        let session = nats(server.url()).options(options.inbox_prefix("_REPLY")).open().await.unwrap();
        let mut sink = Sink::on(&session, "a").await;
        publish(&session, "a", 1).await.unwrap();
        assert_eq!(sink.id().await, "1");
        session.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_credentials_are_an_error_that_says_so_and_is_not_tried_again() {
    on_both_with(rights, async |server| {
        for options in [quick(), quick().user_and_password("some", "no"), quick().token("no"), quick().nkey_seed("no")]
        {
            let backend = nats(server.url()).options(options);
            let error = backend.open().await.unwrap_err();
            assert!(matches!(error, OpenError::Setting { setting: "credentials", .. }), "{error:?}");
            assert!(error.to_string().contains("127.0.0.1"), "it says who refuses: {error}");
            let bus = tramline::Bus::builder(backend, tramline::source!("urn:example:test")).build().unwrap();
            let begun = std::time::Instant::now();
            bus.start_within(PATIENCE).await.unwrap_err();
            assert!(begun.elapsed() < PATIENCE / 2);
        }
        let missing = nats(server.url()).options(quick().credentials_file("no-such.creds")).open().await.unwrap_err();
        assert!(matches!(missing, OpenError::Setting { setting: "credentials_file", .. }), "{missing:?}");
        assert!(missing.to_string().contains("no-such.creds"), "{missing}");
    })
    .await;
}
