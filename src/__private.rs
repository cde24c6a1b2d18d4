//! Every path that the macros may name: re-exports only.

pub use crate::contract::Facts;
