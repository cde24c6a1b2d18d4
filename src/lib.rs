//! A typed message bus: what a backend cannot do does not compile.

#[doc(hidden)]
pub mod __private;
pub mod backend;
pub mod bus;
pub mod codec;
pub mod contract;
pub mod event;
pub mod subject;
pub mod subscription;
mod text;

#[cfg(feature = "memory")]
pub use crate::backend::memory::Memory;
pub use crate::{
    bus::{Bus, Dormant, Handle, Running},
    codec::Json,
    event::Event,
    subject::{DurableName, Group, Name, Pattern, Subject},
    subscription::{
        Ack, AtLeastOnce, AtMostOnce, Attempt, Backoff, Cancelled, Delayed, Delivery, Extension, Fail, FromState,
        Immediate, Nack, Payload, Publisher, Restart, Settled, ShedNewest, ShedOldest, State,
    },
};

pub use tramline_macros::subscription;
