//! The bare client, by somebody who knows it.

use std::time::{Duration, Instant};

use async_nats::{
    Client, ConnectOptions, HeaderMap, HeaderName, HeaderValue, Message,
    jetstream::{self, consumer::pull},
};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use tokio::task::JoinHandle;
use tramline::event::Timestamp;
use uuid::Uuid;

use crate::{
    Side, all,
    work::{LOG, Order, Price, REPLY, SOURCE, TIME, TYPE, Tally, WINDOW, check, order, price},
};

/// What a service has: a connection to ask and to publish on, and another one that is served.
pub(crate) struct Bare {
    client: Client,
    context: jetstream::Context,
    reader: jetstream::Context,
    order: Bytes,
    tally: Tally,
    tasks: [JoinHandle<()>; 2],
}

impl Bare {
    pub(crate) async fn new(url: &str) -> Self {
        let connect = async || ConnectOptions::new().connect(url).await.unwrap();
        let (client, served) = (connect().await, connect().await);
        let tally = Tally::new();
        let mut orders = served.subscribe("bare.order").await.unwrap();
        let mut questions = served.queue_subscribe("bare.ask", "desk".to_owned()).await.unwrap();
        served.flush().await.unwrap();
        let counted = tally.clone();
        let handling = tokio::spawn(async move {
            while let Some(message) = orders.next().await {
                counted.handle(&decode(&message));
            }
        });
        let replier = served.clone();
        let answering = tokio::spawn(async move {
            while let Some(message) = questions.next().await {
                let answer = serde_json::to_vec(&price(&decode(&message))).unwrap();
                let headers = headers(&Uuid::now_v7().to_string(), REPLY, Timestamp::now().as_ref());
                let reply = message.reply.unwrap();
                replier.publish_with_headers(reply, headers, answer.into()).await.unwrap();
            }
        });
        Self {
            context: jetstream::new(client.clone()),
            reader: jetstream::new(served),
            client,
            order: order(),
            tally,
            tasks: [handling, answering],
        }
    }

    /// Publishes so many into the log that is read.
    pub(crate) async fn fill(&self, count: u64) {
        self.store_to("log.order", count).await;
    }

    async fn store_to(&self, subject: &'static str, count: u64) {
        let run = Uuid::now_v7();
        let published = stream::iter(0..count).map(|number| async move {
            let id = format!("{run}-{number}");
            let mut headers = headers(&id, TYPE, TIME);
            headers.insert("Nats-Msg-Id", format!("{subject} {SOURCE} {id}"));
            let sent = self.context.publish_with_headers(subject, headers, self.order.clone()).await.unwrap();
            sent.await.unwrap();
        });
        published.buffer_unordered(WINDOW).collect::<()>().await;
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

/// The six of them.
fn headers(id: &str, event_type: &str, time: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert("ce-specversion", "1.0");
    headers.insert("ce-id", id);
    headers.insert("ce-source", SOURCE);
    headers.insert("ce-type", event_type);
    headers.insert("ce-datacontenttype", "application/json");
    headers.insert("ce-time", time);
    headers
}

/// Looks what it is, and decodes it: a version and a format that it knows, and the type that it is for. What the bus has checked
/// besides, an identity and a time, this handler does not need.
fn decode(message: &Message) -> Order<'_> {
    // By somebody who knows that a name of this kind is neither checked nor copied.
    const VERSION: HeaderName = HeaderName::from_static("ce-specversion");
    const FORMAT: HeaderName = HeaderName::from_static("ce-datacontenttype");
    const KIND: HeaderName = HeaderName::from_static("ce-type");
    let headers = message.headers.as_ref().unwrap();
    let is = |name, value| headers.get(name).is_some_and(|found: &HeaderValue| found.as_str() == value);
    assert!(is(VERSION, "1.0") && is(FORMAT, "application/json") && is(KIND, TYPE));
    serde_json::from_slice(&message.payload).unwrap()
}

impl Side for Bare {
    async fn publish(&self, count: u64) -> Duration {
        self.tally.expect(count);
        let begun = Instant::now();
        for number in 0..count {
            let headers = headers(&number.to_string(), TYPE, TIME);
            self.client.publish_with_headers("bare.order", headers, self.order.clone()).await.unwrap();
        }
        all(&self.tally, Some(begun)).await
    }

    async fn request(&self, count: u64, at_once: usize) -> Duration {
        let begun = Instant::now();
        let asked = stream::iter(0..count).map(|number| async move {
            let headers = headers(&number.to_string(), TYPE, TIME);
            let reply = self.client.request_with_headers("bare.ask", headers, self.order.clone()).await.unwrap();
            let found: Price = serde_json::from_slice(&reply.payload).unwrap();
            check(&found);
        });
        asked.buffer_unordered(at_once).collect::<()>().await;
        begun.elapsed()
    }

    async fn store(&self, count: u64) -> Duration {
        let begun = Instant::now();
        self.store_to("store.order", count).await;
        begun.elapsed()
    }

    async fn consume(&self, count: u64) -> Duration {
        self.tally.expect(count);
        let config = pull::Config { durable_name: Some("bare".to_owned()), ..Default::default() };
        let log = self.reader.get_stream(LOG).await.unwrap();
        let consumer: jetstream::consumer::PullConsumer = log.get_or_create_consumer("bare", config).await.unwrap();
        let mut messages = consumer.stream().max_messages_per_batch(WINDOW).messages().await.unwrap();
        for _ in 0..count {
            let message = messages.next().await.unwrap().unwrap();
            self.tally.handle(&decode(&message));
            message.ack().await.unwrap();
        }
        all(&self.tally, None).await
    }
}
