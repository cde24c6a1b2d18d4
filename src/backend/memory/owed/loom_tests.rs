//! Every interleaving of a publisher, two sources, settlements and a retire, on small schedules.

use std::{
    future::poll_fn,
    num::{NonZeroU32, NonZeroUsize},
    sync::Arc,
    task::{Context, Poll, Waker},
};

use loom::{future::block_on, thread};

use super::{Admission, Found, Message, Owed, Seat, Token};
use crate::{
    contract::{Outcome, RetireReason, Settlement},
    event::Event,
};

fn model(check: impl Fn() + Send + Sync + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(check);
}

fn owed(bound: usize, max_deliver: u32) -> Arc<Owed> {
    let (bound, max_deliver) = (NonZeroUsize::new(bound).unwrap(), NonZeroU32::new(max_deliver).unwrap());
    Arc::new(Owed::new(crate::name!("owed"), bound, max_deliver))
}

fn open(owed: &Owed) -> Arc<Seat> {
    owed.open(crate::name!("owed"))
}

/// Whether the message was accepted.
fn publish(owed: &Owed, id: u32) -> bool {
    let event = Event::builder(id.to_string(), crate::source!("urn:loom"), "loom").build().unwrap();
    match owed.admit() {
        Admission::Room(slot) => {
            slot.put(Message { subject: crate::subject!("a"), event }).for_each(Waker::wake);
            true
        }
        Admission::Full(full) => {
            full.refuse();
            false
        }
        Admission::Gone => false,
    }
}

fn poll(owed: &Owed, seat: &Seat, cx: &Context<'_>) -> Poll<Option<(u32, Token)>> {
    match owed.take(seat, cx) {
        Found::Offer(message, attempt, token) => {
            let _ = message;
            Poll::Ready(Some((attempt.get(), token)))
        }
        Found::Nothing(_) => Poll::Pending,
        Found::Ended => Poll::Ready(None),
    }
}

fn next(owed: &Owed, seat: &Seat) -> Option<(u32, Token)> {
    block_on(poll_fn(|cx| poll(owed, seat, cx)))
}

fn try_next(owed: &Owed, seat: &Seat) -> Option<(u32, Token)> {
    match poll(owed, seat, &Context::from_waker(Waker::noop())) {
        Poll::Ready(found) => found,
        Poll::Pending => None,
    }
}

fn settle(owed: &Owed, token: Token, outcome: Outcome) -> bool {
    owed.settle(token, Settlement::new(outcome)).is_ok()
}

fn retire(owed: &Owed, seat: &Seat, reason: RetireReason) -> crate::contract::SourceStats {
    let (last, _, after) = owed.retire(seat, reason);
    after.see_to();
    last
}

#[test]
fn a_source_that_sleeps_is_woken_by_a_publish_and_by_what_comes_back() {
    model(|| {
        let owed = owed(2, 2);
        let seat = open(&owed);
        let publisher = {
            let owed = Arc::clone(&owed);
            thread::spawn(move || assert!(publish(&owed, 0)))
        };
        let (attempt, token) = next(&owed, &seat).unwrap();
        assert_eq!(attempt, 1);
        let decliner = {
            let owed = Arc::clone(&owed);
            thread::spawn(move || assert!(settle(&owed, token, Outcome::Nacked)))
        };
        let (attempt, token) = next(&owed, &seat).unwrap();
        assert_eq!(attempt, 2);
        assert!(settle(&owed, token, Outcome::Acked));
        publisher.join().unwrap();
        decliner.join().unwrap();
        let stats = owed.stats(&seat);
        assert_eq!((stats.accepted, stats.pending, stats.exhausted), (2, 0, 0));
    });
}

#[test]
fn a_source_that_sleeps_is_woken_by_its_retire() {
    model(|| {
        let owed = owed(1, 1);
        let seat = open(&owed);
        let retirer = {
            let (owed, seat) = (Arc::clone(&owed), Arc::clone(&seat));
            thread::spawn(move || retire(&owed, &seat, RetireReason::Stopping))
        };
        assert!(next(&owed, &seat).is_none());
        assert_eq!(retirer.join().unwrap().accepted, 0);
    });
}

#[test]
fn a_settlement_beside_a_retire_is_done_or_refused_and_never_both() {
    for outcome in [Outcome::Acked, Outcome::Nacked] {
        model(move || {
            let owed = owed(2, 2);
            let (first, second) = (open(&owed), open(&owed));
            assert!(publish(&owed, 0));
            let (_, token) = try_next(&owed, &first).unwrap();
            let retirer = {
                let (owed, first) = (Arc::clone(&owed), Arc::clone(&first));
                thread::spawn(move || retire(&owed, &first, RetireReason::Restarting))
            };
            let settled = settle(&owed, token, outcome);
            assert_eq!(retirer.join().unwrap().handed_over(), 1);
            let again = try_next(&owed, &second).map(|(attempt, _)| attempt);
            let expected = match (settled, outcome) {
                (true, Outcome::Acked) => None,
                (true, _) => Some(2),
                (false, _) => Some(1),
            };
            assert_eq!(again, expected);
            assert!(!settle(&owed, token, Outcome::Acked), "its token is spent");
        });
    }
}

#[test]
fn two_sources_never_have_one_message_and_lose_none() {
    model(|| {
        let owed = owed(2, 1);
        let (first, second) = (open(&owed), open(&owed));
        let publisher = {
            let owed = Arc::clone(&owed);
            thread::spawn(move || u64::from(publish(&owed, 0)) + u64::from(publish(&owed, 1)))
        };
        let taker = {
            let (owed, second) = (Arc::clone(&owed), Arc::clone(&second));
            thread::spawn(move || u64::from(try_next(&owed, &second).is_some()))
        };
        let mine = u64::from(try_next(&owed, &first).is_some());
        let (published, theirs) = (publisher.join().unwrap(), taker.join().unwrap());
        let (one, two) = (owed.stats(&first), owed.stats(&second));
        assert_eq!((one.handed_over(), two.handed_over(), two.pending), (mine, theirs, 0));
        assert_eq!(one.accepted + two.accepted, published);
        assert_eq!(one.pending, published - mine - theirs);
    });
}

#[test]
fn who_waits_for_room_is_woken_by_an_ack_or_by_a_giving_up() {
    for given_up in [false, true] {
        model(move || {
            let owed = owed(1, 1);
            let seat = open(&owed);
            assert!(publish(&owed, 0) && !publish(&owed, 1));
            let (_, token) = try_next(&owed, &seat).unwrap();
            let other = {
                let (owed, seat) = (Arc::clone(&owed), Arc::clone(&seat));
                thread::spawn(move || {
                    if given_up {
                        retire(&owed, &seat, RetireReason::GivenUp);
                    } else {
                        assert!(settle(&owed, token, Outcome::Acked));
                    }
                })
            };
            let mut ticket = None;
            block_on(poll_fn(|cx| match owed.await_room(&mut ticket, cx.waker()) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }));
            assert_eq!(publish(&owed, 2), !given_up);
            other.join().unwrap();
        });
    }
}
