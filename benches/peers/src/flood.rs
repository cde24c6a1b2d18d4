//! What a subscription holds that is flooded and never handles anything.

use std::{error::Error, future::pending, process::Command};

use ruststream::{OutgoingMessage, memory::prelude::*};
use tokio::sync::mpsc;
use tramline::{Bus, Memory, source, subject};

use crate::{
    contestant::{Contestant, event},
    job::BOUND,
    memory,
    work::{self, Order},
};

/// Bytes of each message, each allocated anew.
pub const BYTES: usize = 1 << 10;
/// Who is flooded.
pub const CONTESTANTS: [Contestant; 3] = [Contestant::Mpsc, Contestant::Ruststream, Contestant::Subscriptions];

/// How much memory so many messages cost, in MiB, in a process of its own. `None` where nobody can tell.
///
/// # Errors
/// Where the process does not start.
pub fn measure(contestant: Contestant, messages: u64) -> Result<Option<f64>, Box<dyn Error>> {
    let index = CONTESTANTS.iter().position(|known| *known == contestant).ok_or("nobody floods it")?;
    let arguments = [index as u64, messages].map(|number| number.to_string());
    let output = Command::new(std::env::current_exe()?).arg("flood").args(arguments).output()?;
    Ok(String::from_utf8(output.stdout)?.trim().parse().ok())
}

/// The other side.
pub async fn serve(contestant: usize, messages: u64) {
    let grown = match CONTESTANTS[contestant] {
        Contestant::Mpsc => flood_mpsc(messages),
        Contestant::Ruststream => flood_ruststream(messages).await,
        _ => flood_tramline(messages).await,
    };
    println!("{}", grown.map_or_else(|| "unknown".to_owned(), |grown| grown.to_string()));
}

/// A full channel refuses.
fn flood_mpsc(messages: u64) -> Option<f64> {
    let (sender, _receiver) = mpsc::channel(BOUND);
    let before = memory::now()?;
    for _ in 0..messages {
        let _ = sender.try_send(work::body(BYTES));
    }
    Some(memory::now()? - before)
}

#[subscriber("order.placed")]
async fn stall(_order: &Order) -> HandlerOutcome {
    pending().await
}

async fn flood_ruststream(messages: u64) -> Option<f64> {
    let broker = MemoryBroker::new();
    let app = RustStream::new(AppInfo::new("orders", "1.0.0")).with_broker(broker.clone(), |scope| {
        scope.include(stall);
    });
    let _running = app.start().await.expect("it starts");
    let publisher = broker.publisher();
    let before = memory::now()?;
    for _ in 0..messages {
        let body = work::body(BYTES);
        publisher.publish(OutgoingMessage::new("order.placed", &body), None).await.expect("the broker runs");
    }
    Some(memory::now()? - before)
}

#[tramline::subscription(subject = "order.placed", bound = 256, overflow = ShedNewest)]
async fn wait(_order: tramline::Payload<Order>) {
    pending::<()>().await;
}

/// A full subscription sheds, and counts what it shed.
async fn flood_tramline(messages: u64) -> Option<f64> {
    let bus = Bus::builder(Memory::new(), source!("urn:example:bench")).subscribe(wait);
    let bus = bus.build().expect("it is valid").start().await.expect("it starts");
    let subject = subject!("order.placed");
    let before = memory::now()?;
    for _ in 0..messages {
        bus.publish(&subject, event(work::body(BYTES))).await.expect("it runs");
    }
    let grown = memory::now()? - before;
    let stats = bus.stats("wait").expect("it is subscribed");
    assert_eq!(stats.offered, messages);
    assert!(stats.pending <= BOUND as u64, "{stats}");
    Some(grown)
}
