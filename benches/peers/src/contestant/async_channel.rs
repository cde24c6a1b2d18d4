//! A bounded `async_channel`: one for each reader, or one that all compete for.

use std::sync::Arc;

use async_channel::{Receiver, Sender, bounded};

use super::Publishes;
use crate::job::{BOUND, Job, Message, Messages, Shape};

pub(super) struct AsyncChannel {
    senders: Vec<Sender<Arc<Message>>>,
    messages: Messages,
}

impl AsyncChannel {
    pub(super) fn start(job: Job) -> Self {
        let (channels, readers_of_each) = match job.shape {
            Shape::FanOut(readers) => (readers, 1),
            Shape::Competing(readers) => (1, readers),
            other => unreachable!("it is not asked for {other:?}"),
        };
        let senders = (0..channels)
            .map(|_| {
                let (sender, receiver) = bounded(BOUND);
                for _ in 0..readers_of_each {
                    tokio::spawn(read(receiver.clone(), job.decodes()));
                }
                sender
            })
            .collect();
        Self { senders, messages: Messages::new(job) }
    }
}

impl Publishes for AsyncChannel {
    async fn publish(&self, _index: u64) {
        let message = self.messages.next();
        for sender in &self.senders {
            sender.send(Arc::clone(&message)).await.expect("there is a receiver");
        }
    }
}

async fn read(receiver: Receiver<Arc<Message>>, decode: bool) {
    // It takes no part in tokio's cooperative scheduling, and would not let a publisher on its thread in before it is empty.
    while let Ok(message) = receiver.recv().await {
        message.received(decode);
    }
}
