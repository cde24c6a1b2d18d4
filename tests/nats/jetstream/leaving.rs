//! How a source ends: retired, dropped, closed, or by itself.

use std::{
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::{Duration, Instant},
};

use tramline::contract::{AtLeastOnceSpec, FinalReading, RetireReason, Session, SourceControl};

use super::support::{
    STREAM, Sink, bare, chain, consumer, numbers, on_both, open, publish, publish_all, spec, until, within,
};
use crate::server::Server;

/// A lease that no test waits for: what comes again before that was given back.
const LONG: Duration = Duration::from_secs(15);

fn patient(durable: &str) -> AtLeastOnceSpec {
    spec("a.b", durable).ack_wait(LONG)
}

/// Takes these from a new source, each for the second time.
async fn takes_again(sink: &mut Sink, ids: &[String]) {
    let began = Instant::now();
    let mut got = Vec::new();
    for _ in ids {
        let next = sink.next().await;
        assert_eq!(next.attempt, 2, "`{}` has spent one attempt", next.id);
        got.push(next.id.clone());
        next.ack().await;
    }
    assert_eq!(got, ids, "in the order of the stream");
    assert!(began.elapsed() < Duration::from_secs(10), "none waited for its lease");
}

/// Waits for the end of the pull of a source that nobody can wait for. Opened before, the next source's pull would end in the
/// moment in which the messages are given back, and that is when servers misplace and miscount them.
async fn until_no_pull_is_open(server: &Server, durable: &str) {
    until("no pull is open", || async { consumer(server, durable).await.num_waiting == 0 }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn n7_a_retire_gives_back_the_window_and_what_is_in_hand_in_order_and_spends_one_attempt() {
    on_both(async |server| {
        let session = open(server.url()).await;
        let mut sink = Sink::of(&session, patient("d")).await;
        publish_all(&session, "a.b", 0..50).await;
        let in_hand = [sink.next().await, sink.next().await];
        until("the rest is in the window", || async { sink.stats().pending == 48 }).await;
        let began = Instant::now();
        let last = sink.retire().await;
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
        assert_eq!((last.stats.accepted, last.stats.pending), (50, 48));
        assert!(last.cause.is_none());
        assert_eq!(sink.retire().await.stats, last.stats);
        assert_eq!(consumer(&server, "d").await.num_redelivered, 0, "nothing has come back to the one that left");
        takes_again(&mut Sink::of(&session, patient("d")).await, &numbers(0..50)).await;
        drop(in_hand);
        session.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn n7_a_retire_under_a_flood_leaves_nothing_to_a_lease() {
    on_both(async |server| {
        let (session, publisher) = (open(server.url()).await, open(server.url()).await);
        let goes_on = AtomicBool::new(true);
        let flood = async {
            let mut id = 0;
            while goes_on.load(Relaxed) {
                publish_all(&publisher, "a.b", id..id + 20).await;
                id += 20;
            }
            id
        };
        let retiring = async {
            let mut acknowledged = 0;
            for _ in 0..5 {
                let mut sink = Sink::of(&session, patient("d")).await;
                for _ in 0..100 {
                    sink.next().await.ack().await;
                    acknowledged += 1;
                }
                sink.retire().await;
                // What was sent to it is back, to be sent again: only what nobody has asked for is pending then.
                let state = consumer(&server, "d").await;
                let sent = state.delivered.stream_sequence;
                assert!(state.num_ack_pending as u64 <= sent - acknowledged, "{state:?}");
            }
            goes_on.store(false, Relaxed);
            acknowledged
        };
        // The consumer is there before the first message.
        Sink::of(&session, patient("d")).await.retire().await;
        let (published, acknowledged) = tokio::join!(flood, retiring);
        let mut rest = Sink::of(&session, patient("d")).await;
        for _ in acknowledged..u64::from(published) {
            rest.next().await.ack().await;
        }
        assert!(rest.is_quiet().await);
        session.close().await.unwrap();
        publisher.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_whose_halves_are_dropped_gives_back_what_it_held() {
    on_both(async |server| {
        let session = open(server.url()).await;
        let sink = Sink::of(&session, patient("d")).await;
        publish_all(&session, "a.b", 0..10).await;
        until("all are in the window", || async { sink.stats().pending == 10 }).await;
        drop(sink);
        until_no_pull_is_open(&server, "d").await;
        takes_again(&mut Sink::of(&session, patient("d")).await, &numbers(0..10)).await;
        session.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn n4_a_session_that_is_closed_or_dropped_gives_back_what_its_sources_held() {
    on_both(async |server| {
        for (durable, closes) in [("closed", true), ("dropped", false)] {
            let session = open(server.url()).await;
            let sink = Sink::of(&session, patient(durable)).await;
            publish_all(&session, "a.b", 0..10).await;
            until("all are in the window", || async { sink.stats().pending == 10 }).await;
            if closes {
                within("the close", session.close()).await.unwrap();
                assert_eq!(sink.retire().await.stats.pending, 10);
            }
            drop(session);
            until_no_pull_is_open(&server, durable).await;
            let session = open(server.url()).await;
            takes_again(&mut Sink::of(&session, patient(durable)).await, &numbers(0..10)).await;
            session.close().await.unwrap();
            // The duplicates of the first round would not be kept.
            bare(&server).await.get_stream(STREAM).await.unwrap().purge().await.unwrap();
            bare(&server).await.delete_stream(STREAM).await.unwrap();
            super::support::make_stream(&server, async_nats::jetstream::stream::Config::default()).await;
        }
    })
    .await;
}

/// The last reading of a source that ends by itself.
async fn ended(mut sink: Sink) -> FinalReading {
    while let Some(incoming) = sink.incoming().await {
        drop(incoming);
    }
    within("retiring", sink.control.retire(RetireReason::Restarting)).await.unwrap()
}

fn cause(last: FinalReading) -> String {
    chain(&*last.cause.expect("it says why it ended"))
}

#[tokio::test(flavor = "multi_thread")]
async fn n8_a_source_whose_consumer_or_stream_is_deleted_ends_and_says_so() {
    on_both(async |server| {
        let session = open(server.url()).await;
        let stream = bare(&server).await.get_stream(STREAM).await.unwrap();

        let sink = Sink::of(&session, spec("a.b", "deleted")).await;
        publish(&session, "a.b", "1").await.unwrap();
        stream.delete_consumer("deleted").await.unwrap();
        let said = cause(ended(sink).await);
        assert!(said.contains("the consumer `deleted` of the stream `TEST` is gone"), "{said}");

        let sink = Sink::of(&session, spec("a.b", "anew")).await;
        let config = consumer(&server, "anew").await.config;
        stream.delete_consumer("anew").await.unwrap();
        stream.create_consumer(config).await.unwrap();
        let said = cause(ended(sink).await);
        // Which of the two it finds is a matter of time.
        assert!(said.contains("the consumer `anew` of the stream `TEST`"), "{said}");
        assert!(said.contains("is gone") || said.contains("was deleted and made anew"), "{said}");

        let sink = Sink::of(&session, spec("a.b", "streamless")).await;
        bare(&server).await.delete_stream(STREAM).await.unwrap();
        let said = cause(ended(sink).await);
        assert!(said.contains("`streamless`") && said.contains("`TEST`") && said.contains("gone"), "{said}");
        let refused = Sink::try_of(&session, spec("a.b", "streamless")).await.err().unwrap();
        assert!(chain(&refused).contains("`nats stream add TEST"), "{}", chain(&refused));
        session.close().await.unwrap();
    })
    .await;
}

/// On a server of version 2.9 nothing is heard of a pull on a consumer that is not there.
#[tokio::test(flavor = "multi_thread")]
async fn n8_a_consumer_that_is_deleted_while_nothing_is_asked_for_is_missed_all_the_same() {
    on_both(async |server| {
        let session = open(server.url()).await;
        let mut sink = Sink::of(&session, super::support::bounded(1, spec("a.b", "d"))).await;
        publish(&session, "a.b", "1").await.unwrap();
        let held = sink.next().await;
        bare(&server).await.get_stream(STREAM).await.unwrap().delete_consumer("d").await.unwrap();
        held.ack().await;
        let said = cause(ended(sink).await);
        assert!(said.contains("is gone"), "{said}");
        session.close().await.unwrap();
    })
    .await;
}

/// On a runtime of its own, which is gone before it has come to the source's task.
#[test]
fn n7_a_retire_returns_also_where_the_task_never_ran() {
    let outside = tokio::runtime::Runtime::new().unwrap();
    outside.block_on(on_both(async |server| {
        let url = server.url();
        let sink = tokio::task::spawn_blocking(move || {
            let inside = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            inside.block_on(async { Sink::of(&open(url).await, patient("d")).await })
        });
        let said = cause(sink.await.unwrap().retire().await);
        assert!(said.contains("the source's task has ended"), "{said}");
    }));
}
