//! A stream under load whose server is killed and stopped again and again: what was published is acknowledged, and memory is
//! flat. Some seconds here; `cargo bench --bench soak -- --minutes 10` for longer.

use std::{
    collections::BTreeSet,
    fmt, fs,
    num::NonZeroU64,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use async_nats::jetstream;
use futures_util::{StreamExt, stream};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};
use tramline::{
    AtLeastOnce, Attempt, Bus, Delivery, Event, Handle, JetStream, NatsOptions, Settled, State, bus::Stats, source,
    subject, subscription,
};

use crate::server::{Server, Version};

/// How many publishes wait for their confirmation side by side.
const IN_FLIGHT: usize = 64;
/// How many events are published in each hundredth of a second.
const AT_A_TIME: u32 = 20;
const PAYLOAD: usize = 1024;
/// One of so many deliveries is declined when it comes first.
const DECLINED: u64 = 97;
/// Far more than it takes to read what is left, on a machine with much else to do.
const PATIENCE: Duration = Duration::from_secs(60);

/// The numbers that have come, in no more memory than those take that are ahead.
#[derive(Debug, Default)]
struct Seen {
    /// All below have come.
    below: u64,
    ahead: BTreeSet<u64>,
    duplicates: u64,
}

impl Seen {
    fn note(&mut self, number: u64) {
        if number < self.below || !self.ahead.insert(number) {
            self.duplicates += 1;
        }
        while self.ahead.remove(&self.below) {
            self.below += 1;
        }
    }
}

#[derive(Clone, Default)]
struct Done(Arc<Mutex<Seen>>);

