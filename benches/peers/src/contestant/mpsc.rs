//! A bounded `tokio::sync::mpsc` for each reader.

use std::sync::Arc;

use tokio::sync::mpsc;

use super::Publishes;
use crate::job::{BOUND, Job, Message, Messages, Shape};

pub(super) struct Mpsc {
    senders: Vec<mpsc::Sender<Arc<Message>>>,
    messages: Messages,
}

impl Mpsc {
    pub(super) fn start(job: Job) -> Self {
        let Shape::FanOut(readers) = job.shape else { unreachable!("it is not asked for {:?}", job.shape) };
        let senders = (0..readers)
            .map(|_| {
                let (sender, mut receiver) = mpsc::channel::<Arc<Message>>(BOUND);
                tokio::spawn(async move {
                    while let Some(message) = receiver.recv().await {
                        message.received(job.decodes());
                    }
                });
                sender
            })
            .collect();
        Self { senders, messages: Messages::new(job) }
    }
}

impl Publishes for Mpsc {
    async fn publish(&self, _index: u64) {
        let message = self.messages.next();
        for sender in &self.senders {
            sender.send(Arc::clone(&message)).await.expect("there is a receiver");
        }
    }
}
