//! How counters, statuses and reports look to those who read them, and to machines.

use std::time::Duration;

use tramline::{
    AtMostOnce, Bus, Memory, Payload, Running,
    bus::{BusState, Health},
    contract::Outcome,
    subject,
    subscription::{Extract, Judgement},
};

use crate::support::{builder, by_hand, event, many, name, seconds, settle};

/// A bus on which most of what can happen has happened.
async fn eventful() -> Bus<Memory, Running> {
    let busy = by_hand(name("busy"), subject!("a"), |parts| {
        Box::pin(async move {
            if parts.event().id() == "fail" {
                return Ok(Judgement::failed(&"on purpose"));
            }
            let Payload(_) = <Payload<String> as Extract<'_, _, AtMostOnce>>::extract(&parts)?;
            Ok(Judgement::new(Outcome::Acked))
        })
    });
    let bus = builder()
        .subscribe(busy)
        .at_most_once(name("stuck"))
        .subject(subject!("b"))
        .bound(many(2))
        .handle(|_| std::future::pending::<()>())
        .at_most_once(name("failing"))
        .subject(subject!("c"))
        .handle(|_| async { assert!(std::hint::black_box(false), "on purpose") })
        .build()
        .unwrap()
        .start()
        .await
        .unwrap();
    for _ in 0..3 {
        bus.publish_value(&subject!("a"), "com.example.test.v1", "text").await.unwrap();
    }
    for id in ["fail", "undecodable"] {
        bus.publish(&subject!("a"), event(id)).await.unwrap();
    }
    bus.publish(&subject!("b"), event(0)).await.unwrap();
    settle().await;
    for id in 1..=3 {
        bus.publish(&subject!("b"), event(id)).await.unwrap();
    }
    bus.publish(&subject!("c"), event(0)).await.unwrap();
    settle().await;
    tokio::time::advance(seconds(90)).await;
    bus
}

