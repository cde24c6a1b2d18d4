//! Messages that the client cannot read at all: it gives the link up over them.

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tramline::contract::Session;

use super::support::{Desk, Order, jetstream, on_both, publish_surely, publisher, serve, stop, until, within};
use crate::{
    core::support::{self as core, Sink},
    server::Server,
};

/// Publishes a message with a header that is not UTF-8, which no client of ours would.
async fn publish_unreadable(server: &Server, subject: &str) {
    let headers = b"NATS/1.0\r\nx: \xff\r\n\r\n";
    let mut said = format!("CONNECT {{\"headers\":true}}\r\nHPUB {subject} {0} {0}\r\n", headers.len()).into_bytes();
    said.extend_from_slice(headers);
    said.extend_from_slice(b"\r\nPING\r\n");
    let taken = async {
        let mut stream = TcpStream::connect(("127.0.0.1", server.port())).await.unwrap();
        stream.write_all(&said).await.unwrap();
        let (mut heard, mut buffer) = (String::new(), [0; 4096]);
        while !heard.contains("PONG") {
            let read = stream.read(&mut buffer).await.unwrap();
            assert!(read > 0 && !heard.contains("-ERR"), "{heard}");
            heard.push_str(&String::from_utf8_lossy(&buffer[..read]));
        }
    };
    within("it is published", taken).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn q10_at_most_once_what_the_client_cannot_read_is_an_interruption_and_the_next_good_one_is_delivered() {
    core::on_both(async |server| {
        let session = core::open(server.url()).await;
        let mut sink = Sink::on(&session, "a").await;
        publish_unreadable(&server, "a").await;
        until("the client gives up its link", async || sink.stats().interruptions == 1).await;
        until("it has another", async || core::publish(&session, "a", "good").await.is_ok()).await;
        assert_eq!(sink.id().await, "good");
        session.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn q10_at_least_once_what_the_client_cannot_read_holds_up_no_other_for_long_and_is_no_hot_loop() {
    on_both(async |server| {
        let desk = Desk::new(Order::Accept);
        let reader = serve(jetstream(server.url()), &desk).await;
        let writer = publisher(jetstream(server.url())).await;
        publish_unreadable(&server, "shop.order").await;
        for id in 0..50 {
            publish_surely(&writer.handle(), id).await;
        }
        until("all others have come", async || desk.count() == 50).await;
        let attempts = super::support::bare(&server.url()).await.get_stream("SHOP").await.unwrap();
        let attempts = attempts.consumer_info("till").await.unwrap().delivered.consumer_sequence;
        // It comes once in each lease of two seconds, and for no more than 20 of them.
        assert!(attempts < 50 * 3 + 20, "{attempts}");
        assert_eq!(stop(reader).await.exhausted, 0);
        within("the stop", writer.stop(std::time::Duration::from_secs(5))).await;
    })
    .await;
}
