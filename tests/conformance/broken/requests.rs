//! Faults in request and reply.

use std::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use futures_util::future::BoxFuture;
use tokio::time::sleep;
use tramline::{
    Event, Group,
    contract::{FAILURE_ATTRIBUTE, FailureReason, RequestError, ResponderSpec},
};

use super::{Fault, through::Request};
use crate::both_ways::{Mutant, mutant};

type Answer<'a> = BoxFuture<'a, Result<Event, RequestError>>;

pub(crate) fn mutants() -> Vec<Mutant> {
    vec![
        mutant("loses an attribute of a reply", || LosesANumber).breaks(&["requests::request_answered"]),
        mutant("answers with the reply to the request before", OneBehind::default)
            .breaks(&["requests::request_answered"])
            .also(
                &["requests::request_deadline", "requests::request_one_of_group"],
                "more than one request is answered there",
            ),
        mutant("says that a responder failed where it is full", || FailedInstead(FailureReason::Full))
            .breaks(&["requests::request_answered"]),
        mutant("says that a responder failed where it was given up", || FailedInstead(FailureReason::Stopping))
            .breaks(&["requests::request_answered"]),
        mutant("waits for the deadline where nobody answers", || NobodyIsLate)
            .breaks(&["requests::request_no_responders"]),
        mutant("ends a request at half its time", || HalfTheTime).breaks(&["requests::request_deadline"]),
        mutant("does not count what is unclaimed", || Unclaimed(|_| 0)).breaks(&["requests::request_deadline"]),
        mutant("counts what is unclaimed twice", || Unclaimed(|count| count * 2))
            .breaks(&["requests::request_deadline"]),
        mutant("counts one unclaimed reply, and not the one to a request that was dropped", || {
            Unclaimed(|count| count.min(1))
        })
        .breaks(&["requests::request_deadline"]),
        mutant("asks every member of a group", EachMember::default).breaks(&["requests::request_one_of_group"]),
        mutant("leaves a request waiting when the session is closed", || WaitsOn)
            .breaks(&["requests::request_closing_session"]),
        mutant("makes a reply address up", || MadeUp).breaks(&["requests::answer_unrequested"]),
    ]
}

struct LosesANumber;

impl Fault for LosesANumber {
    fn replies(&self, reply: Event) -> Event {
        reply.to_builder().without_extension("number").build().unwrap()
    }
}

#[derive(Default)]
struct OneBehind(Mutex<Option<Event>>);

impl Fault for OneBehind {
    fn replies(&self, reply: Event) -> Event {
        self.0.lock().unwrap().replace(reply.clone()).unwrap_or(reply)
    }
}

/// Gives another reason than this one.
struct FailedInstead(FailureReason);

impl Fault for FailedInstead {
    fn requests<'a>(&'a self, request: Request<'a>) -> Answer<'a> {
        Box::pin(async move {
            let reply = request.go().await?;
            if FailureReason::of(&reply) != Some(self.0) {
                return Ok(reply);
            }
            let reason = FailureReason::Error.as_str();
            Ok(reply
                .to_builder()
                .without_extension(FAILURE_ATTRIBUTE)
                .extension(FAILURE_ATTRIBUTE, reason)
                .build()
                .unwrap())
        })
    }
}

struct NobodyIsLate;

impl Fault for NobodyIsLate {
    fn requests<'a>(&'a self, request: Request<'a>) -> Answer<'a> {
        Box::pin(async move {
            let within = request.within;
            match request.go().await {
                Err(RequestError::NoResponders) => {
                    sleep(within).await;
                    Err(RequestError::NoReply { within })
                }
                answer => answer,
            }
        })
    }
}

struct HalfTheTime;

impl Fault for HalfTheTime {
    fn requests<'a>(&'a self, request: Request<'a>) -> Answer<'a> {
        Box::pin(async move {
            let within = request.within;
            match (Request { within: within / 2, ..request }).go().await {
                Err(RequestError::NoReply { .. }) => Err(RequestError::NoReply { within }),
                answer => answer,
            }
        })
    }
}

/// What is read when memory counts so many.
struct Unclaimed(fn(u64) -> u64);

impl Fault for Unclaimed {
    fn unclaimed(&self, count: u64) -> u64 {
        self.0(count)
    }
}

/// Each is in a group of its own.
#[derive(Default)]
struct EachMember(AtomicUsize);

impl Fault for EachMember {
    fn responds(&self, spec: &mut ResponderSpec) {
        let number = self.0.fetch_add(1, SeqCst);
        spec.group = Group::new(format!("{}-{number}", spec.group)).unwrap();
    }
}

struct WaitsOn;

impl Fault for WaitsOn {
    fn requests<'a>(&'a self, request: Request<'a>) -> Answer<'a> {
        Box::pin(async move {
            let within = request.within;
            match request.go().await {
                Err(RequestError::Closed) => {
                    sleep(within).await;
                    Err(RequestError::NoReply { within })
                }
                answer => answer,
            }
        })
    }
}

struct MadeUp;

impl Fault for MadeUp {
    fn makes_addresses_up(&self) -> bool {
        true
    }
}
