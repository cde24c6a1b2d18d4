//! Closing: what was published arrives, nothing is left, and nothing goes on.

use std::time::Duration;

use tramline::{
    Nats,
    contract::{Backend, DeliversAtMostOnce, PublishError, Session, SubscribeError},
};

use super::support::{Sink, event, nats, on_both, open, publish, quick, spec, subject, until, within};
use crate::{proxy::Proxy, server::Server};

/// How many connections of this name the server has.
async fn connections(server: &Server, name: &str) -> usize {
    server.monitor("connz").await.matches(&format!("\"name\": \"{name}\"")).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn n4_what_was_published_before_a_close_arrives() {
    on_both(async |server| {
        let elsewhere = open(server.url()).await;
        let mut spec = spec("a");
        spec.bound = super::support::many(20_000);
        let mut sink = Sink::of(&elsewhere, spec).await;
        let session = open(server.url()).await;
        for id in 0..10_000 {
            publish(&session, "a", id).await.unwrap();
        }
        within("the close", session.close()).await.unwrap();
        assert_eq!(sink.ids(10_000).await.last().unwrap(), "9999");
        elsewhere.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn n4_a_close_ends_sources_publishes_and_the_connection_and_can_be_repeated() {
    on_both(async |server| {
        let backend = nats(server.url()).options(quick().name("the-one"));
        for _ in 0..3 {
            let session = backend.open().await.unwrap();
            assert_eq!(connections(&server, "the-one").await, 1);
            let mut sink = Sink::on(&session, "a").await;
            let (to, kept) = (subject("a"), event("kept"));
            let kept = session.publish(&to, kept);
            within("the close", session.close()).await.unwrap();
            within("the same again", session.close()).await.unwrap();
            assert!(sink.next().await.is_none(), "its stream has ended");
            assert!(matches!(kept.await, Err(PublishError::Closed)), "one that was kept from before");
            assert!(matches!(publish(&session, "a", 0).await, Err(PublishError::Closed)));
            let refused = Nats::at_most_once(&session, spec("a")).await;
            assert!(matches!(refused, Err(SubscribeError::Closed)));
            until("the connection is gone", || async { connections(&server, "the-one").await == 0 }).await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn n4_a_session_that_is_dropped_leaves_no_connection() {
    on_both(async |server| {
        let session = nats(server.url()).options(quick().name("dropped")).open().await.unwrap();
        let mut sink = Sink::on(&session, "a").await;
        assert_eq!(connections(&server, "dropped").await, 1);
        drop(session);
        assert!(sink.next().await.is_none());
        until("the connection is gone", || async { connections(&server, "dropped").await == 0 }).await;
    })
    .await;
}

/// Tasks of ours and of the client's. On a runtime of its own, where nobody else has any.
#[tokio::test]
async fn n4_a_close_ends_every_task_of_the_session() {
    on_both(async |server| {
        let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
        let before = tasks();
        let session = open(server.url()).await;
        let sinks = [Sink::on(&session, "a").await, Sink::on(&session, "a.>").await];
        assert!(tasks() >= before + 4, "the client has two, and each source one");
        within("the close", session.close()).await.unwrap();
        until("all have ended", || async { tasks() == before }).await;
        drop((session, sinks));
    })
    .await;
}

/// While the link is down the client cannot be told to end: it ends once it has one.
#[tokio::test(flavor = "multi_thread")]
async fn n4_a_session_that_is_closed_without_a_link_is_gone_once_there_is_one() {
    on_both(async |server| {
        let proxy = Proxy::to(&server).await;
        let session = nats(proxy.url()).options(quick().name("linkless")).open().await.unwrap();
        proxy.cut();
        until("it is down", || async { publish(&session, "a", 0).await.is_err() }).await;
        within("the close", session.close()).await.unwrap();
        proxy.heal();
        // It may come and go in between; what counts is that it does not stay.
        tokio::time::sleep(Duration::from_millis(200)).await;
        until("the connection is gone", || async { connections(&server, "linkless").await == 0 }).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert_eq!(connections(&server, "linkless").await, 0);
        drop(session);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn n2_a_publish_beside_a_close_that_is_no_error_arrives() {
    on_both(async |server| {
        let elsewhere = open(server.url()).await;
        let mut wide = spec("a");
        wide.bound = super::support::many(100_000);
        let sink = Sink::of(&elsewhere, wide).await;
        let session = std::sync::Arc::new(open(server.url()).await);
        let publishing: Vec<_> = (0..4)
            .map(|_| {
                let session = session.clone();
                tokio::spawn(async move {
                    let mut taken = 0_u64;
                    loop {
                        match publish(&session, "a", taken).await {
                            Ok(()) => taken += 1,
                            // The second is one that the close overtook: it may have arrived.
                            Err(PublishError::Closed | PublishError::Unconfirmed { .. }) => return taken,
                            Err(error) => panic!("{error:?}"),
                        }
                    }
                })
            })
            .collect();
        until("they are at it", || async { sink.stats().accepted > 1_000 }).await;
        within("the close", session.close()).await.unwrap();
        let mut taken = 0;
        for publishing in publishing {
            taken += within("it ends", publishing).await.unwrap();
        }
        let come = || sink.stats().accepted + sink.stats().refused;
        until("all have come", || async { come() >= taken }).await;
        assert!(come() <= taken + 4, "each of the four has at most one of which it does not know");
        elsewhere.close().await.unwrap();
    })
    .await;
}
