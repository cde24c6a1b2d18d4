//! What does the work that is compared: a file for the work, and one for each way to do it.

pub mod budgets;
pub mod contestant;
pub mod flood;
pub mod job;
pub mod latency;
pub mod loads;
pub mod memory;
pub mod report;
pub mod requests;
pub mod rounds;
pub mod rows;
pub mod services;
pub mod spread;
pub mod threads;
pub mod work;
