//! The rows: one file for each subject, one function for each row, bounded by what it needs.
//!
//! A row is an async function that takes a [`Stage`](super::Stage) and comes to `Ok`, or to what it saw instead. What it
//! promises is the [`Row`](super::Row) of its name in [`ROWS`](super::ROWS), which stands above it in the source.

pub mod at_most_once;
pub mod backend;
pub mod bounds;
pub mod counters;
pub mod delays;
pub mod delivery;
pub mod durable;
pub mod elsewhere;
pub mod exhaustion;
pub mod full;
pub mod giving_back;
pub mod late;
pub mod lease;
pub mod lifecycle;
pub mod limits;
pub mod order;
pub mod patterns;
pub mod requests;
pub mod retire;
pub mod routing;
pub mod settlement;
