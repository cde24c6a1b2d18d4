//! What happens at the bound (contract B1, B2, B3, B8; conformance rows 10, 11).

use std::sync::Arc;

use futures_util::StreamExt;
use tramline::contract::PublishError;

use crate::support::*;

#[tokio::test]
async fn b3_shed_newest_refuses_the_newcomer_and_is_what_happens_without_a_word() {
    for policy in [sub("a"), sub("a").sheds_newest()] {
        let session = open().await;
        let mut sink = policy.bound(3).on(&session).await;
        for id in 0..5 {
            publish(&session, "a", id).await.unwrap();
        }
        assert_eq!(sink.counts(), [3, 3, 2, 0]);
        assert_eq!(sink.drain(), ["0", "1", "2"]);
        assert_eq!(sink.counts(), [3, 0, 2, 0]);
    }
}

#[tokio::test]
async fn b3_shed_oldest_evicts_the_head_and_keeps_the_newest() {
    let session = open().await;
    let mut sink = sub("a").bound(3).sheds_oldest().on(&session).await;
    for id in 0..5 {
        publish(&session, "a", id).await.unwrap();
    }
    assert_eq!(sink.counts(), [5, 3, 0, 2]);
    assert_eq!(sink.try_next().as_deref(), Some("2"));
    publish(&session, "a", 5).await.unwrap();
    publish(&session, "a", 6).await.unwrap();
    assert_eq!(sink.counts(), [7, 3, 0, 3]);
    assert_eq!(sink.drain(), ["4", "5", "6"]);
    assert_eq!(sink.counts(), [7, 0, 0, 3]);
}

#[tokio::test]
async fn b2_fail_tells_the_publisher_with_the_name_and_trying_again_is_safe() {
    let session = open().await;
    let mut sink = sub("a").named("billing").bound(2).fails().on(&session).await;
    publish(&session, "a", 0).await.unwrap();
    publish(&session, "a", 1).await.unwrap();
    let refusal = publish(&session, "a", 2).await;
    assert!(is_full(&refusal, "billing"), "{refusal:?}");
    assert_eq!(sink.counts(), [2, 2, 1, 0]);
    assert_eq!(sink.try_next().as_deref(), Some("0"));
    publish(&session, "a", 2).await.unwrap();
    assert_eq!(sink.drain(), ["1", "2"]);
    assert_eq!(sink.counts(), [3, 0, 1, 0]);
}

#[tokio::test]
async fn b1_what_the_receiver_has_taken_at_once_still_counts_against_the_bound() {
    for policy in [sub("a").sheds_newest(), sub("a").sheds_oldest(), sub("a").fails()] {
        let session = open().await;
        let mut sink = policy.bound(4).on(&session).await;
        for id in 0..4 {
            publish(&session, "a", id).await.unwrap();
        }
        sink.try_next().unwrap();
        for id in 4..8 {
            let _ = publish(&session, "a", id).await;
            assert!(sink.stats().pending <= 4);
        }
        assert_eq!(sink.drain().len(), 4);
    }
}

#[tokio::test]
async fn a_bound_of_one_works_under_each_policy() {
    let session = open().await;
    let mut newest = sub("a").bound(1).sheds_oldest().on(&session).await;
    let mut oldest = sub("a").bound(1).sheds_newest().on(&session).await;
    for id in 0..10 {
        publish(&session, "a", id).await.unwrap();
    }
    assert_eq!((newest.drain(), oldest.drain()), (vec!["9".to_owned()], vec!["0".to_owned()]));
    assert_eq!(newest.counts(), [10, 0, 0, 9]);
    assert_eq!(oldest.counts(), [1, 0, 9, 0]);
}

#[tokio::test]
async fn b8_one_full_failing_subscription_keeps_the_message_from_everybody() {
    let session = open().await;
    let shedding = sub("a").bound(1).sheds_oldest().on(&session).await;
    let roomy = sub("*").named("roomy").bound(9).fails().on(&session).await;
    let mut full = sub("a").named("full").bound(1).fails().on(&session).await;
    let after = sub(">").named("after").bound(9).fails().on(&session).await;
    publish(&session, "a", 0).await.unwrap();
    for _ in 0..3 {
        assert!(is_full(&publish(&session, "a", 1).await, "full"));
    }
    assert_eq!(full.counts(), [1, 1, 3, 0]);
    for untouched in [&shedding, &roomy, &after] {
        assert_eq!(untouched.counts(), [1, 1, 0, 0]);
    }
    full.try_next().unwrap();
    publish(&session, "a", 1).await.unwrap();
    assert_eq!(shedding.counts(), [2, 1, 0, 1]);
    assert_eq!(roomy.counts(), [2, 2, 0, 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b8_all_or_nothing_holds_with_several_failing_and_shedding_under_concurrent_publishers() {
    let session = Arc::new(open().await);
    let mut failing = vec![
        sub("a").bound(3).fails().on(&session).await,
        sub("*").bound(5).fails().on(&session).await,
        sub(">").bound(7).fails().on(&session).await,
        sub("a").group("g").bound(3).fails().on(&session).await,
    ];
    // What other subjects reach in another order of patterns, so that orders of locking meet.
    let crossing = sub("b").bound(4).fails().on(&session).await;
    let shedding = [sub("a").bound(2).on(&session).await, sub("*").bound(2).sheds_oldest().on(&session).await];
    let publishers: Vec<_> = (0..4)
        .map(|n| {
            let session = Arc::clone(&session);
            tokio::spawn(async move {
                let (mut ok, mut refused) = ([0_u64; 2], 0_u64);
                for id in 0..2_000 {
                    let which = (n + id) % 2;
                    match publish(&session, ["a", "b"][which], id).await {
                        Ok(()) => ok[which] += 1,
                        Err(PublishError::QueueFull { .. }) => refused += 1,
                        Err(other) => panic!("{other}"),
                    }
                }
                (ok, refused)
            })
        })
        .collect();
    failing.push(crossing);
    let readers: Vec<_> = failing
        .into_iter()
        .map(|mut sink| {
            tokio::spawn(async move {
                while sink.deliveries.next().await.is_some() {
                    tokio::task::yield_now().await;
                }
                sink
            })
        })
        .collect();
    let (mut ok, mut refused) = ([0; 2], 0);
    for publisher in publishers {
        let (its_ok, its_refused) = soon(publisher).await.unwrap();
        ok = [ok[0] + its_ok[0], ok[1] + its_ok[1]];
        refused += its_refused;
    }
    tramline::contract::Session::close(&*session).await.unwrap();
    let mut failing = Vec::new();
    for reader in readers {
        failing.push(soon(reader).await.unwrap().stats());
    }
    let both = ok[0] + ok[1];
    let accepted: Vec<_> = failing.iter().map(|stats| stats.accepted).collect();
    assert_eq!(accepted, [ok[0], both, both, ok[0], ok[1]], "who was told yes is in all of them, who was not in none");
    assert_eq!(failing.iter().map(|stats| stats.refused).sum::<u64>(), refused, "each refusal is charged once");
    let [newest, oldest] = shedding.map(|sink| sink.stats());
    assert_eq!(newest.accepted + newest.refused, ok[0], "L1: a refused publish was not offered here");
    assert_eq!((oldest.accepted, oldest.refused), (both, 0));
}
