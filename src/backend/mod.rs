//! The backends that come with the crate, each behind its feature.

#[cfg(feature = "memory")]
pub mod memory;
#[cfg(feature = "nats")]
pub mod nats;
