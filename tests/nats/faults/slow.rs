//! Consumers that are slower than what comes, and clients that do not read.

use std::time::Duration;

use tramline::{Ack, Bus, Event, Nats, State, source, subject, subscription};

use super::support::{
    Desk, Order, PATIENCE, balanced, event, jetstream, on_both, on_both_with, owed, probe, publish_surely, publisher,
    quick, serve, stop, until, within,
};
use crate::{proxy::Proxy, server::Setup};

/// Quick, beside the slow one.
#[subscription(pattern = "shop.>", mode = AtLeastOnce, durable = "quick", max_deliver = 3, concurrency = 4)]
async fn prompt() -> Ack {
    Ack
}

#[tokio::test(flavor = "multi_thread")]
async fn b4_a_slow_consumer_holds_no_more_than_its_bound_and_holds_up_nobody() {
    on_both(async |server| {
        let (slow, writer) = (Desk::new(Order::Hold), publisher(jetstream(server.url())).await);
        let bus = serve(jetstream(server.url()), &slow).await;
        let other =
            Bus::builder(jetstream(server.url()), source!("urn:example:test")).subscribe(prompt).build().unwrap();
        let other = other.start_within(PATIENCE).await.unwrap();
        for id in 0..500 {
            publish_surely(&writer.handle(), id).await;
            let stats = bus.stats("till").unwrap();
            assert!(stats.in_hand <= 8 && stats.in_hand + stats.pending <= 32, "{stats}");
        }
        let is_done = async || other.stats("prompt").unwrap().settlement.acked == 500;
        until("the quick one is done", is_done).await;
        // Longer than a lease: what is held stays its holder's.
        tokio::time::sleep(Duration::from_secs(3)).await;
        let (waiting, sent, _) = owed(&server.url(), "till").await;
        assert!(sent <= 32 && waiting >= 468, "the rest waits at the server: {waiting} and {sent}");
        let stats = bus.stats("till").unwrap();
        assert_eq!((stats.lease_expired, stats.redelivered), (0, 0), "{stats}");
        slow.order(Order::Accept);
        until("nothing is owed", async || matches!(owed(&server.url(), "till").await, (0, 0, _))).await;
        let stats = balanced(&bus).await;
        assert_eq!((stats.delivered, stats.settlement.acked, stats.redelivered), (500, 500, 0), "{stats}");
        stop(bus).await;
        for bus in [other, writer] {
            within("the stop", bus.stop(Duration::from_secs(5))).await;
        }
    })
    .await;
}

#[derive(Clone)]
struct Gate(std::sync::Arc<tokio::sync::Semaphore>);

#[subscription(pattern = "shop.>", bound = 16)]
async fn screen(State(gate): State<Gate>) {
    gate.0.acquire().await.unwrap().forget();
}

#[tokio::test(flavor = "multi_thread")]
async fn b3_at_most_once_what_a_slow_consumer_misses_is_counted_exactly() {
    on_both(async |server| {
        let gate = Gate(std::sync::Arc::new(tokio::sync::Semaphore::new(0)));
        let nats = || Nats::new(server.url()).options(quick());
        let bus = Bus::builder(nats(), source!("urn:example:test")).state(gate.clone()).subscribe(screen);
        let bus = bus.build().unwrap().start_within(PATIENCE).await.unwrap();
        for id in 0..5_000 {
            bus.publish(&subject!("shop.order"), event(id)).await.unwrap();
        }
        until("all are counted", async || bus.stats("screen").unwrap().offered == 5_000).await;
        gate.0.add_permits(5_000);
        until("all that stayed are handled", async || {
            let stats = bus.stats("screen").unwrap();
            stats.pending + stats.in_hand == 0
        })
        .await;
        let stats = within("the stop", bus.stop(Duration::from_secs(5))).await.bus.stats("screen").unwrap();
        assert_eq!((stats.delivered + stats.lost.overflow, stats.unaccounted()), (5_000, 0), "{stats}");
        assert!((16..=17).contains(&stats.delivered), "one in hand, and the bound: {stats}");
        assert_eq!(stats.interruptions, 0, "{stats}");
    })
    .await;
}

/// A server that soon gives up on a client that does not read.
fn impatient(setup: Setup) -> Setup {
    setup.line("max_pending: 16777216").line("write_deadline: \"500ms\"")
}

fn large(id: u32, bytes: usize) -> Event {
    let builder = Event::builder(id.to_string(), source!("urn:example:test"), "com.example.test.v1");
    builder.text("x".repeat(bytes)).build().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_of_large_events_is_not_more_than_a_server_holds_for_a_client() {
    on_both_with(
        impatient,
        |_| {},
        async |server| {
            let (desk, writer) = (Desk::new(Order::Accept), publisher(jetstream(server.url())).await);
            // A window is 32 of them, which is more than the server holds.
            let (bus, count) = (serve(jetstream(server.url()), &desk).await, 60);
            stop(bus).await;
            for id in 0..count {
                writer.publish(&subject!("shop.order"), large(id, 900 * 1024)).await.unwrap();
            }
            let bus = serve(jetstream(server.url()), &desk).await;
            until("all come", async || desk.count() == 60).await;
            assert!(server.monitor("varz").await.contains("\"slow_consumers\": 0"), "the server cut nobody off");
            assert_eq!(stop(bus).await.redelivered, 0);
            within("the stop", writer.stop(Duration::from_secs(5))).await;
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_does_not_read_is_cut_off_by_the_server_and_loses_nothing_at_least_once() {
    on_both_with(
        impatient,
        |_| {},
        async |server| {
            let proxy = Proxy::to(&server).await;
            let desk = Desk::new(Order::Accept);
            let (bus, writer) = (serve(jetstream(proxy.url()), &desk).await, publisher(jetstream(server.url())).await);
            let core = Bus::builder(Nats::new(proxy.url()).options(quick()), source!("urn:example:test"));
            let core = core.subscribe(all).build().unwrap().start_within(PATIENCE).await.unwrap();
            publish_surely(&writer.handle(), "before").await;
            until("it comes", async || desk.count() == 1 && core.stats("all").unwrap().delivered == 1).await;
            proxy.hold();
            // More than all buffers on the way hold.
            let cut_off = async || server.monitor("varz").await.contains("\"slow_consumers\": 0");
            let mut published = 0;
            while cut_off().await {
                writer.publish(&subject!("shop.order"), large(published, 512 * 1024)).await.unwrap();
                published += 1;
                assert!(published < 2_000, "the server never gives up");
            }
            proxy.heal();
            let count = 1 + usize::try_from(published).unwrap();
            until("all come", async || desk.count() == count).await;
            until("at most once sees it too", async || core.stats("all").unwrap().interruptions >= 1).await;
            until("nothing is owed", async || matches!(owed(&server.url(), "till").await, (0, 0, _))).await;
            assert_eq!(balanced(&bus).await.exhausted, 0);
            probe(&bus.handle()).await.expect("the link is there again");
            stop(bus).await;
            let stats = within("the stop", core.stop(Duration::from_secs(5))).await.bus.stats("all").unwrap();
            assert_eq!((stats.unaccounted(), stats.incidents), (0, 0), "{stats}");
            within("the stop", writer.stop(Duration::from_secs(5))).await;
        },
    )
    .await;
}

#[subscription(pattern = "shop.>", bound = 4096)]
async fn all() {}
