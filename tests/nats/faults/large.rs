//! Events that are larger than a server takes.

use std::time::Duration;

use tramline::{
    Bus, Event, Nats, Running,
    contract::{Backend, PublishError},
    source, subject,
};

use super::support::{
    Desk, Order, PATIENCE, jetstream, on_both, on_both_with, publish, publisher, quick, serve, stop, until, within,
};

/// 1.1 MiB.
const LARGE: usize = 11 * 1024 * 1024 / 10;
const LIMIT: usize = 1024 * 1024;

fn large() -> Event {
    let builder = Event::builder("large", source!("urn:example:test"), "com.example.test.v1");
    builder.text("x".repeat(LARGE)).build().unwrap()
}

async fn is_refused<B: Backend>(bus: &Bus<B, Running>) {
    let error = bus.publish(&subject!("shop.order"), large()).await.unwrap_err();
    let PublishError::TooLarge { size, limit } = error else { panic!("{error:?}") };
    assert_eq!(limit, LIMIT);
    assert!((LARGE..LARGE + 1024).contains(&size), "with its headers: {size}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_beyond_the_server_s_limit_is_refused_with_both_sizes_and_the_bus_goes_on() {
    on_both(async |server| {
        let desk = Desk::new(Order::Accept);
        let bus = serve(jetstream(server.url()), &desk).await;
        is_refused(&bus).await;
        publish(&bus.handle(), "small").await.unwrap();
        until("it comes", async || desk.count() == 1).await;
        assert_eq!(stop(bus).await.offered, 1);
        let core = Bus::builder(Nats::new(server.url()).options(quick()), source!("urn:example:test")).build().unwrap();
        let core = core.start_within(PATIENCE).await.unwrap();
        is_refused(&core).await;
        within("the stop", core.stop(Duration::from_secs(5))).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_of_more_than_a_mebibyte_arrives_where_the_server_takes_it() {
    on_both_with(
        |setup| setup.max_payload(4 * 1024 * 1024),
        |_| {},
        async |server| {
            let desk = Desk::new(Order::DeclineFirst);
            let (bus, writer) = (serve(jetstream(server.url()), &desk).await, publisher(jetstream(server.url())).await);
            writer.publish(&subject!("shop.order"), large()).await.unwrap();
            until("it comes twice", async || desk.came().get("large").is_some_and(|came| *came == [1, 2])).await;
            stop(bus).await;
            within("the stop", writer.stop(Duration::from_secs(5))).await;
        },
    )
    .await;
}

/// 12 MiB: more than any pull asks for, after the operator has lowered the limit.
#[tokio::test(flavor = "multi_thread")]
async fn q10_a_message_that_is_larger_than_a_pull_brings_is_asked_for_alone_and_holds_nobody_up() {
    on_both_with(
        |setup| setup.max_payload(16 * 1024 * 1024),
        |_| {},
        async |mut server| {
            let writer = publisher(jetstream(server.url())).await;
            let builder = Event::builder("vast", source!("urn:example:test"), "com.example.test.v1");
            let vast = builder.text("x".repeat(12 * LIMIT)).build().unwrap();
            let desk = Desk::new(Order::Accept);
            stop(serve(jetstream(server.url()), &desk).await).await;
            publish(&writer.handle(), "before").await.unwrap();
            writer.publish(&subject!("shop.order"), vast).await.unwrap();
            publish(&writer.handle(), "after").await.unwrap();
            within("the stop", writer.stop(Duration::from_secs(5))).await;
            server.restart_with(|setup| setup.max_payload(1024 * 1024)).await;
            let bus = serve(jetstream(server.url()), &desk).await;
            until("all come", async || desk.count() == 3).await;
            assert!(["before", "vast", "after"].iter().all(|id| desk.came()[*id] == [1]), "{:?}", desk.came());
            assert_eq!(stop(bus).await.unaccounted(), 0);
        },
    )
    .await;
}
