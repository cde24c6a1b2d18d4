//! Two buses that open one durable identity at once, each over a connection of its own. `processes` does the same, slower and
//! with fewer rounds, with processes.

use std::{num::NonZeroU32, time::Duration};

use tokio::join;
use tramline::{
    Ack, AtLeastOnce, Bus, Delivery, JetStream, Pattern, Running,
    bus::{NotStarted, StartError},
    contract::SubscribeError,
    name, source,
};

use super::support::{
    Desk, Order, PATIENCE, jetstream, on_both, owed, publish_surely, publisher, serve, stop, until, within,
};

type Started = Result<Bus<JetStream, Running>, NotStarted<JetStream>>;

async fn start(url: String, durable: tramline::DurableName, max_deliver: u32) -> Started {
    let bus = Bus::builder(jetstream(url), source!("urn:example:test"))
        .at_least_once(name!("till"), durable, NonZeroU32::new(max_deliver).unwrap())
        .pattern(Pattern::new("shop.>").unwrap())
        .handle(|_: Delivery<AtLeastOnce>| async { Ack });
    bus.build().unwrap().start_within(PATIENCE).await
}

#[tokio::test(flavor = "multi_thread")]
async fn i4_of_two_who_open_one_durable_at_once_with_different_settings_one_is_refused_with_both_values() {
    on_both(async |server| {
        for round in 0..10 {
            let durable = tramline::DurableName::new(format!("d{round}")).unwrap();
            let open = |max_deliver| tokio::spawn(start(server.url(), durable.clone(), max_deliver));
            let (one, other) = join!(open(3), open(4));
            let (won, lost, winner) = match (one.unwrap(), other.unwrap()) {
                (Ok(bus), Err(error)) => (bus, error, "3"),
                (Err(error), Ok(bus)) => (bus, error, "4"),
                (Ok(_), Ok(_)) => panic!("both are open, and one has not what it asked for"),
                (Err(one), Err(other)) => panic!("neither is open: {one}, {other}"),
            };
            let StartError::Subscribe { source: SubscribeError::Reopened { field, existing, asked, .. }, .. } =
                lost.error
            else {
                panic!("{:?}", lost.error)
            };
            assert_eq!((field, existing.as_str(), asked.as_str() == winner), ("max_deliver", winner, false));
            within("the stop", won.stop(Duration::from_secs(5))).await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn i3_two_who_open_one_durable_at_once_with_the_same_settings_share_it() {
    on_both(async |server| {
        let (left, right) = (Desk::new(Order::Accept), Desk::new(Order::Accept));
        let (one, other) = join!(serve(jetstream(server.url()), &left), serve(jetstream(server.url()), &right));
        let writer = publisher(jetstream(server.url())).await;
        for id in 0..500 {
            publish_surely(&writer.handle(), id).await;
        }
        until("all have come", async || left.count() + right.count() == 500).await;
        until("nothing is owed", async || matches!(owed(&server.url(), "till").await, (0, 0, _))).await;
        assert!(left.came().values().chain(right.came().values()).all(|came| *came == [1]), "each came once");
        for bus in [one, other] {
            stop(bus).await;
        }
        within("the stop", writer.stop(Duration::from_secs(5))).await;
    })
    .await;
}
