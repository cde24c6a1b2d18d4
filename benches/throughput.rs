//! The whole way, publish to handler to settled, beside a bounded `tokio::sync::mpsc` that does the same work.
//!
//! Rounds are interleaved, so that what else the machine does meets both; what is printed is a ratio with its spread.
//! `cargo bench --bench throughput [-- rounds messages]`

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use bytes::Bytes;
use serde::Deserialize;
use tokio::{runtime::Runtime, sync::mpsc};
use tramline::{Bus, Event, Memory, Payload, Running, State, Subject, source, subject, subscription};

const BOUND: usize = 256;
const DATA: &str = r#"{"number":17,"text":"hello"}"#;

#[derive(Deserialize)]
struct Small<'a> {
    number: u64,
    text: &'a str,
}

/// How many messages were handled, for each side. The same reference for both, so that neither pays for a shared state.
#[derive(Clone, Copy)]
struct Seen(&'static AtomicU64);

static OURS: AtomicU64 = AtomicU64::new(0);
static CHANNEL: AtomicU64 = AtomicU64::new(0);

impl Seen {
    fn one(self, small: &Small<'_>) {
        self.0.fetch_add(small.number / 17 + (small.text.len() as u64 - 5), Relaxed);
    }

    async fn reach(self, count: u64) {
        while self.0.load(Relaxed) < count {
            tokio::task::yield_now().await;
        }
        self.0.store(0, Relaxed);
    }
}

#[subscription(subject = "bench.small", bound = 256, overflow = Fail)]
async fn decode_small(payload: Payload<Small<'_>>, State(seen): State<Seen>) {
    seen.one(&payload);
}

/// The bus, running.
struct Ours {
    bus: Bus<Memory, Running>,
    seen: Seen,
    subject: Subject,
    event: Event,
}

impl Ours {
    async fn new() -> Self {
        let seen = Seen(&OURS);
        let bus = Bus::builder(Memory::new(), source!("urn:example:bench"))
            .state(seen)
            .subscribe(decode_small)
            .build()
            .expect("valid")
            .start()
            .await
            .expect("starts");
        let event = Event::builder("1", source!("urn:example:bench"), "com.example.small.v1").json(DATA).build();
        Self { bus, seen, subject: subject!("bench.small"), event: event.expect("valid") }
    }

    async fn round(&self, messages: u64) -> Duration {
        let begun = Instant::now();
        for _ in 0..messages {
            self.bus.publish(&self.subject, self.event.clone()).when_room().await.expect("room");
        }
        self.seen.reach(messages).await;
        begun.elapsed()
    }
}

/// What a channel carries: the same, behind one `Arc`.
struct Message {
    data: Bytes,
}

/// The channel, with its consumer.
struct Channel {
    sender: mpsc::Sender<Arc<Message>>,
    seen: Seen,
    message: Arc<Message>,
}

impl Channel {
    fn new() -> Self {
        let (sender, mut receiver) = mpsc::channel::<Arc<Message>>(BOUND);
        let seen = Seen(&CHANNEL);
        tokio::spawn(async move {
            while let Some(message) = receiver.recv().await {
                if let Ok(small) = serde_json::from_slice::<Small<'_>>(&message.data) {
                    seen.one(&small);
                }
            }
        });
        Self { sender, seen, message: Arc::new(Message { data: Bytes::from_static(DATA.as_bytes()) }) }
    }

    async fn round(&self, messages: u64) -> Duration {
        let begun = Instant::now();
        for _ in 0..messages {
            self.sender.send(self.message.clone()).await.expect("open");
        }
        self.seen.reach(messages).await;
        begun.elapsed()
    }
}

fn compare(name: &str, runtime: &Runtime, rounds: usize, messages: u64) {
    let work = async move {
        let (ours, channel) = (Ours::new().await, Channel::new());
        let (mut of_ours, mut of_channel, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..=rounds {
            let (a, b) = (ours.round(messages).await, channel.round(messages).await);
            of_ours.push(a);
            of_channel.push(b);
            ratios.push(b.as_secs_f64() / a.as_secs_f64());
        }
        // The first round warms up.
        (of_ours.split_off(1), of_channel.split_off(1), ratios.split_off(1))
    };
    // In a task, where a service would be.
    let (mut ours, mut channel, mut ratios) = runtime.block_on(runtime.spawn(work)).expect("no panic");
    ours.sort();
    channel.sort();
    ratios.sort_by(f64::total_cmp);
    let rate = |times: &[Duration]| messages as f64 / times[times.len() / 2].as_secs_f64() / 1e6;
    println!(
        "{name:<12} bus {:>6.2} M/s   mpsc {:>6.2} M/s   ratio {:.2} (worst {:.2}, best {:.2})",
        rate(&ours),
        rate(&channel),
        ratios[ratios.len() / 2],
        ratios[0],
        ratios[ratios.len() - 1],
    );
}

fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|argument| argument.parse::<u64>().ok());
    let rounds = usize::try_from(numbers.next().unwrap_or(15)).unwrap_or(15);
    let messages = numbers.next().unwrap_or(200_000);
    println!("small JSON decoded, 1 subscriber, bound {BOUND}, {rounds} rounds of {messages}, medians");
    let one = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    compare("one thread", &one, rounds, messages);
    let two = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build().expect("a runtime");
    compare("two workers", &two, rounds, messages);
}
