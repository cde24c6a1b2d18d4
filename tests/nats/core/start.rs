//! A server that is not there when a bus starts, and a bus on a server from start to stop.

use std::time::{Duration, Instant};

use tramline::{
    Bus, Nats, Subject,
    bus::{BusState, StartError},
    contract::{Backend, OpenError},
    source, subject, subscription,
};

use super::support::{PATIENCE, chain, event, nats, on_both, until, within};

#[subscription(pattern = "greeting.>", bound = 4096)]
async fn greeter(_subject: &Subject) {}

fn bus(backend: Nats) -> Bus<Nats> {
    Bus::builder(backend, source!("urn:example:test")).subscribe(greeter).build().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_absent_is_an_error_that_names_it_and_the_dormant_bus_comes_back() {
    on_both(async |mut server| {
        server.stop().await;
        let error = nats(server.url()).open().await.unwrap_err();
        assert!(matches!(error, OpenError::Unreachable { .. }), "{error:?}");
        assert!(chain(&error).contains(&server.url()), "{}", chain(&error));
        let begun = Instant::now();
        let not_started = bus(nats(server.url())).start_within(Duration::from_millis(300)).await.unwrap_err();
        assert!(begun.elapsed() < PATIENCE);
        assert!(matches!(not_started.error, StartError::Open { .. }), "{not_started}");
        assert_eq!(not_started.bus.status().state, BusState::Dormant);

        // With a budget, the start waits for the server.
        let (bus, started) = (not_started.bus, Instant::now());
        let handle = bus.handle();
        let starting = tokio::spawn(bus.start_within(PATIENCE));
        until("it has tried", || async { handle.status().cause.is_some() }).await;
        server.restart().await;
        let bus = starting.await.unwrap().expect("it starts");
        assert!(started.elapsed() < PATIENCE);
        for id in 0..1_000 {
            bus.publish(&subject!("greeting.morning"), event(id)).await.unwrap();
        }
        until("all are delivered", || async { bus.stats("greeter").unwrap().delivered == 1_000 }).await;
        let stopped = within("the stop", bus.stop(Duration::from_secs(5))).await;
        let stats = stopped.bus.stats("greeter").unwrap();
        assert_eq!((stats.offered, stats.delivered, stats.unaccounted(), stats.interruptions), (1_000, 1_000, 0, 0));
        let bus = stopped.bus.start_within(PATIENCE).await.expect("and again");
        within("the stop", bus.stop(Duration::from_secs(5))).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn l5_a_ledger_shows_that_the_link_was_interrupted() {
    on_both(async |mut server| {
        let bus = bus(nats(server.url())).start_within(PATIENCE).await.unwrap();
        server.kill().await;
        until("it is seen", || async { bus.stats("greeter").unwrap().interruptions == 1 }).await;
        server.restart().await;
        let after = || async { bus.publish(&subject!("greeting.evening"), event(0)).await.is_ok() };
        until("the link is there again", after).await;
        until("it is delivered", || async { bus.stats("greeter").unwrap().delivered == 1 }).await;
        let stats = within("the stop", bus.stop(Duration::from_secs(5))).await.bus.stats("greeter").unwrap();
        assert_eq!((stats.interruptions, stats.unaccounted()), (1, 0), "{stats}");
        assert!(stats.to_string().contains("interruptions 1"), "{stats}");
    })
    .await;
}
