//! Request and reply through the bus in memory, beside a bare pair of channels that does the same work: a bounded
//! `tokio::sync::mpsc` to the responder, and a `oneshot` back.
//!
//! Rounds are interleaved, so that what else the machine does meets both; what is printed is a ratio with its spread, then
//! what one request costs in instructions and allocations, counted by valgrind. The bus's requests have a deadline, as they
//! must, and the channels' have none. `cargo bench --bench requests [-- rounds requests]`

use std::{
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tokio::{
    runtime::{Builder, Runtime},
    sync::{mpsc, oneshot},
    task::JoinSet,
};
use tokio_stream::StreamExt;
use tramline::{
    Bus, Event, Group, Handle, Memory, Name, Pattern, Running, Subject,
    backend::memory::{MemoryReplier, MemoryRequests, MemorySession},
    capabilities,
    contract::{
        AnswersRequests, Backend, Capabilities, FailureReply, OpenError, Reply, RequestError, ResponderSpec, Source,
        SourceId, SubscribeError, Volatile,
    },
    event::Timestamp,
    source, subject,
};
use uuid::Uuid;

const BOUND: usize = 256;
const DEADLINE: Duration = Duration::from_secs(5);
/// Requesters at the same time, where there are several.
const SEVERAL: u64 = 32;
const FEW: u64 = 500;
const MANY: u64 = 2_500;

static VALUES: Subject = subject!("bench.values");
static EVENTS: Subject = subject!("bench.events");

#[derive(Serialize, Deserialize)]
struct PriceOf<'a> {
    article: u64,
    market: &'a str,
}

#[derive(Serialize, Deserialize)]
struct Price {
    cents: u64,
}

/// What is asked.
const ASKED: PriceOf<'_> = PriceOf { article: 17, market: "north" };

/// What both responders do: decode, and price.
fn price(asked: &[u8]) -> Price {
    let asked: PriceOf<'_> = serde_json::from_slice(asked).expect("a question");
    Price { cents: asked.article + asked.market.len() as u64 }
}

fn check(price: &Price) {
    assert_eq!(price.cents, 22);
}

fn json<T: Serialize>(value: &T) -> Bytes {
    serde_json::to_vec(value).expect("it can be written").into()
}

/// An event as the bus makes it of a value.
fn event(event_type: &str, data: Bytes) -> Event {
    let builder = Event::builder(Uuid::now_v7().to_string(), source!("urn:example:bench"), event_type);
    builder.time(Timestamp::now()).json(data).build().expect("valid")
}

/// Memory, each session with two responders on a task of their own: one replies with a value, one with an event that it
/// has.
struct Served;

impl Backend for Served {
    type Session = MemorySession;
    type Storage = Volatile;

    const CAPABILITIES: Capabilities = capabilities!(Served);

    async fn open(&self) -> Result<MemorySession, OpenError> {
        let session = Memory::new().open().await?;
        serve(&session, &VALUES, |asked| event("com.example.price.v1", json(&price(asked)))).await;
        let reply = event("com.example.price.v1", json(&Price { cents: 22 }));
        serve(&session, &EVENTS, move |asked| {
            check(&price(asked));
            reply.clone()
        })
        .await;
        Ok(session)
    }
}

async fn serve(session: &MemorySession, subject: &Subject, reply: impl Fn(&[u8]) -> Event + Send + 'static) {
    let spec = ResponderSpec::new(
        SourceId::new(1, 0, 1),
        Name::new(subject.as_str()).expect("valid"),
        Pattern::from(subject.clone()),
        Group::new("bench").expect("valid"),
        BOUND.try_into().expect("not zero"),
        FailureReply::new(source!("urn:example:bench")),
    );
    let (mut deliveries, control) = Memory::responder(session, spec).await.expect("open").split();
    tokio::spawn(async move {
        while let Some(incoming) = deliveries.next().await {
            let asked = incoming.message.expect("valid").event;
            let replier = incoming.settler.into_replier().expect("requested");
            replier.reply(reply(asked.data().expect("a question").bytes())).await.expect("open");
        }
        drop(control);
    });
}

