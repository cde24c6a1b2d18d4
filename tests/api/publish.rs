//! Publishing, and what the ledger says of it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use tramline::{AtMostOnce, Delivery, ShedOldest, pattern, subject};

use crate::support::{builder, event, many, name, until};

#[tokio::test]
async fn a_published_event_reaches_every_matching_subscription_once() {
    let seen = Arc::new(AtomicUsize::new(0));
    let count = |seen: &Arc<AtomicUsize>| {
        let seen = seen.clone();
        move |_: Delivery<AtMostOnce>| {
            seen.fetch_add(1, Relaxed);
            async {}
        }
    };
    let bus = builder()
        .at_most_once(name("one"))
        .subject(subject!("a.b"))
        .handle(count(&seen))
        .at_most_once(name("two"))
        .pattern(pattern!("a.*"))
        .handle(count(&seen))
        .build()
        .expect("valid")
        .start()
        .await
        .expect("starts");
    for id in 0..10 {
        bus.publish(&subject!("a.b"), event(id)).await.expect("taken");
    }
    until("both have got ten", || seen.load(Relaxed) == 20).await;
    let stopped = bus.stop(Duration::from_secs(1)).await;
    assert!(stopped.report.is_clean(), "{}", stopped.report);
    for stats in stopped.bus.ledger().subscriptions {
        assert_eq!((stats.offered, stats.delivered, stats.settlement.acked), (10, 10, 10), "{stats}");
        assert_eq!(stats.unaccounted(), 0, "L4: {stats}");
    }
}

#[tokio::test]
async fn b2_a_subscription_that_sheds_its_oldest_counts_what_it_evicts() {
    let bus = builder()
        .at_most_once(name("slow"))
        .subject(subject!("a"))
        .bound(many(4))
        .overflow(ShedOldest)
        .handle(|_| std::future::pending::<()>())
        .build()
        .expect("valid")
        .start()
        .await
        .expect("starts");
    for id in 0..10 {
        bus.publish(&subject!("a"), event(id)).await.expect("taken");
    }
    until("one is in hand", || bus.stats("slow").expect("known").in_hand == 1).await;
    let stopped = bus.stop(Duration::from_millis(100)).await;
    let stats = stopped.bus.stats("slow").expect("known");
    assert_eq!(stats.offered, 10);
    assert_eq!(stats.lost.shutdown, 1, "Y7: {stats}");
    assert_eq!(stats.unaccounted(), 0, "L4: {stats}");
    println!("{stats}");
}
