//! Testing a service: its own wiring, on a stand-in for its backend, in paused time.
//!
//! The wiring of a service is the function that subscribes its handlers with their state. Written for any backend that has
//! what they ask for, it runs on the broker in production and on a [`StandIn`] for that broker in tests:
//!
//! ```
//! use tramline::{
//!     Ack, AtLeastOnce, Bus, Payload, Publisher, State, bus::BusBuilder,
//!     contract::{DelaysRedelivery, KeepsForHandler, PublishError, SurvivesRestart}, source, subject, subscription,
//! };
//! # use std::sync::{Arc, Mutex};
//! # #[derive(serde::Serialize, serde::Deserialize)] struct Order { item: String }
//! # #[derive(Clone, Default)] struct Shelf(Arc<Mutex<Vec<String>>>);
//! # impl Shelf { fn take(&self, item: String) { self.0.lock().unwrap().push(item) } }
//!
//! #[subscription(
//!     subject = "order.placed", mode = AtLeastOnce, durable = "packer", max_deliver = 3, restart,
//!     backoff(initial = "10s", max = "1m", multiplier = 2.0),
//! )]
//! async fn packer(Payload(order): Payload<Order>, State(shelf): State<Shelf>, publisher: Publisher) -> Result<Ack, PublishError> {
//!     shelf.take(order.item);
//!     publisher.publish_value(&subject!("order.packed"), "com.example.order.packed.v1", "done").await?;
//!     Ok(Ack)
//! }
//!
//! // The wiring. What is missing in the `where` clause, the compiler names and offers to add.
//! fn warehouse<B>(backend: B, shelf: Shelf) -> BusBuilder<B, Shelf>
//! where
//!     B: SurvivesRestart + DelaysRedelivery + KeepsForHandler,
//! {
//!     Bus::builder(backend, source!("urn:example:warehouse")).state(shelf).subscribe(packer)
//! }
//!
//! // In production: `warehouse(JetStream::new(url, "ORDERS"), shelf)`. In a test:
//! # #[cfg(feature = "jetstream")]
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # use tramline::{JetStream, testing::{Handled, StandIn, TestBus}};
//! // #[tokio::test(start_paused = true)]
//! let shelf = Shelf::default();
//! let test = TestBus::start(warehouse(StandIn::<JetStream>::new(), shelf.clone())).await?;
//! test.fail_next("packer", 1);
//! test.publish_value(&subject!("order.placed"), "com.example.order.v1", &Order { item: "tea".into() }).await?;
//! test.settled().await;
//! let seen = test.delivered_to("packer");
//! assert!(seen[1].at - seen[0].at >= std::time::Duration::from_secs(10), "the backoff is kept:\n{seen}");
//! assert_eq!(seen[1].handled, Handled::Acked);
//! test.published_on("order.packed").assert_count(1);
//! assert_eq!(test.stats("packer").expect("it is subscribed").redelivered, 1);
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "jetstream"))]
//! # fn main() {}
//! ```
//!
//! # What runs
//! All of it but the broker: the bus, its supervision, the handlers with their real state, the codec, the ledger. A
//! [`StandIn<L>`](StandIn) has the capabilities of `L`, so a subscription that `L` cannot carry does not compile on it
//! either, and one that is refused where the bus is built is refused in the test. It has no lease, and it does not replay
//! what was published before a subscription was new. What a broker does that is no capability, such as its limits, its
//! clock and its operator's settings, a test on a broker shows.
//!
//! # Time
//! Under `#[tokio::test(start_paused = true)]` time goes on only when nobody has anything to do, and then at once to the
//! next timer: a backoff of ten minutes costs nothing, and no test sleeps. Two waits say how far to go:
//!
//! - [`settled`](TestBus::settled): until nothing is queued or in hand, nothing waits out a delay, and every consumer is
//!   subscribed again. Time goes on for it as far as needed.
//! - [`handled`](TestBus::handled): until nothing is queued or in hand. What waits out a delay goes on waiting.
//!
//! Both are told, and do not look again and again. Where time is not paused they take as long as it takes. A wait that has no
//! end fails after a day, which in paused time is at once, and says what it waited for.
//!
//! A handler that waits for something outside of tokio, such as a real socket, does not hold paused time: give it a
//! stand-in of your own through its state, or leave time running.
//!
//! # What can be seen
//! - [`delivered_to`](TestBus::delivered_to), [`deliveries`](TestBus::deliveries): each delivery with its attempt, what the
//!   handler [made of it](Handled), and when.
//! - [`published_on`](TestBus::published_on), [`published`](TestBus::published): each publish and request, whoever made it,
//!   and whether it failed. [`value`](TestBus::value) decodes one.
//! - The [ledger](crate::Bus::ledger), the [status](crate::Bus::status), the [health](crate::Bus::health), and all else that
//!   a running bus has: a `TestBus` is one.
//!
//! A [`Seen`] list prints a line for each, and every assertion that fails prints what was seen.
//!
//! # What can go wrong, on purpose
//! - [`fail_next`](TestBus::fail_next): a handler returns an error.
//! - [`panic_next`](TestBus::panic_next): it panics, and its consumer is restarted, if it may be.
//! - [`redeliver_next`](TestBus::redeliver_next): its acknowledgement is lost, and the message comes again. At most once,
//!   a duplicate is the same event published twice.
//! - [`cut_link`](TestBus::cut_link), [`cut_links`](TestBus::cut_links): its source ends, as with a connection.
//! - [`refuse_publishes`](TestBus::refuse_publishes): a full queue, a publish that is not confirmed, or whose confirmation
//!   is lost.
//! - [`restart`](TestBus::restart): the service is stopped and started again, as in a deployment.
//!
//! Each is counted down by what really happens, so a test says what goes wrong first, and publishes then.

mod faults;
mod link;
mod seen;
mod session;
mod source;
mod stage;
mod stand_in;
mod test_bus;

pub use self::{
    seen::{Handled, Seen, TestDelivery, TestPublish},
    session::StandInSession,
    source::{AsItIs, Kept, StandInControl, StandInDeliveries, StandInSettler, StandInSource, Wrap},
    stage::PublishRefusal,
    stand_in::StandIn,
    test_bus::{TestBus, TestBusError},
};
