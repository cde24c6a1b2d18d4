//! A typed message bus: what a backend cannot do does not compile.

pub mod event;
pub mod subject;
mod text;
