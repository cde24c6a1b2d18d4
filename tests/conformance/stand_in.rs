//! The stand-ins of the test kit, where nothing goes wrong on purpose: for what keeps nothing, and for what survives.

use tramline::{
    Memory,
    conformance::{DurableFixture, Field, Fixture},
    contract::{Backend, Session},
    subject,
    testing::{StandIn, StandInSession},
};

use crate::stores::archive::Archive;

mod volatile {
    use super::*;

    pub(crate) struct VolatileFixture;

    impl Fixture for VolatileFixture {
        type Backend = StandIn<Memory>;

        async fn open(_namespace: &str) -> Self {
            Self
        }

        fn backend(&self) -> StandIn<Memory> {
            StandIn::new()
        }
    }

    tramline::conformance! { volatile: VolatileFixture }
}

mod surviving {
    use super::*;

    /// A stand-in keeps what it is owed for as long as it lives, so the fixture owns it.
    pub(crate) struct SurvivingFixture(StandIn<Archive>);

    impl Fixture for SurvivingFixture {
        type Backend = StandIn<Archive>;

        async fn open(_namespace: &str) -> Self {
            Self(StandIn::new())
        }

        fn backend(&self) -> StandIn<Archive> {
            self.0.clone()
        }
    }

    impl DurableFixture for SurvivingFixture {
        type Witness = StandInSession;

        async fn witness(&self) -> StandInSession {
            self.0.open().await.expect("it does no I/O")
        }

        async fn has_ended(&self, witness: &mut StandInSession) -> bool {
            let event = tramline::Event::builder("x", tramline::source!("urn:example:test"), "com.example.test.v1");
            witness.publish(&subject!("nowhere"), event.build().expect("it is valid")).await.is_err()
        }

        async fn restart(&mut self) {
            self.0.end_sessions();
        }

        /// As memory, which compares what the backlog was made by.
        fn refused_on_reopening(&self) -> &'static [Field] {
            &[Field::Pattern, Field::MaxDeliver]
        }
    }

    tramline::conformance! { surviving: SurvivingFixture }
}
