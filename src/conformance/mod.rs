//! The conformance suite: proves, row by row, that a backend has what it declares.
//!
//! A backend in any crate is proved by one line in a test file. It drives the backend at its session, with no bus above
//! it, and gives one test for each row of the contract:
//!
//! ```ignore
//! tramline::conformance! { volatile: PostboxFixture }      // keeps nothing: `impl Fixture`
//! tramline::conformance! { surviving: LedgerFixture }      // survives a restart: `impl DurableFixture`, too
//! ```
//!
//! Which rows apply is read from the traits that the backend implements, so a capability cannot be declared and left out.
//! A row that does not apply says so by name, and so it stands in the [report](Report). A backend that survives a
//! restart does not compile under `volatile`: a capability that the suite cannot exercise is a promise nobody keeps.
//!
//! A row that is red says what was promised, what was seen, with a log, and what usually causes it.
//!
//! An author of a backend writes a [`Fixture`], and a [`DurableFixture`] beside it if the backend survives a restart.
//! [`ROWS`] is the list of what is promised; [`rows`] has the code, which is written with a [`Stage`], its sources
//! ([`Tap`]) and what they hand over ([`Got`]).

mod asking;
mod corpus;
mod fixture;
mod flood;
mod mode;
mod proof;
mod report;
pub mod rows;
mod seen;
mod stage;
mod suite;
mod table;
mod tap;

pub use self::{
    fixture::{Ability, DurableFixture, Field, Fixture, KeepsNothing, Timing, surviving_entry, volatile_entry},
    flood::Flood,
    mode::{DeliversIn, Plan},
    proof::{Failure, Proof, Result, Standing},
    report::Report,
    stage::Stage,
    suite::{Case, Suite},
    table::{ROWS, Row},
    tap::{Got, Tap},
};
#[doc(hidden)]
pub use self::{
    seen::Seen,
    suite::{Run, begin},
};
