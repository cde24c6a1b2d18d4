//! Several handlers side by side on one queue.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use tramline::{
    AtMostOnce, Delivery, Publisher,
    contract::Outcome,
    subject,
    subscription::{Extract, Judgement, Rejection},
};

use crate::support::{Door, balanced, builder, by_hand, event, many, name, seconds, settle, until};

#[tokio::test(start_paused = true)]
async fn b7_n_messages_are_handled_side_by_side_and_never_more() {
    for concurrency in [1, 2, 7, 100] {
        let (door, inside, most) = (Door::closed(), Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let handler = {
            let (door, inside, most) = (door.clone(), inside.clone(), most.clone());
            move |_: Delivery<AtMostOnce>| {
                let (door, inside, most) = (door.clone(), inside.clone(), most.clone());
                async move {
                    most.fetch_max(inside.fetch_add(1, SeqCst) + 1, SeqCst);
                    door.pass().await;
                    inside.fetch_sub(1, SeqCst);
                }
            }
        };
        let bus = builder()
            .at_most_once(name("one"))
            .subject(subject!("a"))
            .concurrency(many(concurrency))
            .handle(handler)
            .build()
            .unwrap()
            .start()
            .await
            .unwrap();
        for id in 0..200 {
            bus.publish(&subject!("a"), event(id)).await.unwrap();
        }
        until("all hands are full", || inside.load(SeqCst) == concurrency).await;
        settle().await;
        assert_eq!(bus.stats("one").unwrap().in_hand, concurrency as u64);
        // One at a time: each hand that becomes free takes the next.
        for handled in 1..=50 {
            door.admit(1);
            until("the next is taken", || bus.stats("one").unwrap().delivered == handled).await;
            until("the hand is full again", || bus.stats("one").unwrap().in_hand == concurrency as u64).await;
        }
        door.admit(200);
        until("all are handled", || bus.stats("one").unwrap().delivered == 200).await;
        assert_eq!(most.load(SeqCst), concurrency);
        let stats = bus.stop(seconds(1)).await.bus.stats("one").unwrap();
        assert_eq!(stats.in_hand, 0);
        balanced(&stats);
    }
}

#[tokio::test(start_paused = true)]
async fn b7_a_sleeping_reader_is_woken_for_each_single_message() {
    let bus = builder()
        .at_most_once(name("one"))
        .subject(subject!("a"))
        .concurrency(many(5))
        .handle(async |_| {})
        .build()
        .unwrap()
        .start()
        .await
        .unwrap();
    for id in 0..300 {
        settle().await;
        bus.publish(&subject!("a"), event(id)).await.unwrap();
        until("it is handled", || bus.stats("one").unwrap().delivered == id + 1).await;
    }
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn b7_a_wake_up_is_not_spent_on_a_reader_that_handles() {
    // Wakers of a handler's past wake its reader while it waits for the next delivery, and while it handles one.
    let wakers = Arc::new(Mutex::new(Vec::<std::task::Waker>::new()));
    let doors = Arc::new(Mutex::new(Vec::<Door>::new()));
    let handler = {
        let (wakers, doors) = (wakers.clone(), doors.clone());
        move |_: Delivery<AtMostOnce>| {
            let (wakers, door) = (wakers.clone(), Door::closed());
            doors.lock().unwrap().push(door.clone());
            async move {
                std::future::poll_fn(|cx| {
                    wakers.lock().unwrap().push(cx.waker().clone());
                    std::task::Poll::Ready(())
                })
                .await;
                door.pass().await;
            }
        }
    };
    let bus = builder()
        .at_most_once(name("one"))
        .subject(subject!("a"))
        .concurrency(many(3))
        .handle(handler)
        .build()
        .unwrap()
        .start()
        .await
        .unwrap();
    let mut sent = 0;
    for _ in 0..100 {
        for _ in 0..3 {
            bus.publish(&subject!("a"), event(sent)).await.unwrap();
            sent += 1;
            for waker in wakers.lock().unwrap().iter() {
                waker.wake_by_ref();
            }
        }
        until("three have been entered", || doors.lock().unwrap().len() == 3).await;
        wakers.lock().unwrap().drain(..).for_each(std::task::Waker::wake);
        doors.lock().unwrap().drain(..).for_each(|door| door.admit(1));
        until("all are handled", || bus.stats("one").unwrap().delivered == sent).await;
    }
    balanced(&bus.stop(seconds(1)).await.bus.stats("one").unwrap());
}

#[tokio::test(start_paused = true)]
async fn an_always_ready_handler_that_feeds_itself_starves_nobody_on_its_thread() {
    for concurrency in [1, 4] {
        let handler = by_hand(name("loop"), subject!("a"), |parts| {
            Box::pin(async move {
                let publisher = <Publisher as Extract<'_, _, AtMostOnce>>::extract(&parts)?;
                publisher.publish(&subject!("a"), parts.event().clone()).await.map_err(Rejection::new)?;
                Ok(Judgement::new(Outcome::Acked))
            })
        })
        .with(|settings| settings.concurrency(many(concurrency)));
        let bus = builder().subscribe(handler).build().unwrap().start().await.unwrap();
        bus.publish(&subject!("a"), event(0)).await.unwrap();
        for _ in 0..1_000 {
            tokio::task::yield_now().await;
        }
        assert!(bus.stats("loop").unwrap().delivered > 100);
        let stopped = bus.stop(seconds(1)).await;
        assert!(stopped.report.is_clean(), "{}", stopped.report);
        balanced(&stopped.bus.stats("loop").unwrap());
    }
}
