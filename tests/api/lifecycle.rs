//! Start, stop, start again.

use std::time::Duration;

use tramline::{bus::BusState, contract::PublishError, subject};

use crate::support::{builder, event, name, until};

#[tokio::test]
async fn y1_a_stopped_bus_can_be_started_again_and_its_ledger_goes_on() {
    let mut bus =
        builder().at_most_once(name("one")).subject(subject!("a")).handle(async |_| {}).build().expect("valid");
    let handle = bus.handle();
    for generation in 1..=3 {
        assert!(matches!(handle.publish(&subject!("a"), event(0)).await, Err(PublishError::NotReady)), "Y5");
        let running = bus.start().await.expect("starts");
        assert_eq!((running.status().generation, running.status().state), (generation, BusState::Running));
        handle.publish(&subject!("a"), event(generation)).await.expect("taken");
        until("it is delivered", || handle.stats("one").expect("known").delivered == generation).await;
        bus = running.stop(Duration::from_secs(1)).await.bus;
    }
    assert_eq!(bus.stats("one").expect("known").offered, 3);
}
