//! What a subscription does at its bound, as types that a backend must offer.

use crate::contract::{Backend, FailsWhenFull, Overflow, ShedsNewest, ShedsOldest};

mod sealed {
    #[diagnostic::on_unimplemented(
        message = "`{Self}` cannot be made a policy at the bound",
        label = "not one of those there are",
        note = "the policies are `ShedNewest`, `ShedOldest` and `Fail`: take one of them"
    )]
    pub trait Sealed {}
}

/// At the bound, the newcomer is refused (contract B2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShedNewest;

/// At the bound, the head is evicted and the newcomer enters (contract B2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShedOldest;

/// At the bound, the publisher gets `QueueFull` with the subscription's name (contract B2, B8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fail;

/// A policy at the bound: [`ShedNewest`], [`ShedOldest`] or [`Fail`]. Sealed.
pub trait OverflowPolicy: sealed::Sealed + Send + Sync + 'static {
    /// The same as a value.
    const OVERFLOW: Overflow;
}

/// A policy that backend `B` offers (contract C30).
#[diagnostic::on_unimplemented(
    message = "backend `{B}` does not offer `{Self}` at the bound",
    label = "asks for a policy at the bound",
    note = "write `ShedNewest`, `ShedOldest` or `Fail`, or `.prefer(..)` to take the backend's own behaviour where it has to be"
)]
pub trait OfferedBy<B: Backend>: OverflowPolicy {}

/// A policy that loses nothing, as at least once needs (contract C13).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be had at least once: a shed message was never acknowledged, so it is still owed",
    label = "asks to shed a message that is still owed",
    note = "write `Fail`, which tells the publisher, leave the policy out, or take the mode `AtMostOnce`"
)]
pub trait ShedsNothing: OverflowPolicy {}

macro_rules! policy {
    ($($policy:ident needs $capability:ident),*) => {$(
        impl sealed::Sealed for $policy {}

        impl OverflowPolicy for $policy {
            const OVERFLOW: Overflow = Overflow::$policy;
        }

        impl<B: $capability> OfferedBy<B> for $policy {}
    )*};
}

policy!(ShedNewest needs ShedsNewest, ShedOldest needs ShedsOldest, Fail needs FailsWhenFull);

impl ShedsNothing for Fail {}
