//! The ledger as metrics: every number of it arrives at the recorder, and the guide's table says under which name.

#![allow(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, atomic::Ordering::Relaxed},
    time::Duration,
};

use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit, atomics::AtomicU64};
use tramline::{Bus, Event, Memory, Payload, contract::PublishError, name, responder, source, subject, subscription};

/// A metric as it arrived: what it is called, and with which labels.
type Called = (String, BTreeMap<String, String>);
/// Its kind, its unit, and what it counts.
type Described = (&'static str, Option<Unit>, String);

/// Writes down what it is told.
#[derive(Default)]
struct Written {
    described: Mutex<BTreeMap<String, Described>>,
    numbers: Mutex<BTreeMap<Called, Arc<AtomicU64>>>,
}

impl Written {
    fn register(&self, key: &Key) -> Arc<AtomicU64> {
        let labels = key.labels().map(|label| (label.key().to_owned(), label.value().to_owned())).collect();
        self.numbers.lock().unwrap().entry((key.name().to_owned(), labels)).or_default().clone()
    }

    fn describe(&self, key: &KeyName, kind: &'static str, unit: Option<Unit>, what: &SharedString) {
        self.described.lock().unwrap().insert(key.as_str().to_owned(), (kind, unit, what.to_string()));
    }

    /// A counter's value, by its labels besides `backend`.
    fn counter(&self, name: &str, labels: &[(&str, &str)]) -> u64 {
        self.raw(name, labels)
    }

    fn gauge(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        f64::from_bits(self.raw(name, labels))
    }

    fn raw(&self, name: &str, labels: &[(&str, &str)]) -> u64 {
        let labels = labels.iter().chain([&("backend", "Memory")]);
        let labels: BTreeMap<_, _> = labels.map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let numbers = self.numbers.lock().unwrap();
        let called = (name.to_owned(), labels);
        numbers.get(&called).unwrap_or_else(|| panic!("no {called:?} in {:#?}", numbers.keys())).load(Relaxed)
    }
}

impl Recorder for Written {
    fn describe_counter(&self, key: KeyName, unit: Option<Unit>, what: SharedString) {
        self.describe(&key, "counter", unit, &what);
    }

    fn describe_gauge(&self, key: KeyName, unit: Option<Unit>, what: SharedString) {
        self.describe(&key, "gauge", unit, &what);
    }

    fn describe_histogram(&self, key: KeyName, unit: Option<Unit>, what: SharedString) {
        self.describe(&key, "histogram", unit, &what);
    }

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.register(key))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.register(key))
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

#[subscription(subject = "invoice.raised")]
async fn odd(number: Payload<u64>) -> Result<(), &'static str> {
    if *number % 2 == 1 { Ok(()) } else { Err("even") }
}

#[subscription(subject = "invoice.slow", bound = 1, overflow = Fail)]
async fn stuck() {
    std::future::pending::<()>().await;
}

#[responder(subject = "price.of", group = "pricing")]
async fn price(asked: &Event) -> Event {
    asked.clone()
}

fn event(number: u64) -> Event {
    let event = Event::builder(number.to_string(), source!("urn:example:test"), "com.example.test.v1");
    event.json(number.to_string()).build().unwrap()
}

/// Lets every other task run until this holds. Paused time stands still.
async fn until(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..10_000 {
        if holds() {
            return;
        }
        tokio::task::yield_now().await;
    }
    panic!("never: {what}");
}