#[tokio::test(start_paused = true)]
async fn a_ledger_is_one_table_with_what_is_worth_knowing_below() {
    let bus = eventful().await;
    assert_eq!(
        bus.ledger().to_string(),
        "\
subscription   offered = delivered +    lost + released + in hand + pending
busy                 5 =         4 +       1 +        0 +       0 +       0
stuck                4 =         0 +       1 +        0 +       1 +       2
failing              1 =         0 +       1 +        0 +       0 +       0
  busy lost: undecodable 1
  busy said: errors 1
  stuck lost: overflow 1
  failing lost: handler panic 1
  failing said: panics 1, incidents 1
"
    );
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn the_counters_of_one_subscription_say_what_is_not_zero() {
    let bus = eventful().await;
    assert_eq!(
        bus.stats("busy").unwrap().to_string(),
        "\
busy (generation 1)
  offered 5 = delivered 4 + lost 1 + released 0 + in hand 0 + pending 0
  lost: undecodable 1
  settlement: acked 3, silent 1
  beside it: errors 1
"
    );
    assert_eq!(
        bus.stats("failing").unwrap().to_string(),
        "\
failing (generation 1)
  offered 1 = delivered 0 + lost 1 + released 0 + in hand 0 + pending 0
  lost: handler panic 1
  beside it: panics 1, incidents 1
  unsubscribed for 90s
"
    );
    assert!(bus.stats("nobody").is_none());
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn counters_are_numbers_to_machines() {
    let bus = eventful().await;
    let stats = serde_json::to_value(bus.stats("stuck").unwrap()).unwrap();
    assert_eq!(
        stats,
        serde_json::json!({
            "name": "stuck", "generation": 1,
            "offered": 4, "delivered": 0, "pending": 2, "in_hand": 1,
            "lost": {
                "overflow": 1, "retired_queued": 0, "shutdown": 0, "handler_panic": 0, "undecodable": 0, "malformed": 0,
            },
            "released": 0, "exhausted": 0, "lease_expired": 0, "delay_shortened": 0, "stranded": 0, "redelivered": 0,
            "settlement": { "acked": 0, "nacked": 0, "silent": 0, "refused": 0 },
            "replies": { "replied": 0, "refused": 0, "unaddressed": 0 },
            "errors": 0, "panics": 0, "incidents": 0, "interruptions": 0,
            "unsubscribed_for": { "secs": 0, "nanos": 0 },
        })
    );
    let ledger = serde_json::to_value(bus.ledger()).unwrap();
    assert_eq!(ledger["subscriptions"].as_array().unwrap().len(), 3);
    assert_eq!(ledger["subscriptions"][1], stats);
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn a_status_is_readable_by_machines_and_health_by_people() {
    let bus = eventful().await;
    assert_eq!(
        serde_json::to_value(bus.status()).unwrap(),
        serde_json::json!({
            "generation": 1, "state": "Running", "cause": null,
            "consumers": [
                { "name": "busy", "state": "Running", "cause": null },
                { "name": "stuck", "state": "Running", "cause": null },
                { "name": "failing", "state": "Failed", "cause": "the handler panicked: on purpose" },
            ],
        })
    );
    assert_eq!(bus.health().to_string(), "degraded: failing");
    assert_eq!(Health::Healthy.to_string(), "healthy");
    assert_eq!(
        Health::Degraded { failed: vec![name("one"), name("two words")] }.to_string(),
        "degraded: one, two words"
    );
    assert_eq!(
        serde_json::to_value(bus.health()).unwrap(),
        serde_json::json!({ "Degraded": { "failed": ["failing"] } })
    );
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn a_stop_report_says_how_it_went() {
    let bus = builder().build().unwrap().start().await.unwrap();
    let stopped = bus.stop(seconds(1)).await;
    assert_eq!(stopped.report.took, Duration::ZERO);
    assert_eq!(stopped.report.to_string(), "stopped in 0ns");
    assert_eq!(stopped.bus.status().state, BusState::Dormant);
    assert_eq!(
        format!("{:?}", stopped.bus),
        r#"Bus { status: Status { generation: 1, state: Dormant, cause: None, consumers: [] }, .. }"#
    );
}

#[test]
fn what_a_publish_can_say_names_the_way_out() {
    use tramline::contract::PublishError;
    let texts = [
        PublishError::NotReady,
        PublishError::Closed,
        PublishError::QueueFull { subscription: name("one"), event: event(0) },
        PublishError::NoRoomInTime { subscription: name("one"), event: event(0), waited: seconds(2) },
    ]
    .map(|error| error.to_string());
    assert_eq!(
        texts,
        [
            "the bus is not running: start it first, or wait until it is ready",
            "the session is closed",
            "the queue of subscription `one` is full: try again later, wait with `when_room()`, or give it a larger `bound`",
            "no room in the queue of subscription `one` within 2s",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_ledger_prints_requests_where_there_are_any_and_as_numbers_to_machines() {
    let asked = crate::asked::Asked::default();
    let names = [name("pricing"), name("stock of the shop")];
    let bus = asked.builder().request_names(names).build().unwrap().start().await.unwrap();
    let mut responder = asked.responder(&subject!("price.of"), 8).await;
    let (to, nobody) = (subject!("price.of"), subject!("nobody"));
    let ask = |name| bus.request(&to, event(1)).named(name).within(seconds(1));
    let (_, ()) = tokio::join!(ask("pricing"), responder.answer(Clone::clone));
    let _ = ask("pricing").await;
    responder.answer(Clone::clone).await;
    let _ = bus.request(&nobody, event(1)).within(seconds(1)).await;
    let ledger = bus.ledger();
    assert_eq!(
        ledger.to_string(),
        "\
subscription   offered = delivered +    lost + released + in hand + pending
requests               sent =  answered + no responders + no reply +  failed + in flight
pricing                   2 =         1 +             0 +        1 +       0 +         0
stock of the shop         0 =         0 +             0 +        0 +       0 +         0
(unnamed)                 1 =         0 +             1 +        0 +       0 +         0
  replies that came too late: unclaimed 1
"
    );
    assert_eq!(
        ledger.requests.get("pricing").unwrap().to_string(),
        "requests `pricing`: sent 2 = answered 1 + no responders 0 + no reply 1 + failed 0 + in flight 0"
    );
    assert_eq!(
        ledger.requests.total().to_string(),
        "requests: sent 3 = answered 1 + no responders 1 + no reply 1 + failed 0 + in flight 0"
    );
    assert_eq!(
        serde_json::to_value(&ledger.requests).unwrap(),
        serde_json::json!({
            "named": [
                {
                    "name": "pricing", "sent": 2, "answered": 1, "no_responders": 0, "no_reply": 1, "failed": 0,
                    "in_flight": 0,
                },
                {
                    "name": "stock of the shop", "sent": 0, "answered": 0, "no_responders": 0, "no_reply": 0,
                    "failed": 0, "in_flight": 0,
                },
            ],
            "unnamed": {
                "name": null, "sent": 1, "answered": 0, "no_responders": 1, "no_reply": 0, "failed": 0, "in_flight": 0,
            },
            "unclaimed": 1,
        })
    );
    bus.stop(seconds(1)).await;
}
