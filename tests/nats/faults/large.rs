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
