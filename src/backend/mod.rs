//! The backends that come with the crate, each behind its feature.
//!
//! # What is proved
//! Each is held to the conformance suite (feature `conformance`). Those with a broker run it on real servers, of two
//! generations: NATS 2.9 is what Debian has, 2.15 is recent. This is what their rows came to; a test fails when that and
//! this table differ. A row that does not apply says why: nothing that is declared is left out.
//!
#![doc = include_str!("conformance.md")]

#[cfg(feature = "jetstream")]
pub mod jetstream;
#[cfg(feature = "memory")]
pub mod memory;
#[cfg(feature = "nats")]
pub mod nats;
