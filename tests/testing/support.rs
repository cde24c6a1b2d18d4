//! A small service with one handler of each kind.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use tramline::{
    AtLeastOnce, Bus, Delayed, Delivery, Event, Memory, Publisher, Settled, State, Subject,
    bus::BusBuilder,
    contract::{
        AnswersRequests, DelaysRedelivery, DeliversAtLeastOnce, DeliversAtMostOnce, KeepsForHandler, PublishError,
    },
    responder, source, subject, subscription,
    testing::{StandIn, TestBus},
};

/// The state: how often `work` was really called.
#[derive(Clone, Default)]
pub(crate) struct Calls(Arc<AtomicU32>);

impl Calls {
    pub(crate) fn count(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}

#[subscription(
    subject = "job.new", mode = AtLeastOnce, durable = "work", max_deliver = 3, allow_volatile, restart,
    backoff(initial = "1h", max = "1h", multiplier = 1.0),
)]
async fn work(
    event: &Event,
    State(calls): State<Calls>,
    publisher: Publisher,
    delivery: Delivery<AtLeastOnce<Delayed>>,
) -> Result<Settled, PublishError> {
    calls.0.fetch_add(1, Ordering::Relaxed);
    if event.id() == "declined" {
        return Ok(delivery.nack());
    }
    publisher.publish(&subject!("job.done"), self::event(event.id())).await?;
    Ok(delivery.ack())
}

#[subscription(subject = "job.done", restart)]
async fn watch() {}

#[responder(subject = "job.count", group = "counters", reply = "com.example.count.v1")]
async fn counter(State(calls): State<Calls>) -> u32 {
    calls.count()
}

pub(crate) fn jobs<B>(backend: B, calls: Calls) -> BusBuilder<B, Calls>
where
    B: DeliversAtLeastOnce + DelaysRedelivery + KeepsForHandler + DeliversAtMostOnce + AnswersRequests,
{
    Bus::builder(backend, source!("urn:example:jobs")).state(calls).subscribe(work).subscribe(watch).subscribe(counter)
}

pub(crate) async fn start() -> (TestBus, Calls) {
    let calls = Calls::default();
    (TestBus::start(jobs(StandIn::<Memory>::new(), calls.clone())).await.unwrap(), calls)
}

pub(crate) fn new_job() -> Subject {
    subject!("job.new")
}

pub(crate) fn event(id: &str) -> Event {
    Event::builder(id, source!("urn:example:test"), "com.example.job.v1").build().unwrap()
}
