//! Every interleaving of a publisher, the receiver and whoever retires or waits, on small schedules.

use std::{
    future::poll_fn,
    num::NonZeroUsize,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use loom::{future::block_on, thread};

use super::{Admission, Message, Queue, Receiver, queue};
use crate::{contract::Overflow, event::Event};

fn model(check: impl Fn() + Send + Sync + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(check);
}

fn queue_of(bound: usize, overflow: Overflow) -> (Arc<Queue>, Receiver) {
    queue(crate::name!("queue"), NonZeroUsize::new(bound).unwrap(), overflow, ())
}

fn message(id: u32) -> Message {
    let event = Event::builder(id.to_string(), crate::source!("urn:loom"), "loom").build().unwrap();
    Message { subject: crate::subject!("a"), event }
}

fn id(message: &Message) -> u32 {
    message.event.id().parse().unwrap()
}

/// Whether the message was accepted.
fn publish(queue: &Queue, id: u32) -> bool {
    match queue.admit() {
        Admission::Room(slot) => {
            slot.put(message(id)).now();
            true
        }
        Admission::Full(full) => {
            let accepted = queue.overflow() == Overflow::ShedOldest;
            full.shed(message(id));
            accepted
        }
        Admission::Gone => false,
    }
}

/// What is there now, and whether the stream has ended.
fn drain(receiver: &mut Receiver) -> (Vec<u32>, bool) {
    let mut ids = Vec::new();
    loop {
        match receiver.poll_next(&Context::from_waker(Waker::noop())) {
            Poll::Ready(Some(message)) => ids.push(id(&message)),
            Poll::Ready(None) => return (ids, true),
            Poll::Pending => return (ids, false),
        }
    }
}

fn await_room(queue: &Queue) {
    let mut ticket = None;
    block_on(poll_fn(|cx| if queue.await_room(&mut ticket, cx.waker()) { Poll::Ready(()) } else { Poll::Pending }));
    if let Some(ticket) = ticket {
        queue.leave(ticket);
    }
}

#[test]
fn retire_counts_exactly_what_was_handed_over_beside_publish_and_receive() {
    for overflow in [Overflow::ShedNewest, Overflow::ShedOldest] {
        model(move || {
            let (queue, mut receiver) = queue_of(2, overflow);
            assert!(publish(&queue, 0));
            let publisher = {
                let queue = Arc::clone(&queue);
                thread::spawn(move || u64::from(publish(&queue, 1)) + u64::from(publish(&queue, 2)))
            };
            let retirer = {
                let queue = Arc::clone(&queue);
                thread::spawn(move || queue.retire())
            };
            let (ids, _) = drain(&mut receiver);
            let accepted = 1 + publisher.join().unwrap();
            let last = retirer.join().unwrap();
            let (after, ended) = drain(&mut receiver);

            assert!(ended && after.is_empty(), "nothing is handed over after a retire");
            assert_eq!(last.accepted, accepted);
            assert_eq!(last.handed_over(), ids.len() as u64);
            assert_eq!(last.accepted, ids.len() as u64 + last.pending + last.evicted, "L2");
            assert!(ids.is_sorted());
            assert_eq!(queue.retire(), last);
            assert_eq!(queue.stats(), last);
        });
    }
}

#[test]
fn a_snapshot_is_exact_beside_publish_and_receive() {
    model(|| {
        let (queue, mut receiver) = queue_of(2, Overflow::Fail);
        let publisher = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || publish(&queue, 0) && publish(&queue, 1))
        };
        let reader = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || [queue.stats(), queue.stats()])
        };
        let (before, _) = drain(&mut receiver);
        for stats in reader.join().unwrap() {
            assert_eq!(stats.accepted, stats.handed_over() + stats.pending);
            assert!(stats.pending <= 2 && stats.accepted <= 2);
        }
        assert!(publisher.join().unwrap());
        let (after, _) = drain(&mut receiver);
        assert_eq!([before, after].concat(), [0, 1]);
    });
}