impl Done {
    fn with<R>(&self, look: impl FnOnce(&mut Seen) -> R) -> R {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[subscription(
    subject = "soak.load", mode = AtLeastOnce, durable = "soak", max_deliver = 100, start_at = AllAvailable,
    concurrency = 4, ack_wait = "5s", restart,
)]
async fn load(
    event: &Event,
    Attempt(attempt): Attempt,
    State(done): State<Done>,
    delivery: Delivery<AtLeastOnce>,
) -> Settled {
    let number: u64 = event.id().parse().expect("the id is a number");
    if attempt.get() == 1 && number.is_multiple_of(DECLINED) {
        return delivery.nack();
    }
    done.with(|seen| seen.note(number));
    delivery.ack()
}

/// What came of it.
pub(crate) struct Report {
    version: Version,
    took: Duration,
    /// How often the server was killed, and how often it was stopped.
    kills: u32,
    stops: u32,
    /// Confirmed by the stream, each once, however often it was tried.
    published: u64,
    /// Publishes that were not confirmed, and made again.
    again: u64,
    /// What was acknowledged, without what came a second time.
    acknowledged: u64,
    duplicates: u64,
    /// What the stream holds, and what its consumer still owes.
    stored: u64,
    owed: u64,
    stats: Stats,
    /// What the process held, in bytes, at the beginning, after a tenth of the time, and at the end.
    memory: [u64; 3],
}

impl Report {
    /// Fails where something was lost, or counted wrongly.
    pub(crate) fn check(&self) {
        assert!(self.published > 0 && self.kills + self.stops > 0, "something happened: {self}");
        assert_eq!(self.published, self.acknowledged, "published = acknowledged: {self}");
        assert_eq!(self.stored, self.published, "the stream tells duplicates by their ids: {self}");
        assert_eq!(self.owed, 0, "the server knows of every acknowledgement: {self}");
        assert_eq!(self.stats.unaccounted(), 0, "L4: {self}");
        assert_eq!((self.stats.exhausted, self.stats.incidents, self.stats.pending), (0, 0, 0), "{self}");
        assert_eq!(self.stats.settlement.acked, self.acknowledged + self.duplicates, "{self}");
        // What an allocator keeps differs by some MiB from run to run; a leak of one message in ten would be far above.
        let [_, early, late] = self.memory;
        assert!(late < early + early / 4 + 8 * 1024 * 1024, "memory is flat: {self}");
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { version, took, kills, stops, published, again, acknowledged, duplicates, .. } = self;
        let [begin, early, late] = self.memory.map(|bytes| bytes / 1024);
        writeln!(f, "{version:?}, {took:.0?}: the server was killed {kills} times and stopped {stops} times")?;
        writeln!(
            f,
            "published {published} (tried again {again}), acknowledged {acknowledged}, duplicates {duplicates}"
        )?;
        writeln!(f, "the stream has {}, and owes {}", self.stored, self.owed)?;
        writeln!(f, "memory {begin} KiB, after a tenth of the time {early} KiB, at the end {late} KiB")?;
        write!(f, "{}", self.stats)
    }
}

/// Runs for so long, and ends the server each time after so long, once without warning and once orderly.
pub(crate) async fn soak(version: Version, length: Duration, every: Duration) -> Report {
    let mut server = Server::start(version).await;
    let begun = Instant::now();
    let bare = jetstream::new(async_nats::connect(server.url()).await.unwrap());
    let config = jetstream::stream::Config {
        name: "SOAK".to_owned(),
        subjects: vec!["soak.>".to_owned()],
        // Longer than a server is away, so that what is published again is told by its id.
        duplicate_window: Duration::from_secs(60),
        ..Default::default()
    };
    bare.create_stream(config).await.unwrap();
    let options = NatsOptions::new().reconnect_delay(Duration::from_millis(20));
    let backend = JetStream::new(server.url(), "SOAK").options(options);
    let done = Done::default();
    let reader = Bus::builder(backend.clone(), source!("urn:example:soak")).state(done.clone()).subscribe(load);
    let reader = reader.build().unwrap().start().await.unwrap();
    let writer = Bus::builder(backend, source!("urn:example:soak")).build().unwrap().start().await.unwrap();

    let memory_at_begin = memory();
    let publishing = tokio::spawn(publish(writer.handle(), length));
    let mut memory_early = None;
    let (mut kills, mut stops) = (0, 0);
    while begun.elapsed() + every < length {
        sleep(every).await;
        if memory_early.is_none() && begun.elapsed() >= length / 10 {
            memory_early = Some(memory());
        }
        if kills <= stops {
            server.kill().await;
            kills += 1;
        } else {
            server.stop().await;
            stops += 1;
        }
        server.restart().await;
    }
    let (published, again) = publishing.await.unwrap();
    let all_has_come = async {
        while done.with(|seen| seen.below) < published || owed(&bare).await != 0 {
            sleep(Duration::from_millis(50)).await;
        }
    };
    // What is missing then is seen in the report.
    let _ = timeout(PATIENCE, all_has_come).await;
    let memory_late = memory();
    let owed = owed(&bare).await;
    let stored = bare.get_stream("SOAK").await.unwrap().get_info().await.unwrap().state.messages;
    let stopped = reader.stop(Duration::from_secs(5)).await;
    writer.stop(Duration::from_secs(5)).await;
    let (acknowledged, duplicates) = done.with(|seen| (seen.below + seen.ahead.len() as u64, seen.duplicates));
    Report {
        version,
        took: begun.elapsed(),
        kills,
        stops,
        published,
        again,
        acknowledged,
        duplicates,
        stored,
        owed,
        stats: stopped.bus.stats("load").unwrap(),
        memory: [memory_at_begin, memory_early.unwrap_or(memory_at_begin), memory_late],
    }
}

/// Publishes at an even rate, each event until it is confirmed: how many, and how often again.
async fn publish(bus: Handle<JetStream>, length: Duration) -> (u64, u64) {
    let data = serde_json::to_vec(&"x".repeat(PAYLOAD)).unwrap();
    let event = move |number: u64| {
        let builder = Event::builder(number.to_string(), source!("urn:example:soak"), "com.example.soak.v1");
        builder.json(data.clone()).build().unwrap()
    };
    let (begun, bus, event) = (Instant::now(), &bus, &event);
    let mut ticks = interval(Duration::from_millis(10));
    // What a stall held up is not made up for at once.
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let numbers = stream::unfold((ticks, 0_u64), |(mut ticks, number)| async move {
        if begun.elapsed() >= length {
            return None;
        }
        if number.is_multiple_of(u64::from(AT_A_TIME)) {
            ticks.tick().await;
        }
        Some((number, (ticks, number + 1)))
    });
    let published = numbers.map(|number| async move {
        let mut again = 0;
        while bus.publish(&subject!("soak.load"), event(number)).await.is_err() {
            again += 1;
            sleep(Duration::from_millis(20)).await;
        }
        again
    });
    published.buffer_unordered(IN_FLIGHT).fold((0, 0), async |(all, again), more| (all + 1, again + more)).await
}

/// What the consumer has not been told to be done with. The server may be away.
async fn owed(bare: &jetstream::Context) -> u64 {
    let Ok(stream) = bare.get_stream("SOAK").await else { return u64::MAX };
    match stream.consumer_info("soak").await {
        Ok(info) => info.num_pending + info.num_ack_pending as u64,
        Err(_) => u64::MAX,
    }
}

/// What this process holds in memory, in bytes.
fn memory() -> u64 {
    let statm = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm.split_whitespace().nth(1).and_then(|pages| pages.parse().ok()).map_or(0, NonZeroU64::get);
    pages * 4096
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_published_is_acknowledged_though_the_server_ends_again_and_again() {
    let run = |version| soak(version, Duration::from_secs(20), Duration::from_secs(4));
    let (old, new) = tokio::join!(run(Version::V2_9), run(Version::V2_15));
    for report in [old, new] {
        println!("{report}\n");
        report.check();
    }
}
