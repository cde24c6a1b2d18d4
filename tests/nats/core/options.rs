//! What is said in options and in the environment is what the server sees.

use std::{env, process::Command, time::Duration};

use tramline::{
    Nats,
    contract::{Backend, OpenError, Session},
};

use super::support::{Sink, nats, on_both, on_both_with, open, publish, quick, within};
use crate::server::{Server, Setup};

/// Says that this process is the other one, and where it connects.
const CHILD: &str = "TRAMLINE_TEST_CHILD";

/// The other process: it connects as its environment says.
#[tokio::test]
async fn a_process_connects_as_its_environment_says() {
    let Ok(expected) = env::var(CHILD) else {
        assert!(Nats::from_env().is_ok(), "where nothing is set it is the server on this machine");
        return;
    };
    if let Some(variable) = expected.strip_prefix("refused by ") {
        let error = Nats::from_env().map(drop).unwrap_err();
        assert!(matches!(error, OpenError::Setting { setting, .. } if setting == variable), "{error}");
        assert!(!error.to_string().contains("s3cret"), "{error}");
        return;
    }
    let opened = within("the open", Nats::from_env().unwrap().open()).await;
    if expected == "not opened" {
        return assert!(matches!(opened, Err(OpenError::Unreachable { .. })), "{opened:?}");
    }
    let session = opened.unwrap();
    let mut sink = Sink::on(&session, "a").await;
    publish(&session, "a", 1).await.unwrap();
    assert_eq!(sink.id().await, "1");
    session.close().await.unwrap();
}

/// Runs the test above with these variables.
pub(super) fn run(expected: &str, variables: &[(&str, &str)]) {
    let mut child = Command::new(env::current_exe().unwrap());
    child.args(["--exact", "core::options::a_process_connects_as_its_environment_says", "--nocapture"]);
    let names =
        ["URL", "USER", "PASSWORD", "TOKEN", "NKEY_SEED", "CREDS", "NAME", "CA", "CERT", "KEY", "RECONNECT_DELAY_MS"];
    for name in names {
        child.env_remove(format!("NATS_{name}"));
    }
    let output = child.env(CHILD, expected).envs(variables.iter().copied()).output().unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_environment_says_who_connects_and_where() {
    let pair = nkeys::KeyPair::new_user();
    let seed = pair.seed().unwrap();
    let setup = |setup: Setup| setup.user("svc", "s3cret").nkey(&pair.public_key());
    on_both_with(setup, async |server: Server| {
        let url = server.url();
        run("ok", &[("NATS_URL", &url), ("NATS_USER", "svc"), ("NATS_PASSWORD", "s3cret"), ("NATS_NAME", "n")]);
        run("ok", &[("NATS_URL", &url), ("NATS_NKEY_SEED", &seed), ("NATS_RECONNECT_DELAY_MS", "250")]);
        run("ok", &[("NATS_URL", &url.replace("://", "://svc:s3cret@")), ("NATS_USER", "")]);
    })
    .await;
    on_both_with(
        |setup| setup.token("s3cret"),
        async |server: Server| {
            run("ok", &[("NATS_URL", &server.url()), ("NATS_TOKEN", "s3cret")]);
            run("ok", &[("NATS_URL", &server.url().replace("://", "://s3cret@"))]);
        },
    )
    .await;
}

#[test]
fn an_environment_that_contradicts_itself_is_refused_by_the_variable_s_name() {
    run("refused by NATS_PASSWORD", &[("NATS_USER", "svc")]);
    run("refused by NATS_USER", &[("NATS_PASSWORD", "s3cret")]);
    run("refused by NATS_TOKEN", &[("NATS_USER", "svc"), ("NATS_PASSWORD", "s3cret"), ("NATS_TOKEN", "s3cret")]);
    run("refused by NATS_CREDS", &[("NATS_TOKEN", "s3cret"), ("NATS_CREDS", "s3cret.creds")]);
    run("refused by NATS_KEY", &[("NATS_CERT", "client.pem")]);
    run("refused by NATS_CERT", &[("NATS_KEY", "client.key")]);
    run("refused by NATS_RECONNECT_DELAY_MS", &[("NATS_RECONNECT_DELAY_MS", "soon")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_lists_the_connection_under_its_name() {
    on_both(async |server| {
        let session = nats(server.url()).options(quick().name("billing")).open().await.unwrap();
        assert!(server.monitor("connz").await.contains("\"name\": \"billing\""));
        session.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn events_are_written_in_the_mode_that_is_asked_for_and_read_in_both() {
    on_both(async |server| {
        let bare = async_nats::connect(server.url()).await.unwrap();
        let mut wire = bare.subscribe("a").await.unwrap();
        bare.flush().await.unwrap();
        let reading = open(server.url()).await;
        let mut sink = Sink::on(&reading, "a").await;
        let structured = nats(server.url()).options(quick().structured()).open().await.unwrap();
        publish(&reading, "a", "binary").await.unwrap();
        assert_eq!(sink.id().await, "binary");
        publish(&structured, "a", "structured").await.unwrap();
        assert_eq!(sink.id().await, "structured");
        let mut raw = async || within("the message", super::support::next(&mut wire)).await.unwrap();
        let binary = raw().await;
        assert_eq!(binary.headers.unwrap().get("ce-id").unwrap().as_str(), "binary");
        assert_eq!(&*binary.payload, b"hello");
        let document = raw().await;
        assert!(
            document.headers.unwrap().get("Content-Type").unwrap().as_str().starts_with("application/cloudevents+json")
        );
        assert!(document.payload.starts_with(b"{"));
        structured.close().await.unwrap();
        reading.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_url_that_cannot_be_used_is_refused_by_the_setting_s_name() {
    for url in ["", "http://one:4222", "ws://one:4222", "nats://"] {
        let error = nats(url).open().await.unwrap_err();
        assert!(matches!(error, OpenError::Setting { setting: "url", .. }), "{url}: {error:?}");
    }
}

#[tokio::test]
async fn an_inbox_prefix_that_is_no_subject_is_refused_before_anything_is_connected() {
    for prefix in ["", "a.*", ">", "a b", "a..b", "a."] {
        let nowhere = nats("nats://127.0.0.1:1").options(quick().inbox_prefix(prefix));
        let error = nowhere.open().await.map(drop).unwrap_err();
        assert!(matches!(error, OpenError::Setting { setting: "inbox_prefix", .. }), "`{prefix}`: {error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_duration_is_too_long_for_a_link() {
    on_both(async |server| {
        let options = quick().ping_interval(Duration::MAX).reconnect_delay(Duration::MAX);
        let session = within("the open", nats(server.url()).options(options).open()).await.unwrap();
        let mut sink = Sink::on(&session, "a").await;
        publish(&session, "a", 1).await.unwrap();
        assert_eq!(sink.id().await, "1");
        session.close().await.unwrap();
    })
    .await;
}
