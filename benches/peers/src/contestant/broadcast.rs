//! A `tokio::sync::broadcast`. Its sender never waits: it overwrites what a receiver has not read, and the receiver learns
//! how much that was.

use std::sync::Arc;

use tokio::sync::broadcast::{Receiver, Sender, channel, error::RecvError};

use super::Publishes;
use crate::{
    job::{BOUND, Job, Message, Messages, Shape},
    work,
};

pub(super) struct Broadcast {
    sender: Sender<Arc<Message>>,
    messages: Messages,
}

impl Broadcast {
    pub(super) fn start(job: Job) -> Self {
        let Shape::FanOut(readers) = job.shape else { unreachable!("it is not asked for {:?}", job.shape) };
        let (sender, _) = channel(BOUND);
        for _ in 0..readers {
            tokio::spawn(read(sender.subscribe(), job.decodes()));
        }
        Self { sender, messages: Messages::new(job) }
    }
}

impl Publishes for Broadcast {
    async fn publish(&self, index: u64) {
        // On one thread nobody would ever read otherwise, and a reader is let go on for 128 messages at a time.
        if index.is_multiple_of(BOUND as u64 / 2) {
            tokio::task::yield_now().await;
        }
        let _ = self.sender.send(self.messages.next());
    }
}

async fn read(mut receiver: Receiver<Arc<Message>>, decode: bool) {
    loop {
        match receiver.recv().await {
            Ok(message) => message.received(decode),
            Err(RecvError::Lagged(missed)) => work::missed(missed),
            Err(RecvError::Closed) => return,
        }
    }
}
