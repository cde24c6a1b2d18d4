//! A typed message bus: what a backend cannot do does not compile.

#[doc(hidden)]
pub mod __private;
pub mod event;
pub mod subject;
mod text;
