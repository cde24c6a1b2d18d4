//! Chapters to read, in the order in which one meets what they are about.

#[doc = include_str!("writing_a_backend.md")]
pub mod writing_a_backend {}
