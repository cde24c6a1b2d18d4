//! The delivery modes, as types.

use std::marker::PhantomData;

mod sealed {
    #[diagnostic::on_unimplemented(
        message = "`{Self}` cannot be made a delivery mode",
        label = "not one of those there are",
        note = "the modes are `AtMostOnce` and `AtLeastOnce`: take one of them"
    )]
    pub trait Sealed {}
}

/// A delivery mode: [`AtMostOnce`] or [`AtLeastOnce`], or a responder's [`Answering`]. Sealed.
pub trait Mode: sealed::Sealed + Send + Sync + 'static {}

/// A mode whose deliveries are settled: [`AtMostOnce`] or [`AtLeastOnce`].
#[diagnostic::on_unimplemented(
    message = "a responder has no delivery to settle, and no attempts to count",
    label = "takes a `Delivery` or an `Attempt`",
    note = "take `Payload<T>`, `&Event` and `&Subject` instead: what a responder returns is its reply",
    note = "or write `#[subscription(..)]`, which settles and does not reply"
)]
pub trait Settles: Mode {}

/// One attempt, settled before the handler sees it (contract M1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AtMostOnce;

/// Retried until acknowledged, at most `max_deliver` times (contract M2).
///
/// `R` says whether a declined message can be held back: [`Delayed`] where the subscription has a `backoff` or a
/// `max_nack_delay`, else [`Immediate`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AtLeastOnce<R = Immediate>(PhantomData<R>);

/// A responder's: at most once, competing, and answered instead of settled (contract R9, T14).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answering;

/// A declined message comes back at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Immediate;

/// A declined message can be held back: `nack_after` exists (contract T12).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delayed;

impl sealed::Sealed for AtMostOnce {}
impl<R> sealed::Sealed for AtLeastOnce<R> {}
impl sealed::Sealed for Answering {}
impl Mode for AtMostOnce {}
impl<R: Send + Sync + 'static> Mode for AtLeastOnce<R> {}
impl Mode for Answering {}
impl Settles for AtMostOnce {}
impl<R: Send + Sync + 'static> Settles for AtLeastOnce<R> {}
