//! One service and three wirings: the argument says what carries it, and what a backend cannot do does not compile.
//!
//! ```text
//! cargo run --features jetstream --example swap_the_backend -- memory
//! cargo run --features jetstream --example swap_the_backend -- nats [url]
//! cargo run --features jetstream --example swap_the_backend -- jetstream [url]
//! ```
//!
//! Without a url it is that of `NATS_URL`, or else `nats://localhost:4222`. JetStream keeps what is published in a stream
//! that exists already, here `SHOP`: `nats stream add SHOP --subjects "shop.>" --storage file --defaults` makes it.
//!
//! Look at the attempts and at the ledger of each: the service is the same. Core NATS delivers at most once, so the service runs there without `billing`. With it, the compiler says:
//!
//! ```text
//! error[E0277]: backend `Nats` cannot deliver at least once
//!    = note: write `mode = AtMostOnce` (at run time `.at_most_once(name)`), or take a backend that waits for an acknowledgement
//! ```

use std::{env, error::Error, iter, process::ExitCode, time::Duration};

use serde::{Deserialize, Serialize};
use tokio::time::{sleep, timeout};
use tramline::{
    AtLeastOnce, Attempt, Bus, Delayed, Delivery, JetStream, Memory, Nats, NatsOptions, Payload, Settled, Subject,
    bus::BusBuilder,
    contract::{Backend, DeliversAtMostOnce, MatchesPatterns, OpenError},
    source, subject, subscription,
};

const ITEMS: [&str; 3] = ["tea", "coffee", "saffron"];

#[derive(Serialize, Deserialize)]
struct Order<'a> {
    item: &'a str,
}

/// Shows what happens. An order that it misses is a line that is missing.
#[subscription(pattern = "shop.>")]
async fn dashboard(subject: &Subject, order: Payload<Order<'_>>) {
    println!("  dashboard: {subject}, {}", order.item);
}

/// Bills each order, whatever happens: one that is declined comes back.
//
// `allow_volatile` is for memory. A backend that survives a restart asks for no such word, and takes it.
#[subscription(
    subject = "shop.order.placed", mode = AtLeastOnce, durable = "billing", max_deliver = 5, allow_volatile,
    backoff(initial = "20ms", max = "1s", multiplier = 2.0), restart,
)]
async fn billing(
    order: Payload<Order<'_>>,
    Attempt(attempt): Attempt,
    delivery: Delivery<AtLeastOnce<Delayed>>,
) -> Settled {
    println!("  billing:   {}, attempt {attempt}", order.item);
    // The till jams, once.
    if order.item == "coffee" && attempt.get() == 1 { delivery.nack() } else { delivery.ack() }
}

/// The service as it runs on any backend that has what `dashboard` asks for.
fn shop<B: DeliversAtMostOnce + MatchesPatterns>(backend: B) -> BusBuilder<B> {
    Bus::builder(backend, source!("urn:example:shop")).subscribe(dashboard)
}

/// The three wirings.
async fn run(backend: &str, url: Option<String>) -> Result<(), Box<dyn Error>> {
    match backend {
        "memory" => serve(shop(Memory::new()).subscribe(billing)).await,
        "jetstream" => serve(shop(jetstream(url)?).subscribe(billing)).await,
        // With `.subscribe(billing)` this line does not compile: see above.
        "nats" => serve(shop(nats(url)?)).await,
        other => Err(format!("there is no `{other}`: it is `memory`, `nats` or `jetstream`").into()),
    }
}

/// Who connects is said by the environment, too.
fn nats(url: Option<String>) -> Result<Nats, OpenError> {
    match url {
        Some(url) => Ok(Nats::new(url).options(NatsOptions::from_env()?)),
        None => Nats::from_env(),
    }
}

fn jetstream(url: Option<String>) -> Result<JetStream, OpenError> {
    match url {
        Some(url) => Ok(JetStream::new(url, "SHOP").options(NatsOptions::from_env()?)),
        None => JetStream::from_env("SHOP"),
    }
}

/// Runs whatever was wired: places some orders, and shows what became of them.
async fn serve<B: Backend>(wired: BusBuilder<B>) -> Result<(), Box<dyn Error>> {
    let bus = wired.build()?.start_within(Duration::from_secs(3)).await?;
    for item in ITEMS {
        bus.publish_value(&subject!("shop.order.placed"), "com.example.order.v1", &Order { item }).await?;
    }
    // Not `idle()`: what a broker has and this process has not, nobody here knows of.
    let all_is_done = async {
        while bus.ledger().subscriptions.iter().any(|stats| stats.settlement.acked < ITEMS.len() as u64) {
            sleep(Duration::from_millis(5)).await;
        }
    };
    let is_done = timeout(Duration::from_secs(10), all_is_done).await.is_ok();
    let stopped = bus.stop(Duration::from_secs(2)).await;
    print!("{}", stopped.bus.ledger());
    if is_done { Ok(()) } else { Err("after ten seconds not every order had arrived".into()) }
}

/// An error and what caused it, in one line.
fn chain(error: &(dyn Error + 'static)) -> String {
    let causes = iter::successors(Some(error), |&error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

#[tokio::main]
async fn main() -> ExitCode {
    tracing_subscriber::fmt().with_target(false).with_ansi(false).with_writer(std::io::stderr).init();
    let mut arguments = env::args().skip(1);
    let (backend, url) = (arguments.next().unwrap_or_else(|| "memory".to_owned()), arguments.next());
    match run(&backend, url).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{backend}: {}", chain(&*error));
            ExitCode::FAILURE
        }
    }
}
