//! How what hangs on another is asked for only where that is there, so that one mistake is one error.

/// `B` itself, named by way of the source that it delivers in one mode.
///
/// Most capabilities are worth asking for only where the mode is there. `<B::Source as InMode<B>>::Backend: Replays` is
/// `B: Replays`, but rustc cannot name it while `B` has no source: so it reports the missing mode, once, and none of what
/// follows from it. A bound `B: Replays` would be an error of its own, and hide the missing mode.
pub trait InMode<B: ?Sized> {
    /// `B`.
    type Backend: ?Sized;
}

impl<S: ?Sized, B: ?Sized> InMode<B> for S {
    type Backend = B;
}

/// `T` itself, where `S` is a type that only a fitting `T` names: what is asked of it is asked only then, so that one
/// mistake is one error.
pub type Given<S, T> = <S as InMode<T>>::Backend;
