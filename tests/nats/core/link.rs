//! What happens when the link dies, and when it is there again.

use std::time::{Duration, Instant};

use tramline::{
    Nats,
    backend::nats::NatsSession,
    contract::{
        AnswersRequests, Backend, DeliversAtMostOnce, PublishError, RequestError, RetireReason, Session, SourceControl,
        SubscribeError,
    },
};

use super::support::{PATIENCE, Sink, chain, event, nats, on_both, open, publish, quick, spec, subject, until, within};
use crate::proxy::Proxy;

/// Publishes until the link is seen to be down.
async fn until_down(session: &NatsSession) -> PublishError {
    let begun = Instant::now();
    loop {
        if let Err(error) = publish(session, "to.nobody", 0).await {
            return error;
        }
        assert!(begun.elapsed() < PATIENCE, "the link is cut, and nobody sees it");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_link_is_down_a_publish_is_an_error_at_once_and_is_not_sent_later() {
    on_both(async |server| {
        let proxy = Proxy::to(&server).await;
        let (here, elsewhere) = (open(proxy.url()).await, open(server.url()).await);
        let mut sink = Sink::on(&elsewhere, "a").await;
        proxy.cut();
        let error = until_down(&here).await;
        assert!(matches!(&error, PublishError::Unconfirmed { .. }), "{error:?}");
        assert!(chain(&error).contains("the link to the NATS server is down"), "{}", chain(&error));
        for id in 0..100 {
            let begun = Instant::now();
            publish(&here, "a", id).await.unwrap_err();
            assert!(begun.elapsed() < Duration::from_secs(1), "at once");
        }
        proxy.heal();
        until("the link is there again", || async { publish(&here, "a", "after").await.is_ok() }).await;
        assert_eq!(sink.id().await, "after");
        assert!(sink.is_quiet().await, "nothing of what was refused");
        here.close().await.unwrap();
        elsewhere.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_outlives_its_link_and_tells_how_often_that_was_interrupted() {
    on_both(async |server| {
        let proxy = Proxy::to(&server).await;
        let (here, elsewhere) = (open(proxy.url()).await, open(server.url()).await);
        let mut sink = Sink::on(&here, "a").await;
        publish(&elsewhere, "a", "before").await.unwrap();
        assert_eq!((sink.id().await.as_str(), sink.stats().interruptions), ("before", 0));

        for round in 1..=3 {
            proxy.cut();
            until("it is counted", || async { sink.stats().interruptions == round }).await;
            // Nobody can count this one.
            publish(&elsewhere, "a", "meanwhile").await.unwrap();
            elsewhere_has_sent(&elsewhere).await;
            proxy.heal();
            until("the link is there again", || async { publish(&here, "nobody", 0).await.is_ok() }).await;
            let mut again = Sink::on(&here, "b").await;
            publish(&elsewhere, "a", round).await.unwrap();
            assert_eq!(sink.id().await, round.to_string());
            assert_eq!(sink.stats().interruptions, round, "counted once");
            assert_eq!(again.stats().interruptions, 0, "what came before it is not its own");
            assert!(again.is_quiet().await);
        }
        let last = sink.control.retire(RetireReason::Stopping).await.unwrap();
        assert_eq!((last.stats.interruptions, last.stats.accepted), (3, 4));
        assert!(last.cause.is_none());
        proxy.cut();
        until_down(&here).await;
        assert_eq!(sink.stats(), last.stats, "it has retired");
        within("the close", here.close()).await.unwrap();
        elsewhere.close().await.unwrap();
    })
    .await;
}

/// Returns once the server has what was published: it has sent it back.
async fn elsewhere_has_sent(session: &NatsSession) {
    let mut echo = Sink::on(session, "echo").await;
    publish(session, "echo", 0).await.unwrap();
    echo.id().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_outlives_a_server_that_is_killed_and_started_again() {
    on_both(async |mut server| {
        let session = open(server.url()).await;
        let mut sink = Sink::on(&session, "a").await;
        server.kill().await;
        until_down(&session).await;
        server.restart().await;
        until("the link is there again", || async { publish(&session, "a", "after").await.is_ok() }).await;
        assert_eq!((sink.id().await.as_str(), sink.stats().interruptions), ("after", 1));
        session.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_link_is_down_nothing_waits_for_it() {
    on_both(async |server| {
        let proxy = Proxy::to(&server).await;
        let session = open(proxy.url()).await;
        let sink = Sink::on(&session, "a").await;
        proxy.cut();
        until_down(&session).await;
        let asked = within("the request", Nats::request(&session, &subject("a"), event(0), PATIENCE * 2)).await;
        assert!(matches!(asked, Err(RequestError::Failed { .. })), "{asked:?}");
        let refused = within("the subscribe", Nats::at_most_once(&session, spec("b"))).await;
        assert!(matches!(refused, Err(SubscribeError::Unconfirmed { .. })));
        within("the retire", sink.control.retire(RetireReason::Stopping)).await.unwrap();
        within("the close", session.close()).await.unwrap();
    })
    .await;
}

/// No end learns that the network between them hands nothing on.
#[tokio::test(flavor = "multi_thread")]
async fn a_link_that_dies_without_a_word_is_seen_to_be_down_by_its_pings() {
    on_both(async |server| {
        let proxy = Proxy::to(&server).await;
        let options = quick().ping_interval(Duration::from_millis(50));
        let session = nats(proxy.url()).options(options.clone()).open().await.unwrap();
        let closing = nats(proxy.url()).options(options).open().await.unwrap();
        let mut sink = Sink::on(&session, "a").await;
        proxy.hold();
        within("a close on a dead link", closing_ends(&closing)).await;
        until("it is counted", || async { sink.stats().interruptions == 1 }).await;
        publish(&session, "a", "meanwhile").await.unwrap_err();
        proxy.heal();
        until("the link is there again", || async { publish(&session, "a", "after").await.is_ok() }).await;
        assert_eq!(sink.id().await, "after");
        session.close().await.unwrap();
    })
    .await;
}

/// As the bus does it: again and again.
async fn closing_ends(session: &NatsSession) {
    while session.close().await.is_err() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
