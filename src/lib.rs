//! A typed message bus: what a backend cannot do does not compile.
//!
//! A service publishes events on a [`Bus`] and subscribes async functions to them with
//! [`#[subscription]`](macro@subscription); it asks with [`request`](Bus::request), and answers with
//! [`#[responder]`](macro@responder). What carries the events is a [backend](contract::Backend); what that cannot
//! do, a subscription on it cannot ask for, and the error says what is missing and how to mend it.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use tramline::{Bus, Event, Memory, Subject, source, subject, subscription};
//!
//! #[subscription(pattern = "greeting.>")]
//! async fn greeter(subject: &Subject, event: &Event) {
//!     println!("{subject}: event {} of {}", event.id(), event.source());
//! }
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let bus = Bus::builder(Memory::new(), source!("urn:example:greetings"))
//!     .subscribe(greeter)
//!     .build()?;
//! let bus = bus.start().await?;
//! let morning = subject!("greeting.morning");
//! bus.publish_value(&morning, "com.example.greeting.v1", "good morning").await?;
//! tokio::signal::ctrl_c().await?;
//! let stopped = bus.stop(Duration::from_secs(5)).await;
//! print!("{}", stopped.bus.ledger());
//! # Ok(())
//! # }
//! ```
//!
//! A stop does not drain: what no handler has taken by then is lost at most once, given back at least once, and counted
//! either way.
//!
//! **New here? The [guide] goes through all of it in reading order**, from the first subscription to a backend of your own;
//! [`guide::compile_errors`] explains what the compiler may say.
//!
//! # Where things are
//! - To write a service: [`macro@subscription`] and [`macro@responder`] with their settings; what a handler can take
//!   ([`Extract`](subscription::Extract)) and return ([`Verdict`](subscription::Verdict), a responder
//!   [`Answer`](subscription::Answer)); subscriptions made at run time ([`subscription`](mod@subscription)).
//! - To run it: [`bus`]: start, publish, [ask](Bus::request), [status](bus::Status), [health](bus::Health),
//!   [ledger](bus::Ledger), stop.
//! - What is carried, and where to: [`event`], [`subject`](mod@subject), [`codec`]; a payload type that knows where it
//!   goes is a [`Topic`](trait@Topic).
//! - To choose a backend, or to write one: [`contract`], and the backends of this crate in [`backend`].
//!
//! # Features
//! - `memory` (default): the in-memory backend.
//! - `nats`: [core NATS](backend::nats); with `nats-tls` also over TLS.
//! - `jetstream`: [JetStream](backend::jetstream), a log on NATS servers, with `nats`.
//! - `messagepack`, `cbor`, `protobuf`: [codecs](codec) besides JSON.
//! - `conformance`: the suite that proves a backend.
//! - `metrics`: the [ledger](bus::Ledger) through the `metrics` facade.
//! - `opentelemetry`: [traces](trace) that go on from publisher to handler.
//! - `testing`: [a service's wiring under test](testing), in memory and in paused time.
//! - `cloudevents-sdk`: conversion from and to the event of the `cloudevents-sdk` crate.

#![cfg_attr(docsrs, feature(doc_cfg))]
// The documentation speaks of every feature. Built without one, it has no page to link to.
#![cfg_attr(
    not(all(
        feature = "cbor",
        feature = "cloudevents-sdk",
        feature = "conformance",
        feature = "jetstream",
        feature = "memory",
        feature = "messagepack",
        feature = "metrics",
        feature = "opentelemetry",
        feature = "protobuf",
        feature = "testing"
    )),
    allow(rustdoc::broken_intra_doc_links)
)]

#[doc(hidden)]
pub mod __private;
pub mod backend;
pub mod bus;
pub mod codec;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod contract;
pub mod event;
// To be read, not to be compiled into anybody's program.
#[cfg(doc)]
pub mod guide;
pub mod subject;
pub mod subscription;
#[cfg(feature = "testing")]
pub mod testing;
mod text;
pub mod topic;
pub mod trace;

#[cfg(feature = "jetstream")]
#[doc(inline)]
pub use crate::backend::jetstream::JetStream;
#[cfg(feature = "memory")]
#[doc(inline)]
pub use crate::backend::memory::Memory;
#[cfg(feature = "nats")]
#[doc(inline)]
pub use crate::backend::nats::{Nats, NatsOptions};
#[cfg(feature = "cbor")]
#[doc(inline)]
pub use crate::codec::Cbor;
#[cfg(feature = "messagepack")]
#[doc(inline)]
pub use crate::codec::MessagePack;
#[cfg(feature = "protobuf")]
#[doc(inline)]
pub use crate::codec::Protobuf;
#[doc(inline)]
pub use crate::{
    bus::{Bus, Dormant, Handle, Running},
    codec::Json,
    event::Event,
    subject::{DurableName, Group, Name, Pattern, Subject},
    subscription::{
        Ack, AtLeastOnce, AtMostOnce, Attempt, Backoff, Cancelled, Delayed, Delivery, Extension, Fail, FromState,
        Immediate, KeyedBy, Nack, Payload, Publisher, PublisherTo, ReplyValue, Restart, Settled, ShedNewest,
        ShedOldest, State,
    },
};

#[doc(inline)]
pub use crate::topic::Topic;

pub use tramline_macros::{Topic, responder, subscription};

/// The example on the front page compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
