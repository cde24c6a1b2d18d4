//! TLS, with a server that shows a certificate and wants one.

use std::path::PathBuf;

use tramline::{
    NatsOptions,
    contract::{Backend, OpenError, Session},
};

use super::{
    options::run,
    support::{Sink, chain, nats, on_both_with, publish, quick, within},
};
use crate::server::Setup;

fn file(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", "nats", "tls", name].iter().collect()
}

fn setup(setup: Setup, verify: bool) -> Setup {
    let [certificate, key, ca] = ["server.pem", "server.key", "ca.pem"].map(file);
    setup.line(&format!(
        "tls {{ cert_file: {certificate:?}, key_file: {key:?}, ca_file: {ca:?}, verify: {verify}, timeout: 10 }}"
    ))
}

async fn works(url: String, options: NatsOptions) {
    let session = within("the open", nats(url).options(options).open()).await.unwrap();
    let mut sink = Sink::on(&session, "a").await;
    publish(&session, "a", 1).await.unwrap();
    assert_eq!(sink.id().await, "1");
    session.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_asks_for_tls_is_trusted_by_the_certificates_that_are_named() {
    on_both_with(
        |plain| setup(plain, false),
        async |server| {
            let trusting = quick().root_certificates(file("ca.pem"));
            works(server.url(), trusting.clone()).await;
            works(server.url().replace("nats://", "tls://"), trusting.clone()).await;
            works(server.url(), trusting.require_tls()).await;
            // The system's certificates do not know it, if there are any.
            let error = nats(server.url()).open().await.unwrap_err();
            assert!(matches!(error, OpenError::Unreachable { .. }), "{}", chain(&error));
            let missing = quick().root_certificates(file("no-such.pem"));
            let error = nats(server.url()).options(missing).open().await.unwrap_err();
            assert!(chain(&error).contains("TLS"), "{}", chain(&error));
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_wants_a_certificate_gets_the_one_that_is_named() {
    on_both_with(
        |plain| setup(plain, true),
        async |server| {
            let trusting = quick().root_certificates(file("ca.pem"));
            works(server.url(), trusting.clone().client_certificate(file("client.pem"), file("client.key"))).await;
            let [ca, certificate, key] =
                ["ca.pem", "client.pem", "client.key"].map(|name| file(name).display().to_string());
            let url = server.url();
            run("ok", &[("NATS_URL", &url), ("NATS_CA", &ca), ("NATS_CERT", &certificate), ("NATS_KEY", &key)]);
            let error = nats(server.url()).options(trusting).open().await.unwrap_err();
            assert!(matches!(error, OpenError::Unreachable { .. }), "{}", chain(&error));
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn where_tls_is_required_a_server_without_it_is_refused() {
    on_both_with(
        |plain| plain,
        async |server| {
            let error = nats(server.url()).options(quick().require_tls()).open().await.unwrap_err();
            assert!(matches!(error, OpenError::Unreachable { .. }), "{}", chain(&error));
            run("not opened", &[("NATS_URL", &server.url()), ("NATS_CA", &file("ca.pem").display().to_string())]);
        },
    )
    .await;
}