#[test]
fn a_receiver_that_sleeps_is_woken_by_a_publish() {
    for overflow in [Overflow::ShedNewest, Overflow::ShedOldest] {
        model(move || {
            let (queue, mut receiver) = queue_of(2, overflow);
            let publisher = thread::spawn(move || {
                assert!(publish(&queue, 0));
                assert!(publish(&queue, 1));
            });
            for expected in 0..2 {
                let next = block_on(poll_fn(|cx| receiver.poll_next(cx)));
                assert_eq!(next.as_ref().map(id), Some(expected));
            }
            publisher.join().unwrap();
        });
    }
}

#[test]
fn a_receiver_that_sleeps_is_woken_by_a_retire() {
    model(|| {
        let (queue, mut receiver) = queue_of(1, Overflow::ShedNewest);
        let retirer = thread::spawn(move || queue.retire());
        assert!(block_on(poll_fn(|cx| receiver.poll_next(cx))).is_none());
        assert_eq!(retirer.join().unwrap().accepted, 0);
    });
}

#[test]
fn who_waits_for_room_is_woken_when_a_message_is_handed_over() {
    model(|| {
        let (queue, mut receiver) = queue_of(2, Overflow::Fail);
        assert!(publish(&queue, 0) && publish(&queue, 1));
        // The second is in the receiver's batch already, and still takes room.
        assert!(matches!(receiver.poll_next(&Context::from_waker(Waker::noop())), Poll::Ready(Some(_))));
        assert!(publish(&queue, 2) && !publish(&queue, 3));
        let reader = thread::spawn(move || drain(&mut receiver).0);
        await_room(&queue);
        assert!(publish(&queue, 4));
        assert!(reader.join().unwrap().starts_with(&[1, 2]));
    });
}

#[test]
fn all_who_wait_for_room_are_woken_and_who_leaves_takes_nobody_with_them() {
    model(|| {
        let (queue, mut receiver) = queue_of(1, Overflow::Fail);
        assert!(publish(&queue, 0));
        let impatient = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || {
                let mut ticket = None;
                if !queue.await_room(&mut ticket, Waker::noop()) {
                    queue.leave(ticket.expect("not ready, so registered"));
                }
            })
        };
        let reader = thread::spawn(move || drain(&mut receiver).0);
        await_room(&queue);
        impatient.join().unwrap();
        assert_eq!(reader.join().unwrap(), [0]);
    });
}

#[test]
fn who_waits_for_room_is_woken_by_a_retire() {
    model(|| {
        let (queue, receiver) = queue_of(1, Overflow::Fail);
        assert!(publish(&queue, 0));
        let retirer = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || queue.retire())
        };
        await_room(&queue);
        assert!(!publish(&queue, 1));
        assert_eq!(retirer.join().unwrap().pending, 1);
        drop(receiver);
    });
}

#[test]
fn shedding_the_oldest_beside_a_hand_over_loses_the_head_or_nothing() {
    model(|| {
        let (queue, mut receiver) = queue_of(1, Overflow::ShedOldest);
        assert!(publish(&queue, 0));
        let publisher = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || publish(&queue, 1) && publish(&queue, 2))
        };
        let (mut ids, _) = drain(&mut receiver);
        assert!(publisher.join().unwrap());
        let stats = queue.stats();
        assert!(stats.pending <= 1, "the bound holds");
        ids.extend(drain(&mut receiver).0);

        assert!(ids.is_sorted());
        assert_eq!(ids.last(), Some(&2), "the newest is kept");
        assert_eq!((stats.accepted, stats.refused), (3, 0));
        assert_eq!(3, ids.len() as u64 + stats.evicted);
    });
}

#[test]
fn the_bound_holds_beside_a_hand_over() {
    model(|| {
        let (queue, mut receiver) = queue_of(1, Overflow::Fail);
        let publishers: Vec<_> = [0, 1]
            .map(|n| {
                let queue = Arc::clone(&queue);
                thread::spawn(move || u64::from(publish(&queue, n)))
            })
            .into();
        let (ids, _) = drain(&mut receiver);
        let accepted: u64 = publishers.into_iter().map(|publisher| publisher.join().unwrap()).sum();
        let stats = queue.stats();
        assert!(stats.pending <= 1);
        assert_eq!((stats.accepted, stats.refused), (accepted, 2 - accepted));
        assert_eq!(stats.handed_over(), ids.len() as u64);
    });
}
