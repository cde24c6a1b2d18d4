//! A durable identity: opened again, by two at once, and where somebody else has made the consumer.

use std::num::NonZeroU32;

use async_nats::jetstream::consumer::{AckPolicy, Config};
use tramline::contract::{AtLeastOnceSpec, DeliversAtLeastOnce, Session, SubscribeError};

use super::support::{STREAM, Sink, bare, consumer, on_both, open, publish, publish_all, spec};

fn attempts(max_deliver: u32, spec: AtLeastOnceSpec) -> AtLeastOnceSpec {
    let mut spec = spec;
    spec.max_deliver = NonZeroU32::new(max_deliver).unwrap();
    spec
}

fn refused(result: Result<Sink, SubscribeError>) -> (&'static str, String, String) {
    match result.err().expect("it is refused") {
        SubscribeError::Reopened { field, existing, asked, .. } => (field, existing, asked),
        error => panic!("{error:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn i4_of_two_who_open_a_new_name_at_once_with_other_settings_one_is_refused_by_name() {
    on_both(async |server| {
        let (one, two) = (open(server.url()).await, open(server.url()).await);
        for round in 0..50 {
            let durable = format!("race-{round}");
            let (first, second) = tokio::join!(
                Sink::try_of(&one, attempts(3, spec("a.b", &durable))),
                Sink::try_of(&two, attempts(7, spec("a.b", &durable))),
            );
            assert!(first.is_ok() != second.is_ok(), "round {round}: both, or none, were let in");
            let (winner, loser) = if first.is_ok() { (first, second) } else { (second, first) };
            let (field, existing, asked) = refused(loser);
            assert_eq!(field, "max_deliver");
            let there = consumer(&server, &durable).await.config.max_deliver - 1_000_000_000;
            assert_eq!(existing, there.to_string(), "what the winner asked for is there");
            assert!(["3", "7"].contains(&&*asked) && asked != existing);
            drop(winner);
        }
        one.close().await.unwrap();
        two.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn i3_many_who_open_a_new_name_at_once_with_one_setting_are_all_let_in() {
    on_both(async |server| {
        let session = open(server.url()).await;
        let opening = (0..8).map(|_| Sink::of(&session, spec("a.b", "d")));
        let members = futures_util::future::join_all(opening).await;
        assert_eq!(members.len(), 8);
        session.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn i4_a_consumer_of_another_kind_under_the_name_is_refused_as_what_it_is() {
    on_both(async |server| {
        let session = open(server.url()).await;
        let stream = bare(&server).await.get_stream(STREAM).await.unwrap();
        let like = |name: &str| Config {
            durable_name: Some(name.to_owned()),
            filter_subject: "a.b".to_owned(),
            deliver_policy: async_nats::jetstream::consumer::DeliverPolicy::New,
            ack_wait: super::support::LEASE,
            max_deliver: 1_000_000_003,
            ..Config::default()
        };
        let push = Config { deliver_subject: Some("elsewhere".to_owned()), ..like("push") };
        let unacknowledged = Config { ack_policy: AckPolicy::None, ..like("unacknowledged") };
        let unlimited = Config { max_deliver: -1, ..like("unlimited") };
        let narrow = Config { max_deliver: 3, ..like("narrow") };
        for config in [push, unacknowledged, unlimited, narrow, like("fitting")] {
            stream.create_consumer(config).await.unwrap();
        }
        let mut said = Vec::new();
        for name in ["push", "unacknowledged", "unlimited", "narrow"] {
            let (field, existing, _) = refused(Sink::try_of(&session, spec("a.b", name)).await);
            said.push(format!("{field}: {existing}"));
        }
        assert_eq!(
            said,
            [
                "mode: a push consumer",
                "mode: a consumer with ack policy None",
                "max_deliver: without a limit",
                "max_deliver: 3 at the server, which has too little room for what is given back",
            ]
        );
        // One that the operator made to fit is taken.
        Sink::of(&session, spec("a.b", "fitting")).await.retire().await;
        session.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn i4_giving_an_identity_up_leaves_its_consumer_to_the_operator() {
    use tramline::contract::{RetireReason, SourceControl};
    on_both(async |server| {
        let session = open(server.url()).await;
        let sink = Sink::of(&session, spec("a.b", "d")).await;
        sink.control.retire(RetireReason::GivenUp).await.unwrap();
        publish(&session, "a.b", "1").await.unwrap();
        assert_eq!(consumer(&server, "d").await.num_pending, 1);
        session.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn y2_a_subscribe_that_is_dropped_half_way_leaves_nothing_that_takes_messages() {
    on_both(async |server| {
        let session = open(server.url()).await;
        for _ in 0..20 {
            let subscribing = tramline::JetStream::at_least_once(&session, spec("a.b", "d"));
            let _ = tokio::time::timeout(std::time::Duration::from_micros(300), subscribing).await;
        }
        let mut sink = Sink::of(&session, spec("a.b", "d")).await;
        publish_all(&session, "a.b", 0..20).await;
        let mut ids = std::collections::BTreeSet::new();
        // One that was there for a moment gives back what it got. A server of version 2.9 may send one of those again by its
        // lease only, and another one twice, if a pull ends in the same moment.
        while ids.len() < 20 {
            let got = sink.next().await;
            ids.insert(got.id.clone());
            let _ = got.say(tramline::contract::Outcome::Acked).await;
        }
        assert_eq!(ids.len(), 20);
        session.close().await.unwrap();
    })
    .await;
}
