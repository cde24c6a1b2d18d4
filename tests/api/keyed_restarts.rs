//! Keyed concurrency over a restart of the consumer: the order of a key holds, also for what came back out of order.

use std::{
    num::NonZeroU32,
    sync::{Arc, Mutex},
};

use tramline::{AtLeastOnce, Bus, Delivery, DurableName, Immediate, KeyedBy, Pattern, Restart, source, subject};

use crate::{
    backends::Faulty,
    support::{balanced, event, many, name, seconds, settle},
};

#[tokio::test(start_paused = true)]
async fn g2_a_key_waits_for_what_came_back_behind_others_while_every_hand_was_busy() {
    let (backend, faults) = Faulty::new();
    let seen = Arc::<Mutex<Vec<String>>>::default();
    let handler = {
        let seen = seen.clone();
        move |delivery: Delivery<AtLeastOnce<Immediate>>| {
            let seen = seen.clone();
            async move {
                let id = delivery.event().id().to_owned();
                // Longer than a failed consumer's handlers may go on, and longer than a late message is waited for.
                match &*id {
                    "x1" => tokio::time::sleep(seconds(40)).await,
                    "y1" => tokio::time::sleep(seconds(60)).await,
                    _ => {}
                }
                seen.lock().unwrap().push(id);
                delivery.ack()
            }
        }
    };
    let bus = Bus::builder(backend, source!("urn:example:test"))
        .at_least_once(name("one"), DurableName::new("one").unwrap(), NonZeroU32::new(3).unwrap())
        .pattern(Pattern::new("*").unwrap())
        .concurrency(many(2))
        .allow_volatile()
        .keyed(KeyedBy::subject())
        .restart(Restart::new())
        .handle(handler);
    let bus = bus.build().unwrap().start().await.unwrap();
    for id in ["x1", "x2", "x3"] {
        bus.publish(&subject!("x"), event(id)).await.unwrap();
    }
    settle().await;
    faults.end("one");
    settle().await;
    // Nobody takes these before the consumer has restarted: the others come back behind them.
    bus.publish(&subject!("x"), event("x4")).await.unwrap();
    bus.publish(&subject!("y"), event("y1")).await.unwrap();
    tokio::time::sleep(seconds(120)).await;
    let of_x = seen.lock().unwrap().iter().filter(|id| id.starts_with('x')).cloned().collect::<Vec<_>>();
    assert_eq!(of_x.join(" "), "x1 x2 x3 x4");
    let stats = bus.stop(seconds(1)).await.bus.stats("one").unwrap();
    balanced(&stats);
    assert_eq!((stats.settlement.acked, stats.released), (5, 8), "{stats}");
}
