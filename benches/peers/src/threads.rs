//! The two runtimes that everything is measured on.

use tokio::runtime::{Builder, Runtime};

/// How many threads a runtime has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Threads {
    /// The one that waits for it.
    One,
    /// Two workers.
    Two,
}

impl Threads {
    /// Both.
    pub const ALL: [Self; 2] = [Self::One, Self::Two];

    /// As a reader calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::One => "one thread",
            Self::Two => "two workers",
        }
    }

    /// As an argument.
    pub fn key(self) -> &'static str {
        match self {
            Self::One => "one",
            Self::Two => "two",
        }
    }

    /// The other way round.
    pub fn of_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|threads| threads.key() == key)
    }

    /// Does it on such a runtime, in a task, where a service would be.
    ///
    /// # Errors
    /// Where there is no runtime, or it panicked.
    pub fn run<T: Send + 'static>(self, work: impl Future<Output = T> + Send + 'static) -> std::io::Result<T> {
        let runtime = self.runtime()?;
        Ok(runtime.block_on(runtime.spawn(work))?)
    }

    fn runtime(self) -> std::io::Result<Runtime> {
        match self {
            Self::One => Builder::new_current_thread().enable_time().build(),
            Self::Two => Builder::new_multi_thread().worker_threads(2).enable_time().build(),
        }
    }
}
