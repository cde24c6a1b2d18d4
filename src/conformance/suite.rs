//! Which rows run on a backend, and running them.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Instant,
};

use tokio::runtime::Builder;

use super::{Failure, Fixture, Proof, Report, Result, Row, Stage, Standing, seen::Seen};
use crate::contract::Capabilities;

/// A row on its way.
type Running = Pin<Box<dyn Future<Output = Result> + Send>>;

/// Begins a row in a namespace, with the log that it writes and the table that the backend's traits make.
#[doc(hidden)]
pub type Run = fn(String, Seen, Capabilities) -> Running;

/// One test: a row on one backend, in one mode where it holds in both.
#[derive(Clone, Copy)]
pub struct Case {
    name: &'static str,
    row: &'static Row,
    /// The capabilities without which it does not apply.
    needs: &'static [&'static str],
    run: Option<Run>,
}

impl Case {
    #[doc(hidden)]
    pub fn new(name: &'static str, row: &str, needs: &'static [&'static str], run: Option<Run>) -> Self {
        Self { name, row: Row::named(row), needs, run }
    }

    /// Its name: the mode or the capability, and the row's name.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The row.
    pub const fn row(&self) -> &'static Row {
        self.row
    }

    /// The capabilities without which it does not apply, by the names of their traits.
    pub const fn needs(&self) -> &'static [&'static str] {
        self.needs
    }

    /// Whether the backend declares what it needs.
    pub const fn applies(&self) -> bool {
        self.run.is_some()
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Case").field("name", &self.name).field("applies", &self.applies()).finish_non_exhaustive()
    }
}

/// Every row, as far as it applies to one backend. [`conformance!`](crate::conformance!) makes it.
#[derive(Debug, Clone)]
pub struct Suite {
    /// What the backend says that it can do.
    declared: Capabilities,
    /// What its traits say.
    derived: Capabilities,
    proved: fn(&Proof),
    cases: Vec<Case>,
}

impl Suite {
    #[doc(hidden)]
    pub const fn new(declared: Capabilities, derived: Capabilities, proved: fn(&Proof), cases: Vec<Case>) -> Self {
        Self { declared, derived, proved, cases }
    }

    /// The tests.
    pub fn cases(&self) -> &[Case] {
        &self.cases
    }

    /// Runs one test, on a runtime of its own, and tells the [fixture](Fixture::proved).
    ///
    /// # Panics
    /// The row is red, with all that is known about it; or there is no test of this name; or the fixture panics.
    pub fn prove(&self, name: &str) {
        let case = self.cases.iter().find(|case| case.name == name);
        let case = case.unwrap_or_else(|| panic!("`{name}` is no test of the suite"));
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime starts");
        let proof = runtime.block_on(self.run(*case));
        runtime.shutdown_background();
        assert!(!proof.is_red(), "\n{proof}");
        print!("{proof}");
        (self.proved)(&proof);
    }

    /// Runs one test on the current runtime.
    pub async fn run(&self, case: Case) -> Proof {
        let Case { name, row, needs, run } = case;
        let began = Instant::now();
        let standing = match run {
            None => Standing::NotApplicable(format!("it does not declare {}", self.missing(needs).join(", "))),
            Some(run) => {
                // A task of its own, so that a backend that panics is a red row.
                let seen = Seen::new();
                let ended = tokio::spawn(run(namespace(row), seen.clone(), self.derived)).await;
                match ended.unwrap_or_else(|panicked| Err(Failure::seen(panicked.to_string()))) {
                    Ok(()) => Standing::Green,
                    Err(Failure::NotApplicable(why)) => Standing::NotApplicable(why),
                    Err(Failure::Seen(what)) => Standing::Red { seen: what, log: seen.to_string() },
                }
            }
        };
        Proof { row, case: name, backend: self.declared.backend(), standing, took: began.elapsed() }
    }

    /// Runs every test on the current runtime, one after the other.
    pub async fn report(&self) -> Report {
        let mut proofs = Vec::with_capacity(self.cases.len());
        for case in &self.cases {
            proofs.push(self.run(*case).await);
        }
        Report::new(self.declared.backend(), proofs)
    }

