//! The bus, with handlers as a service has them.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use tramline::{
    Ack, Bus, Dormant, Event, JetStream, Nats, Payload, Running, State, event::Timestamp, responder, source, subject,
    subscription,
};
use uuid::Uuid;

use crate::{
    Side, all,
    work::{LOG, Order, Price, STORE, TIME, TYPE, Tally, WINDOW, check, order, price},
};

// As many as are on their way: the bare client, too, has room for all.
#[subscription(subject = "ours.order", bound = 65_536)]
async fn orders(order: Payload<Order<'_>>, State(tally): State<Tally>) {
    tally.handle(&order);
}

#[responder(subject = "ours.ask", group = "desk", reply = "com.example.order.priced.v1", bound = 65_536)]
async fn desk(order: Payload<Order<'_>>) -> Price {
    price(&order)
}

#[subscription(
    subject = "log.order", mode = AtLeastOnce, durable = "ours", max_deliver = 5, start_at = AllAvailable, bound = 256,
)]
async fn log(order: Payload<Order<'_>>, State(tally): State<Tally>) -> Ack {
    tally.handle(&order);
    Ack
}

/// What a service has: a bus to ask and to publish on, and another one that is served.
pub(crate) struct Ours {
    core: Bus<Nats, Running>,
    served: Bus<Nats, Running>,
    store: Bus<JetStream, Running>,
    /// Of each round it is started and stopped.
    log: Mutex<Option<Bus<JetStream, Dormant>>>,
    order: Bytes,
    tally: Tally,
}

impl Ours {
    pub(crate) async fn new(url: &str) -> Self {
        let (source, tally) = (|| source!("urn:example:bench"), Tally::new());
        let served = Bus::builder(Nats::new(url), source()).state(tally.clone()).subscribe(orders).subscribe(desk);
        let reader = Bus::builder(JetStream::new(url, LOG), source()).state(tally.clone()).subscribe(log).build();
        Self {
            core: Bus::builder(Nats::new(url), source()).build().unwrap().start().await.unwrap(),
            served: served.build().unwrap().start().await.unwrap(),
            store: Bus::builder(JetStream::new(url, STORE), source()).build().unwrap().start().await.unwrap(),
            log: Mutex::new(Some(reader.unwrap())),
            order: order(),
            tally,
        }
    }

    pub(crate) async fn stop(self) {
        for bus in [self.core, self.served] {
            bus.stop(Duration::from_secs(5)).await;
        }
        self.store.stop(Duration::from_secs(5)).await;
    }

    fn event(&self, id: String) -> Event {
        let builder = Event::builder(id, source!("urn:example:bench"), TYPE).time(Timestamp::new(TIME).unwrap());
        builder.json(self.order.clone()).build().unwrap()
    }
}

impl Side for Ours {
    async fn publish(&self, count: u64) -> Duration {
        self.tally.expect(count);
        let begun = Instant::now();
        for number in 0..count {
            self.core.publish(&subject!("ours.order"), self.event(number.to_string())).await.unwrap();
        }
        all(&self.tally, Some(begun)).await
    }

    async fn request(&self, count: u64, at_once: usize) -> Duration {
        let begun = Instant::now();
        let asked = stream::iter(0..count).map(|number| async move {
            let subject = subject!("ours.ask");
            let request = self.core.request(&subject, self.event(number.to_string()));
            let reply = request.within(Duration::from_secs(10)).await.unwrap();
            let found: Price = serde_json::from_slice(reply.data().unwrap().bytes()).unwrap();
            check(&found);
        });
        asked.buffer_unordered(at_once).collect::<()>().await;
        begun.elapsed()
    }

    async fn store(&self, count: u64) -> Duration {
        let (begun, run) = (Instant::now(), Uuid::now_v7());
        let published = stream::iter(0..count).map(|number| async move {
            self.store.publish(&subject!("store.order"), self.event(format!("{run}-{number}"))).await.unwrap();
        });
        published.buffer_unordered(WINDOW).collect::<()>().await;
        begun.elapsed()
    }

    async fn consume(&self, count: u64) -> Duration {
        self.tally.expect(count);
        let bus = self.log.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap();
        let bus = bus.start().await.unwrap();
        let took = all(&self.tally, None).await;
        let stopped = bus.stop(Duration::from_secs(5)).await;
        assert_eq!(stopped.bus.stats("log").unwrap().redelivered, 0);
        *self.log.lock().unwrap_or_else(PoisonError::into_inner) = Some(stopped.bus);
        took
    }
}
