//! Groups (contract B10, N11; conformance rows 4, 17, 22).

use std::sync::Arc;

use futures_util::StreamExt;
use tramline::{
    backend::memory::Memory,
    contract::{DeliversAtMostOnce, SubscribeError},
};

use crate::support::*;

#[tokio::test]
async fn exactly_one_member_gets_each_message_and_a_fan_out_beside_them_gets_all() {
    let session = open().await;
    let mut members = [sub("a.*").group("g").on(&session).await, sub("a.*").group("g").on(&session).await];
    let mut beside = sub("a.b").on(&session).await;
    for id in 0..20 {
        publish(&session, "a.b", id).await.unwrap();
    }
    let mut got: Vec<u32> = members.iter_mut().flat_map(Sink::drain).map(|id| id.parse().unwrap()).collect();
    got.sort_unstable();
    assert_eq!(got, (0..20).collect::<Vec<_>>());
    assert_eq!(beside.drain().len(), 20);
}

#[tokio::test]
async fn the_least_loaded_member_gets_it() {
    let session = open().await;
    let mut members = Vec::new();
    for _ in 0..3 {
        members.push(sub("a").group("g").bound(8).on(&session).await);
    }
    for id in 0..12 {
        publish(&session, "a", id).await.unwrap();
    }
    assert!(members.iter().all(|member| member.stats().pending == 4), "equals take turns");
    members[1].try_next().unwrap();
    members[1].try_next().unwrap();
    let before = members[1].stats().accepted;
    publish(&session, "a", "x").await.unwrap();
    publish(&session, "a", "y").await.unwrap();
    assert_eq!(members[1].stats().accepted, before + 2);
}

#[tokio::test]
async fn among_members_without_a_backlog_an_idle_one_is_preferred_to_a_busy_one() {
    let session = open().await;
    let mut busy = sub("a").group("g").on(&session).await;
    let mut idle = sub("a").group("g").on(&session).await;
    assert!(idle.try_next().is_none(), "it waits");
    for id in 0..10 {
        publish(&session, "a", id).await.unwrap();
        assert_eq!(idle.drain().len(), 1, "{id}");
        assert!(is_pending(idle.deliveries.next()));
    }
    assert_eq!(busy.drain().len(), 0);
}

#[tokio::test]
async fn a_member_that_is_full_is_avoided_and_nothing_is_lost() {
    for policy in [sub("a").fails(), sub("a").sheds_newest(), sub("a").sheds_oldest()] {
        let session = open().await;
        let wedged = policy.clone().group("g").bound(4).on(&session).await;
        let mut healthy = policy.group("g").bound(4).on(&session).await;
        let mut handled = 0;
        for id in 0..40 {
            publish(&session, "a", id).await.unwrap();
            if healthy.stats().pending == 4 || id % 2 == 0 {
                handled += healthy.drain().len() as u64;
            }
        }
        handled += healthy.drain().len() as u64;
        assert_eq!(handled + wedged.stats().pending, 40);
        assert!(wedged.stats().pending <= 4);
        assert_eq!(wedged.counts()[2..], [0, 0]);
        assert_eq!(healthy.counts()[2..], [0, 0]);
    }
}

#[tokio::test]
async fn b10_when_all_are_full_the_policy_acts_once_on_the_group() {
    for (policy, refused, evicted) in [(sub("a").sheds_newest(), 3, 0), (sub("a").sheds_oldest(), 0, 3)] {
        let session = open().await;
        let members =
            [policy.clone().group("g").bound(2).on(&session).await, policy.group("g").bound(2).on(&session).await];
        for id in 0..7 {
            publish(&session, "a", id).await.unwrap();
        }
        let sum = |at: usize| members.iter().map(|member| member.counts()[at]).sum::<u64>();
        assert_eq!([sum(0), sum(1), sum(2), sum(3)], [4 + evicted, 4, refused, evicted]);
    }
}

