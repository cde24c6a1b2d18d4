//! What only this crate implements, so that it can grow.

/// Implemented by this crate's own types alone.
pub trait Sealed {}
