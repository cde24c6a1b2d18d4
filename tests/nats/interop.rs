//! Interoperation: events of Python's CloudEvents SDK arrive equal, and ours arrive there.

use std::{env, path::PathBuf, process::Stdio, time::Duration};

use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
    sync::mpsc,
    time::timeout,
};
use tramline::{
    Bus, Nats, NatsOptions,
    event::{Data, Event, Timestamp, Uri, UriReference, Value},
    source, subject,
    subject::Name,
};

use crate::server::{Server, Version};

const PATIENCE: Duration = Duration::from_secs(30);

/// The events that `interop/peer.py` has.
fn events() -> Vec<Event> {
    let json = r#"{"total": "12.50", "lines": [1, 2.5, null]}"#;
    let source = UriReference::new("https://example.com/a?b=c%20d#e").unwrap();
    let time = |text| Timestamp::new(text).unwrap();
    let begin = |id| Event::builder(id, source!("urn:x"), "t").time(time("2026-01-31T12:34:56Z"));
    let events = [
        Event::builder("every attribute", source, "com.example.invoice raised")
            .subject("caf\u{e9} \"100%\" \u{1f68b}")
            .time(time("2026-01-31T12:34:56.500000+05:30"))
            .data_schema(Uri::new("https://example.com/schemas/invoice.json#v1").unwrap())
            .extension("comexampleext", "one %20 two")
            .extension("priority", 3)
            .data(Some("application/json; charset=utf-8"), Data::Json(json.into())),
        begin("text").text("one\r\n\ttwo \u{20ac}"),
        begin("xml").data(Some("application/xml"), Data::Text("<much wow=\"xml\"/>".into())),
        begin("bytes").binary("application/octet-stream", (0..=u8::MAX).collect::<Vec<u8>>()),
        begin("no data").source(source!("/relative")),
    ];
    events.map(|event| event.build().unwrap()).into()
}

/// Starts `interop/peer.py`, with its standard output to be read.
fn peer(what: &str, server: &Server) -> Child {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let installed = root.join("target/servers/venv/bin/python");
    let python = env::var_os("TRAMLINE_PYTHON").map_or(installed, PathBuf::from);
    assert!(
        python.exists(),
        "there is no Python with the CloudEvents SDK at {}: `tests/run --servers` installs it, or TRAMLINE_PYTHON says where it is",
        python.display()
    );
    Command::new(python)
        .arg(root.join("tests/nats/interop/peer.py"))
        .args([what, &server.url(), "interop"])
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap()
}

async fn succeeds(mut peer: Child) {
    let status = timeout(PATIENCE, peer.wait()).await.expect("the peer ends").unwrap();
    assert!(status.success(), "the peer says on standard error what is wrong");
}

#[tokio::test]
async fn events_of_the_python_sdk_arrive_equal_in_each_mode() {
    for version in Version::ALL {
        let server = Server::start(version).await;
        let (arrived, mut arrives) = mpsc::channel(100);
        let bus = Bus::builder(Nats::new(server.url()), source!("urn:x"))
            .at_most_once(Name::new("all").unwrap())
            .subject(subject!("interop"))
            .handle(move |delivery| {
                let arrived = arrived.clone();
                async move { arrived.send(delivery.event().clone()).await.unwrap() }
            })
            .build()
            .unwrap();
        let bus = bus.start().await.unwrap();
        succeeds(peer("send", &server)).await;

        for kind in [Value::from("3"), Value::from(3)] {
            for event in events() {
                let got = timeout(PATIENCE, arrives.recv()).await.expect("all arrive").unwrap();
                let expected = match event.extension("priority") {
                    // A header does not say that a number was one.
                    Some(_) => event.to_builder().extension("priority", kind.clone()).build().unwrap(),
                    None => event,
                };
                assert_eq!(got, expected, "{version:?}");
            }
        }
        bus.stop(PATIENCE).await;
    }
}

#[tokio::test]
async fn our_events_arrive_at_the_python_sdk_equal_in_each_mode() {
    for version in Version::ALL {
        let server = Server::start(version).await;
        let mut peer = peer("receive", &server);
        let mut lines = BufReader::new(peer.stdout.take().unwrap()).lines();
        let line = timeout(PATIENCE, lines.next_line()).await.expect("the peer says something").unwrap();
        assert_eq!(line.as_deref(), Some("ready"));

        for options in [NatsOptions::new(), NatsOptions::new().structured()] {
            let backend = Nats::new(server.url()).options(options);
            let bus = Bus::builder(backend, source!("urn:x")).build().unwrap().start().await.unwrap();
            for event in events() {
                bus.publish(&subject!("interop"), event).await.unwrap();
            }
            bus.stop(PATIENCE).await;
        }
        succeeds(peer).await;
    }
}
