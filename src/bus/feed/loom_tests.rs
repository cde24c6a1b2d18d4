//! Every interleaving of a publisher and readers that take turns, on small schedules. A wake-up that is lost or spent on
//! a reader that does not poll leaves somebody asleep for ever, which loom reports as a deadlock.

use std::{
    collections::VecDeque,
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use futures_core::Stream;
use loom::{future::block_on, sync::Mutex, thread};

use super::Feed;

/// A queue that is read as a stream.
#[derive(Clone, Default)]
struct Items(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    queued: VecDeque<u32>,
    ended: bool,
    reader: Option<Waker>,
}

impl Items {
    fn change(&self, change: impl FnOnce(&mut Inner)) {
        let mut inner = self.0.lock().unwrap();
        change(&mut inner);
        let reader = inner.reader.take();
        drop(inner);
        if let Some(reader) = reader {
            reader.wake();
        }
    }

    fn push(&self, item: u32) {
        self.change(|inner| inner.queued.push_back(item));
    }

    fn end(&self) {
        self.change(|inner| inner.ended = true);
    }
}

impl Stream for Items {
    type Item = u32;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<u32>> {
        let mut inner = self.0.lock().unwrap();
        match inner.queued.pop_front() {
            Some(item) => Poll::Ready(Some(item)),
            None if inner.ended => Poll::Ready(None),
            None => {
                inner.reader = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

fn model(check: impl Fn() + Send + Sync + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(check);
}

fn two(items: &Items) -> [Feed<Items>; 2] {
    Feed::turns(items.clone(), 2).try_into().ok().expect("two")
}

fn next(feed: &mut Feed<Items>) -> Option<u32> {
    block_on(poll_fn(|cx| feed.poll_next(cx)))
}

#[test]
fn two_readers_that_take_one_each_are_both_woken() {
    model(|| {
        let items = Items::default();
        let [mut first, mut second] = two(&items);
        let other = thread::spawn(move || next(&mut second));
        let publisher = thread::spawn(move || {
            items.push(1);
            items.push(2);
        });
        let mine = next(&mut first);
        let mut got = [mine, other.join().unwrap()];
        got.sort_unstable();
        assert_eq!(got, [Some(1), Some(2)]);
        publisher.join().unwrap();
    });
}

#[test]
fn a_wake_up_is_not_spent_on_a_reader_that_handles() {
    model(|| {
        let items = Items::default();
        let [mut first, mut second] = two(&items);
        // It is seated, is polled once more without having been called, gets something, and never comes back.
        assert!(first.poll_next(&mut Context::from_waker(Waker::noop())).is_pending());
        let other = thread::spawn(move || next(&mut second));
        let publisher = {
            let items = items.clone();
            thread::spawn(move || items.push(1))
        };
        let mine = first.poll_next(&mut Context::from_waker(Waker::noop()));
        if mine.is_ready() {
            items.push(2);
            assert_eq!(other.join().unwrap(), Some(2));
        } else {
            // Whoever gives up its place for good is not to be called for it either.
            drop(publisher.join());
            let mine = first.poll_next(&mut Context::from_waker(Waker::noop()));
            if mine.is_ready() {
                items.push(2);
            }
            assert!(other.join().unwrap().is_some());
            return;
        }
        publisher.join().unwrap();
    });
}

#[test]
fn the_end_of_the_stream_reaches_all_readers() {
    model(|| {
        let items = Items::default();
        let [mut first, mut second] = two(&items);
        let other = thread::spawn(move || next(&mut second));
        let publisher = thread::spawn(move || items.end());
        assert_eq!(next(&mut first), None);
        assert_eq!(other.join().unwrap(), None);
        publisher.join().unwrap();
    });
}
