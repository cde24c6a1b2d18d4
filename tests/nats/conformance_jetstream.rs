//! The conformance suite on `JetStream`, on a server of each version: restarts and crashes are real.

use std::time::Duration;

use async_nats::jetstream;
use futures_util::TryStreamExt;
use tokio::{io::AsyncReadExt, net::TcpStream, time::timeout};
use tramline::{
    JetStream, NatsOptions, Subject,
    conformance::{Ability, Timing},
};

use crate::{
    proxy::Proxy,
    server::{Server, Version},
};

/// The name of the connections under test.
const UNDER_TEST: &str = "under test";
const STREAM: &str = "CONFORMANCE";

/// A server, a stream of the row's subjects on it, and a link that can be cut.
pub(crate) struct Place {
    server: Server,
    proxy: Proxy,
}

impl Place {
    async fn open(version: Version, namespace: &str) -> Self {
        let server = Server::start(version).await;
        let proxy = Proxy::to(&server).await;
        let place = Self { server, proxy };
        let subjects = vec![format!("{namespace}.>")];
        let stream = jetstream::stream::Config { name: STREAM.to_owned(), subjects, ..Default::default() };
        place.bare().await.create_stream(stream).await.unwrap();
        place
    }

    fn backend(&self) -> JetStream {
        let options = NatsOptions::new().name(UNDER_TEST).reconnect_delay(Duration::from_millis(20));
        JetStream::new(self.proxy.url(), STREAM).options(options)
    }

    /// A client that knows nothing of tramline.
    async fn bare(&self) -> jetstream::Context {
        jetstream::new(async_nats::connect(self.server.url()).await.unwrap())
    }

    fn timing() -> Timing {
        Timing::default()
            .lease(Duration::from_millis(600))
            .quiet(Duration::from_millis(150))
            .patience(Duration::from_secs(20))
    }

    async fn connections(&self) -> Option<usize> {
        Some(self.server.monitor("connz").await.matches(&format!("\"name\": \"{UNDER_TEST}\"")).count())
    }

    async fn publish_foreign(&self, subject: &Subject) -> Ability {
        let bare = self.bare().await;
        let published = bare.publish(subject.as_str().to_owned(), "no event at all".into()).await.unwrap();
        published.await.unwrap();
        Ability::Done
    }

    fn cut_link(&self) -> Ability {
        self.proxy.cut();
        self.proxy.heal();
        Ability::Done
    }

    async fn delete_consumers(&self) -> Ability {
        let stream = self.bare().await.get_stream(STREAM).await.unwrap();
        let names: Vec<String> = stream.consumer_names().try_collect().await.unwrap();
        assert!(!names.is_empty(), "there is a consumer to delete");
        for name in names {
            stream.delete_consumer(&name).await.unwrap();
        }
        Ability::Done
    }

    async fn restart(&mut self) {
        self.server.restart().await;
    }

    async fn crash(&mut self) -> Ability {
        self.server.kill().await;
        self.server.restart().await;
        Ability::Done
    }

    /// A bare connection to the server, which greets it.
    async fn witness(&self) -> TcpStream {
        let mut witness = TcpStream::connect(("127.0.0.1", self.server.port())).await.unwrap();
        assert_ne!(witness.read(&mut [0; 4096]).await.unwrap(), 0);
        witness
    }
}

/// Whether the server has closed it, or it was reset.
async fn has_ended(witness: &mut TcpStream) -> bool {
    // What else it has to say, such as a ping, it says and goes on.
    let ended = async { while !matches!(witness.read(&mut [0; 4096]).await, Ok(0) | Err(_)) {} };
    timeout(Duration::from_secs(1), ended).await.is_ok()
}

macro_rules! on {
    ($module:ident, $version:expr) => {
        pub(crate) mod $module {
            use tokio::net::TcpStream;
            use tramline::{
                JetStream, Subject,
                conformance::{Ability, DurableFixture, Fixture, Proof, Timing},
            };

            use super::Place;
            use crate::{conformance_table, server::Version};

            pub(crate) struct OnJetStream(Place);

            impl Fixture for OnJetStream {
                type Backend = JetStream;

                async fn open(namespace: &str) -> Self {
                    Self(Place::open($version, namespace).await)
                }

                fn backend(&self) -> JetStream {
                    self.0.backend()
                }

                fn timing(&self) -> Timing {
                    Place::timing()
                }

                fn payload_limit(&self) -> Option<usize> {
                    Some(1024 * 1024)
                }

                fn keeps_extension_kinds(&self) -> bool {
                    false
                }

                async fn connections(&self) -> Option<usize> {
                    self.0.connections().await
                }

                async fn publish_foreign(&self, subject: &Subject) -> Ability {
                    self.0.publish_foreign(subject).await
                }

                async fn cut_link(&self) -> Ability {
                    self.0.cut_link()
                }

                async fn delete_consumers(&self) -> Ability {
                    self.0.delete_consumers().await
                }

                fn proved(proof: &Proof) {
                    conformance_table::hold($version, proof);
                }
            }

            impl DurableFixture for OnJetStream {
                type Witness = TcpStream;

                async fn witness(&self) -> TcpStream {
                    self.0.witness().await
                }

                async fn has_ended(&self, witness: &mut TcpStream) -> bool {
                    super::has_ended(witness).await
                }

                async fn restart(&mut self) {
                    self.0.restart().await;
                }

                async fn crash(&mut self) -> Ability {
                    self.0.crash().await
                }
            }

            tramline::conformance! { surviving: OnJetStream }
        }
    };
}

on!(v2_9, Version::V2_9);
on!(v2_15, Version::V2_15);
