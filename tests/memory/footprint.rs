//! What a session costs in memory: nothing per message, and the bound for a stalled subscription.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]
#![allow(unsafe_code, reason = "a counting allocator cannot be written without")]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

use futures_util::{FutureExt, StreamExt};
use tramline::contract::Session;

#[path = "support.rs"]
#[allow(dead_code, reason = "shared with the other tests")]
mod support;

use support::*;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: everything is the system allocator's; the counter neither allocates nor panics.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: the caller's.
        unsafe { System.dealloc(ptr, layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's.
        unsafe { System.realloc(ptr, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[tokio::test]
async fn neither_a_publish_nor_a_delivery_allocates() {
    let session = open().await;
    let mut sinks = vec![
        sub("a.b").bound(128).fails().on(&session).await,
        sub("a.*").bound(128).fails().on(&session).await,
        sub("a.>").bound(128).sheds_oldest().on(&session).await,
        sub(">").bound(128).on(&session).await,
    ];
    for _ in 0..3 {
        sinks.push(sub("a.*").group("g").bound(128).on(&session).await);
    }
    let (literal, wild) = (subject("a.b"), subject("a.c"));
    let event = event("x");
    let mut round = async |waits: bool| {
        for _ in 0..60 {
            session.publish(&literal, event.clone()).await.unwrap();
            session.publish(&wild, event.clone()).await.unwrap();
            if waits {
                sinks.iter_mut().for_each(|sink| while let Some(Some(_)) = sink.deliveries.next().now_or_never() {});
            }
        }
        sinks.iter_mut().for_each(|sink| while let Some(Some(_)) = sink.deliveries.next().now_or_never() {});
    };
    // Queues grow to what they hold at most, once.
    for waits in [false, true, false, true, false] {
        tokio::task::unconstrained(round(waits)).await;
    }
    let before = ALLOCATIONS.get();
    for waits in [false, true, false, true] {
        tokio::task::unconstrained(round(waits)).await;
    }
    assert_eq!(ALLOCATIONS.get() - before, 0);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_flooded_stalled_subscription_holds_its_bound_and_no_more() {
    fn resident() -> u64 {
        let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
        statm.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 4096
    }

    for policy in [sub("a").sheds_newest(), sub("a").sheds_oldest(), sub("a").fails()] {
        let session = open().await;
        let stalled = policy.bound(256).on(&session).await;
        let a = subject("a");
        let before = resident();
        for id in 0..1_000_000_u32 {
            let event = event(id).to_builder().binary("x/y", vec![7_u8; 1024]).build().unwrap();
            let _ = session.publish(&a, event).await;
        }
        let grown = resident().saturating_sub(before);
        println!("{:?}: grown by {} KiB after 1,000,000 events of 1 KiB", stalled.stats(), grown / 1024);
        assert!(grown < 4 << 20, "grown by {grown} bytes");
        assert_eq!(stalled.stats().pending, 256);
    }
}
