//! At least once at the session: settlement, attempts, shared identities, retire and close (rows 24 to 34, 51; B4, B8).

use tramline::contract::{Outcome, PublishError, RetireReason, Session, SubscribeError};

use crate::{owed::*, support::*};

#[tokio::test]
async fn row_24_what_is_acknowledged_is_gone() {
    let session = open().await;
    let mut sink = durable("d").on(&session).await;
    publish(&session, "a", 0).await.unwrap();
    sink.take().unwrap().settle(Outcome::Acked).await.unwrap();
    assert!(sink.take().is_none());
    assert_eq!(sink.counts(), [1, 0, 0, 0]);
}

#[tokio::test]
async fn rows_25_to_27_what_is_declined_or_not_known_comes_back_behind_what_is_queued_with_the_next_attempt() {
    for outcome in [Outcome::Nacked, Outcome::Silent] {
        let session = open().await;
        let mut sink = durable("d").on(&session).await;
        publish(&session, "a", 0).await.unwrap();
        publish(&session, "a", 1).await.unwrap();
        sink.take().unwrap().settle(outcome).await.unwrap();
        assert_eq!(sink.counts(), [3, 2, 0, 0], "a message that comes back is a new offer");
        assert_eq!(sink.drain(), [("1".to_owned(), 1), ("0".to_owned(), 2)]);
    }
}

#[tokio::test]
async fn row_28_each_message_is_settled_by_itself() {
    let session = open().await;
    let mut sink = durable("d").pattern(">").on(&session).await;
    for (to, id) in [("a", 0), ("b", 1), ("a", 2)] {
        publish(&session, to, id).await.unwrap();
    }
    let [first, second, third] = [(); 3].map(|()| sink.take().unwrap());
    second.settle(Outcome::Acked).await.unwrap();
    third.settle(Outcome::Nacked).await.unwrap();
    first.settle(Outcome::Nacked).await.unwrap();
    assert_eq!(sink.drain(), [("2".to_owned(), 2), ("0".to_owned(), 2)]);
}

#[tokio::test]
async fn row_29_what_is_returned_is_offered_again_with_its_attempt_also_when_that_was_the_last() {
    let session = open().await;
    let mut sink = durable("d").max_deliver(1).on(&session).await;
    publish(&session, "a", 0).await.unwrap();
    for _ in 0..5 {
        let taken = sink.take().unwrap();
        assert_eq!(taken.attempt, 1);
        taken.settle(Outcome::Returned).await.unwrap();
    }
    assert_eq!(sink.counts(), [6, 1, 0, 0]);
    sink.take().unwrap().settle(Outcome::Nacked).await.unwrap();
    assert!(sink.take().is_none());
    assert_eq!(sink.stats().exhausted, 1);
}

#[tokio::test]
async fn row_30_a_settlement_after_retire_or_close_is_refused_promptly() {
    for outcome in [Outcome::Acked, Outcome::Nacked, Outcome::Silent, Outcome::Returned] {
        let session = open().await;
        let mut sink = durable("d").on(&session).await;
        publish(&session, "a", 0).await.unwrap();
        publish(&session, "a", 1).await.unwrap();
        let [retired, closed] = [(); 2].map(|()| sink.take().unwrap());
        sink.retire(RetireReason::Restarting).await;
        let refused = is_ready(retired.settle(outcome)).unwrap_err();
        assert!(std::error::Error::source(&refused).unwrap().to_string().contains("retired"), "{refused:?}");
        session.close().await.unwrap();
        is_ready(closed.settle(outcome)).unwrap_err();
    }
}

#[tokio::test]
async fn row_31_an_old_token_never_settles_a_new_attempt() {
    let session = open().await;
    let mut first = durable("d").on(&session).await;
    publish(&session, "a", 0).await.unwrap();
    let stale = first.take().unwrap();
    let mut second = durable("d").on(&session).await;
    first.retire(RetireReason::Restarting).await;
    let again = second.take().unwrap();
    assert_eq!((again.id.as_str(), again.attempt), ("0", 1), "T2: nobody judged it");
    stale.settle(Outcome::Acked).await.unwrap_err();
    again.settle(Outcome::Nacked).await.unwrap();
    assert_eq!(second.drain(), [("0".to_owned(), 2)]);
}

