//! Consumers and streams that somebody deletes.

use std::time::Duration;

use tramline::{
    Ack, Bus, JetStream, Running,
    bus::{ConsumerState, Health},
    source, subscription,
};

use super::support::{
    Desk, Order, PATIENCE, STREAM, add_stream, bare, chain, jetstream, on_both, publish, publish_surely, publisher,
    serve, stop, until, within,
};

/// Never started again.
#[subscription(pattern = "shop.>", mode = AtLeastOnce, durable = "frail", max_deliver = 3)]
async fn frail() -> Ack {
    Ack
}

async fn serve_frail(url: &str) -> Bus<JetStream, Running> {
    let bus = Bus::builder(jetstream(url), source!("urn:example:test")).subscribe(frail).build().unwrap();
    bus.start_within(PATIENCE).await.unwrap()
}

/// Waits until `frail` has failed, and gives why.
async fn failed(bus: &Bus<JetStream, Running>) -> String {
    let mut changes = bus.status_changes();
    let failed = changes.wait_for(|status| status.consumers.iter().any(|c| c.state == ConsumerState::Failed));
    let status = within("the failure", failed).await.unwrap();
    let Health::Degraded { failed } = bus.health() else { panic!("V5: {:?}", bus.health()) };
    assert_eq!(failed.iter().map(tramline::Name::as_str).collect::<Vec<_>>(), ["frail"]);
    status.consumers[0].cause.as_deref().unwrap_or_default().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn n8_a_consumer_that_is_deleted_fails_its_subscription_and_names_itself() {
    on_both(async |server| {
        let bus = serve_frail(&server.url()).await;
        let stream = bare(&server.url()).await.get_stream(STREAM).await.unwrap();
        stream.delete_consumer("frail").await.unwrap();
        let cause = failed(&bus).await;
        assert!(cause.contains("the consumer `frail` of the stream `SHOP` is gone"), "{cause}");
        publish(&bus.handle(), "after").await.expect("the bus goes on");
        let stats = within("the stop", bus.stop(Duration::from_secs(5))).await.bus.stats("frail").unwrap();
        assert_eq!((stats.incidents, stats.unaccounted()), (1, 0), "{stats}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn v2_a_consumer_that_is_deleted_is_made_anew_by_a_subscription_that_restarts() {
    on_both(async |server| {
        let desk = Desk::new(Order::Accept);
        let bus = serve(jetstream(server.url()), &desk).await;
        for round in 1..=3 {
            let stream = bare(&server.url()).await.get_stream(STREAM).await.unwrap();
            stream.delete_consumer("till").await.unwrap();
            until("it is there again", async || stream.consumer_info("till").await.is_ok()).await;
            publish_surely(&bus.handle(), round).await;
            until("it comes", async || desk.came().contains_key(&round.to_string())).await;
        }
        let stats = stop(bus).await;
        assert!(stats.unsubscribed_for > Duration::ZERO, "Y11: {stats}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_is_deleted_fails_its_subscription_and_its_publishes_and_a_new_one_serves_again() {
    on_both(async |server| {
        let (fragile, desk) = (serve_frail(&server.url()).await, Desk::new(Order::Accept));
        let bus = serve(jetstream(server.url()), &desk).await;
        let writer = publisher(jetstream(server.url())).await;
        publish_surely(&writer.handle(), "before").await;
        until("it comes", async || desk.count() == 1).await;
        bare(&server.url()).await.delete_stream(STREAM).await.unwrap();

        let cause = failed(&fragile).await;
        assert!(cause.contains("`SHOP` is gone"), "{cause}");
        let error = publish(&writer.handle(), "nowhere").await.unwrap_err();
        let said = chain(&error);
        assert!(said.contains("no stream keeps `shop.order`") && said.contains("nats stream edit SHOP"), "{said}");

        add_stream(&server.url(), |_| {}).await;
        let mut after = 0..;
        until("it is served again", async || {
            publish(&writer.handle(), after.next().unwrap()).await.unwrap();
            desk.count() > 1
        })
        .await;
        assert!(!desk.came().contains_key("nowhere"));
        stop(bus).await;
        for bus in [fragile, writer] {
            within("the stop", bus.stop(Duration::from_secs(5))).await;
        }
    })
    .await;
}