#[tokio::test(start_paused = true)]
async fn l1_the_recorder_has_what_the_ledger_says_when_it_is_asked_to() {
    let written = Written::default();
    let builder = Bus::builder(Memory::new(), source!("urn:example:test"));
    let builder = builder.subscribe(odd).subscribe(stuck).subscribe(price).request_names([name!("pricing")]);
    let bus = builder.build().unwrap().start().await.unwrap();
    for number in 0..5 {
        bus.publish(&subject!("invoice.raised"), event(number)).await.unwrap();
    }
    // One in hand, one queued, one refused.
    for number in 0..3 {
        let published = bus.publish(&subject!("invoice.slow"), event(number)).await;
        assert_eq!(matches!(published, Err(PublishError::QueueFull { .. })), number == 2, "{published:?}");
        until("one is in hand", || bus.stats("stuck").unwrap().in_hand == 1).await;
    }
    let of_price = subject!("price.of");
    let ask = |number| bus.request(&of_price, event(number)).within(Duration::from_secs(1));
    ask(1).named("pricing").await.unwrap();
    ask(2).await.unwrap();
    until("all that can be is handled", || {
        bus.stats("odd").unwrap().delivered == 5 && bus.stats("price").unwrap().replies.replied == 2
    })
    .await;
    metrics::with_local_recorder(&written, || assert!(written.numbers.lock().unwrap().is_empty(), "not unasked"));

    metrics::with_local_recorder(&written, || bus.record_metrics());
    let of = |name| [("subscription", name)];
    let with = |name, key, value| [("subscription", name), (key, value)];
    assert_eq!(written.counter("tramline_offered_total", &of("odd")), 5);
    assert_eq!(written.counter("tramline_delivered_total", &of("odd")), 5);
    assert_eq!(written.counter("tramline_settled_total", &with("odd", "verdict", "acked")), 2);
    assert_eq!(written.counter("tramline_settled_total", &with("odd", "verdict", "silent")), 3);
    assert_eq!(written.counter("tramline_errors_total", &of("odd")), 3);
    assert_eq!(written.counter("tramline_lost_total", &with("stuck", "reason", "overflow")), 1);
    assert_eq!(written.gauge("tramline_pending", &of("stuck")), 1.0);
    assert_eq!(written.gauge("tramline_in_hand", &of("stuck")), 1.0);
    assert_eq!(written.counter("tramline_replies_total", &with("price", "outcome", "replied")), 2);
    assert_eq!(written.counter("tramline_requests_sent_total", &[("request", "pricing")]), 1);
    assert_eq!(written.counter("tramline_requests_total", &[("request", ""), ("outcome", "answered")]), 1);
    assert_eq!(written.counter("tramline_replies_unclaimed_total", &[]), 0);

    // It does not follow by itself, and a handle is as good, after a stop too.
    let handle = bus.handle();
    bus.stop(Duration::from_secs(1)).await;
    assert_eq!(written.counter("tramline_lost_total", &with("stuck", "reason", "shutdown")), 0);
    metrics::with_local_recorder(&written, || handle.record_metrics());
    assert_eq!(written.counter("tramline_lost_total", &with("stuck", "reason", "shutdown")), 1);
    assert_eq!(written.counter("tramline_lost_total", &with("stuck", "reason", "retired_queued")), 1);
    assert_eq!(written.gauge("tramline_in_hand", &of("stuck")), 0.0);
}

/// A row of the table: name, kind, unit, labels, what it counts.
type Row = (String, String, String, BTreeSet<String>, String);

#[tokio::test(start_paused = true)]
async fn the_table_in_the_guide_is_what_is_recorded() {
    let written = Written::default();
    let bus = Bus::builder(Memory::new(), source!("urn:example:test")).subscribe(odd).build().unwrap();
    metrics::with_local_recorder(&written, || bus.record_metrics());
    let described = written.described.lock().unwrap();
    let numbers = written.numbers.lock().unwrap();
    let mut recorded = BTreeSet::<Row>::new();
    for (name, (kind, unit, what)) in described.iter() {
        let unit = unit.unwrap().as_str().to_owned();
        let labels = numbers.keys().filter(|(of, _)| of == name).flat_map(|(_, labels)| labels.keys().cloned());
        recorded.insert((name.clone(), (*kind).to_owned(), unit, labels.collect(), what.clone()));
    }
    let registered: BTreeSet<_> = numbers.keys().map(|(name, _)| name).collect();
    assert!(registered.into_iter().eq(described.keys()), "each is described");

    let documented: BTreeSet<Row> = include_str!("../src/guide/seeing_it_run.md").lines().filter_map(row).collect();
    assert!(documented == recorded, "documented: {documented:#?}\nrecorded: {recorded:#?}");
}

fn row(line: &str) -> Option<Row> {
    let cells: Vec<&str> = line.strip_prefix("| `tramline_")?.strip_suffix(" |")?.split(" | ").collect();
    let [name, kind, unit, labels, what] = cells[..] else { panic!("five cells: {line}") };
    let labels =
        labels.split(", ").map(|label| label.split('=').next().unwrap().trim_matches('`').to_owned()).collect();
    let name = format!("tramline_{}", name.trim_end_matches('`'));
    Some((name, kind.to_owned(), unit.to_owned(), labels, what.to_owned()))
}

#[test]
fn the_labels_in_the_guide_name_every_value() {
    let guide = include_str!("../src/guide/seeing_it_run.md");
    for values in [
        "`reason=overflow\\|retired_queued\\|shutdown\\|handler_panic\\|undecodable\\|malformed`",
        "`verdict=acked\\|nacked\\|silent`",
        "`outcome=replied\\|refused\\|unaddressed`",
        "`outcome=answered\\|no_responders\\|no_reply\\|failed`",
    ] {
        assert!(guide.contains(values), "{values}");
    }
}