#[tokio::test]
async fn row_32_a_message_has_max_deliver_attempts_and_then_there_is_silence() {
    let session = open().await;
    let mut sink = durable("d").max_deliver(3).on(&session).await;
    publish(&session, "a", 0).await.unwrap();
    for attempt in 1..=3 {
        let taken = sink.take().unwrap();
        assert_eq!((taken.attempt, sink.stats().exhausted), (attempt, 0));
        taken.settle(Outcome::Silent).await.unwrap();
    }
    assert!(sink.take().is_none());
    assert_eq!((sink.counts(), sink.stats().exhausted), ([3, 0, 0, 0], 1));
}

#[tokio::test]
async fn row_33_two_sources_of_one_identity_share_its_queue_and_the_attempts_of_a_message() {
    let session = open().await;
    let mut pair = [durable("d").max_deliver(4).on(&session).await, durable("d").max_deliver(4).on(&session).await];
    publish(&session, "a", 0).await.unwrap();
    for attempt in 1..=4 {
        let taken = pair[attempt as usize % 2].take().unwrap();
        assert_eq!(taken.attempt, attempt);
        assert!(pair.iter_mut().all(|sink| sink.take().is_none()), "N11: nobody else has it");
        taken.settle(Outcome::Nacked).await.unwrap();
    }
    assert!(pair.iter_mut().all(|sink| sink.take().is_none()));
    assert_eq!(pair.map(|sink| sink.stats().exhausted).iter().sum::<u64>(), 1);
}

#[tokio::test]
async fn row_34_the_backlog_goes_to_the_next_source_of_the_identity() {
    for reason in [Some(RetireReason::Restarting), Some(RetireReason::Stopping), None] {
        let session = open().await;
        let mut first = durable("d").on(&session).await;
        for id in 0..3 {
            publish(&session, "a", id).await.unwrap();
        }
        let in_hand = first.take().unwrap();
        match reason {
            Some(reason) => {
                let last = first.retire(reason).await;
                assert_eq!(counts(last), [3, 2, 0, 0], "what is in hand was handed over");
                assert!(first.has_ended());
                publish(&session, "a", 3).await.unwrap();
                assert_eq!(counts(first.retire(reason).await), [3, 2, 0, 0], "repeated, it is the same");
            }
            None => {
                // Dropped without a retire.
                drop(first);
                publish(&session, "a", 3).await.unwrap();
            }
        }
        let mut next = durable("d").on(&session).await;
        assert_eq!(next.counts(), [4, 4, 0, 0], "offered again, all of it");
        assert_eq!(next.drain(), ["1", "2", "0", "3"].map(|id| (id.to_owned(), 1)));
        drop(in_hand);
        assert_eq!(next.stats().pending, 4, "it had come back already");
    }
}

#[tokio::test]
async fn row_51_a_settler_that_is_dropped_gives_its_message_back_and_so_does_a_settlement_that_is_dropped() {
    let session = open().await;
    let mut sink = durable("d").max_deliver(1).on(&session).await;
    publish(&session, "a", 0).await.unwrap();
    drop(sink.take().unwrap());
    drop(sink.take().unwrap().settle(Outcome::Acked));
    let taken = sink.take().unwrap();
    assert_eq!(taken.attempt, 1);
    taken.settle(Outcome::Acked).await.unwrap();
    assert!(sink.take().is_none());
}

#[tokio::test]
async fn t4_a_settler_outlives_its_session_and_holds_nothing() {
    let session = open().await;
    let mut sink = durable("d").on(&session).await;
    publish(&session, "a", 0).await.unwrap();
    let taken = sink.take().unwrap();
    drop((session, sink));
    taken.settle(Outcome::Acked).await.unwrap_err();
}

#[tokio::test]
async fn v5_an_identity_that_is_given_up_leaves_the_routing_and_what_it_was_owed_is_pending_in_its_last_reading() {
    let session = open().await;
    let mut sink = durable("d").bound(3).on(&session).await;
    for id in 0..3 {
        publish(&session, "a", id).await.unwrap();
    }
    let taken = sink.take().unwrap();
    assert!(publish(&session, "a", 3).await.is_err());
    assert_eq!(counts(sink.retire(RetireReason::GivenUp).await), [3, 2, 1, 0]);
    publish(&session, "a", 4).await.unwrap();
    taken.settle(Outcome::Acked).await.unwrap_err();
    let mut next = durable("d").bound(1).pattern("*").on(&session).await;
    assert_eq!(next.counts(), [0; 4], "a new identity, of another pattern and bound");
    publish(&session, "b", 5).await.unwrap();
    assert_eq!(next.drain(), [("5".to_owned(), 1)]);
}

