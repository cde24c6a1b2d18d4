//! A typed message bus: what a backend cannot do does not compile.

#[doc(hidden)]
pub mod __private;
pub mod codec;
pub mod contract;
pub mod event;
pub mod subject;
pub mod subscription;
mod text;

pub use crate::{
    codec::Json,
    event::Event,
    subject::{DurableName, Group, Name, Pattern, Subject},
    subscription::{
        Ack, AtLeastOnce, AtMostOnce, Attempt, Backoff, Cancelled, Delayed, Delivery, Extension, Fail, FromState,
        Immediate, Nack, Payload, Publisher, Restart, Settled, ShedNewest, ShedOldest, State,
    },
};
