//! The table of what a backend can do, as a value that cannot disagree with the traits.

use std::{fmt, time::Duration};

use super::{Lease, QueuePlace};

/// What a backend can do, derived from the traits that its type implements.
///
/// For logs, health pages, documents, and for `overflow = prefer(..)`, which compiles on every backend and is decided
/// here (contract C31). [`Display`](fmt::Display) prints the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities(Facts);

/// The facts as the macro finds them.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "not public: filled by `capabilities!`, read through `Capabilities`")]
pub struct Facts {
    pub backend: &'static str,
    pub persistent: bool,
    pub at_most_once: Option<QueuePlace>,
    pub at_least_once: Option<(Lease, QueuePlace, bool)>,
    pub sheds_newest: bool,
    pub sheds_oldest: bool,
    pub fails_when_full: bool,
    pub matches_patterns: bool,
    pub survives_restart: Option<(bool, bool, bool)>,
    pub keeps_for_handler: bool,
    pub orders: bool,
    pub replays: bool,
    pub delays_redelivery: Option<Option<Duration>>,
    pub routes_around_degraded: bool,
    pub answers_requests: bool,
}

/// Only for [`capabilities!`](crate::capabilities). Not a function of the type: rustc would advise it to who makes a table
/// by hand.
#[doc(hidden)]
pub const fn derived(facts: Facts) -> Capabilities {
    Capabilities(facts)
}

impl Capabilities {
    /// The backend's name, as its type is written.
    pub const fn backend(&self) -> &'static str {
        self.0.backend
    }

    /// Whether unacknowledged messages outlive a restart.
    pub const fn persistent(&self) -> bool {
        self.0.persistent
    }

    /// [`DeliversAtMostOnce`](super::DeliversAtMostOnce).
    pub const fn at_most_once(&self) -> bool {
        self.0.at_most_once.is_some()
    }

    /// [`DeliversAtLeastOnce`](super::DeliversAtLeastOnce).
    pub const fn at_least_once(&self) -> bool {
        self.0.at_least_once.is_some()
    }

    /// Whether a queue of its subscriptions lives elsewhere than in the backend.
    pub(crate) const fn queues_elsewhere(&self) -> bool {
        matches!(self.0.at_most_once, Some(QueuePlace::Elsewhere))
            || matches!(self.0.at_least_once, Some((_, QueuePlace::Elsewhere, _)))
    }

    /// [`ShedsNewest`](super::ShedsNewest).
    pub const fn sheds_newest(&self) -> bool {
        self.0.sheds_newest
    }

    /// [`ShedsOldest`](super::ShedsOldest).
    pub const fn sheds_oldest(&self) -> bool {
        self.0.sheds_oldest
    }

    /// [`FailsWhenFull`](super::FailsWhenFull).
    pub const fn fails_when_full(&self) -> bool {
        self.0.fails_when_full
    }

    /// [`MatchesPatterns`](super::MatchesPatterns).
    pub const fn matches_patterns(&self) -> bool {
        self.0.matches_patterns
    }

    /// [`SurvivesRestart`](super::SurvivesRestart).
    pub const fn survives_restart(&self) -> bool {
        self.0.survives_restart.is_some()
    }

    /// [`KeepsForHandler`](super::KeepsForHandler).
    pub const fn keeps_for_handler(&self) -> bool {
        self.0.keeps_for_handler
    }

    /// [`Orders`](super::Orders).
    pub const fn orders(&self) -> bool {
        self.0.orders
    }

    /// [`Replays`](super::Replays).
    pub const fn replays(&self) -> bool {
        self.0.replays
    }

    /// [`DelaysRedelivery`](super::DelaysRedelivery).
    pub const fn delays_redelivery(&self) -> bool {
        self.0.delays_redelivery.is_some()
    }

    /// The longest delay that the backend holds; none where it has no limit, or does not delay at all.
    pub const fn longest_delay(&self) -> Option<Duration> {
        match self.0.delays_redelivery {
            Some(longest) => longest,
            None => None,
        }
    }

    /// [`RoutesAroundDegraded`](super::RoutesAroundDegraded).
    pub const fn routes_around_degraded(&self) -> bool {
        self.0.routes_around_degraded
    }

    /// [`AnswersRequests`](super::AnswersRequests).
    pub const fn answers_requests(&self) -> bool {
        self.0.answers_requests
    }

    /// The table's rows: the capability in words, and whether the backend has it, with what qualifies it.
    pub fn rows(&self) -> impl Iterator<Item = (&'static str, bool, String)> + use<> {
        let facts = &self.0;
        let plain = |has: bool| (has, String::new());
        let row = |name, (has, detail)| (name, has, detail);
        [
            row("delivers at most once", plain(self.at_most_once())),
            row(
                "delivers at least once",
                match facts.at_least_once {
                    None => plain(false),
                    Some((lease, queue, returns)) => {
                        let lease = match lease {
                            Lease::None => "no lease",
                            Lease::Fixed => "fixed lease",
                            Lease::Extendable => "lease, extended",
                        };
                        let queue = match queue {
                            QueuePlace::Own => "own queue",
                            QueuePlace::Elsewhere => "queue at the broker",
                        };
                        let returns = if returns { "gives an attempt back" } else { "a return spends an attempt" };
                        (true, format!("{lease}; {queue}; {returns}"))
                    }
                },
            ),
            row("sheds newest", plain(facts.sheds_newest)),
            row("sheds oldest", plain(facts.sheds_oldest)),
            row("fails when full", plain(facts.fails_when_full)),
            row("matches patterns", plain(facts.matches_patterns)),
            row(
                "survives restart",
                match facts.survives_restart {
                    None => plain(false),
                    Some((loses, spends, forgets)) => {
                        let said = [
                            (loses, "loses the last failure"),
                            (spends, "can spend an unseen attempt"),
                            (forgets, "forgets a delay"),
                        ];
                        let said: Vec<_> = said.iter().filter(|(holds, _)| *holds).map(|(_, words)| *words).collect();
                        (true, said.join("; "))
                    }
                },
            ),
            row("keeps for the handler", plain(facts.keeps_for_handler)),
            row("orders", plain(facts.orders)),
            row("replays", plain(facts.replays)),
            row(
                "delays redelivery",
                match facts.delays_redelivery {
                    None => plain(false),
                    Some(None) => (true, "no limit".into()),
                    Some(Some(longest)) => (true, format!("up to {longest:?}")),
                },
            ),
            row("routes around a degraded member", plain(facts.routes_around_degraded)),
            row("answers requests", plain(facts.answers_requests)),
            row("storage", (facts.persistent, if facts.persistent { "persistent" } else { "volatile" }.into())),
        ]
        .into_iter()
    }
}