impl AnswersRequests for Served {
    type Requests = MemoryRequests;
    type Replier = MemoryReplier;

    async fn responder(session: &MemorySession, spec: ResponderSpec) -> Result<MemoryRequests, SubscribeError> {
        Memory::responder(session, spec).await
    }

    fn request(
        session: &MemorySession,
        subject: &Subject,
        event: Event,
        within: Duration,
    ) -> impl Future<Output = Result<Event, RequestError>> + Send {
        Memory::request(session, subject, event, within)
    }

    fn unclaimed(session: &MemorySession) -> u64 {
        Memory::unclaimed(session)
    }
}

/// What a request carries.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    /// A value, encoded for each request and for each reply.
    Values,
    /// An event that is there already, and is decoded.
    Events,
}

/// The bus.
#[derive(Clone)]
struct Ours {
    handle: Handle<Served>,
    event: Event,
}

impl Ours {
    async fn new() -> (Bus<Served, Running>, Self) {
        let bus = Bus::builder(Served, source!("urn:example:bench")).build().expect("valid").start().await;
        let bus = bus.expect("starts");
        let ours = Self { handle: bus.handle(), event: event("com.example.price.of.v1", json(&ASKED)) };
        (bus, ours)
    }

    async fn ask(&self, shape: Shape, requests: u64) {
        for _ in 0..requests {
            let price: Price = match shape {
                Shape::Values => {
                    let request = self.handle.request_value(&VALUES, "com.example.price.of.v1", &ASKED);
                    request.within(DEADLINE).await.expect("answered")
                }
                Shape::Events => {
                    let request = self.handle.request(&EVENTS, self.event.clone());
                    let reply = request.within(DEADLINE).await.expect("answered");
                    serde_json::from_slice(reply.data().expect("a price").bytes()).expect("a price")
                }
            };
            check(&price);
        }
    }
}

/// A question with the way back.
type Question = (Shape, Arc<Bytes>, oneshot::Sender<Arc<Bytes>>);

/// The channels.
#[derive(Clone)]
struct Channels {
    sender: mpsc::Sender<Question>,
    asked: Arc<Bytes>,
}

impl Channels {
    fn new() -> Self {
        let (sender, mut receiver) = mpsc::channel::<Question>(BOUND);
        tokio::spawn(async move {
            let ready = Arc::new(json(&Price { cents: 22 }));
            while let Some((shape, asked, back)) = receiver.recv().await {
                let price = price(&asked);
                let _ = back.send(match shape {
                    Shape::Values => Arc::new(json(&price)),
                    Shape::Events => {
                        check(&price);
                        ready.clone()
                    }
                });
            }
        });
        Self { sender, asked: Arc::new(json(&ASKED)) }
    }

    async fn ask(&self, shape: Shape, requests: u64) {
        for _ in 0..requests {
            let (back, reply) = oneshot::channel();
            let asked = match shape {
                Shape::Values => Arc::new(json(&ASKED)),
                Shape::Events => self.asked.clone(),
            };
            self.sender.send((shape, asked, back)).await.expect("open");
            let price = serde_json::from_slice(&reply.await.expect("answered")).expect("a price");
            check(&price);
        }
    }
}

/// The time that so many requests take, of one requester or of several.
macro_rules! round {
    ($side:expr, $shape:expr, $requesters:expr, $requests:expr) => {{
        let begun = Instant::now();
        if $requesters == 1 {
            $side.ask($shape, $requests).await;
        } else {
            let mut asking = JoinSet::new();
            for _ in 0..$requesters {
                let (side, shape, requests) = ($side.clone(), $shape, $requests / $requesters);
                asking.spawn(async move { side.ask(shape, requests).await });
            }
            asking.join_all().await;
        }
        begun.elapsed()
    }};
}

