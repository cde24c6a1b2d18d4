//! ruststream: its broker in memory and its runtime, without its feature for tests.
//!
//! Its queues have no bound, so its publisher is held back here: it yields while as many messages are on their way as the
//! queues of the others hold. That costs it a read of the count, and no wake-up.

use std::{
    future::pending,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use bytes::BytesMut;
use ruststream::{
    Deserialized, OutgoingMessage,
    memory::{MemoryPublisher, prelude::*},
};

use super::{Publishes, turn};
use crate::{
    job::{BOUND, Job, Load, PATTERNS, Shape, bystander, pattern, subjects},
    work::{self, ORDER, Order},
};

const SUBJECT: &str = "order.placed";

#[subscriber("order.placed")]
async fn read(order: &Order) -> HandlerOutcome {
    work::handled(order);
    HandlerOutcome::ack()
}

/// It has no groups in memory; this is how it shares the work of one subscription.
#[subscriber("order.placed", workers(4))]
async fn share(order: &Order) -> HandlerOutcome {
    work::handled(order);
    HandlerOutcome::ack()
}

/// The bytes as they came.
#[derive(Deserialized)]
struct Bare<'a>(&'a [u8]);

#[subscriber("order.placed")]
async fn look(bare: &Bare<'_>) -> HandlerOutcome {
    work::received(false, bare.0);
    HandlerOutcome::ack()
}

static CALLS: AtomicU64 = AtomicU64::new(0);

/// A handler is not told the attempt, so every other call declines: once for each message, over a round.
#[subscriber("order.placed")]
async fn decline(order: &Order) -> HandlerOutcome {
    if CALLS.fetch_add(1, Relaxed).is_multiple_of(2) {
        return HandlerOutcome::retry();
    }
    work::handled(order);
    HandlerOutcome::ack()
}

/// What its builder of subscribers takes, where their names are made at run time.
struct Read;

impl Handle<Order> for Read {
    async fn handle(&self, order: &Order, _outs: &(), _context: &mut Context<'_>) -> Result<(), HandlerOutcome> {
        work::handled(order);
        Ok(())
    }
}

pub(super) struct Ruststream {
    publisher: MemoryPublisher,
    job: Job,
    body: Vec<u8>,
    subjects: Vec<String>,
}

impl Ruststream {
    pub(super) async fn start(job: Job) -> Self {
        let broker = MemoryBroker::new();
        let app = RustStream::new(AppInfo::new("orders", "1.0.0")).with_broker(broker.clone(), |scope| {
            match (job.shape, job.decodes()) {
                (Shape::FanOut(readers), true) => (0..readers).for_each(|_| drop(scope.include(read))),
                (Shape::FanOut(readers), false) => (0..readers).for_each(|_| drop(scope.include(look))),
                (Shape::Competing(_), _) => drop(scope.include(share)),
                (Shape::Patterns, _) => {
                    for index in 0..PATTERNS {
                        scope.include(subscriber(MemoryPattern::new(pattern(index)), Read).build());
                    }
                }
                (Shape::Among(others), _) => {
                    scope.include(read);
                    for index in 0..others {
                        scope.include(subscriber(MemorySource::new(bystander(index)), Read).build());
                    }
                }
                (Shape::Acked, _) => drop(scope.include(read)),
                (Shape::DeclinedOnce, _) => drop(scope.include(decline)),
            }
        });
        let running = app.start().await.expect("it starts");
        // It runs until it is dropped: here, with the runtime.
        tokio::spawn(async move {
            let _running = running;
            pending::<()>().await;
        });
        let subjects = if job.shape == Shape::Patterns { subjects().collect() } else { vec![SUBJECT.to_owned()] };
        Self { publisher: broker.publisher(), job, body: job.body(), subjects }
    }
}

impl Publishes for Ruststream {
    async fn publish(&self, index: u64) {
        let deliveries = self.job.deliveries();
        while (index + 1) * deliveries > work::so_far() + BOUND as u64 * deliveries {
            tokio::task::yield_now().await;
        }
        let subject = &self.subjects[turn(index, self.subjects.len())];
        match self.job.load {
            Load::Value => {
                self.publisher.message(&ORDER).to(subject.as_str()).publish().await.expect("the broker runs");
            }
            Load::Bare(_) | Load::Decoded(_) => {
                let message = OutgoingMessage::<BytesMut>::new(subject, &self.body);
                self.publisher.publish(message, None).await.expect("the broker runs");
            }
        }
    }
}
