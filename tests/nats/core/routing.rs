//! Who gets what: barriers, groups, order, patterns, and what is no event.

use std::time::Duration;

use tramline::contract::{RetireReason, Session, SourceControl};

use super::support::{Sink, group, on_both, open, publish, spec, until, within};

#[tokio::test(flavor = "multi_thread")]
async fn y2_what_is_published_elsewhere_right_after_a_subscribe_arrives() {
    on_both(async |server| {
        let (subscriber, publisher) = (open(server.url()).await, open(server.url()).await);
        for round in 0..200 {
            let to = format!("round.{round}");
            let mut sink = Sink::on(&subscriber, &to).await;
            publish(&publisher, &to, round).await.unwrap();
            assert_eq!(sink.id().await, round.to_string());
        }
        subscriber.close().await.unwrap();
        publisher.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn n11_each_message_goes_to_one_member_of_a_group_and_to_everybody_else() {
    on_both(async |server| {
        let (one, two) = (open(server.url()).await, open(server.url()).await);
        let mut alone = Sink::on(&one, "a.>").await;
        let member = || spec("a.*").group(group("g"));
        let members = [Sink::of(&one, member()).await, Sink::of(&two, member()).await, Sink::of(&two, member()).await];
        for id in 0..60 {
            publish(&one, "a.b", id).await.unwrap();
        }
        assert_eq!(alone.ids(60).await.len(), 60);
        let taken = || members.iter().map(|member| member.stats().accepted).sum::<u64>();
        until("all have come", || async { taken() == 60 }).await;
        assert!(alone.is_quiet().await && taken() == 60, "and none twice");

        // Who has left is sent nothing any more.
        let [gone, rest @ ..] = members;
        let last = gone.control.retire(RetireReason::Restarting).await.unwrap();
        let before = 60 - last.stats.accepted;
        for id in 0..60 {
            publish(&one, "a.b", id).await.unwrap();
        }
        let taken = || rest.iter().map(|member| member.stats().accepted).sum::<u64>();
        until("all have come", || async { taken() == before + 60 }).await;
        one.close().await.unwrap();
        two.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b10_a_group_is_a_name_and_a_pattern() {
    on_both(async |server| {
        let session = open(server.url()).await;
        let mut wide = Sink::of(&session, spec("a.>").group(group("g"))).await;
        let mut narrow = Sink::of(&session, spec("a.b").group(group("g"))).await;
        for id in 0..10 {
            publish(&session, "a.b", id).await.unwrap();
        }
        assert_eq!(wide.ids(10).await, narrow.ids(10).await);
        session.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn g1_one_subject_arrives_in_order_beside_publishers_to_others() {
    on_both(async |server| {
        let (subscriber, publisher) = (open(server.url()).await, open(server.url()).await);
        let noisy = open(server.url()).await;
        let mut spec = spec("a.*");
        spec.bound = super::support::many(20_000);
        let mut sink = Sink::of(&subscriber, spec).await;
        let noise = tokio::spawn(async move {
            for id in 0..2_000 {
                publish(&noisy, "a.noise", format!("noise {id}")).await.unwrap();
            }
            noisy.close().await.unwrap();
        });
        for id in 0..2_000 {
            publish(&publisher, "a.b", id).await.unwrap();
        }
        let all = sink.ids(4_000).await;
        let ours: Vec<String> = all.into_iter().filter(|id| !id.starts_with("noise")).collect();
        assert_eq!(ours, (0..2_000).map(|id| id.to_string()).collect::<Vec<_>>());
        noise.await.unwrap();
        subscriber.close().await.unwrap();
        publisher.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pattern_of_everything_does_not_select_what_nats_sends_for_itself() {
    on_both(async |server| {
        let session = open(server.url()).await;
        let mut all = Sink::on(&session, ">").await;
        let mut two = Sink::on(&session, "*.*").await;
        // Subscribing sends a message to an inbox each time.
        let _third = Sink::on(&session, "a.b").await;
        let bare = async_nats::connect(server.url()).await.unwrap();
        bare.publish("$JS.API", "not for us".into()).await.unwrap();
        bare.publish("_INBOX.x.y", "not for us".into()).await.unwrap();
        bare.flush().await.unwrap();
        publish(&session, "a.b", 1).await.unwrap();
        assert_eq!((all.id().await, two.id().await), ("1".to_owned(), "1".to_owned()));
        assert!(all.is_quiet().await && two.is_quiet().await);
        assert_eq!((all.stats().accepted, two.stats().accepted), (1, 1));
        session.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn q10_what_is_no_event_is_malformed_and_the_next_event_is_delivered() {
    on_both(async |server| {
        let session = open(server.url()).await;
        let mut sink = Sink::on(&session, "a.>").await;
        let bare = async_nats::connect(server.url()).await.unwrap();
        bare.publish("a.b", "no event at all".into()).await.unwrap();
        let mut headers = async_nats::HeaderMap::new();
        headers.insert("ce-specversion", "0.3");
        headers.insert("ce-id", "old");
        bare.publish_with_headers("a.b", headers, "".into()).await.unwrap();
        // No bus has such a subject: 300 bytes.
        bare.publish(format!("a.{}", "b".repeat(300)), "".into()).await.unwrap();
        bare.flush().await.unwrap();
        for said in ["ce-specversion", "0.3", "255"] {
            let malformed = sink.next().await.unwrap().message.unwrap_err();
            assert!(malformed.address().unwrap().starts_with("a.b"), "{malformed:?}");
            let text = super::support::chain(&malformed);
            assert!(text.contains(said), "{text}");
        }
        publish(&session, "a.b", "good").await.unwrap();
        assert_eq!(sink.id().await, "good");
        assert_eq!(sink.stats().accepted, 4, "each is counted");
        session.close().await.unwrap();
    })
    .await;
}

/// Subscribing takes two round trips, and a subscription that is given up half way is gone.
#[tokio::test(flavor = "multi_thread")]
async fn y2_a_subscribe_that_is_dropped_half_way_leaves_nothing_subscribed() {
    on_both(async |server| {
        let session = open(server.url()).await;
        let subscribed = || async {
            let text = server.monitor("varz").await;
            let line = text.lines().find(|line| line.contains("\"subscriptions\"")).unwrap().to_owned();
            line.chars().filter(char::is_ascii_digit).collect::<String>().parse::<u32>().unwrap()
        };
        let before = subscribed().await;
        for _ in 0..50 {
            use tramline::contract::DeliversAtMostOnce;
            let half = tramline::Nats::at_most_once(&session, spec("half"));
            let _ = tokio::time::timeout(Duration::from_micros(30), half).await;
        }
        let dropped = Sink::on(&session, "whole").await;
        drop(dropped);
        until("the server has none of them", || async { subscribed().await == before }).await;
        within("the close", session.close()).await.unwrap();
    })
    .await;
}
