//! A server that is not there when a bus on JetStream starts, and a stream that is not.

use std::time::{Duration, Instant};

use tramline::{
    Bus, Dormant, JetStream,
    bus::{BusState, StartError},
    contract::OpenError,
    source,
};

use super::support::{
    Desk, Order, PATIENCE, STREAM, add_stream, bare, chain, jetstream, on_both, publish_surely, stop, till, until,
    within,
};

fn built(url: &str, desk: &Desk) -> Bus<JetStream, Dormant> {
    let bus = Bus::builder(jetstream(url), source!("urn:example:test")).state(desk.clone()).subscribe(till);
    bus.build().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn y1_a_server_that_is_absent_is_an_error_that_names_it_and_gives_the_dormant_bus_back() {
    on_both(async |mut server| {
        server.stop().await;
        let desk = Desk::new(Order::Accept);
        let not_started = built(&server.url(), &desk).start().await.unwrap_err();
        let is_unreachable = matches!(not_started.error, StartError::Open { source: OpenError::Unreachable { .. } });
        assert!(is_unreachable, "{:?}", not_started.error);
        assert!(chain(&not_started.error).contains(&server.url()), "{}", chain(&not_started.error));
        assert_eq!(not_started.bus.status().state, BusState::Dormant);

        // With a budget, the start waits for the server.
        let handle = not_started.bus.handle();
        let begun = Instant::now();
        let starting = tokio::spawn(not_started.bus.start_within(PATIENCE));
        let has_tried =
            async || handle.status().state == BusState::Starting && begun.elapsed() > Duration::from_millis(300);
        until("it has tried", has_tried).await;
        server.restart().await;
        let bus = starting.await.unwrap().expect("it starts");
        for id in 0..100 {
            publish_surely(&bus.handle(), id).await;
        }
        until("all come", async || desk.count() == 100).await;
        let stats = stop(bus).await;
        assert_eq!((stats.delivered, stats.settlement.acked), (100, 100), "{stats}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_is_absent_is_an_error_with_the_command_that_makes_it() {
    on_both(async |server| {
        bare(&server.url()).await.delete_stream(STREAM).await.unwrap();
        let desk = Desk::new(Order::Accept);
        let begun = Instant::now();
        let not_started = within("the answer", built(&server.url(), &desk).start_within(PATIENCE)).await.unwrap_err();
        assert!(begun.elapsed() < PATIENCE, "waiting does not make a stream");
        let said = chain(&not_started.error);
        assert!(said.contains("nats stream add SHOP"), "{said}");
        add_stream(&server.url(), |_| {}).await;
        stop(not_started.bus.start_within(PATIENCE).await.expect("now it does")).await;
    })
    .await;
}
