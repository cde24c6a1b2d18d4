//! Streams and servers that are full.

use std::time::Duration;

use async_nats::jetstream::stream::DiscardPolicy;
use tramline::{Event, Handle, JetStream, contract::PublishError, source, subject};

use super::support::{
    Desk, Order, bare, chain, jetstream, on_both_with, owed, publish, publisher, serve, stop, until, within,
};
use crate::server::Server;

/// Publishes from this number on until nothing more is taken: how many were, and why not more.
async fn fill(bus: &Handle<JetStream>, first: u64) -> (u64, PublishError) {
    for number in first.. {
        let builder = Event::builder(number.to_string(), source!("urn:example:test"), "com.example.test.v1");
        let event = builder.text("x".repeat(16 * 1024)).build().unwrap();
        if let Err(error) = bus.publish(&subject!("shop.order"), event).await {
            return (number - first, error);
        }
    }
    unreachable!("it is full some day")
}

/// Until it is full, each publish is taken, and then each is an error; what was taken arrives; with room it goes on.
async fn is_full(server: Server, why: &str) {
    let (desk, writer) = (Desk::new(Order::Accept), publisher(jetstream(server.url())).await);
    let reader = serve(jetstream(server.url()), &desk).await;
    let (taken, error) = within("it is full", fill(&writer.handle(), 0)).await;
    assert!(matches!(error, PublishError::Unconfirmed { .. }), "{error:?}");
    assert!(chain(&error).contains(why), "{}", chain(&error));
    assert!(taken > 10, "{taken}");
    for _ in 0..2 {
        let (more, _) = within("it is still full", fill(&writer.handle(), taken + 1)).await;
        assert_eq!(more, 0);
    }
    let taken = usize::try_from(taken).unwrap();
    until("all that was taken comes", async || desk.count() >= taken).await;
    until("nothing is owed", async || matches!(owed(&server.url(), "till").await, (0, 0, _))).await;
    assert_eq!(desk.count(), taken, "nothing of what was refused");

    bare(&server.url()).await.get_stream("SHOP").await.unwrap().purge().await.unwrap();
    publish(&writer.handle(), "with room").await.expect("there is room again");
    until("it comes", async || desk.came().contains_key("with room")).await;
    let stats = stop(reader).await;
    assert_eq!((stats.settlement.acked, stats.incidents), (stats.delivered, 0), "{stats}");
    within("the stop", writer.stop(Duration::from_secs(5))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_is_full_and_discards_what_is_new_refuses_publishes_and_loses_nothing() {
    let limited = |config: &mut async_nats::jetstream::stream::Config| {
        config.max_bytes = 1024 * 1024;
        config.discard = DiscardPolicy::New;
    };
    on_both_with(|setup| setup, limited, async |server| is_full(server, "maximum bytes exceeded").await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_whose_disk_is_full_refuses_publishes_and_loses_nothing() {
    let small = |setup: crate::server::Setup| setup.max_file(2 * 1024 * 1024);
    on_both_with(small, |_| {}, async |server| is_full(server, "resources").await).await;
}