fn compare(name: &str, runtime: &Runtime, shape: Shape, requesters: u64, rounds: usize, requests: u64) {
    let work = async move {
        let ((_bus, ours), channels) = (Ours::new().await, Channels::new());
        let (mut of_ours, mut of_channels, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..=rounds {
            let a = round!(ours, shape, requesters, requests);
            let b = round!(channels, shape, requesters, requests);
            of_ours.push(a);
            of_channels.push(b);
            ratios.push(b.as_secs_f64() / a.as_secs_f64());
        }
        // The first round warms up.
        (of_ours.split_off(1), of_channels.split_off(1), ratios.split_off(1))
    };
    // In a task, where a service would be.
    let (mut ours, mut channels, mut ratios) = runtime.block_on(runtime.spawn(work)).expect("no panic");
    ours.sort();
    channels.sort();
    ratios.sort_by(f64::total_cmp);
    let rate = |times: &[Duration]| requests as f64 / times[times.len() / 2].as_secs_f64() / 1e3;
    println!(
        "{name:<32} bus {:>5.0} k/s   channels {:>5.0} k/s   ratio {:.2} (worst {:.2}, best {:.2})",
        rate(&ours),
        rate(&channels),
        ratios[ratios.len() / 2],
        ratios[0],
        ratios[ratios.len() - 1],
    );
}

/// What is counted by valgrind, by name.
const COUNTED: [(&str, &str); 4] = [
    ("values", "a request with a value, through the bus"),
    ("events", "a request with an event, through the bus"),
    ("channel-values", "the same with a value, through the channels"),
    ("channel-events", "the same with what is there already, through the channels"),
];

async fn counted(name: &str, requests: u64) {
    let shape = if name.ends_with("values") { Shape::Values } else { Shape::Events };
    if name.starts_with("channel") {
        Channels::new().ask(shape, requests).await;
    } else {
        let (_bus, ours) = Ours::new().await;
        ours.ask(shape, requests).await;
    }
}

/// A number of valgrind's report on one run, after these words.
fn valgrind(tool: &[&str], words: &str, name: &str, requests: u64) -> Result<u64, String> {
    let itself = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("valgrind")
        .args(tool)
        .arg(itself)
        .args(["--requests", name, &requests.to_string()])
        .output()
        .map_err(|error| format!("valgrind does not start ({error}): apt-get install valgrind"))?;
    let report = String::from_utf8_lossy(&output.stderr);
    let found = report.lines().find_map(|line| line.split(words).nth(1)?.split_whitespace().next());
    let found = found.and_then(|count| count.replace(',', "").parse().ok());
    found.ok_or_else(|| format!("valgrind reports no count:\n{report}"))
}

fn count() -> Result<(), String> {
    for (name, what) in COUNTED {
        let one = |tool: &[&str], words: &str| {
            let (few, many) = (valgrind(tool, words, name, FEW)?, valgrind(tool, words, name, MANY)?);
            Ok::<_, String>((many - few) as f64 / (MANY - FEW) as f64)
        };
        let instructions = one(&["--tool=callgrind", "--callgrind-out-file=/dev/null"], "Collected :")?;
        let allocations = one(&["--tool=memcheck", "--leak-check=no"], "total heap usage:")?;
        println!("{instructions:>6.0} instructions, {allocations:>4.1} allocations  {what}");
    }
    Ok(())
}

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let one = Builder::new_current_thread().enable_time().build().expect("a runtime");
    if let [flag, name, requests] = &*arguments
        && flag == "--requests"
    {
        return one.block_on(counted(name, requests.parse().expect("a number")));
    }
    let mut numbers = arguments.iter().filter_map(|argument| argument.parse::<u64>().ok());
    let rounds = usize::try_from(numbers.next().unwrap_or(15)).unwrap_or(15);
    let requests = numbers.next().unwrap_or(32_000).next_multiple_of(SEVERAL);
    println!("small JSON decoded on both sides, {rounds} rounds of {requests}, medians");
    let two = Builder::new_multi_thread().worker_threads(2).enable_time().build().expect("a runtime");
    for (shape, what) in [(Shape::Values, "values"), (Shape::Events, "events")] {
        for (runtime, threads) in [(&one, "one thread"), (&two, "two workers")] {
            for requesters in [1, SEVERAL] {
                let name = format!("{what}, {threads}, {requesters} at once");
                compare(&name, runtime, shape, requesters, rounds, requests);
            }
        }
    }
    if let Err(error) = count() {
        eprintln!("{error}");
    }
}
