//! Links that are cut for a second, and for ten.

use std::time::{Duration, Instant};

use tokio::time::sleep;
use tramline::{Bus, Nats, contract::PublishError, source, subject, subscription};

use super::support::{
    Desk, Order, PATIENCE, balanced, chain, event, jetstream, on_both, owed, probe, publish_surely, publisher, quick,
    serve, stop, until, within,
};
use crate::{proxy::Proxy, server::Server};

/// A link is cut while deliveries are in hand and the stream of publishes goes on. The lease is two seconds.
async fn jetstream_is_cut(server: Server, length: Duration) {
    let proxy = Proxy::to(&server).await;
    let desk = Desk::new(Order::Hold);
    let reader = serve(jetstream(proxy.url()), &desk).await;
    let writer = publisher(jetstream(proxy.url())).await;
    let handle = writer.handle();
    for id in 0..40 {
        publish_surely(&handle, id).await;
    }
    until("all hands are full", async || reader.stats("till").unwrap().in_hand == 8).await;
    let load = tokio::spawn(async move {
        for id in 40..200 {
            publish_surely(&handle, id).await;
        }
    });
    proxy.cut();
    let cut = Instant::now();
    let handle = writer.handle();
    let error = loop {
        if let Err(error) = probe(&handle).await {
            break error;
        }
    };
    assert!(matches!(error, PublishError::Unconfirmed { .. }), "{error:?}");
    assert!(chain(&error).contains("the link to the NATS server"), "{}", chain(&error));
    sleep(length.saturating_sub(cut.elapsed())).await;
    proxy.heal();
    desk.order(Order::Accept);
    within("the load", load).await.unwrap();
    until("all have come", async || desk.count() == 200).await;
    until("nothing is owed", async || matches!(owed(&server.url(), "till").await, (0, 0, _))).await;
    let stats = balanced(&reader).await;
    assert_eq!((stats.exhausted, stats.incidents), (0, 0), "the source outlives its link: {stats}");
    if length > Duration::from_secs(2) {
        // E5: nobody heard a heartbeat, so what was in hand was handed on.
        assert!(stats.lease_expired >= 8 && stats.settlement.refused >= 8 && stats.redelivered > 0, "{stats}");
    }
    let stats = stop(reader).await;
    assert!(stats.settlement.acked >= 200, "{stats}");
    within("the stop", writer.stop(Duration::from_secs(5))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn l4_a_link_that_is_cut_for_a_second_loses_nothing() {
    on_both(async |server| jetstream_is_cut(server, Duration::from_secs(1)).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn e5_a_link_that_is_cut_for_longer_than_the_lease_loses_nothing_and_says_what_was_handed_on() {
    on_both(async |server| jetstream_is_cut(server, Duration::from_secs(10)).await).await;
}

#[subscription(pattern = "shop.>", bound = 4096)]
async fn screen() {}

async fn core_is_cut(server: Server, length: Duration) {
    let proxy = Proxy::to(&server).await;
    let bus = |url: String| Bus::builder(Nats::new(url).options(quick()), source!("urn:example:test"));
    let reader = bus(proxy.url()).subscribe(screen).build().unwrap().start_within(PATIENCE).await.unwrap();
    let writer = bus(server.url()).build().unwrap().start_within(PATIENCE).await.unwrap();
    let publish = async |id| writer.publish(&subject!("shop.order"), event(id)).await.unwrap();
    let delivered = || reader.stats("screen").unwrap().delivered;
    for id in 0..100 {
        publish(id).await;
    }
    until("they come", async || delivered() == 100).await;
    proxy.cut();
    until("it is seen", async || reader.stats("screen").unwrap().interruptions == 1).await;
    publish(100).await;
    sleep(length).await;
    proxy.heal();
    let mut again = 0_u64;
    let after = async || {
        publish(200).await;
        again += 1;
        delivered() > 100
    };
    until("the link is there again", after).await;
    let stats = within("the stop", reader.stop(Duration::from_secs(5))).await.bus.stats("screen").unwrap();
    assert_eq!((stats.interruptions, stats.unaccounted(), stats.incidents), (1, 0, 0), "{stats}");
    assert!(stats.offered <= 100 + again, "what was published meanwhile is gone: {stats}");
    within("the stop", writer.stop(Duration::from_secs(5))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn l5_at_most_once_a_link_that_is_cut_for_a_second_or_for_ten_is_one_interruption() {
    on_both(async |server| core_is_cut(server, Duration::from_secs(1)).await).await;
    on_both(async |server| core_is_cut(server, Duration::from_secs(10)).await).await;
}
