//! The backends that come with the crate, each behind its feature.

#[cfg(feature = "jetstream")]
pub mod jetstream;
#[cfg(feature = "memory")]
pub mod memory;
#[cfg(feature = "nats")]
pub mod nats;
