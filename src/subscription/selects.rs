//! Whether a subscription can ever select the topic of its payload, found by the compiler (contract C33).
//!
//! `Carries::<A>::TOPIC` names the type's own constant where `A` is a payload whose type is a topic, and else that of
//! [`NoTopic`], which is in sight where the macro asks.

use std::marker::PhantomData;

use super::Payload;
use crate::{subject::Pattern, topic::Topic};

/// An argument of a handler.
#[allow(missing_debug_implementations, reason = "a name for the compiler; there is no value of it")]
pub struct Carries<A>(PhantomData<A>);

impl<T: Topic> Carries<Payload<T>> {
    /// What the topic's values are published on.
    pub const TOPIC: Option<&'static Pattern> = Some(&T::PATTERN);
}

/// For each argument that carries no topic.
pub trait NoTopic {
    /// None.
    const TOPIC: Option<&'static Pattern> = None;
}

impl<A> NoTopic for Carries<A> {}
