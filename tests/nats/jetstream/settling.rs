//! Attempts, leases, delays and the bound, beyond what the suite asks.

use std::time::{Duration, Instant};

use tramline::contract::{Outcome, Session, Settle, Settlement, SlowHandler};

use super::support::{LEASE, QUIET, Sink, bounded, consumer, on_both, open, publish, publish_all, spec, until};
use crate::proxy::Proxy;

/// As a subscription does that restarts over and over.
#[tokio::test(flavor = "multi_thread")]
async fn t2_given_back_more_than_a_thousand_times_a_message_still_comes_and_its_next_decline_is_judged() {
    on_both(async |server| {
        let session = open(server.url()).await;
        let mut sink = Sink::of(&session, spec("a.b", "d")).await;
        publish(&session, "a.b", "1").await.unwrap();
        for _ in 0..1_100 {
            sink.next().await.say(Outcome::Returned).await.unwrap();
        }
        assert_eq!(sink.stats().exhausted, 0);
        sink.next().await.say(Outcome::Nacked).await.unwrap();
        assert!(sink.is_quiet().await);
        assert_eq!(sink.retire().await.stats.exhausted, 1);
        session.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn t2_returned_at_the_last_attempt_a_message_comes_again_and_declined_after_that_it_is_exhausted_once() {
    on_both(async |server| {
        let session = open(server.url()).await;
        let mut sink = Sink::of(&session, spec("a.b", "d")).await;
        publish(&session, "a.b", "1").await.unwrap();
        for attempt in 1..=9 {
            let got = sink.next().await;
            assert_eq!(got.what(), ("1", attempt));
            got.say(Outcome::Returned).await.unwrap();
        }
        assert_eq!(sink.stats().exhausted, 0);
        sink.next().await.say(Outcome::Nacked).await.unwrap();
        assert!(sink.is_quiet().await);
        assert_eq!(sink.retire().await.stats.exhausted, 1);
        let left = consumer(&server, "d").await;
        assert_eq!((left.num_ack_pending, left.num_pending), (0, 0), "it is ended at the server");
        session.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn e5_a_lease_that_ends_at_the_last_attempt_exhausts_the_message_once_and_a_late_answer_is_refused() {
    on_both(async |server| {
        let session = open(server.url()).await;
        let extended = SlowHandler::ExtendLease { max_processing_time: 2 * LEASE };
        for (durable, slow) in [("extended", extended), ("fixed", SlowHandler::Redeliver)] {
            let mut sink = Sink::of(&session, spec("a.b", durable).slow_handler(slow)).await;
            publish(&session, "a.b", durable).await.unwrap();
            let mut late = Vec::new();
            for attempt in 1..=3 {
                let got = sink.next().await;
                assert_eq!(got.what(), (durable, attempt));
                late.push(got);
            }
            until("the message is exhausted", || async { sink.stats().exhausted == 1 }).await;
            for got in late {
                assert!(got.say(Outcome::Acked).await.is_err(), "its lease is over");
            }
            assert!(sink.soon(2 * LEASE).await.is_none());
            let last = sink.retire().await.stats;
            assert_eq!((last.exhausted, last.lease_expired), (1, 3));
            assert_eq!(consumer(&server, durable).await.num_ack_pending, 0);
        }
        session.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn e5_what_waits_in_the_window_keeps_its_lease() {
    on_both(async |server| {
        let session = open(server.url()).await;
        let mut sink = Sink::of(&session, spec("a.b", "d")).await;
        publish_all(&session, "a.b", 0..20).await;
        until("all are in the window", || async { sink.stats().pending == 20 }).await;
        tokio::time::sleep(4 * LEASE).await;
        for id in 0..20 {
            let got = sink.next().await;
            assert_eq!(got.what(), (&*id.to_string(), 1));
            got.ack().await;
        }
        assert_eq!(sink.retire().await.stats.lease_expired, 0);
        session.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn e8_a_lease_that_ends_in_the_window_hands_its_message_on_unhandled_and_unjudged() {
    on_both(async |server| {
        let session = open(server.url()).await;
        let idle = Sink::of(&session, spec("a.b", "d").slow_handler(SlowHandler::Redeliver)).await;
        publish_all(&session, "a.b", 0..4).await;
        until("all are in the window", || async { idle.stats().pending == 4 }).await;
        // More leases than attempts: none of them is one, since nobody was handed anything.
        until("the leases have ended", || async { idle.stats().lease_expired >= 16 }).await;
        let stats = idle.stats();
        assert_eq!((stats.exhausted, stats.accepted), (0, stats.pending));
        idle.retire().await;
        let mut next = Sink::of(&session, spec("a.b", "d")).await;
        for _ in 0..4 {
            next.next().await.ack().await;
        }
        session.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b4_what_waits_out_a_delay_at_the_server_keeps_its_place() {
    on_both(async |server| {
        let session = open(server.url()).await;
        let mut sink = Sink::of(&session, bounded(2, spec("a.b", "d"))).await;
        publish_all(&session, "a.b", 0..3).await;
        let delay = Duration::from_secs(1);
        let declined = Instant::now();
        for _ in 0..2 {
            let got = sink.next().await;
            got.settler.settle(Settlement::new(Outcome::Nacked).after(delay)).await.unwrap();
        }
        assert!(sink.is_quiet().await, "two are held, and the bound is two");
        let mut ids = Vec::new();
        for _ in 0..3 {
            let got = sink.next().await;
            assert!(declined.elapsed() >= delay - Duration::from_millis(10));
            ids.push(got.id.clone());
            got.ack().await;
        }
        ids.sort();
        assert_eq!(ids, ["0", "1", "2"]);
        session.close().await.unwrap();
    })
    .await;
}

/// A server that is busy with its files answers for its consumers late, and hears heartbeats as ever.
#[tokio::test(flavor = "multi_thread")]
async fn e5_while_a_source_waits_to_hear_of_its_consumer_it_extends_its_leases() {
    on_both(async |server| {
        let proxy = Proxy::to(&server).await;
        let session = open(proxy.url()).await;
        let mut sink = Sink::of(&session, spec("a.b", "d")).await;
        publish(&session, "a.b", "1").await.unwrap();
        let held = sink.next().await;
        // Somebody hears what goes there, and answers nothing.
        let deaf = async_nats::connect(server.url()).await.unwrap();
        let asked = deaf.subscribe("$JS.API.C0NSUMER.>").await.unwrap();
        deaf.flush().await.unwrap();
        proxy.misdirect("$JS.API.CONSUMER.", "$JS.API.C0NSUMER.");
        tokio::time::sleep(5 * LEASE).await;
        assert_eq!(sink.stats().lease_expired, 0);
        held.ack().await;
        drop(asked);
        assert_eq!(sink.retire().await.stats.lease_expired, 0);
        session.close().await.unwrap();
    })
    .await;
}

/// The link is dead and nobody has noticed: heartbeats go nowhere, and the server hands the message on.
#[tokio::test(flavor = "multi_thread")]
async fn e7_over_a_link_that_hangs_a_settlement_is_refused_once_the_lease_could_be_over() {
    on_both(async |server| {
        let (proxy, other) = (Proxy::to(&server).await, open(server.url()).await);
        let session = open(proxy.url()).await;
        let mut sink = Sink::of(&session, spec("a.b", "d")).await;
        publish(&session, "a.b", "1").await.unwrap();
        let held = sink.next().await;
        proxy.hold();
        let mut member = Sink::of(&other, spec("a.b", "d")).await;
        let again = member.next().await;
        assert_eq!(again.what(), ("1", 2));
        assert!(held.say(Outcome::Acked).await.is_err(), "it is another's");
        assert_eq!(sink.stats().lease_expired, 1);
        again.say(Outcome::Nacked).await.unwrap();
        let third = member.next().await;
        assert_eq!(third.what(), ("1", 3), "the late answer has not ended it");
        third.ack().await;
        proxy.cut();
        proxy.heal();
        session.close().await.unwrap();
        other.close().await.unwrap();
        tokio::time::sleep(QUIET).await;
    })
    .await;
}
