//! The rows: one file for each capability, one function for each row, bounded by what it needs.
//!
//! [`ROWS`](super::ROWS) says what each of them promises. A row is an async function that takes a
//! [`Stage`](super::Stage) and comes to `Ok`, or to what it saw instead.

pub mod at_most_once;
pub mod backend;
pub mod bounds;
pub mod counters;
pub mod delivery;
pub mod durable;
pub mod full;
pub mod lifecycle;
pub mod limits;
pub mod order;
pub mod patterns;
pub mod requests;
pub mod retire;
pub mod routing;
pub mod settlement;
