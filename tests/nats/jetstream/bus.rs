//! A whole bus on `JetStream`, with `#[subscription]`: its ledger balances over stops, and over a restart of the server.

use std::{
    num::NonZeroU32,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    time::Duration,
};

use tramline::{
    Ack, AtLeastOnce, Bus, Delivery, DurableName, JetStream, Name, Settled, bus::Stats, pattern, source, subject,
    subscription,
};

use super::support::{STREAM, consumer, event, jetstream, on_both, until};

const BUDGET: Duration = Duration::from_secs(10);

/// Accepts what is even, declines what is odd, each time.
#[subscription(pattern = "a.*", mode = AtLeastOnce, durable = "parity", max_deliver = 3, ack_wait = "1s", restart)]
async fn parity(event: &tramline::Event, delivery: Delivery<AtLeastOnce>) -> Settled {
    let number: u32 = event.id().parse().unwrap();
    if number.is_multiple_of(2) { delivery.ack() } else { delivery.nack() }
}

fn balanced(stats: &Stats) {
    let explained = stats.delivered + stats.lost.total() + stats.released + stats.in_hand + stats.pending;
    assert_eq!(stats.offered, explained, "L4: {stats}");
}

fn bus(url: String) -> Bus<JetStream> {
    Bus::builder(jetstream(url), source!("urn:example:test")).subscribe(parity).build().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn l4_a_restart_of_the_server_under_a_bus_leaves_its_ledger_in_balance_and_every_message_judged() {
    on_both(async |mut server| {
        let bus = bus(server.url()).start_within(BUDGET).await.unwrap();
        for id in 0..40 {
            bus.publish(&subject!("a.b"), event(id)).await.unwrap();
        }
        server.restart().await;
        for id in 40..80 {
            until("it is published", || async { bus.publish(&subject!("a.b"), event(id)).await.is_ok() }).await;
        }
        let judged = async || {
            let state = consumer(&server, "parity").await;
            state.num_ack_pending == 0 && state.num_pending == 0
        };
        until("every message is acknowledged or exhausted", judged).await;
        until("and counted", || async { bus.stats("parity").unwrap().exhausted == 40 }).await;
        let stopped = bus.stop(BUDGET).await;
        assert!(stopped.report.is_clean(), "{}", stopped.report);
        let stats = stopped.bus.stats("parity").unwrap();
        balanced(&stats);
        assert_eq!((stats.in_hand, stats.pending, stats.exhausted), (0, 0, 40), "{stats}");
        assert!(stats.settlement.acked >= 40 && stats.settlement.nacked >= 120 - stats.settlement.refused, "{stats}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn y7_a_stop_gives_back_what_no_handler_has_taken_and_the_next_start_takes_it() {
    on_both(async |server| {
        let handled = Arc::new(AtomicU32::new(0));
        let (slow, count) = (Arc::new(tokio::sync::Semaphore::new(3)), Arc::clone(&handled));
        let gate = Arc::clone(&slow);
        let bus = Bus::builder(jetstream(server.url()), source!("urn:example:test"))
            .at_least_once(Name::new("slow").unwrap(), DurableName::new("slow").unwrap(), NonZeroU32::new(3).unwrap())
            .pattern(pattern!("a.*"))
            .ack_wait(Duration::from_secs(60))
            .handle(move |_| {
                let (gate, count) = (Arc::clone(&gate), Arc::clone(&count));
                async move {
                    gate.acquire().await.unwrap().forget();
                    count.fetch_add(1, Relaxed);
                    Ack
                }
            })
            .build()
            .unwrap();
        let bus = bus.start_within(BUDGET).await.unwrap();
        for id in 0..20 {
            bus.publish(&subject!("a.b"), event(id)).await.unwrap();
        }
        until("three are handled", || async { handled.load(Relaxed) == 3 }).await;
        let stopped = bus.stop(Duration::from_secs(8)).await;
        let stats = stopped.bus.stats("slow").unwrap();
        balanced(&stats);
        assert_eq!((stats.delivered, stats.settlement.acked), (3, 3), "{stats}");
        // What the stop took out of a handler's hand was given back first, and may have come again to be given back again.
        assert!((17..=18).contains(&stats.released), "{stats}");
        slow.add_permits(100);
        let bus = stopped.bus.start_within(BUDGET).await.unwrap();
        until("the others are handled", || async { handled.load(Relaxed) == 20 }).await;
        until("and acknowledged", || async { bus.stats("slow").unwrap().settlement.acked == 20 }).await;
        let stopped = bus.stop(BUDGET).await;
        balanced(&stopped.bus.stats("slow").unwrap());
        let left = consumer(&server, "slow").await;
        assert_eq!((left.num_ack_pending, left.num_pending), (0, 0), "on {STREAM}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn n8_a_deleted_consumer_restarts_its_subscription_which_makes_it_anew() {
    on_both(async |server| {
        let bus = bus(server.url()).start_within(BUDGET).await.unwrap();
        let stream = super::support::bare(&server).await.get_stream(STREAM).await.unwrap();
        stream.delete_consumer("parity").await.unwrap();
        until("there is one again", || async { stream.consumer_info("parity").await.is_ok() }).await;
        bus.publish(&subject!("a.b"), event(2)).await.unwrap();
        until("it works again", || async { bus.stats("parity").unwrap().settlement.acked == 1 }).await;
        let stopped = bus.stop(BUDGET).await;
        balanced(&stopped.bus.stats("parity").unwrap());
    })
    .await;
}
