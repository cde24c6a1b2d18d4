//! Links that are cut for a second, and for a minute.

use std::time::{Duration, Instant};

use tokio::{join, time::sleep};
use tramline::{
    Bus, Handle, JetStream, Nats, NatsOptions, Running,
    contract::{PublishError, RequestError},
    source, subject, subscription,
};

use super::support::{
    Desk, Order, PATIENCE, balanced, chain, event, jetstream, on_both, owed, probe, publish, publish_surely, publisher,
    serve, stop, until, within,
};
use crate::{proxy::Proxy, server::Server};

const SECOND: Duration = Duration::from_secs(1);
const DOWN: &str = "the link to the NATS server is down";

/// Tries to make the link anew often enough, and not so often that it keeps the machine busy.
fn patient() -> NatsOptions {
    NatsOptions::new().reconnect_delay(Duration::from_millis(100))
}

/// Whoever publishes on it is told, at once, until that time.
async fn refuses_until(bus: &Handle<JetStream>, end: Instant) {
    while Instant::now() < end {
        let begun = Instant::now();
        let error = probe(bus).await.unwrap_err();
        assert!(matches!(error, PublishError::Unconfirmed { .. }), "{error:?}");
        assert!(chain(&error).contains(DOWN), "{}", chain(&error));
        assert!(begun.elapsed() < SECOND, "at once");
        sleep(Duration::from_millis(200)).await;
    }
}

/// A link is cut while deliveries are in hand and the stream of publishes goes on. The lease is two seconds.
async fn jetstream_is_cut(server: Server, length: Duration) {
    let proxy = Proxy::to(&server).await;
    let desk = Desk::new(Order::Accept);
    let backend = || jetstream(proxy.url()).options(patient());
    let (reader, writer) = (serve(backend(), &desk).await, publisher(backend()).await);
    let handle = writer.handle();
    for id in 0..20 {
        publish_surely(&handle, id).await;
    }
    let nothing_is_owed = async || matches!(owed(&server.url(), "till").await, (0, 0, _));
    until("nothing is owed", nothing_is_owed).await;
    desk.order(Order::Hold);
    for id in 20..60 {
        publish_surely(&handle, id).await;
    }
    until("all hands are full", async || reader.stats("till").unwrap().in_hand == 8).await;
    let load = tokio::spawn(async move {
        for id in 60..200 {
            while publish(&handle, id).await.is_err() {
                sleep(Duration::from_millis(20)).await;
            }
        }
    });
    proxy.cut();
    let end = Instant::now() + length;
    let handle = writer.handle();
    let error = loop {
        if let Err(error) = probe(&handle).await {
            break error;
        }
    };
    assert!(matches!(error, PublishError::Unconfirmed { .. }), "{error:?}");
    assert!(chain(&error).contains("the link to the NATS server"), "{}", chain(&error));
    refuses_until(&handle, end).await;
    proxy.heal();
    desk.order(Order::Accept);
    within("the load", load).await.unwrap();
    until("all have come", async || desk.count() == 200).await;
    until("nothing is owed", nothing_is_owed).await;
    let stats = balanced(&reader).await;
    assert_eq!((stats.exhausted, stats.incidents), (0, 0), "the source outlives its link: {stats}");
    for id in 0..20 {
        assert_eq!(desk.came()[&id.to_string()], [1], "{id} was acknowledged, and came back");
    }
    if length > Duration::from_secs(2) {
        // E5: nobody heard a heartbeat, so what was in hand was handed on.
        assert!(stats.lease_expired >= 8 && stats.settlement.refused >= 8 && stats.redelivered > 0, "{stats}");
    }
    let stats = stop(reader).await;
    assert!(stats.settlement.acked >= 200, "{stats}");
    within("the stop", writer.stop(Duration::from_secs(5))).await;
}

#[subscription(pattern = "shop.>", bound = 4096)]
async fn screen() {}

/// Whoever publishes or asks on it is told, at once, until that time.
async fn core_refuses_until(bus: &Bus<Nats, Running>, end: Instant) {
    let subject = subject!("shop.order");
    while Instant::now() < end {
        let begun = Instant::now();
        let error = bus.publish(&subject, event("lost")).await.unwrap_err();
        assert!(matches!(error, PublishError::Unconfirmed { .. }), "{error:?}");
        assert!(chain(&error).contains(DOWN), "{}", chain(&error));
        let error = bus.request(&subject, event("lost")).within(PATIENCE).await.unwrap_err();
        assert!(matches!(error, RequestError::Failed { .. }), "{error:?}");
        assert!(chain(&error).contains(DOWN), "{}", chain(&error));
        assert!(begun.elapsed() < SECOND, "at once");
        sleep(Duration::from_millis(200)).await;
    }
}

async fn core_is_cut(server: Server, length: Duration) {
    let proxy = Proxy::to(&server).await;
    let bus = |url: String| Bus::builder(Nats::new(url).options(patient()), source!("urn:example:test"));
    let reader = bus(proxy.url()).subscribe(screen).build().unwrap().start_within(PATIENCE).await.unwrap();
    let writer = bus(server.url()).build().unwrap().start_within(PATIENCE).await.unwrap();
    let publish = async |id| writer.publish(&subject!("shop.order"), event(id)).await.unwrap();
    let delivered = || reader.stats("screen").unwrap().delivered;
    for id in 0..100 {
        publish(id).await;
    }
    until("they come", async || delivered() == 100).await;
    proxy.cut();
    let end = Instant::now() + length;
    until("it is seen", async || reader.stats("screen").unwrap().interruptions == 1).await;
    publish(100).await;
    core_refuses_until(&reader, end).await;
    proxy.heal();
    let mut again = 0_u64;
    let after = async || {
        publish(200).await;
        again += 1;
        delivered() > 100
    };
    until("the link is there again", after).await;
    let back = async || reader.publish(&subject!("other"), event(300)).await.is_ok();
    until("one can publish again", back).await;
    let asked = reader.request(&subject!("other"), event(400)).within(PATIENCE).await;
    assert!(matches!(asked, Err(RequestError::NoResponders)), "R3: the server answers for nobody: {asked:?}");
    let stopped = within("the stop", reader.stop(Duration::from_secs(5))).await;
    let stats = stopped.bus.stats("screen").unwrap();
    assert_eq!((stats.interruptions, stats.unaccounted(), stats.incidents), (1, 0, 0), "{stats}");
    assert!(stats.offered <= 100 + again, "what was published meanwhile is gone: {stats}");
    let requests = stopped.bus.ledger().requests.total();
    assert_eq!((requests.no_responders, requests.unaccounted()), (1, 0), "R4: {requests}");
    within("the stop", writer.stop(Duration::from_secs(5))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn l4_a_link_that_is_cut_for_a_second_loses_nothing() {
    on_both(async |server| jetstream_is_cut(server, SECOND).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn l5_at_most_once_a_link_that_is_cut_for_a_second_is_one_interruption() {
    on_both(async |server| core_is_cut(server, SECOND).await).await;
}

/// Both backends on both servers at once: it is a minute.
#[tokio::test(flavor = "multi_thread")]
async fn e5_a_link_that_is_cut_for_a_minute_loses_nothing_at_least_once_and_is_one_interruption_at_most_once() {
    join!(
        on_both(async |server| jetstream_is_cut(server, 60 * SECOND).await),
        on_both(async |server| core_is_cut(server, 60 * SECOND).await),
    );
}
