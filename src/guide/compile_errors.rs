//! Every compile error, a page for each theme.
//!

#![doc = include_str!("compile_errors.md")]

#[doc = include_str!("compile_errors/settings.md")]
pub mod settings {}

#[doc = include_str!("compile_errors/handler.md")]
pub mod handler {}

#[doc = include_str!("compile_errors/capability.md")]
pub mod capability {}

#[doc = include_str!("compile_errors/names.md")]
pub mod names {}

#[doc = include_str!("compile_errors/lifecycle.md")]
pub mod lifecycle {}

#[doc = include_str!("compile_errors/topic.md")]
pub mod topic {}

#[doc = include_str!("compile_errors/feature.md")]
pub mod feature {}

#[doc = include_str!("compile_errors/sealed.md")]
pub mod sealed {}

#[doc = include_str!("compile_errors/cascade.md")]
pub mod cascade {}
