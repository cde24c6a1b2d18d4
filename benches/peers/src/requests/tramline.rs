//! tramline: a bus in memory, responders, and requests with values or with events.

use std::sync::Arc;

use serde::Serialize;

use ::tramline::{
    Bus, Event, Handle, Memory, Payload, Running, State, Subject, event::Timestamp, responder, source, subject,
};

use super::{ASKED, Asks, DEADLINE, Price, PriceOf, Way};

static VALUES: Subject = subject!("price.ask");
static EVENTS: Subject = subject!("price.event");

#[responder(subject = "price.ask", group = "prices", reply = "com.example.price.v1")]
async fn answer(asked: Payload<PriceOf>) -> Price {
    let price = asked.price();
    price.check();
    price
}

/// The event to reply with, ready.
struct Ready(Event);

#[responder(subject = "price.event", group = "prices")]
async fn answer_with_event(asked: Payload<PriceOf>, State(ready): State<Arc<Ready>>) -> Event {
    asked.price().check();
    ready.0.clone()
}

#[derive(Clone)]
pub(super) struct Tramline {
    handle: Handle<Memory>,
    /// It runs while this lives.
    _bus: Arc<Bus<Memory, Running>>,
    /// What is asked, where it is not encoded each time.
    ready: Option<Event>,
}

impl Tramline {
    pub(super) async fn start(way: Way) -> Self {
        let bus = Bus::builder(Memory::new(), source!("urn:example:prices"))
            .state(Arc::new(Ready(event("com.example.price.v1", &ASKED.price()))))
            .subscribe(answer)
            .subscribe(answer_with_event)
            .build()
            .expect("it is valid")
            .start()
            .await
            .expect("it starts");
        let ready = (way == Way::Events).then(|| event("com.example.price.ask.v1", &ASKED));
        Self { handle: bus.handle(), _bus: Arc::new(bus), ready }
    }
}

impl Asks for Tramline {
    async fn ask(&self, requests: u64) {
        for _ in 0..requests {
            let price: Price = match &self.ready {
                None => {
                    let request = self.handle.request_value(&VALUES, "com.example.price.ask.v1", &ASKED);
                    request.within(DEADLINE).await.expect("a reply")
                }
                Some(event) => {
                    let reply = self.handle.request(&EVENTS, event.clone()).within(DEADLINE).await.expect("a reply");
                    serde_json::from_slice(reply.data().expect("a price").bytes()).expect("a price")
                }
            };
            price.check();
        }
    }
}

fn event(event_type: &str, value: &impl Serialize) -> Event {
    let json = serde_json::to_vec(value).expect("it can be written");
    let builder = Event::builder("1", source!("urn:example:prices"), event_type).time(Timestamp::now());
    builder.json(json).build().expect("it is valid")
}
