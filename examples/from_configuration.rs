//! Subscriptions that are read from a file: what is wrong with it is refused before anything is connected, all at once.
//!
//! ```text
//! cargo run --example from_configuration                                    the file that comes with it
//! cargo run --example from_configuration -- examples/data/refused.toml      one that is refused
//! cargo run --example from_configuration -- subscriptions.toml              your own
//! ```
//!
//! Look at the refusals: each names the subscription, the setting, its value, and the fix. Names and patterns are checked
//! where they are read, and what only the whole set shows, by `build()`.
//!
//! Exit status: 0, or 1 if the file is refused.

use std::{
    env,
    error::Error,
    fs, iter,
    num::{NonZeroU32, NonZeroUsize},
    process::ExitCode,
    time::Duration,
};

use serde::Deserialize;
use tramline::{
    AtLeastOnce, AtMostOnce, Backoff, Bus, Delayed, Delivery, DurableName, Fail, Memory, Name, Pattern, Restart,
    ShedNewest, ShedOldest, bus::BusBuilder, source, subject, subscription::Mode,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Configuration {
    subscription: Vec<Subscription>,
}

/// One subscription: at least once if it is durable.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Subscription {
    name: String,
    pattern: String,
    bound: Option<NonZeroUsize>,
    concurrency: Option<NonZeroUsize>,
    #[serde(default)]
    restart: bool,
    overflow: Option<Policy>,
    durable: Option<String>,
    max_deliver: Option<NonZeroU32>,
    backoff: Option<BackoffTable>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Policy {
    ShedNewest,
    ShedOldest,
    Fail,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct BackoffTable {
    initial_ms: u64,
    max_ms: u64,
    multiplier: f64,
}

/// Shows what came. A handler that is subscribed under several names says under which.
fn show<M: Mode>(name: &Name, delivery: &Delivery<M>) {
    let (subject, attempt) = (delivery.subject(), delivery.attempt());
    println!("  {name}: {} on {subject}, attempt {attempt}", delivery.event().id());
}

/// Subscribes what one table says.
fn subscribe(bus: BusBuilder<Memory>, table: Subscription) -> Result<BusBuilder<Memory>, Box<dyn Error>> {
    let Subscription { name, pattern, bound, concurrency, restart, overflow, durable, max_deliver, backoff } = table;
    let (name, pattern) = (Name::new(name)?, Pattern::new(pattern)?);
    let (bound, concurrency) = (bound.unwrap_or(many(256)), concurrency.unwrap_or(many(1)));
    let shown = name.clone();
    let Some(durable) = durable else {
        if max_deliver.is_some() || backoff.is_some() {
            return Err(format!("`{name}`: `max_deliver` and `backoff` are for a `durable` subscription").into());
        }
        let mut one = bus.at_most_once(name).pattern(pattern).bound(bound).concurrency(concurrency);
        if restart {
            one = one.restart(Restart::new());
        }
        one = match overflow {
            Some(Policy::ShedNewest) => one.overflow(ShedNewest),
            Some(Policy::ShedOldest) => one.overflow(ShedOldest),
            Some(Policy::Fail) => one.overflow(Fail),
            None => one,
        };
        return Ok(one.handle(move |delivery: Delivery<AtMostOnce>| {
            show(&shown, &delivery);
            async {}
        }));
    };
    let max_deliver = max_deliver.ok_or_else(|| format!("`{name}`: it is durable, so add `max_deliver`"))?;
    let mut one = bus.at_least_once(name.clone(), DurableName::new(durable)?, max_deliver).pattern(pattern);
    one = one.bound(bound).concurrency(concurrency);
    if restart {
        one = one.restart(Restart::new());
    }
    one = match overflow {
        Some(Policy::Fail) => one.overflow(Fail),
        None => one,
        Some(Policy::ShedNewest | Policy::ShedOldest) => {
            return Err(format!("`{name}`: a durable subscription sheds nothing: write `fail`, or leave it out").into());
        }
    };
    // Memory keeps nothing across a restart; on a backend that does, this is left out. A backoff makes it another type: its
    // handler can ask for a delay of its own.
    let one = one.allow_volatile();
    Ok(match backoff {
        None => one.handle(move |delivery: Delivery<AtLeastOnce>| {
            show(&shown, &delivery);
            async move { delivery.ack() }
        }),
        Some(BackoffTable { initial_ms, max_ms, multiplier }) => {
            let (initial, max) = (Duration::from_millis(initial_ms), Duration::from_millis(max_ms));
            let backoff = Backoff::new(initial, max, multiplier).map_err(|error| format!("`{name}`: {error}"))?;
            one.backoff(backoff).handle(move |delivery: Delivery<AtLeastOnce<Delayed>>| {
                show(&shown, &delivery);
                // So that there is something to see.
                async move { if delivery.attempt().get() == 1 { delivery.nack() } else { delivery.ack() } }
            })
        }
    })
}

fn many(count: usize) -> NonZeroUsize {
    NonZeroUsize::new(count).unwrap_or(NonZeroUsize::MIN)
}

async fn run(text: &str) -> Result<(), Box<dyn Error>> {
    let Configuration { subscription } = toml::from_str(text)?;
    let builder = Bus::builder(Memory::new(), source!("urn:example:configured"));
    let bus = subscription.into_iter().try_fold(builder, subscribe)?.build()?.start().await?;
    for subject in [subject!("shop.order.placed"), subject!("shop.door.opened")] {
        bus.publish_value(&subject, "com.example.shop.v1", "it happened").await?;
    }
    bus.idle().await;
    let stopped = bus.stop(Duration::from_secs(1)).await;
    print!("\n{}", stopped.bus.ledger());
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let (name, text) = match env::args().nth(1) {
        None => ("subscriptions.toml".to_owned(), Ok(include_str!("data/subscriptions.toml").to_owned())),
        Some(path) => (path.clone(), fs::read_to_string(&path)),
    };
    let ran = match text {
        Ok(text) => run(&text).await,
        Err(error) => Err(error.into()),
    };
    match ran {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let causes = iter::successors(Some(&*error as &(dyn Error + 'static)), |&error| error.source());
            eprintln!("{name} is refused: {}", causes.map(ToString::to_string).collect::<Vec<_>>().join(": "));
            ExitCode::FAILURE
        }
    }
}