#[tokio::test]
async fn b10_a_failing_group_refuses_when_all_are_full_and_names_the_member_that_is_charged() {
    let session = open().await;
    let one = sub("a").named("one").group("g").bound(1).fails().on(&session).await;
    let two = sub("a").named("two").group("g").bound(1).fails().on(&session).await;
    let shedding = sub("a").bound(1).on(&session).await;
    publish(&session, "a", 0).await.unwrap();
    publish(&session, "a", 1).await.unwrap();
    let refusal = publish(&session, "a", 2).await;
    let charged = if is_full(&refusal, "one") { &one } else { &two };
    assert!(is_full(&refusal, "one") || is_full(&refusal, "two"));
    assert_eq!(charged.counts(), [1, 1, 1, 0]);
    assert_eq!(one.stats().refused + two.stats().refused, 1);
    assert_eq!(shedding.counts(), [1, 1, 1, 0], "B8: the third never touched it");
}

#[tokio::test]
async fn b10_a_group_of_one_name_and_another_pattern_is_another_group() {
    let session = open().await;
    let mut sinks = [
        sub("a.b").group("g").on(&session).await,
        sub("a.*").group("g").on(&session).await,
        sub("a.b").group("h").on(&session).await,
    ];
    publish(&session, "a.b", "x").await.unwrap();
    sinks.iter_mut().for_each(|sink| assert_eq!(sink.drain(), ["x"]));
}

#[tokio::test]
async fn b10_a_member_with_another_bound_or_policy_is_refused_and_leaves_nothing_behind() {
    let session = open().await;
    let first = sub("a").group("g").bound(2).on(&session).await;
    for (odd, setting) in [(sub("a").group("g").bound(3), "bound"), (sub("a").group("g").bound(2).fails(), "overflow")]
    {
        let error = Memory::at_most_once(&session, odd.spec()).await.map(drop).unwrap_err();
        assert!(matches!(&error, SubscribeError::Setting { setting: found, .. } if *found == setting), "{error}");
    }
    // Without a word it sheds the newest, as one that says so.
    sub("a").group("g").bound(2).sheds_newest().on(&session).await;
    publish(&session, "a", 0).await.unwrap();
    publish(&session, "a", 1).await.unwrap();
    assert_eq!(first.counts(), [2, 2, 0, 0]);
}

#[tokio::test]
async fn nothing_goes_to_a_member_that_was_retired_and_the_last_takes_the_group_with_it() {
    let session = open().await;
    let gone = sub("a").group("g").bound(4).on(&session).await;
    let mut stays = sub("a").group("g").bound(4).on(&session).await;
    let last = gone.retire().await;
    for id in 0..4 {
        publish(&session, "a", id).await.unwrap();
    }
    assert_eq!(stays.drain().len(), 4);
    assert_eq!(gone.stats(), last);
    stays.retire().await;
    // A new group of that name may be otherwise.
    let mut anew = sub("a").group("g").bound(9).fails().on(&session).await;
    publish(&session, "a", "x").await.unwrap();
    assert_eq!(anew.drain(), ["x"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn exactly_one_of_a_group_under_concurrent_publishers_and_members_that_come_and_go() {
    let session = Arc::new(open().await);
    let member = || sub("a.*").group("g").bound(16).fails();
    let mut stays = member().on(&session).await;
    let other = sub("a.b").bound(16).fails().on(&session).await;
    let accepted_beside = tokio::spawn(async move {
        let mut other = other;
        let mut count = 0_u64;
        while other.deliveries.next().await.is_some() {
            count += 1;
        }
        (count, other)
    });
    let publishers: Vec<_> = (0..3)
        .map(|n| {
            let session = Arc::clone(&session);
            tokio::spawn(async move {
                for id in 0..2_000 {
                    publish_when_room(&session, &subject("a.b"), &event(format!("{n}.{id}"))).await.unwrap();
                }
            })
        })
        .collect();
    let reader = tokio::spawn(async move {
        let mut count = 0_u64;
        while stays.deliveries.next().await.is_some() {
            count += 1;
        }
        (count, stays)
    });
    let mut left = 0;
    for _ in 0..50 {
        let mut guest = member().on(&session).await;
        for _ in 0..5 {
            tokio::task::yield_now().await;
            left += guest.drain().len() as u64;
        }
        left += guest.retire().await.pending;
    }
    for publisher in publishers {
        soon(publisher).await.unwrap();
    }
    tramline::contract::Session::close(&*session).await.unwrap();
    let (stayed, stays) = soon(reader).await.unwrap();
    let (beside, other) = soon(accepted_beside).await.unwrap();
    assert_eq!(stayed + stays.retire().await.pending + left, 6_000, "each went to exactly one");
    assert_eq!(beside + other.retire().await.pending, 6_000);
}
