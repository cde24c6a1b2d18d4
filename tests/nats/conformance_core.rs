//! The suite on core NATS, on both servers.

use tokio::sync::OnceCell;
use tramline::{
    Nats, NatsOptions, Subject,
    conformance::{Ability, Fixture, Proof},
};

use crate::{
    conformance_table,
    server::{Server, Setup, Version},
};

/// Kept small, so that what is above it is soon made.
const PAYLOAD: u32 = 128 * 1024;

async fn server(version: Version) -> &'static Server {
    static SERVERS: [OnceCell<Server>; 2] = [const { OnceCell::const_new() }; 2];
    let [old, new] = &SERVERS;
    let cell = if version == Version::V2_9 { old } else { new };
    cell.get_or_init(|| Server::start(Setup::new(version).without_jetstream().max_payload(PAYLOAD))).await
}

/// One row's part of a server that all rows share.
struct Core {
    server: &'static Server,
    name: String,
}

impl Core {
    async fn on(version: Version, namespace: &str) -> Self {
        Self { server: server(version).await, name: namespace.to_owned() }
    }

    fn nats(&self) -> Nats {
        Nats::new(self.server.url()).options(NatsOptions::new().name(&self.name))
    }

    async fn connections(&self) -> usize {
        self.server.monitor("connz?limit=10000").await.matches(&format!("\"name\": \"{}\"", self.name)).count()
    }

    async fn publish_foreign(&self, subject: &Subject) {
        let bare = async_nats::connect(self.server.url()).await.unwrap();
        bare.publish(subject.to_string(), "no event at all".into()).await.unwrap();
        bare.flush().await.unwrap();
    }
}

/// A fixture for one version, and the suite on it.
macro_rules! on {
    ($module:ident, $version:expr) => {
        pub(crate) mod $module {
            use super::*;

            struct OnNats(Core);

            impl Fixture for OnNats {
                type Backend = Nats;

                async fn open(namespace: &str) -> Self {
                    Self(Core::on($version, namespace).await)
                }

                fn backend(&self) -> Nats {
                    self.0.nats()
                }

                fn payload_limit(&self) -> Option<usize> {
                    Some(PAYLOAD as usize)
                }

                async fn connections(&self) -> Option<usize> {
                    Some(self.0.connections().await)
                }

                fn keeps_extension_kinds(&self) -> bool {
                    false
                }

                async fn publish_foreign(&self, subject: &Subject) -> Ability {
                    self.0.publish_foreign(subject).await;
                    Ability::Done
                }

                fn proved(proof: &Proof) {
                    conformance_table::hold($version, proof);
                }
            }

            tramline::conformance! { volatile: OnNats }
        }
    };
}

on!(v2_9, Version::V2_9);
on!(v2_15, Version::V2_15);
