//! What the server gives up by itself is counted: by one source of the identity, and once.

use std::time::Duration;

use async_nats::jetstream::consumer::Config;
use tramline::contract::{Outcome, Session, SlowHandler};

use super::support::{QUIET, STREAM, Sink, bare, consumer, on_both, open, publish_all, spec, until};
use crate::server::Server;

/// What an operator does who does not know that the headroom is there for a reason.
async fn lower_max_deliver(server: &Server, durable: &str, max_deliver: i64) {
    let stream = bare(server).await.get_stream(STREAM).await.unwrap();
    let config = Config { max_deliver, ..consumer(server, durable).await.config };
    let edited = stream.create_consumer(config).await.unwrap();
    assert_eq!(edited.cached_info().config.max_deliver, max_deliver);
}

#[tokio::test(flavor = "multi_thread")]
async fn l11_what_the_server_gives_up_is_exhausted_once_in_one_of_those_who_share_the_identity() {
    on_both(async |server| {
        let (session, other) = (open(server.url()).await, open(server.url()).await);
        let mut sinks = [Sink::of(&session, spec("a.>", "d")).await, Sink::of(&other, spec("a.>", "d")).await];
        lower_max_deliver(&server, "d", 1).await;
        publish_all(&session, "a.b", 0..20).await;
        let mut declined = 0;
        while declined < 20 {
            for sink in &mut sinks {
                while let Some(got) = sink.soon(QUIET).await {
                    assert_eq!(got.attempt, 1, "the server sends it once");
                    got.say(Outcome::Nacked).await.unwrap();
                    declined += 1;
                }
            }
        }
        let exhausted = || sinks.iter().map(|sink| sink.stats().exhausted).sum::<u64>();
        until("all are counted", async || exhausted() == 20).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(exhausted(), 20, "each once");
        for sink in &mut sinks {
            assert!(sink.is_quiet().await, "it does not come again");
            let last = sink.retire().await;
            assert_eq!((last.stats.accepted, last.stats.pending), (sink.stats().accepted, 0));
        }
        for session in [session, other] {
            session.close().await.unwrap();
        }
    })
    .await;
}

/// Whoever has it when it is given up does not have it any more.
#[tokio::test(flavor = "multi_thread")]
async fn l11_what_the_server_gives_up_while_it_is_in_hand_is_expired_and_exhausted() {
    on_both(async |server| {
        let session = open(server.url()).await;
        let mut sink = Sink::of(&session, spec("a.>", "d").slow_handler(SlowHandler::Redeliver)).await;
        lower_max_deliver(&server, "d", 1).await;
        publish_all(&session, "a.b", 0..1).await;
        let got = sink.next().await;
        until("it is counted", async || sink.stats().exhausted == 1).await;
        assert_eq!(sink.stats().lease_expired, 1);
        got.say(Outcome::Acked).await.unwrap_err();
        assert_eq!(sink.stats().exhausted, 1);
        assert!(sink.is_quiet().await);
        session.close().await.unwrap();
    })
    .await;
}
