//! A handler that fails now and then, at least once: what comes back, when, and what the ledger says of it.
//!
//! ```text
//! cargo run --example at_least_once
//! ```
//!
//! Look at the time of each attempt, which is the backoff or what the handler asked for, and at the order that runs out of
//! attempts: the lines below explain each counter that it went through. Take `allow_volatile` away and see what rustc says.

use std::{error::Error, time::Duration};

use tokio::time::Instant;
use tramline::{
    AtLeastOnce, Attempt, Bus, Delayed, Delivery, Event, Memory, Settled, State, bus::Stats, source, subject,
    subscription,
};

/// Declines each order once, fails on `stubborn` always, and asks for a delay of its own for `busy`.
//
// Memory keeps nothing across a restart. Leave `allow_volatile` out, and rustc says so.
#[subscription(
    subject = "order.placed", mode = AtLeastOnce, durable = "orders", max_deliver = 3, allow_volatile,
    backoff(initial = "50ms", max = "400ms", multiplier = 2.0),
)]
async fn orders(
    event: &Event,
    Attempt(attempt): Attempt,
    State(begun): State<Instant>,
    delivery: Delivery<AtLeastOnce<Delayed>>,
) -> Result<Settled, Box<dyn Error + Send + Sync>> {
    let say =
        |what: &str| println!("  {:>4} ms  {:<9} attempt {attempt}: {what}", begun.elapsed().as_millis(), event.id());
    match (event.id(), attempt.get()) {
        ("stubborn", _) => {
            say("fails");
            Err("it never works".into())
        }
        ("busy", 1) => {
            say("declined for 300 ms");
            Ok(delivery.nack_after(Duration::from_millis(300))?)
        }
        ("flaky", 1) => {
            say("declined");
            Ok(delivery.nack())
        }
        _ => {
            say("done");
            Ok(delivery.ack())
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let bus = Bus::builder(Memory::new(), source!("urn:example:shop"))
        .state(Instant::now())
        .subscribe(orders)
        .build()?
        .start()
        .await?;
    for id in ["plain", "flaky", "busy", "stubborn"] {
        let event = Event::builder(id, source!("urn:example:shop"), "com.example.order.placed.v1").build()?;
        bus.publish(&subject!("order.placed"), event).await?;
    }
    // A stop does not drain. What waits for its next attempt is waited for, too.
    bus.idle().await;
    let stopped = bus.stop(Duration::from_secs(1)).await;
    explain(&stopped.bus.stats("orders").ok_or("there is one subscription")?);
    Ok(())
}

/// Each number in a line of its own.
fn explain(stats: &Stats) {
    println!("\nOf four orders:");
    for (count, what) in [
        (stats.offered, "offered: four, and once more for each time one came back"),
        (stats.delivered, "delivered: the handler returned, whatever it said"),
        (stats.settlement.acked, "acked: done, and never offered again"),
        (stats.settlement.nacked, "nacked: declined by the handler, with the backoff's delay or its own"),
        (stats.settlement.silent, "silent: the handler failed, which declines too"),
        (stats.redelivered, "redelivered: arrivals with an attempt above 1"),
        (stats.exhausted, "exhausted: a message that ran out of its three attempts"),
        (stats.stranded, "stranded: owed when the bus stopped, and gone with it"),
    ] {
        println!("{count:>4}  {what}");
    }
    println!("\n{stats}");
}