    fn missing(&self, needs: &[&'static str]) -> Vec<String> {
        let missing = needs.iter().filter(|need| !self.declares(need));
        missing.map(|need| format!("`{need}`")).collect()
    }

    /// Whether the backend implements the trait of this name.
    fn declares(&self, capability: &str) -> bool {
        let table = &self.derived;
        match capability {
            "DeliversAtMostOnce" => table.at_most_once(),
            "DeliversAtLeastOnce" => table.at_least_once(),
            "ShedsNewest" => table.sheds_newest(),
            "ShedsOldest" => table.sheds_oldest(),
            "FailsWhenFull" => table.fails_when_full(),
            "MatchesPatterns" => table.matches_patterns(),
            "SurvivesRestart" => table.survives_restart(),
            "KeepsForHandler" => table.keeps_for_handler(),
            "Orders" => table.orders(),
            "Replays" => table.replays(),
            "DelaysRedelivery" => table.delays_redelivery(),
            "RoutesAroundDegraded" => table.routes_around_degraded(),
            "AnswersRequests" => table.answers_requests(),
            _ => false,
        }
    }
}

/// Begins a row on a fresh stage.
#[doc(hidden)]
pub fn begin<F: Fixture, R: Future<Output = Result> + Send + 'static>(
    namespace: String,
    seen: Seen,
    derived: Capabilities,
    row: fn(Stage<F>) -> R,
) -> Running {
    Box::pin(async move { row(Stage::open(namespace, seen, derived).await?).await })
}

/// One token that no other row has, on this server or in another process.
fn namespace(row: &Row) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let number = row.number.to_lowercase();
    format!("r{number}x{:x}x{:x}x{:x}", std::process::id(), now.as_micros(), NEXT.fetch_add(1, Relaxed))
}

/// Proves a backend: expands to one test for each row.
///
/// `volatile: F` is for a backend that keeps nothing, with `F` a [`Fixture`](crate::conformance::Fixture);
/// `surviving: F` for one that survives a restart, with `F` a
/// [`DurableFixture`](crate::conformance::DurableFixture). One call in a module; beside the tests it defines
/// `fn suite()`, which gives the [`Suite`](crate::conformance::Suite) to run otherwise. A test is called
/// `rows::<mode or capability>::<row>`, such as `rows::at_least_once::nack_redelivers`; one whose row does not apply passes,
/// and says why when its output is shown.
///
/// `F` is a type without generic parameters: which traits its backend implements is looked up where the macro stands.
#[macro_export]
macro_rules! conformance {
    (volatile: $fixture:ty) => {
        const _: () = $crate::conformance::volatile_entry::<$fixture>();

        $crate::__conformance_rows! { __conformance_suite ($fixture) volatile }

        #[cfg(test)]
        $crate::__conformance_rows! { __conformance_tests (suite) volatile }
    };
    (surviving: $fixture:ty) => {
        const _: () = $crate::conformance::surviving_entry::<$fixture>();

        $crate::__conformance_rows! { __conformance_suite ($fixture) surviving }

        #[cfg(test)]
        $crate::__conformance_rows! { __conformance_tests (suite) surviving }
    };
}

/// The suite alone.
#[doc(hidden)]
#[macro_export]
macro_rules! __conformance_suite {
    (($fixture:ty) $($group:ident: $kind:ident {
        $($name:ident [$($need:ident)*] $module:ident $(<$mode:ident>)?;)*
    })*) => {
        /// The rows, as far as they apply to this backend.
        pub fn suite() -> $crate::conformance::Suite {
            type B = <$fixture as $crate::conformance::Fixture>::Backend;
            $crate::conformance::Suite::new(
                <B as $crate::contract::Backend>::CAPABILITIES,
                $crate::capabilities!(B),
                <$fixture as $crate::conformance::Fixture>::proved,
                ::std::vec![$($($crate::conformance::Case::new(
                    ::core::concat!(::core::stringify!($group), "::", ::core::stringify!($name)),
                    ::core::stringify!($name),
                    &[$(::core::stringify!($need)),*],
                    {
                        // An inherent constant goes before a trait's of the same name, and exists only where its bounds
                        // hold.
                        #[allow(dead_code)]
                        trait Absent {
                            const RUN: ::core::option::Option<$crate::conformance::Run> = ::core::option::Option::None;
                        }
                        struct Of<T>(::core::marker::PhantomData<T>);
                        impl<T> Absent for Of<T> {}
                        #[allow(dead_code)]
                        impl<T: $crate::conformance::$kind> Of<T>
                        where
                            $(T::Backend: $crate::contract::$need,)*
                        {
                            const RUN: ::core::option::Option<$crate::conformance::Run> =
                                ::core::option::Option::Some(|namespace, seen, derived| $crate::conformance::begin::<T, _>(
                                    namespace,
                                    seen,
                                    derived,
                                    $crate::conformance::rows::$module::$name::<T $(, $crate::$mode)?>,
                                ));
                        }
                        <Of<$fixture>>::RUN
                    },
                ),)*)*],
            )
        }
    };
}

