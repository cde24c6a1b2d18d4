//! Chapters to read, in the order in which one meets what they are about.
//!
//! To write a service:
//! 1. [Subscriptions](subscriptions): a function, its settings, what it takes and what it returns.
//! 2. [Delivery modes](delivery_modes): at most once and at least once, and what they cost.
//! 3. [Settlement](settlement): what a handler says about a message, declines, delays and attempts.
//! 4. [Stopping and failing](stopping_and_failing): what happens at a stop, a panic, a full queue, a lost link.
//! 5. [The ledger](the_ledger): where a message can go, and the counter for each of these ways.
//! 6. [Durable identities](durable_identities): names that outlive a process, and how to deploy with them.
//! 7. [Order](order): one at a time, many side by side, and one key in order.
//! 8. [Request and reply](request_and_reply): asking with a deadline, and answering once.
//! 9. [Topics and codecs](topics_and_codecs): payload types that know where they go, and how they become bytes.
//! 10. [Seeing it run](seeing_it_run): what a bus tells `tracing`, the ledger as metrics, and traces.
//! 11. [Choosing a backend](choosing_a_backend): what each can do, and what the compiler says when it is swapped.
//! 12. [Testing a service](testing_a_service): a handler alone, the wiring without a broker, and what only a broker shows.
//!
//! When the compiler refuses something:
//! - [Compile errors](compile_errors): the five that come first, and every other one with its cause and its fix.
//!
//! To connect a broker of your own:
//! - [Writing a backend](writing_a_backend): what to implement, in which order, and the rows that prove it.
//!
//! Letters with a number, such as B8 or Y7, are the names of rules. The same ones stand in the documentation of the items,
//! in error messages and in the names of the tests that hold them.

#[doc = include_str!("subscriptions.md")]
pub mod subscriptions {}

#[doc = include_str!("delivery_modes.md")]
pub mod delivery_modes {}

#[doc = include_str!("settlement.md")]
pub mod settlement {}

#[doc = include_str!("stopping_and_failing.md")]
pub mod stopping_and_failing {}

#[doc = include_str!("the_ledger.md")]
pub mod the_ledger {}

#[doc = include_str!("durable_identities.md")]
pub mod durable_identities {}

#[doc = include_str!("order.md")]
pub mod order {}

#[doc = include_str!("request_and_reply.md")]
pub mod request_and_reply {}

#[doc = include_str!("topics_and_codecs.md")]
pub mod topics_and_codecs {}

#[doc = include_str!("seeing_it_run.md")]
pub mod seeing_it_run {}

#[doc = include_str!("choosing_a_backend.md")]
pub mod choosing_a_backend {}

#[doc = include_str!("testing_a_service.md")]
pub mod testing_a_service {}

// What does not compile there is compiled by `tests/ui.rs`.
#[cfg(not(doctest))]
pub mod compile_errors;

#[doc = include_str!("writing_a_backend.md")]
pub mod writing_a_backend {}