#[tokio::test]
async fn n7_the_identity_is_given_up_with_its_last_source_only() {
    let session = open().await;
    let mut eldest = durable("d").on(&session).await;
    let mut sibling = durable("d").on(&session).await;
    for id in 0..3 {
        publish(&session, "a", id).await.unwrap();
    }
    let held = eldest.take().unwrap();
    assert_eq!((eldest.counts(), sibling.counts()), ([3, 2, 0, 0], [0; 4]), "the eldest has the backlog");
    assert_eq!(counts(eldest.retire(RetireReason::GivenUp).await), [1, 0, 0, 0], "it is its sibling's now");
    assert_eq!(sibling.counts(), [3, 3, 0, 0]);
    assert_eq!(sibling.drain(), ["1", "2", "0"].map(|id| (id.to_owned(), 1)));
    drop(held);
    assert_eq!(sibling.stats().pending, 3, "all that was drained came back");
    assert_eq!(counts(sibling.retire(RetireReason::GivenUp).await), [6, 3, 0, 0]);
}

#[tokio::test]
async fn n4_a_close_ends_every_source_and_the_backlog_is_pending_once() {
    let session = open().await;
    let mut sinks = [durable("d").on(&session).await, durable("d").on(&session).await, durable("e").on(&session).await];
    for id in 0..3 {
        publish(&session, "a", id).await.unwrap();
    }
    let in_hand = sinks[1].take().unwrap();
    session.close().await.unwrap();
    in_hand.settle(Outcome::Acked).await.unwrap_err();
    assert!(sinks.iter_mut().all(Owing::has_ended));
    let [one, two, three] = sinks;
    assert_eq!(counts(one.retire(RetireReason::Stopping).await), [2, 2, 0, 0]);
    assert_eq!(counts(two.retire(RetireReason::Stopping).await), [1, 0, 0, 0]);
    assert_eq!(counts(three.retire(RetireReason::Stopping).await), [3, 3, 0, 0]);
    assert!(matches!(durable("d").try_on(&session).await, Err(SubscribeError::Closed)));
    assert!(matches!(publish(&session, "a", 9).await, Err(PublishError::Closed)));
}

#[tokio::test]
async fn i4_an_identity_is_not_reopened_with_another_pattern_max_deliver_or_bound() {
    let session = open().await;
    let _sink = durable("d").on(&session).await;
    for (other, field, existing, asked) in [
        (durable("d").pattern("b"), "pattern", "a", "b"),
        (durable("d").max_deliver(7), "max_deliver", "5", "7"),
        (durable("d").bound(8), "bound", "256", "8"),
    ] {
        let refused = other.try_on(&session).await.err().unwrap();
        let SubscribeError::Reopened { durable, field: named, existing: was, asked: is } = &refused else {
            panic!("{refused:?}")
        };
        assert_eq!((durable.as_str(), *named, was.as_str(), is.as_str()), ("d", field, existing, asked));
    }
    durable("d").named("renamed").on(&session).await;
}

#[tokio::test]
async fn d12_two_names_get_two_copies_and_each_is_its_own_debt() {
    let session = open().await;
    let mut one = durable("one").on(&session).await;
    let mut two = durable("two").on(&session).await;
    publish(&session, "a", 0).await.unwrap();
    one.take().unwrap().settle(Outcome::Acked).await.unwrap();
    two.take().unwrap().settle(Outcome::Nacked).await.unwrap();
    assert_eq!((one.drain(), two.drain()), (vec![], vec![("0".to_owned(), 2)]));
}

#[tokio::test]
async fn b4_the_bound_holds_what_is_queued_in_hand_and_coming_back() {
    let session = open().await;
    let mut sink = durable("d").bound(2).on(&session).await;
    publish(&session, "a", 0).await.unwrap();
    publish(&session, "a", 1).await.unwrap();
    let [first, second] = [(); 2].map(|()| sink.take().unwrap());
    assert!(is_full(&publish(&session, "a", 2).await, "d"), "both are in hand");
    first.settle(Outcome::Nacked).await.unwrap();
    assert!(is_full(&publish(&session, "a", 2).await, "d"), "one is queued again");
    second.settle(Outcome::Acked).await.unwrap();
    publish(&session, "a", 2).await.unwrap();
    assert_eq!(sink.counts(), [4, 2, 2, 0]);
}