impl fmt::Display for Capabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<33}{}", "capability", self.0.backend)?;
        for (name, has, detail) in self.rows() {
            let has = if name == "storage" {
                ""
            } else if has {
                "yes"
            } else {
                "no"
            };
            let gap = if has.is_empty() || detail.is_empty() { "" } else { ": " };
            writeln!(f, "{name:<33}{has}{gap}{detail}")?;
        }
        Ok(())
    }
}

/// Derives a backend's [`Capabilities`](crate::contract::Capabilities) from the traits that its type implements.
///
/// ```
/// # use tramline::contract::{Backend, CloseError, OpenError, PublishError, Session, Volatile};
/// # use tramline::{Event, Subject};
/// # struct Nowhere;
/// # struct NoSession;
/// # impl Session for NoSession {
/// #     async fn publish(&self, _: &Subject, _: Event) -> Result<(), PublishError> { Ok(()) }
/// #     async fn close(&self) -> Result<(), CloseError> { Ok(()) }
/// # }
/// impl Backend for Nowhere {
///     type Session = NoSession;
///     type Storage = Volatile;
///     const CAPABILITIES: tramline::contract::Capabilities = tramline::capabilities!(Nowhere);
///     async fn open(&self) -> Result<NoSession, OpenError> { Ok(NoSession) }
/// }
/// assert!(!Nowhere::CAPABILITIES.at_least_once());
/// ```
///
/// The argument is a type without generic parameters: which traits a type implements is looked up where the macro
/// stands, and there a parameter implements only what its bounds say.
#[macro_export]
macro_rules! capabilities {
    ($backend:ty) => {
        $crate::__private::derived($crate::__private::Facts {
            backend: ::core::stringify!($backend),
            persistent: <<$backend as $crate::contract::Backend>::Storage as $crate::contract::Storage>::PERSISTENT,
            at_most_once: $crate::capabilities!(@fact $backend, DeliversAtMostOnce,
                ::core::option::Option<$crate::contract::QueuePlace> = None,
                Some(<T as $crate::contract::DeliversAtMostOnce>::QUEUE)),
            at_least_once: $crate::capabilities!(@fact $backend, DeliversAtLeastOnce,
                ::core::option::Option<($crate::contract::Lease, $crate::contract::QueuePlace, bool)> = None,
                Some((T::LEASE, <T as $crate::contract::DeliversAtLeastOnce>::QUEUE, T::RETURNS_ATTEMPT))),
            sheds_newest: $crate::capabilities!(@has $backend, ShedsNewest),
            sheds_oldest: $crate::capabilities!(@has $backend, ShedsOldest),
            fails_when_full: $crate::capabilities!(@has $backend, FailsWhenFull),
            matches_patterns: $crate::capabilities!(@has $backend, MatchesPatterns),
            survives_restart: $crate::capabilities!(@fact $backend, SurvivesRestart,
                ::core::option::Option<(bool, bool, bool)> = None,
                Some((T::LOSES_LAST_FAILURE, T::CAN_SPEND_UNSEEN_ATTEMPT, T::FORGETS_DELAY))),
            keeps_for_handler: $crate::capabilities!(@has $backend, KeepsForHandler),
            orders: $crate::capabilities!(@has $backend, Orders),
            replays: $crate::capabilities!(@has $backend, Replays),
            delays_redelivery: $crate::capabilities!(@fact $backend, DelaysRedelivery,
                ::core::option::Option<::core::option::Option<::core::time::Duration>> = None,
                Some(T::LONGEST_DELAY)),
            routes_around_degraded: $crate::capabilities!(@has $backend, RoutesAroundDegraded),
            answers_requests: $crate::capabilities!(@has $backend, AnswersRequests),
        })
    };
    (@has $backend:ty, $capability:ident) => {
        $crate::capabilities!(@fact $backend, $capability, bool = false, true)
    };
    // An inherent constant goes before a trait's of the same name, and exists only where its bound holds.
    (@fact $backend:ty, $capability:ident, $fact:ty = $absent:expr, $present:expr) => {{
        #[allow(dead_code)]
        trait Absent {
            const FACT: $fact = $absent;
        }
        struct Of<T>(::core::marker::PhantomData<T>);
        impl<T> Absent for Of<T> {}
        #[allow(dead_code)]
        impl<T: $crate::contract::$capability> Of<T> {
            const FACT: $fact = $present;
        }
        Of::<$backend>::FACT
    }};
}
