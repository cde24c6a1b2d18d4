//! At most once: servers that are stopped and killed under load, with deliveries in hand and requests on their way.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use tokio::{sync::Semaphore, time::sleep};
use tramline::{
    Bus, Nats, Payload, Running, State, bus::Stats, contract::RequestError, responder, source, subject, subscription,
};

use super::support::{PATIENCE, event, on_both, quick, until, within};
use crate::server::Server;

#[derive(Clone)]
struct Gate(Arc<Semaphore>);

#[subscription(pattern = "shop.>", bound = 64, concurrency = 8)]
async fn screen(State(gate): State<Gate>) {
    gate.0.acquire().await.unwrap().forget();
}

#[responder(subject = "price", group = "prices", bound = 64, reply = "com.example.quote.v1")]
async fn price(Payload(item): Payload<u64>) -> u64 {
    item * 2
}

async fn ask(bus: &Bus<Nats, Running>, item: u64) -> Result<u64, RequestError> {
    bus.request_value(&subject!("price"), "com.example.price.v1", &item).within(Duration::from_secs(1)).await
}

/// What was judged and what was not balances, in hand or on its way when the server went.
async fn goes_on(mut server: Server, is_killed: bool) {
    let gate = Gate(Arc::new(Semaphore::new(0)));
    let bus = || Bus::builder(Nats::new(server.url()).options(quick()), source!("urn:example:test"));
    let reader = bus().state(gate.clone()).subscribe(screen).subscribe(price).build().unwrap();
    let reader = reader.start_within(PATIENCE).await.unwrap();
    let writer = bus().build().unwrap().start_within(PATIENCE).await.unwrap();
    let seen = || reader.stats("screen").unwrap();

    let (goes_on, published, answered) = (AtomicBool::new(true), AtomicU64::new(0), AtomicU64::new(0));
    let load = async {
        while goes_on.load(Relaxed) {
            // Whether it arrives, nobody says, so it counts whatever comes of it.
            let id = published.fetch_add(1, Relaxed);
            let _ = writer.publish(&subject!("shop.order"), event(id)).await;
            let asked = Instant::now();
            match ask(&writer, id).await {
                Ok(reply) => {
                    assert_eq!(reply, id * 2);
                    answered.fetch_add(1, Relaxed);
                }
                Err(RequestError::Failed { .. } | RequestError::NoReply { .. } | RequestError::NoResponders) => {}
                Err(error) => panic!("{error:?}"),
            }
            assert!(asked.elapsed() < Duration::from_secs(5), "R1: it has a deadline");
            sleep(Duration::from_millis(2)).await;
        }
    };
    let faults = async {
        until("all hands are full, and some wait", async || seen().in_hand == 8 && seen().pending > 8).await;
        until("requests are answered", async || answered.load(Relaxed) > 8).await;
        if is_killed {
            server.kill().await;
        } else {
            server.stop().await;
        }
        until("it is seen", async || seen().interruptions == 1).await;
        assert_eq!(seen().in_hand, 8, "a handler keeps what it has");
        let asked = ask(&reader, 0).await;
        assert!(matches!(asked, Err(RequestError::Failed { .. })), "there is no link: {asked:?}");
        server.restart().await;
        gate.0.add_permits(Semaphore::MAX_PERMITS / 2);
        let (before, delivered) = (answered.load(Relaxed), seen().delivered);
        until("requests are answered again", async || answered.load(Relaxed) > before + 8).await;
        until("events come again", async || seen().delivered > delivered + 64 + 8).await;
        goes_on.store(false, Relaxed);
    };
    tokio::join!(load, faults);

    let stopped = within("the stop", writer.stop(Duration::from_secs(5))).await;
    let requests = stopped.bus.ledger().requests.total();
    assert_eq!((requests.unaccounted(), requests.sent), (0, published.load(Relaxed)), "R4: {requests:?}");
    let stopped = within("the stop", reader.stop(Duration::from_secs(5))).await;
    let of = |name| -> Stats { stopped.bus.stats(name).unwrap() };
    let (events, asked) = (of("screen"), of("price"));
    for stats in [&events, &asked] {
        assert_eq!((stats.unaccounted(), stats.incidents, stats.interruptions), (0, 0, 1), "L4: {stats}");
        assert!(stats.offered <= published.load(Relaxed), "nothing comes twice: {stats}");
    }
    assert_eq!(asked.replies.replied + asked.replies.refused, asked.delivered, "R10: {asked}");
}

#[tokio::test(flavor = "multi_thread")]
async fn l4_at_most_once_a_server_is_stopped_under_load_and_all_that_arrived_is_accounted_for() {
    on_both(async |server| goes_on(server, false).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn l4_at_most_once_a_server_is_killed_under_load_and_all_that_arrived_is_accounted_for() {
    on_both(async |server| goes_on(server, true).await).await;
}
