//! Servers that are stopped and killed under load, with deliveries in hand.

use std::time::Duration;

use tokio::time::sleep;
use tramline::{Bus, JetStream, Running};

use super::support::{
    Desk, Order, balanced, jetstream, on_both, owed, probe, publish_surely, publisher, serve, stop, until, within,
};
use crate::server::{Server, Version};

/// How the server ends.
#[derive(Debug, Clone, Copy)]
enum End {
    Stopped,
    Killed,
}

impl End {
    async fn of(self, server: &mut Server) {
        match self {
            Self::Stopped => server.stop().await,
            Self::Killed => server.kill().await,
        }
    }
}

/// Waits until the server knows that nothing is owed any more.
async fn until_nothing_is_owed(server: &Server) {
    until("nothing is owed", async || matches!(owed(&server.url(), "till").await, (0, 0, _))).await;
}

/// Waits until so many are acknowledged, and the server knows it.
///
/// To ask the server alone would not do: it confirms a publish a moment before its consumers hear of it, and owes nothing as
/// long as that lasts.
async fn until_acknowledged(reader: &Bus<JetStream, Running>, server: &Server, count: u64) {
    until("they are acknowledged", async || reader.stats("till").unwrap().settlement.acked >= count).await;
    until_nothing_is_owed(server).await;
}

/// Waits until the hands are full and the server has written down all that it has sent.
///
/// It does so some times a second, and at its end if there is something new. But it first notes what there is, and later that
/// nothing is new; what it hears in between is forgotten even where it is stopped in order, unless there is more after that, as
/// there is with the next heartbeat. So it is the second time that counts after something was sent.
async fn until_full_and_written_down(reader: &Bus<JetStream, Running>, server: &Server) {
    until("all hands are full", async || reader.stats("till").unwrap().in_hand == 8).await;
    let state = server.folder().join("store/jetstream/$G/streams/SHOP/obs/till/o.dat");
    let written = || std::fs::metadata(&state).and_then(|file| file.modified()).ok();
    let sent = || reader.stats("till").unwrap().offered;
    let mut before = None;
    while before.replace(sent()) != Some(sent()) {
        for _ in 0..2 {
            let before = written();
            until("it is written down", async || written().is_some_and(|written| Some(written) != before)).await;
        }
    }
}

/// The attempts of one message as the server counted them. One before 2.10.15 may send the latest message once more, numbered
/// as a first attempt, where a pull ends in the moment in which something is declined; it has counted that all the same.
fn counted<'a>(attempts: &'a [u32], server: &Server) -> &'a [u32] {
    match attempts {
        [1, more @ ..] if more.first() == Some(&1) && server.version() == Version::V2_9 => more,
        all => all,
    }
}

/// What was acknowledged stays so, what was not comes, attempts go on, and L4 holds: all on one bus that goes on.
async fn goes_on(mut server: Server, end: End) {
    let (url, desk) = (server.url(), Desk::new(Order::Accept));
    let reader = serve(jetstream(&url), &desk).await;
    let writer = publisher(jetstream(&url)).await;
    let handle = writer.handle();
    for id in 0..100 {
        publish_surely(&handle, id).await;
    }
    until_acknowledged(&reader, &server, 100).await;
    assert_eq!(balanced(&reader).await.settlement.acked, 100);

    // In hand when the server ends, and so is the stream of publishes.
    desk.order(Order::Hold);
    let load = tokio::spawn(async move {
        for id in 100..400 {
            publish_surely(&handle, id).await;
            sleep(Duration::from_millis(2)).await;
        }
    });
    until_full_and_written_down(&reader, &server).await;
    end.of(&mut server).await;
    until("it is seen", async || probe(&writer.handle()).await.is_err()).await;
    desk.order(Order::DeclineFirst);
    server.restart().await;
    within("the load", load).await.unwrap();
    until("all have come", async || desk.count() == 400).await;
    until_nothing_is_owed(&server).await;
    let stats = balanced(&reader).await;

    let came = desk.came().clone();
    for (id, attempts) in &came {
        let counted = counted(attempts, &server);
        assert!(counted.is_sorted_by(|one, next| one < next), "attempts go on: {id} came with {attempts:?}");
        if id.parse().is_ok_and(|id: u32| id < 100) {
            assert_eq!(attempts, &[1], "{end:?}: {id} was acknowledged, and came back");
        }
    }
    assert!(stats.redelivered > 0 && stats.settlement.acked >= 400, "{stats}");
    assert_eq!((stats.exhausted, stats.incidents), (0, 0), "{stats}");
    stop(reader).await;
    within("the stop", writer.stop(Duration::from_secs(5))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn l4_a_server_is_stopped_under_load_and_nothing_is_lost_or_comes_back() {
    on_both(async |server| goes_on(server, End::Stopped).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn l4_a_server_is_killed_under_load_and_nothing_is_lost_or_comes_back() {
    on_both(async |server| goes_on(server, End::Killed).await).await;
}

/// The same when the service ends while there is no server, as a process does that is deployed anew meanwhile.
async fn is_taken_up(mut server: Server, end: End) {
    let (url, desk) = (server.url(), Desk::new(Order::Accept));
    let reader = serve(jetstream(&url), &desk).await;
    let writer = publisher(jetstream(&url)).await;
    let handle = writer.handle();
    publish_surely(&handle, "before").await;
    until_acknowledged(&reader, &server, 1).await;
    desk.order(Order::Hold);
    for id in 0..50 {
        publish_surely(&handle, id).await;
    }
    until_full_and_written_down(&reader, &server).await;
    end.of(&mut server).await;
    let stats = stop(reader).await;
    assert!(stats.released >= 8, "what was in hand is given back: {stats}");

    server.restart().await;
    let again = Desk::new(Order::Accept);
    let reader = serve(jetstream(&url), &again).await;
    until("all have come", async || again.count() >= 50).await;
    until_nothing_is_owed(&server).await;
    assert!(!again.came().contains_key("before"), "what was acknowledged does not come back");
    let held = desk.came().clone();
    for (id, attempts) in again.came().iter().filter(|(id, _)| held.contains_key(*id)) {
        let before = held[id].last().unwrap();
        assert!(attempts[0] > *before, "attempts go on: {id} came with {before}, and then with {attempts:?}");
    }
    let stats = stop(reader).await;
    assert_eq!((stats.settlement.acked, stats.exhausted), (stats.delivered, 0), "{stats}");
    within("the stop", writer.stop(Duration::from_secs(5))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn i4_what_was_in_hand_when_server_and_service_ended_comes_to_the_next_one() {
    on_both(async |server| is_taken_up(server, End::Stopped).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn i4_what_was_in_hand_when_the_server_was_killed_and_the_service_ended_comes_to_the_next_one() {
    on_both(async |server| is_taken_up(server, End::Killed).await).await;
}
