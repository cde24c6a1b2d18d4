//! A whole service: several subscriptions with state, one that dies and is restarted, a health endpoint, and a graceful stop
//! on Ctrl-C.
//!
//! ```text
//! cargo run --example service            until Ctrl-C
//! cargo run --example service -- once    until its orders are done
//! ```
//!
//! It places six orders and says where its health is. Look at the till that is busy at first, at the scales that break on
//! glass and at `packing` being restarted (a warning), ask the endpoint with curl, and press Ctrl-C: what is in hand is
//! finished, and the ledger has a place for every message.
//!
//! The service is in `shop.rs`, which names no backend. `examples/testing.rs` tests it.

mod health;
mod shop;

use std::{
    env,
    error::Error,
    sync::Arc,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use shop::{OrderPlaced, Shop, Till, TillError, shop};
use tokio::{net::TcpListener, signal};
use tramline::Memory;

/// A till that is busy every third time.
#[derive(Default)]
struct CornerTill(AtomicU32);

impl Till for CornerTill {
    fn charge(&self, order: u32, cents: u64) -> Result<(), TillError> {
        if self.0.fetch_add(1, Ordering::Relaxed) % 3 == 2 {
            return Err(TillError::Busy);
        }
        tracing::info!(order, cents, "charged");
        if cents == 0 { Err(TillError::Refused) } else { Ok(()) }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    tracing_subscriber::fmt().with_target(false).with_ansi(false).with_writer(std::io::stderr).init();
    let once = env::args().nth(1).is_some_and(|argument| argument == "once");
    let state = Shop { till: Arc::new(CornerTill::default()), parcels: shop::Parcels::default() };
    let parcels = state.parcels.clone();

    // From now on a Ctrl-C is an orderly stop, also while the bus starts.
    let interrupted = tokio::spawn(signal::ctrl_c());
    let bus = shop(Memory::new(), state).build()?.start_within(Duration::from_secs(10)).await?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("curl http://{}/health (or /ready, or /ledger); Ctrl-C stops", listener.local_addr()?);
    let health = tokio::spawn(health::serve(listener, bus.handle()));

    for (order, (item, cents)) in
        (1..).zip([("tea", 250), ("coffee", 310), ("glass", 900), ("sugar", 120), ("a gift", 0), ("tea", 250)])
    {
        bus.publish_topic(&OrderPlaced { order, item: item.to_owned(), cents }).await?;
    }
    if once {
        bus.idle().await;
    } else {
        interrupted.await??;
        println!("stopping");
    }

    // Nothing new comes in, what is in hand is finished, and what is queued is given back: with a broker, to it.
    let stopped = bus.stop(Duration::from_secs(5)).await;
    health.abort();
    println!("\n{}; packed: {:?}\n", stopped.report, parcels.packed());
    print!("{}", stopped.bus.ledger());
    Ok(())
}
