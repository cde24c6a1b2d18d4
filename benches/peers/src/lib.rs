//! What does the work that is compared: a file for the work, and one for each way to do it.

mod requests;
mod with_channels;
mod with_ruststream;
mod with_tramline;

pub use self::requests::{Asker, SEVERAL, Way};
