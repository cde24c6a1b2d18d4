//! A pricing service of two members, and a client that asks: replies, a deliberate failure, a deadline, and both ledgers.
//!
//! ```text
//! cargo run --example request_reply
//! ```
//!
//! Look at the answers first: a price, a failure that was replied, and a deadline that nobody met are three different
//! things. Then at the ledgers: what the client counts of a request, and what the service does.

use std::{error::Error, fmt, time::Duration};

use serde::{Deserialize, Serialize};
use tramline::{
    Bus, FromState, Handle, Memory, Payload, State, contract::RequestError, name, responder, source, subject,
};

#[derive(Serialize, Deserialize)]
struct Ask<'a> {
    item: &'a str,
}

/// What the client hoped for, and what it did not: both are replies.
#[derive(Serialize, Deserialize)]
enum Quote {
    Cents(u64),
    SoldOut,
}

/// What the service could not do. It stays in the service's log; the client learns that there was an error.
#[derive(Debug)]
struct NoPrice;

impl fmt::Display for NoPrice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the price list has a hole")
    }
}

#[derive(Clone)]
struct Prices(&'static [(&'static str, u64)]);

impl FromState<App> for Prices {
    fn from_state(app: &App) -> Self {
        app.prices.clone()
    }
}

struct App {
    prices: Prices,
}

// Two members of one group: each request is answered by one of them. As a rule they are two processes; more hands in one
// process are `concurrency`. Leave `group` out, and rustc says so.
#[responder(subject = "price.ask", group = "pricing", reply = "com.example.quote.v1")]
async fn first_desk(ask: Payload<Ask<'_>>, State(prices): State<Prices>) -> Result<Quote, NoPrice> {
    quote("first desk", ask.item, &prices).await
}

#[responder(subject = "price.ask", group = "pricing", reply = "com.example.quote.v1")]
async fn second_desk(ask: Payload<Ask<'_>>, State(prices): State<Prices>) -> Result<Quote, NoPrice> {
    quote("second desk", ask.item, &prices).await
}

async fn quote(who: &str, item: &str, prices: &Prices) -> Result<Quote, NoPrice> {
    println!("    {who} is asked for the price of {item}");
    match item {
        "gold" => return Err(NoPrice),
        "saffron" => tokio::time::sleep(Duration::from_millis(200)).await,
        _ => {}
    }
    Ok(prices.0.iter().find(|(known, _)| *known == item).map_or(Quote::SoldOut, |(_, cents)| Quote::Cents(*cents)))
}

/// Asks for one price, and waits for a tenth of a second at most: a request without a deadline does not compile.
async fn ask(bus: &Handle<Memory>, item: &str) {
    let (subject, ask) = (subject!("price.ask"), Ask { item });
    let request = bus.request_value(&subject, "com.example.price.ask.v1", &ask).named("pricing");
    match request.within(Duration::from_millis(100)).await {
        Ok(Quote::Cents(cents)) => println!("{item}: {cents} cents"),
        Ok(Quote::SoldOut) => println!("{item}: sold out"),
        Err(RequestError::ResponderFailed { reason }) => println!("{item}: no price, {reason}"),
        Err(error) => println!("{item}: {error}"),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    tracing_subscriber::fmt().without_time().with_target(false).with_ansi(false).with_writer(std::io::stderr).init();
    let bus = Bus::builder(Memory::new(), source!("urn:example:shop"))
        .state(App { prices: Prices(&[("tea", 250), ("coffee", 310), ("saffron", 9_900)]) })
        .subscribe(first_desk)
        .subscribe(second_desk)
        .request_names([name!("pricing")])
        .build()?
        .start()
        .await?;
    let client = bus.handle();
    for item in ["tea", "coffee", "caviar", "gold", "saffron"] {
        ask(&client, item).await;
    }
    // What is published to a responder is handled, and nobody waits for the reply.
    bus.publish_value(&subject!("price.ask"), "com.example.price.ask.v1", &Ask { item: "tea" }).await?;
    bus.idle().await;
    let stopped = bus.stop(Duration::from_secs(1)).await;
    println!("\n{}", stopped.bus.ledger());
    Ok(())
}
