//! What is refused at once, and the command that mends it.

use async_nats::jetstream::stream::{Config, StorageType};
use tramline::{
    JetStream,
    contract::{Backend, OpenError, Session, SubscribeError},
};

use super::support::{STREAM, Sink, bare, chain, jetstream, make_stream, on_both, open, spec};
use crate::server::{Server, Setup, Version};

/// What a backend says that does not open.
async fn refused(backend: JetStream) -> String {
    let error = backend.open().await.unwrap_err();
    assert!(matches!(error, OpenError::NotAsDeclared { .. }), "{error:?}");
    chain(&error)
}

#[tokio::test(flavor = "multi_thread")]
async fn k_a_stream_that_is_not_there_is_refused_with_the_command_that_makes_it() {
    for version in Version::ALL {
        let server = Server::start(version).await;
        let said = refused(jetstream(server.url())).await;
        assert!(said.contains("found no stream `TEST`"), "{said}");
        assert!(said.contains("`nats stream add TEST --subjects "), "{said}");
        assert!(bare(&server).await.get_stream(STREAM).await.is_err(), "and none was made");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn k_a_stream_in_memory_is_refused_with_the_commands_that_put_it_into_files() {
    for version in Version::ALL {
        let server = Server::start(version).await;
        make_stream(&server, Config { storage: StorageType::Memory, ..Config::default() }).await;
        let said = refused(jetstream(server.url())).await;
        assert!(said.contains("found the stream `TEST` in memory"), "{said}");
        assert!(said.contains("`nats stream add TEST --subjects \"a.>\" --storage file --defaults`"), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn k_a_stream_that_confirms_nothing_is_refused() {
    for version in Version::ALL {
        let server = Server::start(version).await;
        make_stream(&server, Config { no_ack: true, ..Config::default() }).await;
        let said = refused(jetstream(server.url())).await;
        assert!(said.contains("`nats stream edit TEST --ack`"), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn k_a_server_without_jetstream_is_refused_with_how_to_start_it() {
    for version in Version::ALL {
        let server = Server::start(Setup::new(version).without_jetstream()).await;
        let said = refused(jetstream(server.url())).await;
        assert!(said.contains("no JetStream") && said.contains("`nats-server -js`"), "{said}");
    }
}

#[tokio::test]
async fn a_name_that_no_stream_can_have_is_refused_without_a_server() {
    for name in ["", "a b", "a.b", "a*", "a/b"] {
        let error = JetStream::new("nats://127.0.0.1:1", name).open().await.unwrap_err();
        assert!(matches!(error, OpenError::Setting { setting: "stream", .. }), "{name}: {error:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pattern_that_the_stream_does_not_keep_is_refused_with_the_command_that_takes_it_in() {
    on_both(async |server| {
        let session = open(server.url()).await;
        for pattern in ["b.c", ">", "a"] {
            let error = Sink::try_of(&session, spec(pattern, "d")).await.err().unwrap();
            assert!(matches!(error, SubscribeError::Setting { setting: "pattern", .. }), "{error:?}");
            let command = format!("`nats stream edit TEST --subjects \"a.>,{pattern}\"`");
            assert!(error.to_string().contains(&command), "{error}");
        }
        // What the operator does is seen at the next subscribe.
        let subjects = vec!["a.>".to_owned(), "b.*".to_owned()];
        let config = Config { name: STREAM.to_owned(), subjects, ..Config::default() };
        bare(&server).await.update_stream(config).await.unwrap();
        Sink::of(&session, spec("b.c", "d")).await.retire().await;
        session.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lease_that_the_server_cannot_hold_is_refused_by_name() {
    on_both(async |server| {
        let session = open(server.url()).await;
        for ack_wait in [std::time::Duration::from_millis(1), std::time::Duration::MAX] {
            let error = Sink::try_of(&session, spec("a.b", "d").ack_wait(ack_wait)).await.err().unwrap();
            assert!(matches!(error, SubscribeError::Setting { setting: "ack_wait", .. }), "{error:?}");
        }
        session.close().await.unwrap();
    })
    .await;
}
