//! The ledger of a busy service, live: printed again and again in the same place, while messages are shed, declined, lost to
//! panics, and answered.
//!
//! ```text
//! cargo run --example live_ledger          # for ten seconds
//! cargo run --example live_ledger -- 60    # for a minute
//! ```
//!
//! Look at `offered = delivered + lost + ..`: it holds whatever happens. Piped into a file, it prints a plain table every
//! second.

use std::{
    env,
    error::Error,
    fmt::Write as _,
    io::{self, IsTerminal, Write},
    time::Duration,
};

use tokio::time::{Instant, interval, sleep};
use tramline::{
    AtLeastOnce, Bus, Delivery, Handle, Memory, Payload, Settled,
    bus::{Ledger, Stats},
    name, responder, source, subject, subscription,
};

/// Nothing printed is wider.
const WIDTH: usize = 79;

/// Takes what comes, as fast as it comes.
#[subscription(pattern = "order.>")]
async fn audit() {}

/// Too slow for what comes: its queue stays full, and what is oldest is thrown away.
#[subscription(subject = "order.placed", bound = 16, overflow = ShedOldest)]
async fn display() {
    sleep(Duration::from_millis(40)).await;
}

/// Declines one in five, which comes back a little later, three times at most.
#[subscription(
    subject = "order.placed",
    mode = AtLeastOnce,
    durable = "invoices",
    max_deliver = 3,
    backoff(initial = "200ms", max = "2s", multiplier = 2.0),
    allow_volatile,
    restart
)]
async fn invoices(number: Payload<u64>, delivery: Delivery<AtLeastOnce<tramline::Delayed>>) -> Settled {
    if number.is_multiple_of(5) { delivery.nack() } else { delivery.ack() }
}

/// Panics over one in fifty, and is restarted.
#[subscription(subject = "order.placed", restart(initial = "300ms", max = "300ms"))]
async fn labels(number: Payload<u64>) {
    assert!(!number.is_multiple_of(50), "no label for order {}", *number);
}

/// Answers what is asked.
#[responder(subject = "price.of", group = "pricing", reply = "com.example.price.v1")]
async fn price(number: Payload<u64>) -> Result<u64, &'static str> {
    if number.is_multiple_of(7) { Err("sold out") } else { Ok(*number * 25) }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let seconds = env::args().nth(1).map_or(Ok(10), |text| text.parse())?;
    let time = Duration::from_secs(seconds);
    // Panics are part of the show, and the ledger tells of them.
    std::panic::set_hook(Box::new(|_| {}));

    let bus = Bus::builder(Memory::new(), source!("urn:example:orders"))
        .subscribe(audit)
        .subscribe(display)
        .subscribe(invoices)
        .subscribe(labels)
        .subscribe(price)
        .request_names([name!("pricing")])
        .build()?
        .start()
        .await?;

    let handle = bus.handle();
    let shown = tokio::select! {
        shown = show(&handle, time) => shown,
        placed = place(&handle) => placed,
    };
    let stopped = bus.stop(Duration::from_secs(2)).await;
    shown?;
    println!("stopped. The ledger adds up, and this is where everything went:\n\n{}", stopped.bus.ledger());
    Ok(())
}

/// Places an order every five milliseconds, and asks for a price with every fourth.
async fn place(bus: &Handle<Memory>) -> Result<(), Box<dyn Error>> {
    let mut every = interval(Duration::from_millis(5));
    let of_price = subject!("price.of");
    for number in 1_u64.. {
        every.tick().await;
        bus.publish_value(&subject!("order.placed"), "com.example.order.v1", &number).await?;
        if number % 4 == 0 {
            let asked = bus.request_value::<u64, _>(&of_price, "com.example.price.of.v1", &number);
            // What is sold out is a failure reply, and counted.
            let _ = asked.named("pricing").within(Duration::from_secs(1)).await;
        }
    }
    Ok(())
}

/// Prints the ledger until the time is over: in place on a terminal, else one table below the other.
async fn show(bus: &Handle<Memory>, time: Duration) -> Result<(), Box<dyn Error>> {
    let begun = Instant::now();
    let mut terminal = io::stdout().is_terminal().then(Screen::enter).transpose()?;
    let mut every = interval(Duration::from_millis(if terminal.is_some() { 200 } else { 1_000 }));
    while begun.elapsed() < time {
        tokio::select! {
            _ = every.tick() => {}
            interrupted = tokio::signal::ctrl_c() => return Ok(interrupted?),
        }
        let left = time.saturating_sub(begun.elapsed()).as_secs_f64();
        let table = table(&bus.ledger());
        match &mut terminal {
            Some(screen) => screen.draw(&format!("live ledger, {left:.1} s left; Ctrl-C ends it\n\n{table}"))?,
            None => println!("{table}"),
        }
    }
    Ok(())
}

/// At most as wide as the narrowest terminal.
fn table(ledger: &Ledger) -> String {
    let mut table = format!(
        "{:8} {:>7} {:>9} {:>6} {:>8} {:>7} {:>7}  {}\n",
        "", "offered", "delivered", "lost", "released", "in hand", "pending", "what else"
    );
    for stats in &ledger.subscriptions {
        let Stats { name, offered, delivered, lost, released, in_hand, pending, .. } = stats;
        let _ = writeln!(
            table,
            "{name:8} {offered:>7} {delivered:>9} {:>6} {released:>8} {in_hand:>7} {pending:>7}  {}",
            lost.total(),
            besides(stats)
        );
    }
    for asked in &ledger.requests.named {
        let _ = writeln!(
            table,
            "\nasked for a price {}, answered {}, in flight {}",
            asked.sent, asked.answered, asked.in_flight
        );
    }
    // Cut off before it wraps, which would spoil all that comes below.
    table.lines().map(|line| line.chars().take(WIDTH).chain(['\n']).collect::<String>()).collect()
}

/// What there is to say of a subscription besides.
fn besides(stats: &Stats) -> String {
    let all = [
        ("shed", stats.lost.overflow),
        ("again", stats.redelivered),
        ("gone", stats.exhausted),
        ("panics", stats.panics),
        ("errors", stats.errors),
    ];
    let all = all.into_iter().filter(|(_, count)| *count > 0).map(|(what, count)| format!("{what} {count}"));
    all.collect::<Vec<_>>().join(" ")
}

/// The terminal's other screen; dropped, it gives back what was there before.
struct Screen(io::Stdout);

impl Screen {
    fn enter() -> io::Result<Self> {
        let mut screen = Self(io::stdout());
        // The other screen, and no cursor.
        screen.0.write_all(b"\x1b[?1049h\x1b[?25l")?;
        Ok(screen)
    }

    /// From the top left; of what was there, each line is cleared behind the new one, so that nothing flickers.
    fn draw(&mut self, text: &str) -> io::Result<()> {
        let text = text.replace('\n', "\x1b[K\r\n");
        write!(self.0, "\x1b[H{text}\x1b[J")?;
        self.0.flush()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // Whoever has closed the terminal does not want it back.
        let _ = self.0.write_all(b"\x1b[?25h\x1b[?1049l");
        let _ = self.0.flush();
    }
}
