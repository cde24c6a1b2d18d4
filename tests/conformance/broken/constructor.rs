//! Backends whose constructor does more than it may, beside one that does not.

use std::{
    marker::PhantomData,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

use tramline::{
    Memory,
    backend::memory::MemorySession,
    capabilities,
    conformance::Fixture,
    contract::{Backend, Capabilities, OpenError, Volatile},
};

use crate::both_ways::{Mutant, other};

const ROW: &[&str] = &["backend::constructor_acquires_nothing"];

pub(crate) fn mutants() -> Vec<Mutant> {
    vec![
        other("connects when it is opened", lazy::suite),
        other("connects in its constructor", hasty::suite).breaks(ROW),
        other("leaves connecting to a task of its constructor", spawning::suite).breaks(ROW),
        other("shows the table of another backend", boastful::suite).breaks(ROW),
    ]
}

/// A broker that counts who is connected, and does nothing else.
#[derive(Clone, Default)]
struct Switchboard(Arc<AtomicUsize>);

impl Switchboard {
    fn connect(&self) -> Line {
        self.0.fetch_add(1, SeqCst);
        Line(self.clone())
    }
}

struct Line(Switchboard);

impl Drop for Line {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, SeqCst);
    }
}

/// A backend that only connects.
struct Caller {
    _line: Option<Line>,
}

impl Backend for Caller {
    type Session = MemorySession;
    type Storage = Volatile;

    const CAPABILITIES: Capabilities = capabilities!(Caller);

    async fn open(&self) -> Result<MemorySession, OpenError> {
        Memory::new().open().await
    }
}

trait Constructor: Send + Sync + 'static {
    fn build(board: &Switchboard) -> Caller;
}

struct Calls<C>(Switchboard, PhantomData<C>);

impl<C: Constructor> Fixture for Calls<C> {
    type Backend = Caller;

    async fn open(_namespace: &str) -> Self {
        Self(Switchboard::default(), PhantomData)
    }

    fn backend(&self) -> Caller {
        C::build(&self.0)
    }

    async fn connections(&self) -> Option<usize> {
        Some(self.0.0.load(SeqCst))
    }
}

macro_rules! caller {
    ($name:ident, $board:ident => $build:expr) => {
        mod $name {
            use super::*;

            struct Built;

            impl Constructor for Built {
                fn build($board: &Switchboard) -> Caller {
                    $build
                }
            }

            tramline::__conformance_rows! { __conformance_suite (Calls<Built>) volatile }
        }
    };
}

caller!(lazy, _board => Caller { _line: None });
caller!(hasty, board => Caller { _line: Some(board.connect()) });
caller!(spawning, board => {
    let board = board.clone();
    tokio::spawn(async move { drop(board.connect()) });
    Caller { _line: None }
});

mod boastful {
    use super::*;

    /// Implements nothing that its table says.
    struct Boastful;

    impl Backend for Boastful {
        type Session = MemorySession;
        type Storage = Volatile;

        const CAPABILITIES: Capabilities = Memory::CAPABILITIES;

        async fn open(&self) -> Result<MemorySession, OpenError> {
            Memory::new().open().await
        }
    }

    struct BoastfulFixture;

    impl Fixture for BoastfulFixture {
        type Backend = Boastful;

        async fn open(_namespace: &str) -> Self {
            Self
        }

        fn backend(&self) -> Boastful {
            Boastful
        }
    }

    tramline::__conformance_rows! { __conformance_suite (BoastfulFixture) volatile }
}
