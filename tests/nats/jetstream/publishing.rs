//! Publishing: confirmed, once, side by side, and refused with words.

use std::time::{Duration, Instant};

use async_nats::jetstream::stream::{Config, DiscardPolicy};
use tramline::contract::{PublishError, Session};

use super::support::{
    STREAM, Sink, bare, chain, event, make_stream, on_both, open, publish, publish_all, spec, subject, within,
};
use crate::{
    proxy::Proxy,
    server::{Server, Setup, Version},
};

fn said(result: Result<(), PublishError>) -> String {
    let error = result.unwrap_err();
    assert!(matches!(error, PublishError::Unconfirmed { .. }), "{error:?}");
    chain(&error)
}

async fn count(server: &Server) -> u64 {
    bare(server).await.get_stream(STREAM).await.unwrap().cached_info().state.messages
}

#[tokio::test(flavor = "multi_thread")]
async fn q8_an_event_is_kept_once_for_each_subject_by_its_source_and_its_id() {
    on_both(async |server| {
        let session = open(server.url()).await;
        for _ in 0..3 {
            publish(&session, "a.b", "1").await.unwrap();
        }
        assert_eq!(count(&server).await, 1);
        publish(&session, "a.c", "1").await.unwrap();
        let other = event("1").to_builder().source(tramline::source!("urn:example:other")).build().unwrap();
        session.publish(&subject("a.b"), other).await.unwrap();
        assert_eq!(count(&server).await, 3, "another subject, and another source, are others");
        session.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b8_a_subject_that_no_stream_keeps_is_an_error_that_names_it_and_the_command() {
    on_both(async |server| {
        let session = open(server.url()).await;
        let said = said(publish(&session, "b.c", "1").await);
        assert!(
            said.contains("no stream keeps `b.c`") && said.contains("`nats stream edit TEST --subjects`"),
            "{said}"
        );
        session.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_is_full_says_so() {
    for version in Version::ALL {
        let server = Server::start(version).await;
        let full = Config { max_messages: 1, discard: DiscardPolicy::New, ..Config::default() };
        make_stream(&server, full).await;
        let session = open(server.url()).await;
        publish(&session, "a.b", "1").await.unwrap();
        let said = said(publish(&session, "a.b", "2").await);
        assert!(said.contains("the stream refused it") && said.contains("maximum messages"), "{said}");
        session.close().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_publishes_at_once_wait_side_by_side() {
    on_both(async |server| {
        let session = open(server.url()).await;
        let mut sink = Sink::of(&session, spec("a.b", "d")).await;
        publish_all(&session, "a.b", 0..2000).await;
        let mut ids = std::collections::BTreeSet::new();
        for _ in 0..2000 {
            let got = sink.next().await;
            ids.insert(got.id.clone());
            got.ack().await;
        }
        assert_eq!(ids.len(), 2000);
        assert!(sink.is_quiet().await);
        session.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn n2_a_publish_is_refused_promptly_when_the_link_is_down_and_when_the_session_is_closed() {
    on_both(async |server| {
        let proxy = Proxy::to(&server).await;
        let session = open(proxy.url()).await;
        publish(&session, "a.b", "1").await.unwrap();
        // Not answered, and then cut while it waits.
        proxy.hold();
        let began = Instant::now();
        let (waited, ()) = tokio::join!(publish(&session, "a.b", "2"), async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            proxy.cut();
        });
        assert!(said(waited).contains("went down"), "it does not wait for a confirmation that cannot come");
        let said = said(within("a publish without a link", publish(&session, "a.b", "3")).await);
        assert!(said.contains("down"), "{said}");
        assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
        proxy.heal();
        super::support::until("the link is up again", || async { publish(&session, "a.b", "4").await.is_ok() }).await;
        session.close().await.unwrap();
        let refused = within("a publish after the close", publish(&session, "a.b", "5")).await;
        assert!(matches!(refused, Err(PublishError::Closed)), "{refused:?}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn n4_a_publish_that_a_close_overtakes_says_that_the_stream_may_have_it() {
    on_both(async |server| {
        let proxy = Proxy::to(&server).await;
        let session = open(proxy.url()).await;
        proxy.hold();
        let (overtaken, ()) = tokio::join!(publish(&session, "a.b", "1"), async {
            tokio::task::yield_now().await;
            // It cannot end the client over a link that hangs.
            let _ = within("the close", session.close()).await;
        });
        assert!(said(overtaken).contains("whether the stream has it is not known"));
        assert!(matches!(publish(&session, "a.b", "2").await, Err(PublishError::Closed)), "this one was not sent");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_publish_that_the_server_denies_says_so_at_once() {
    for version in Version::ALL {
        let allowed = ["$JS.API.>", "_INBOX.>", "a.b"];
        let setup = Setup::new(version).user("operator", "o").user_who_may("service", "s", &allowed, &["_INBOX.>"]);
        let server = Server::start(setup).await;
        let operator = async_nats::ConnectOptions::with_user_and_password("operator".to_owned(), "o".to_owned());
        let bare = async_nats::jetstream::new(operator.connect(server.url()).await.unwrap());
        let subjects = vec!["a.>".to_owned()];
        bare.create_stream(Config { name: STREAM.to_owned(), subjects, ..Config::default() }).await.unwrap();
        let session = open(format!("nats://service:s@127.0.0.1:{}", server.port())).await;
        publish(&session, "a.b", "1").await.unwrap();
        let began = Instant::now();
        let said = said(publish(&session, "a.c", "2").await);
        assert!(said.contains("denies publishing to `a.c`"), "{said}");
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
        session.close().await.unwrap();
    }
}