/// The tests alone.
#[doc(hidden)]
#[macro_export]
macro_rules! __conformance_tests {
    (($suite:ident) $($group:ident: $kind:ident {
        $($name:ident [$($need:ident)*] $module:ident $(<$mode:ident>)?;)*
    })*) => {
        mod rows {
            $(mod $group {$(
                #[test]
                fn $name() {
                    let name = ::core::concat!(::core::stringify!($group), "::", ::core::stringify!($name));
                    super::super::$suite().prove(name);
                }
            )*})*
        }
    };
}

/// Every row that is run: its test's group, its name, what it needs, and where it is.
#[doc(hidden)]
#[macro_export]
macro_rules! __conformance_rows {
    ($then:ident ($($args:tt)*) volatile) => { $crate::__conformance_rows! { @rows $then ($($args)*) } };
    ($then:ident ($($args:tt)*) surviving) => {
        $crate::__conformance_rows! { @rows $then ($($args)*)
            durable: DurableFixture {
                backlog_survives [SurvivesRestart] durable;
                restart_attempt [SurvivesRestart] durable;
                identity_resumes [SurvivesRestart] durable;
                reopen_refused [SurvivesRestart] durable;
                start_at_new [SurvivesRestart] durable;
                start_at_all [SurvivesRestart Replays] durable;
                exhaustion_across_restart [SurvivesRestart] durable;
                in_hand_survives [SurvivesRestart] durable;
                restart_is_real [SurvivesRestart] durable;
                crash [SurvivesRestart] durable;
                delay_across_restart [SurvivesRestart DelaysRedelivery] durable;
                two_names_two_copies [SurvivesRestart] durable;
            }
        }
    };
    (@rows $then:ident ($($args:tt)*) $($more:tt)*) => {
        $crate::$then! { ($($args)*)
            backend: Fixture {
                constructor_acquires_nothing [] backend;
            }
            at_most_once: Fixture {
                fanout_every_subscriber [DeliversAtMostOnce] delivery<AtMostOnce>;
                competing_exactly_one [DeliversAtMostOnce] delivery<AtMostOnce>;
                event_round_trip [DeliversAtMostOnce] delivery<AtMostOnce>;
                concrete_subject [DeliversAtMostOnce MatchesPatterns] patterns<AtMostOnce>;
                pattern_truth_table [DeliversAtMostOnce MatchesPatterns] patterns<AtMostOnce>;
                exact_subject_only [DeliversAtMostOnce] delivery<AtMostOnce>;
                bound_sheds_newest [ShedsNewest] bounds;
                bound_sheds_oldest [ShedsOldest] bounds;
                bound_fail [DeliversAtMostOnce FailsWhenFull] full<AtMostOnce>;
                bound_backpressure [DeliversAtMostOnce] bounds<AtMostOnce>;
                snapshot_advisory [DeliversAtMostOnce] counters<AtMostOnce>;
                retire_final [DeliversAtMostOnce] retire<AtMostOnce>;
                retire_beside_publish [DeliversAtMostOnce] retire<AtMostOnce>;
                retire_leaves_the_group [DeliversAtMostOnce] retire<AtMostOnce>;
                close_releases [DeliversAtMostOnce] lifecycle<AtMostOnce>;
                sessions_in_sequence [DeliversAtMostOnce] lifecycle<AtMostOnce>;
                publish_beside_close [DeliversAtMostOnce] lifecycle<AtMostOnce>;
                ordering [DeliversAtMostOnce Orders] order<AtMostOnce>;
                routes_around [DeliversAtMostOnce RoutesAroundDegraded] routing<AtMostOnce>;
                one_attempt [DeliversAtMostOnce] at_most_once;
                payload_limit [DeliversAtMostOnce] limits<AtMostOnce>;
                malformed_is_counted [DeliversAtMostOnce] elsewhere<AtMostOnce>;
            }
            at_least_once: Fixture {
                fanout_every_subscriber [DeliversAtLeastOnce] delivery<AtLeastOnce>;
                competing_exactly_one [DeliversAtLeastOnce] delivery<AtLeastOnce>;
                event_round_trip [DeliversAtLeastOnce] delivery<AtLeastOnce>;
                concrete_subject [DeliversAtLeastOnce MatchesPatterns] patterns<AtLeastOnce>;
                pattern_truth_table [DeliversAtLeastOnce MatchesPatterns] patterns<AtLeastOnce>;
                exact_subject_only [DeliversAtLeastOnce] delivery<AtLeastOnce>;
                bound_fail [DeliversAtLeastOnce FailsWhenFull] full<AtLeastOnce>;
                bound_backpressure [DeliversAtLeastOnce] bounds<AtLeastOnce>;
                no_second_queue [DeliversAtLeastOnce] elsewhere;
                snapshot_advisory [DeliversAtLeastOnce] counters<AtLeastOnce>;
                retire_final [DeliversAtLeastOnce] retire<AtLeastOnce>;
                retire_beside_publish [DeliversAtLeastOnce] retire<AtLeastOnce>;
                retire_leaves_the_group [DeliversAtLeastOnce] retire<AtLeastOnce>;
                close_releases [DeliversAtLeastOnce] lifecycle<AtLeastOnce>;
                sessions_in_sequence [DeliversAtLeastOnce] lifecycle<AtLeastOnce>;
                publish_beside_close [DeliversAtLeastOnce] lifecycle<AtLeastOnce>;
                ordering [DeliversAtLeastOnce Orders] order<AtLeastOnce>;
                routes_around [DeliversAtLeastOnce RoutesAroundDegraded] routing<AtLeastOnce>;
                ack_removes [DeliversAtLeastOnce] settlement;
                nack_redelivers [DeliversAtLeastOnce] settlement;
                silent_is_nack [DeliversAtLeastOnce] settlement;
                unknown_outcome_is_nack [DeliversAtLeastOnce] settlement;
                per_message_ack [DeliversAtLeastOnce] settlement;
                returned_is_not_judged [DeliversAtLeastOnce] giving_back;
                settle_refused [DeliversAtLeastOnce] late;
                stale_settle_is_refused [DeliversAtLeastOnce] late;
                exhaustion [DeliversAtLeastOnce] exhaustion;
                budget_is_shared [DeliversAtLeastOnce] exhaustion;
                released_on_retire [DeliversAtLeastOnce] giving_back;
                lease_extended [KeepsForHandler] lease;
                lease_bound [KeepsForHandler] lease;
                lease_redeliver [DeliversAtLeastOnce] lease;
                delay_respected [DelaysRedelivery] delays;
                delay_lets_others_flow [DelaysRedelivery] delays;
                delay_spends_one_attempt [DelaysRedelivery] delays;
                delay_ceiling [DelaysRedelivery] delays;
                link_death_is_seen [DeliversAtLeastOnce] elsewhere;
                consumer_deleted_under_us [DeliversAtLeastOnce] elsewhere;
                payload_limit [DeliversAtLeastOnce] limits<AtLeastOnce>;
                dropped_settler_returns [DeliversAtLeastOnce] giving_back;
                malformed_is_counted [DeliversAtLeastOnce] elsewhere<AtLeastOnce>;
            }
            requests: Fixture {
                request_answered [AnswersRequests] requests;
                request_no_responders [AnswersRequests] requests;
                request_deadline [AnswersRequests] requests;
                request_one_of_group [AnswersRequests] requests;
                request_closing_session [AnswersRequests] requests;
                answer_unrequested [AnswersRequests] requests;
            }
            $($more)*
        }
    };
}