#[tokio::test]
async fn b8_a_publish_is_all_or_nothing_towards_both_modes() {
    for owed_first in [true, false] {
        let session = open().await;
        let fails = || sub("*").named("fails").bound(2).fails();
        let owes = || durable("d").bound(2);
        let (mut owing, mut failing) = if owed_first {
            let owing = owes().on(&session).await;
            (owing, fails().on(&session).await)
        } else {
            let failing = fails().on(&session).await;
            (owes().on(&session).await, failing)
        };
        let mut sheds = sub(">").bound(9).on(&session).await;
        publish(&session, "a", 0).await.unwrap();
        publish(&session, "b", 1).await.unwrap();
        assert!(is_full(&publish(&session, "a", 2).await, "fails"));
        assert_eq!((owing.counts(), sheds.counts()), ([1, 1, 0, 0], [2, 2, 0, 0]), "nobody got it");
        failing.drain();
        publish(&session, "a", 3).await.unwrap();
        failing.drain();
        assert!(is_full(&publish(&session, "a", 4).await, "d"), "without a named policy too");
        assert_eq!((failing.counts(), sheds.counts()), ([3, 0, 1, 0], [3, 3, 0, 0]), "nobody got it");
        assert_eq!(owing.drain().len(), 2);
        assert_eq!(sheds.drain(), ["0", "1", "3"]);
    }
}

#[tokio::test]
async fn b3_newcomers_refused_between_two_sources_are_the_next_ones() {
    let session = open().await;
    let sink = durable("d").bound(1).on(&session).await;
    publish(&session, "a", 0).await.unwrap();
    assert_eq!(counts(sink.retire(RetireReason::Restarting).await), [1, 1, 0, 0]);
    assert!(is_full(&publish(&session, "a", 1).await, "d"));
    assert_eq!(durable("d").bound(1).on(&session).await.counts(), [1, 1, 1, 0]);
}

#[tokio::test]
async fn b9_room_comes_with_an_ack_an_exhaustion_and_a_giving_up_and_with_nothing_else() {
    let session = open().await;
    let to = subject("a");
    let mut sink = durable("d").bound(1).max_deliver(2).on(&session).await;
    publish(&session, "a", 0).await.unwrap();
    for end in [Outcome::Acked, Outcome::Nacked] {
        let newcomer = event("newcomer");
        let mut waiting = Box::pin(publish_when_room(&session, &to, &newcomer));
        assert!(is_pending(waiting.as_mut()));
        drop(sink.take().unwrap());
        sink.take().unwrap().settle(Outcome::Nacked).await.unwrap();
        assert!(is_pending(waiting.as_mut()));
        sink.take().unwrap().settle(end).await.unwrap();
        soon(waiting).await.unwrap();
    }
    let newcomer = event("newcomer");
    let mut waiting = Box::pin(publish_when_room(&session, &to, &newcomer));
    assert!(is_pending(waiting.as_mut()));
    let last = sink.retire(RetireReason::GivenUp).await;
    soon(waiting).await.unwrap();
    assert_eq!((last.refused, last.exhausted), (0, 1), "waiting is no refusal");
}

#[tokio::test]
async fn g1_first_attempts_keep_the_order_of_publication_beside_those_that_come_back() {
    let session = open().await;
    let mut sink = durable("d").max_deliver(3).on(&session).await;
    let mut firsts: Vec<u32> = Vec::new();
    for id in 0..100 {
        publish(&session, "a", id).await.unwrap();
        if id % 2 == 1 {
            let taken = sink.take().unwrap();
            let number = taken.id.parse().unwrap();
            if !firsts.contains(&number) {
                firsts.push(number);
            }
            taken.settle(if id % 3 == 0 { Outcome::Nacked } else { Outcome::Returned }).await.unwrap();
        }
    }
    assert!(!firsts.is_empty() && firsts.is_sorted(), "{firsts:?}");
}

#[tokio::test]
async fn row_17_a_source_that_sleeps_is_woken_by_what_a_sibling_leaves_behind() {
    let session = open().await;
    let mut wedged = durable("d").on(&session).await;
    let mut idle = durable("d").on(&session).await;
    publish(&session, "a", 0).await.unwrap();
    let held = wedged.take().unwrap();
    let waiting = tokio::spawn(async move { idle.next().await.id });
    tokio::task::yield_now().await;
    wedged.retire(RetireReason::Restarting).await;
    assert_eq!(soon(waiting).await.unwrap(), "0");
    drop(held);
}

#[tokio::test]
async fn a_named_policy_and_none_are_one_here() {
    let session = open().await;
    let mut spec = durable("d").bound(1).spec();
    spec.fail_when_full = true;
    let _named = Owing::open(&session, spec).await.unwrap();
    let _unnamed = durable("d").bound(1).on(&session).await;
    publish(&session, "a", 0).await.unwrap();
    assert!(is_full(&publish(&session, "a", 1).await, "d"));
}
