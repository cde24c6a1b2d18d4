//! A bare pair of channels: a bounded `tokio::sync::mpsc` to the responder, and a `oneshot` back.

use std::sync::Arc;

use serde::Serialize;
use tokio::sync::{mpsc, oneshot};

use super::{ASKED, Asks, Price, PriceOf, Way};
use crate::job::BOUND;

/// A request with the way back.
type Request = (Arc<[u8]>, oneshot::Sender<Arc<[u8]>>);

#[derive(Clone)]
pub(super) struct Channels {
    sender: mpsc::Sender<Request>,
    /// What is asked, where it is not encoded each time.
    ready: Option<Arc<[u8]>>,
}

impl Channels {
    pub(super) fn start(way: Way) -> Self {
        let (sender, mut receiver) = mpsc::channel::<Request>(BOUND);
        let reply: Option<Arc<[u8]>> = (way == Way::ChannelsReady).then(|| json(&ASKED.price()));
        tokio::spawn(async move {
            while let Some((asked, back)) = receiver.recv().await {
                let asked: PriceOf = serde_json::from_slice(&asked).expect("a request");
                let price = asked.price();
                price.check();
                let _ = back.send(reply.clone().unwrap_or_else(|| json(&price)));
            }
        });
        Self { sender, ready: (way == Way::ChannelsReady).then(|| json(&ASKED)) }
    }
}

impl Asks for Channels {
    async fn ask(&self, requests: u64) {
        for _ in 0..requests {
            let (back, reply) = oneshot::channel();
            let asked = self.ready.clone().unwrap_or_else(|| json(&ASKED));
            self.sender.send((asked, back)).await.expect("there is a responder");
            let price: Price = serde_json::from_slice(&reply.await.expect("a reply")).expect("a price");
            price.check();
        }
    }
}

fn json<T: Serialize>(value: &T) -> Arc<[u8]> {
    serde_json::to_vec(value).expect("it can be written").into()
}
