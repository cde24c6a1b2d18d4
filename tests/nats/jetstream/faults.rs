//! Restarts, crashes and cuts under load: nothing that was acknowledged is handled again by its source, and nothing else is
//! lost.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use tokio::time::sleep;
use tramline::{backend::jetstream::JetStreamSession, contract::Session};

use super::support::{LEASE, Sink, on_both, open, publish, spec, within};
use crate::proxy::Proxy;

/// What a load came to.
#[derive(Default)]
struct Seen {
    acknowledged: BTreeSet<String>,
    /// Deliveries that came after their message was acknowledged.
    again: Vec<(String, u32)>,
    refused: u32,
    attempts: BTreeMap<String, u32>,
    /// Published more than once, since nobody had confirmed it.
    tried_again: BTreeSet<String>,
}

/// What a server that goes down remembers of the last messages that it heard.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Remembers {
    All,
    /// Killed, it may forget what it stored in the last moment, and with it that it is a duplicate: what was not confirmed
    /// and is published again may then be there twice.
    WhatItConfirmed,
}

/// Publishes until it is told to stop, each event until it is confirmed, and gives how many.
async fn load(session: &JetStreamSession, goes_on: &AtomicBool, seen: &Mutex<Seen>) -> u32 {
    let mut id = 0;
    while goes_on.load(Relaxed) {
        while publish(session, "a.b", id).await.is_err() {
            seen.lock().unwrap().tried_again.insert(id.to_string());
            sleep(Duration::from_millis(5)).await;
        }
        id += 1;
    }
    id
}

/// Takes and acknowledges until all of these have come.
async fn work(sink: &mut Sink, seen: &Mutex<Seen>, all: impl Fn() -> Option<u32>) {
    let began = Instant::now();
    loop {
        let done = seen.lock().unwrap().acknowledged.len();
        if all().is_some_and(|all| done == all as usize) {
            return;
        }
        assert!(began.elapsed() < Duration::from_secs(120), "{done} of {:?} are acknowledged", all());
        let Some(got) = sink.soon(Duration::from_millis(100)).await else { continue };
        let (id, attempt) = (got.id.clone(), got.attempt);
        {
            let mut seen = seen.lock().unwrap();
            if seen.acknowledged.contains(&id) {
                seen.again.push((id.clone(), attempt));
            }
            *seen.attempts.entry(id.clone()).or_default() += 1;
        }
        // Time to be caught with something in hand.
        sleep(Duration::from_micros(200)).await;
        let settled = got.say(tramline::contract::Outcome::Acked).await.is_ok();
        let mut seen = seen.lock().unwrap();
        if settled {
            seen.acknowledged.insert(id);
        } else {
            seen.refused += 1;
        }
    }
}

/// A load beside faults; afterwards everything that was confirmed is acknowledged, and nothing that was comes again.
async fn survives(session: &JetStreamSession, server: Remembers, faults: impl Future<Output = ()>) {
    let mut sink = Sink::of(session, spec("a.b", "d")).await;
    let (goes_on, seen, published) = (AtomicBool::new(true), Mutex::new(Seen::default()), Mutex::new(None));
    let loading = async {
        let count = load(session, &goes_on, &seen).await;
        *published.lock().unwrap() = Some(count);
    };
    let faults = async {
        faults.await;
        sleep(Duration::from_millis(200)).await;
        goes_on.store(false, Relaxed);
    };
    let working = work(&mut sink, &seen, || *published.lock().unwrap());
    tokio::join!(loading, faults, working);
    assert!(sink.soon(2 * LEASE).await.is_none(), "everything is acknowledged");
    let mut seen = seen.into_inner().unwrap();
    if server == Remembers::WhatItConfirmed {
        let Seen { again, tried_again, .. } = &mut seen;
        again.retain(|(id, _)| !tried_again.contains(id));
    }
    let last = sink.retire().await;
    println!(
        "published {:?}, settlements refused {}, leases expired {}, most attempts {:?}, again {:?}",
        published.into_inner().unwrap(),
        seen.refused,
        last.stats.lease_expired,
        seen.attempts.values().max(),
        seen.again.len()
    );
    let again = &seen.again[..seen.again.len().min(10)];
    assert_eq!(again, [], "acknowledged, and handed over again; {} in all", seen.again.len());
    assert!(last.cause.is_none(), "{:?}", last.cause);
    assert_eq!(last.stats.accepted, last.stats.handed_over() + last.stats.pending);
    within("the close", session.close()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_of_the_server_under_load_loses_nothing_and_brings_nothing_back() {
    on_both(async |server| {
        let session = open(server.url()).await;
        let mut server = server;
        let faults = async {
            for _ in 0..3 {
                sleep(Duration::from_millis(500)).await;
                server.restart().await;
            }
        };
        survives(&session, Remembers::All, faults).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_of_the_server_under_load_loses_nothing_and_brings_nothing_back() {
    on_both(async |server| {
        let session = open(server.url()).await;
        let mut server = server;
        let faults = async {
            for _ in 0..3 {
                sleep(Duration::from_millis(500)).await;
                server.kill().await;
                server.restart().await;
            }
        };
        survives(&session, Remembers::WhatItConfirmed, faults).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_that_is_cut_for_a_second_under_load_loses_nothing_and_brings_nothing_back() {
    on_both(async |server| {
        let proxy = Proxy::to(&server).await;
        let session = open(proxy.url()).await;
        let faults = async {
            for _ in 0..2 {
                sleep(Duration::from_millis(400)).await;
                proxy.cut();
                sleep(Duration::from_secs(1)).await;
                proxy.heal();
            }
        };
        survives(&session, Remembers::All, faults).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_that_hangs_for_two_leases_under_load_loses_nothing() {
    on_both(async |server| {
        let proxy = Proxy::to(&server).await;
        let session = open(proxy.url()).await;
        let faults = async {
            sleep(Duration::from_millis(400)).await;
            proxy.hold();
            sleep(2 * LEASE).await;
            proxy.heal();
        };
        survives(&session, Remembers::All, faults).await;
    })
    .await;
}
