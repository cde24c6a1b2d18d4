//! Subscribing on a running bus.

use futures_util::FutureExt;
use tramline::{
    Bus, Running, ShedOldest,
    bus::{AttachError, ConsumerState},
    source, subject,
};

use crate::{
    backends::{Answer, Faulty, Modest},
    support::{balanced, by_hand, event, millis, name, seconds, settle, until},
};

async fn running(backend: Faulty) -> Bus<Faulty, Running> {
    Bus::builder(backend, source!("urn:example:test"))
        .at_most_once(name("first"))
        .subject(subject!("a"))
        .handle(async |_| {})
        .build()
        .unwrap()
        .start()
        .await
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn y9_a_subscription_attached_to_a_running_bus_is_supervised_and_there_after_a_restart() {
    let (backend, faults) = Faulty::new();
    let bus = running(backend).await;
    tokio::time::sleep(seconds(9)).await;
    bus.at_most_once(name("second")).subject(subject!("a")).handle(async |_| {}).await.expect("attached");
    let names: Vec<_> = bus.status().consumers.iter().map(|consumer| consumer.name.to_string()).collect();
    assert_eq!(names, ["first", "second"]);
    let consumers = faults.ids.lock().unwrap().iter().map(|(_, id)| id.consumer).collect::<Vec<_>>();
    assert_eq!(consumers, [0, 1], "N10");
    bus.publish(&subject!("a"), event(0)).await.unwrap();
    until("it is delivered", || bus.stats("second").unwrap().delivered == 1).await;
    assert_eq!(bus.stats("second").unwrap().generation, 1);
    assert_eq!(bus.stats("second").unwrap().unsubscribed_for, seconds(0), "Y11");

    let stopped = bus.stop(seconds(1)).await;
    assert!(stopped.report.is_clean(), "{}", stopped.report);
    let bus = stopped.bus.start().await.unwrap();
    bus.publish(&subject!("a"), event(1)).await.unwrap();
    until("it is delivered again", || bus.stats("second").unwrap().delivered == 2).await;
    let bus = bus.stop(seconds(1)).await.bus;
    balanced(&bus.stats("second").unwrap());
}

#[tokio::test(start_paused = true)]
async fn y9_a_refused_one_leaves_nothing_behind_and_its_name_is_free() {
    let (backend, faults) = Faulty::new();
    let bus = running(backend).await;
    faults.subscribe("second", Answer::Refused);
    let refused = bus.at_most_once(name("second")).subject(subject!("a")).handle(async |_| {}).await.unwrap_err();
    assert_eq!(refused.to_string(), "subscription `second` was not confirmed");
    assert!(matches!(refused, AttachError::Subscribe { .. }));
    assert!(bus.stats("second").is_none());
    assert_eq!((bus.status().consumers.len(), bus.ledger().subscriptions.len()), (1, 1));

    faults.subscribe("second", Answer::Fine);
    bus.at_most_once(name("second")).subject(subject!("a")).handle(async |_| {}).await.expect("its name is free");
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn y9_one_whose_backend_panics_leaves_nothing_behind() {
    let (backend, faults) = Faulty::new();
    let bus = running(backend).await;
    faults.subscribe("second", Answer::Panics);
    let refused = bus.at_most_once(name("second")).subject(subject!("a")).handle(async |_| {}).await.unwrap_err();
    assert_eq!(refused.to_string(), "the backend panicked while subscribing `second`");
    assert!(bus.stats("second").is_none());
    assert!(bus.stop(seconds(1)).await.report.is_clean());
}

#[tokio::test(start_paused = true)]
async fn c5b_a_name_that_is_taken_is_refused_on_a_running_bus_too() {
    let (backend, _) = Faulty::new();
    let bus = running(backend).await;
    let refused = bus.at_most_once(name("first")).subject(subject!("b")).handle(async |_| {}).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "subscription `first`: `name = first`: another subscription of this bus has this name: give each its own"
    );
    assert_eq!(bus.status().consumers.len(), 1);
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn c31_a_preferred_policy_that_is_not_offered_is_refused_on_a_running_bus() {
    let bus = Bus::builder(Modest, source!("urn:example:test")).build().unwrap().start().await.unwrap();
    let attaching = bus.at_most_once(name("one")).subject(subject!("a")).prefer(ShedOldest);
    let refused = attaching.handle(async |_| {}).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "subscription `one`: `overflow = prefer(ShedOldest)`: the backend does not offer it, and a running bus drops no setting: leave it out"
    );
    assert!(bus.dropped().is_empty() && bus.status().consumers.is_empty());
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn y9_one_that_is_on_its_way_when_stopping_begins_is_stopped_and_leaves_nothing() {
    let (backend, faults) = Faulty::new();
    let bus = running(backend).await;
    faults.subscribe("second", Answer::Never);
    let attaching = bus.at_most_once(name("second")).subject(subject!("a")).handle(async |_| {});
    settle().await;
    let stopped = bus.stop(seconds(1)).await;
    // Nothing of it may be started by a new activation, whether or not anybody has looked at the answer.
    assert_eq!(stopped.bus.status().consumers.len(), 1);
    faults.subscribe("second", Answer::Fine);
    let bus = stopped.bus.start().await.unwrap();
    assert!(matches!(attaching.await, Err(AttachError::Stopped)));
    assert_eq!(faults.opened("second"), 0);
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn y9_it_goes_on_when_its_future_is_dropped() {
    let (backend, faults) = Faulty::new();
    let bus = running(backend).await;
    drop(bus.at_most_once(name("second")).subject(subject!("a")).handle(async |_| {}));
    drop(bus.subscribe(by_hand(name("third"), subject!("a"), |_| Box::pin(std::future::pending()))));
    settle().await;
    assert_eq!((faults.opened("second"), faults.opened("third")), (1, 1));
    assert!(bus.status().consumers.iter().all(|consumer| consumer.state == ConsumerState::Running));
    bus.stop(millis(100)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn y9_attaching_beside_a_stop_either_is_there_or_leaves_nothing() {
    let (backend, _) = Faulty::new();
    let mut bus = running(backend).await;
    let mut there = 1;
    for round in 0..100 {
        let attaching = bus.at_most_once(name(&format!("n{round}"))).subject(subject!("b")).handle(async |_| {});
        let attaching = tokio::spawn(attaching);
        if round % 2 == 0 {
            tokio::task::yield_now().await;
        }
        bus = bus.stop(seconds(1)).await.bus.start().await.unwrap();
        match attaching.await.unwrap() {
            Ok(()) => there += 1,
            Err(error) => assert!(matches!(error, AttachError::Stopped), "{error}"),
        }
        assert_eq!(bus.status().consumers.len(), there);
        assert_eq!(bus.ledger().subscriptions.len(), there);
    }
    let stopped = bus.stop(seconds(1)).await;
    assert!(stopped.report.is_clean(), "{}", stopped.report);
}

#[tokio::test(start_paused = true)]
async fn y9_a_subscription_may_be_attached_by_a_thread_outside_of_the_runtime() {
    let (backend, _) = Faulty::new();
    let bus = running(backend).await;
    let (bus, attaching) = std::thread::spawn(move || {
        let attaching = bus.at_most_once(name("second")).subject(subject!("a")).handle(async |_| {});
        (bus, attaching)
    })
    .join()
    .unwrap();
    attaching.await.expect("attached");
    assert!(bus.handle().ready().now_or_never().is_some());
    bus.stop(seconds(1)).await;
}
