//! The bound is ours and exact, and what is too large is refused.

use tramline::contract::{Overflow, PublishError, RetireReason, Session, SourceControl};

use super::support::{Sink, event, on_both, on_both_with, open, publish, subject, until, within};

const BURST: u64 = 100_000;
const BOUND: u64 = 16;

/// Publishes a burst beside a source that nobody reads, and waits until all of it is counted.
async fn flood(url: String, overflow: Overflow) -> (tramline::backend::nats::NatsSession, Sink) {
    let (subscriber, publisher) = (open(url.clone()).await, open(url).await);
    let sink = Sink::bounded(&subscriber, "burst", 16, overflow).await;
    let to = subject("burst");
    for id in 0..BURST {
        publisher.publish(&to, event(id)).await.unwrap();
    }
    let all = || async {
        let stats = sink.stats();
        stats.accepted + stats.refused == BURST
    };
    until("every one is counted", all).await;
    publisher.close().await.unwrap();
    (subscriber, sink)
}

#[tokio::test(flavor = "multi_thread")]
async fn l1_every_message_of_a_burst_that_is_refused_is_counted_and_the_oldest_stay() {
    on_both(async |server| {
        let (session, mut sink) = flood(server.url(), Overflow::ShedNewest).await;
        let stats = sink.stats();
        let counted = (stats.accepted, stats.refused, stats.evicted, stats.pending, stats.interruptions);
        assert_eq!(counted, (BOUND, BURST - BOUND, 0, BOUND, 0));
        let oldest: Vec<String> = (0..BOUND).map(|id| id.to_string()).collect();
        assert_eq!(sink.ids(16).await, oldest);
        session.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn l1_every_message_of_a_burst_that_is_evicted_is_counted_and_the_newest_stay() {
    on_both(async |server| {
        let (session, mut sink) = flood(server.url(), Overflow::ShedOldest).await;
        let stats = sink.stats();
        let counted = (stats.accepted, stats.refused, stats.evicted, stats.pending, stats.interruptions);
        assert_eq!(counted, (BURST, 0, BURST - BOUND, BOUND, 0));
        let newest: Vec<String> = (BURST - BOUND..BURST).map(|id| id.to_string()).collect();
        assert_eq!(sink.ids(16).await, newest);
        session.close().await.unwrap();
    })
    .await;
}

/// One thread for the server's messages, the queue and the reader: nobody but the bound sheds.
#[tokio::test]
async fn b1_a_burst_that_fits_loses_nothing_on_one_thread() {
    on_both(async |server| {
        let session = open(server.url()).await;
        let mut sink = Sink::bounded(&session, "a", 5_000, Overflow::ShedNewest).await;
        for id in 0..5_000 {
            publish(&session, "a", id).await.unwrap();
        }
        assert_eq!(sink.ids(5_000).await.len(), 5_000);
        assert_eq!(sink.stats().refused, 0);
        session.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn l2_a_source_that_retires_counts_what_nobody_has_taken() {
    on_both(async |server| {
        let session = open(server.url()).await;
        let mut sink = Sink::on(&session, "a").await;
        for id in 0..10 {
            publish(&session, "a", id).await.unwrap();
        }
        assert_eq!(sink.ids(3).await, ["0", "1", "2"]);
        until("all are there", || async { sink.stats().accepted == 10 }).await;
        let last = within("the retire", sink.control.retire(RetireReason::Stopping)).await.unwrap();
        assert_eq!((last.stats.accepted, last.stats.pending, last.stats.handed_over()), (10, 7, 3));
        assert!(last.cause.is_none());
        assert!(sink.next().await.is_none(), "the stream has ended");
        publish(&session, "a", "late").await.unwrap();
        let again = sink.control.retire(RetireReason::Stopping).await.unwrap();
        assert_eq!((again.stats, sink.stats()), (last.stats, last.stats));
        session.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn n2_what_is_larger_than_the_server_takes_is_refused_with_its_size_and_the_link_lives_on() {
    on_both_with(
        |setup| setup.max_payload(4096),
        async |server| {
            let session = open(server.url()).await;
            let mut sink = Sink::on(&session, "a").await;
            let sized = |bytes: usize| {
                event("sized").to_builder().binary("application/octet-stream", vec![7; bytes]).build().unwrap()
            };
            match session.publish(&subject("a"), sized(4097)).await.unwrap_err() {
                PublishError::TooLarge { size, limit: 4096 } => assert!(size > 4097, "headers count: {size}"),
                error => panic!("{error:?}"),
            }
            // The data fits by itself, and does not with its headers.
            let error = session.publish(&subject("a"), sized(4090)).await.unwrap_err();
            assert!(matches!(error, PublishError::TooLarge { limit: 4096, .. }), "{error:?}");
            session.publish(&subject("a"), sized(2000)).await.unwrap();
            assert_eq!(sink.id().await, "sized");
            assert!(sink.is_quiet().await);
            assert_eq!(sink.stats().interruptions, 0);
            session.close().await.unwrap();
        },
    )
    .await;
}
