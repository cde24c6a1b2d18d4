//! The backends that come with the crate, each behind its feature.

#[cfg(feature = "memory")]
pub mod memory;
