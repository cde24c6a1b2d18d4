//! Delays between attempts (rows 38 to 41, contract O3).

use std::time::Duration;

use tokio::time::{Instant, advance, sleep};
use tramline::contract::{Outcome, RetireReason};

use crate::{owed::*, support::*};

const fn millis(count: u64) -> Duration {
    Duration::from_millis(count)
}

#[tokio::test(start_paused = true)]
async fn row_38_a_delay_is_never_cut_short_and_zero_is_at_once() {
    for outcome in [Outcome::Nacked, Outcome::Silent, Outcome::Returned] {
        for delay in [0, 1, 7, 1_000, 86_400_000].map(millis) {
            let session = open().await;
            let mut sink = durable("d").on(&session).await;
            publish(&session, "a", 0).await.unwrap();
            sink.take().unwrap().after(outcome, delay).await;
            let begun = Instant::now();
            let taken = sink.next_patiently().await;
            let waited = begun.elapsed();
            assert!(waited >= delay && waited <= delay + millis(1), "{delay:?}: {waited:?}");
            assert_eq!(taken.attempt, if outcome == Outcome::Returned { 1 } else { 2 }, "row 40");
            assert_eq!(sink.stats().delay_shortened, 0);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn o3_a_fraction_of_a_timers_tick_is_not_cut_short_either() {
    let session = open().await;
    let mut sink = durable("d").on(&session).await;
    publish(&session, "a", 0).await.unwrap();
    sink.take().unwrap().after(Outcome::Nacked, Duration::from_micros(1_500)).await;
    advance(millis(1)).await;
    assert!(sink.take().is_none());
    let begun = Instant::now();
    sink.next().await;
    assert!(begun.elapsed() >= Duration::from_micros(500));
}

#[tokio::test(start_paused = true)]
async fn row_39_others_flow_while_one_is_held_back() {
    let session = open().await;
    let mut sink = durable("d").on(&session).await;
    for id in 0..3 {
        publish(&session, "a", id).await.unwrap();
    }
    sink.take().unwrap().after(Outcome::Nacked, millis(500)).await;
    sink.next().await.settle(Outcome::Acked).await.unwrap();
    publish(&session, "a", 3).await.unwrap();
    sleep(millis(600)).await;
    assert_eq!(sink.drain(), [("2", 1), ("3", 1), ("0", 2)].map(|(id, attempt)| (id.to_owned(), attempt)));
}

#[tokio::test(start_paused = true)]
async fn delays_end_in_their_own_order_and_a_source_that_sleeps_hears_of_an_earlier_one() {
    let session = open().await;
    let mut sink = durable("d").on(&session).await;
    for id in 0..4 {
        publish(&session, "a", id).await.unwrap();
    }
    let taken: Vec<_> = std::iter::from_fn(|| sink.take()).collect();
    let begun = Instant::now();
    let reader = tokio::spawn(async move {
        let mut seen = Vec::new();
        for _ in 0..4 {
            let taken = sink.next().await;
            seen.push((taken.id.clone(), begun.elapsed().as_millis()));
            taken.settle(Outcome::Acked).await.unwrap();
        }
        seen
    });
    for (taken, delay) in taken.into_iter().zip([400, 100, 300, 100]) {
        tokio::task::yield_now().await;
        taken.after(Outcome::Nacked, millis(delay)).await;
    }
    let seen = soon(reader).await.unwrap();
    let expected = [("1", 100), ("3", 100), ("2", 300), ("0", 400)];
    for ((id, at), (expected, due)) in seen.iter().zip(expected) {
        assert!(id == expected && (due..=due + 1).contains(at), "{seen:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_delay_outlives_its_source_and_is_kept_for_the_next_one() {
    let session = open().await;
    let mut first = durable("d").on(&session).await;
    publish(&session, "a", 0).await.unwrap();
    first.take().unwrap().after(Outcome::Nacked, millis(500)).await;
    assert_eq!(counts(first.retire(RetireReason::Restarting).await), [2, 1, 0, 0]);
    advance(millis(200)).await;
    let mut next = durable("d").on(&session).await;
    assert!(next.take().is_none());
    let begun = Instant::now();
    assert_eq!(next.next().await.attempt, 2);
    assert!(begun.elapsed() >= millis(300) && begun.elapsed() <= millis(302), "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn row_41_there_is_no_longest_delay() {
    let session = open().await;
    let mut sink = durable("d").on(&session).await;
    for id in 0..2 {
        publish(&session, "a", id).await.unwrap();
    }
    sink.take().unwrap().after(Outcome::Nacked, Duration::MAX).await;
    sink.take().unwrap().after(Outcome::Nacked, Duration::from_secs(86_400 * 1_000)).await;
    let begun = Instant::now();
    let taken = sink.next_patiently().await;
    assert_eq!(taken.id, "1");
    assert!(begun.elapsed() >= Duration::from_secs(86_400 * 1_000));
    assert_eq!((sink.counts(), sink.stats().delay_shortened), ([4, 1, 0, 0], 0));
}
