//! Requests and responders in random schedules: each reply reaches its own request, and both ledgers balance (contract R4,
//! L4, L7, R10).

use std::time::Duration;

use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;
use tramline::{
    Group, Handle, Memory, Restart,
    codec::decode,
    contract::RequestError,
    subject,
    subscription::{ReplyValue, Requested},
};

use crate::{
    model::{cases, paused},
    responders::answered,
    support::{builder, many, millis, name, seconds},
};

/// What a responder does with a request.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
enum Does {
    Replies,
    RepliesAfter(u64),
    Fails,
    Panics,
    RepliesBadly,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Question {
    number: u64,
    does: Does,
}

#[derive(Debug, Clone, Copy)]
enum Step {
    /// Asks, and gives up after so long if that comes before the deadline.
    Ask {
        does: Does,
        deadline: u64,
        gives_up: u64,
    },
    Publish(Does),
    Wait(u64),
}

#[derive(Debug, Clone)]
struct Schedule {
    members: usize,
    concurrency: usize,
    bound: usize,
    steps: Vec<Step>,
    budget: u64,
}

fn does() -> impl Strategy<Value = Does> {
    prop_oneof![
        6 => Just(Does::Replies),
        6 => (1..400_u64).prop_map(Does::RepliesAfter),
        1 => Just(Does::Fails),
        1 => Just(Does::Panics),
        1 => Just(Does::RepliesBadly),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (does(), 1..400_u64, 1..800_u64).prop_map(|(does, deadline, gives_up)| Step::Ask { does, deadline, gives_up }),
        1 => does().prop_map(Step::Publish),
        2 => (0..200_u64).prop_map(Step::Wait),
    ]
}

fn schedule() -> impl Strategy<Value = Schedule> {
    (1..4_usize, 1..4_usize, 1..8_usize, prop::collection::vec(step(), 1..60), 60..1_000_u64).prop_map(
        |(members, concurrency, bound, steps, budget)| Schedule { members, concurrency, bound, steps, budget },
    )
}

async fn respond(asked: Requested) -> Result<ReplyValue<u64>, String> {
    let question: Question = decode::<tramline::Json, _>(asked.event()).map_err(|error| error.to_string())?;
    match question.does {
        Does::Replies => {}
        Does::RepliesAfter(wait) => tokio::time::sleep(millis(wait)).await,
        Does::Fails => return Err("as it was asked to".to_owned()),
        Does::Panics => std::panic::resume_unwind(Box::new("as it was asked to")),
        // No event has an empty type.
        Does::RepliesBadly => return Ok(ReplyValue::new("", question.number)),
    }
    Ok(ReplyValue::new("com.example.number.v1", question.number))
}

/// How a request ended, if its caller was still there.
async fn ask(handle: Handle<Memory>, question: Question, deadline: u64, gives_up: u64) {
    let subject = subject!("ask");
    let request = handle.request_value::<u64, _>(&subject, "com.example.question.v1", &question);
    let reply = tokio::time::timeout(millis(gives_up), request.within(millis(deadline))).await;
    match reply {
        Ok(Ok(number)) => assert_eq!(number, question.number, "the reply to another request"),
        Ok(Err(
            RequestError::NotReady
            | RequestError::NoResponders
            | RequestError::NoReply { .. }
            | RequestError::ResponderFailed { .. }
            | RequestError::Closed,
        ))
        | Err(_) => {}
        Ok(Err(other)) => panic!("{other}"),
    }
}

async fn run(schedule: &Schedule) {
    let Schedule { members, concurrency, bound, steps, budget } = schedule;
    let mut bus = builder();
    for member in 0..*members {
        bus = bus
            .responder(name(&format!("member {member}")), Group::new("members").unwrap())
            .subject(subject!("ask"))
            .concurrency(many(*concurrency))
            .bound(many(*bound))
            .restart(Restart::new().initial(millis(100)))
            .handle(respond);
    }
    let bus = bus.build().unwrap().start().await.unwrap();
    let mut asking = JoinSet::new();
    for (number, step) in (0..).zip(steps) {
        match *step {
            Step::Ask { does, deadline, gives_up } => {
                asking.spawn(ask(bus.handle(), Question { number, does }, deadline, gives_up));
            }
            Step::Publish(does) => {
                let question = Question { number, does };
                bus.publish_value(&subject!("ask"), "com.example.question.v1", &question).await.unwrap();
            }
            Step::Wait(wait) => tokio::time::sleep(millis(wait)).await,
        }
    }
    let stopped = bus.stop(Duration::from_millis(*budget)).await;
    assert!(stopped.report.is_clean(), "{}", stopped.report);
    while let Some(asked) = asking.join_next().await {
        asked.unwrap();
    }
    tokio::time::sleep(seconds(2)).await;

    let ledger = stopped.bus.ledger();
    let requests = ledger.requests.total();
    assert_eq!((requests.unaccounted(), requests.in_flight), (0, 0), "R4: {ledger}");
    let mut sent_back = 0;
    for stats in &ledger.subscriptions {
        answered(stats);
        assert_eq!((stats.in_hand, stats.pending), (0, 0), "{stats}");
        let turned_away = stats.lost.overflow + stats.lost.retired_queued;
        sent_back += stats.replies.replied + stats.replies.refused + turned_away;
    }
    let arrived = requests.answered + ledger.requests.unclaimed;
    assert!(arrived <= sent_back, "a reply came from nowhere: {ledger}");
}

proptest! {
    #![proptest_config(cases(500))]

    #[test]
    fn r4_l7_in_any_schedule_both_ledgers_balance_and_each_reply_reaches_its_own_request(schedule in schedule()) {
        paused(async { run(&schedule).await; Ok(()) })?;
    }
}
