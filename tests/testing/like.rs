//! A stand-in has the capabilities of the backend in whose place it stands, and keeps what that keeps.

use static_assertions::{assert_impl_all, assert_not_impl_any};
use tramline::{
    Ack, Attempt, Bus, JetStream, Memory, Nats,
    bus::BusBuilder,
    contract::{
        AnswersRequests, Backend, Capabilities, DelaysRedelivery, DeliversAtLeastOnce, DeliversAtMostOnce,
        FailsWhenFull, KeepsForHandler, MatchesPatterns, Orders, Replays, RoutesAroundDegraded, ShedsNewest,
        ShedsOldest, SurvivesRestart,
    },
    source, subject, subscription,
    testing::{Handled, StandIn, TestBus},
};

use crate::support::event;

assert_impl_all!(StandIn<Memory>: DeliversAtMostOnce, DeliversAtLeastOnce, KeepsForHandler, DelaysRedelivery, ShedsNewest,
    ShedsOldest, FailsWhenFull, MatchesPatterns, Orders, RoutesAroundDegraded, AnswersRequests);
assert_not_impl_any!(StandIn<Memory>: SurvivesRestart, Replays);
assert_impl_all!(StandIn<JetStream>: DeliversAtMostOnce, DeliversAtLeastOnce, SurvivesRestart, KeepsForHandler,
    DelaysRedelivery, ShedsNewest, ShedsOldest, MatchesPatterns, Orders);
// What JetStream replays, its stand-in does not.
assert_not_impl_any!(StandIn<JetStream>: FailsWhenFull, RoutesAroundDegraded, AnswersRequests, Replays);
assert_impl_all!(StandIn<Nats>: DeliversAtMostOnce, MatchesPatterns, AnswersRequests);
assert_not_impl_any!(StandIn<Nats>: DeliversAtLeastOnce, SurvivesRestart, FailsWhenFull, RoutesAroundDegraded);

#[test]
fn its_table_is_that_of_the_backend_but_for_replays() {
    fn compare<L: Backend>() {
        let (own, like) = (StandIn::<L>::CAPABILITIES, L::CAPABILITIES);
        assert_eq!(own.backend(), like.backend());
        assert!(!own.replays());
        let said = |table: Capabilities| {
            let modes = [table.at_most_once(), table.at_least_once(), table.persistent(), table.survives_restart()];
            let bound = [table.sheds_newest(), table.sheds_oldest(), table.fails_when_full()];
            let handling = [table.keeps_for_handler(), table.orders(), table.delays_redelivery()];
            let routing = [table.matches_patterns(), table.routes_around_degraded(), table.answers_requests()];
            (modes, bound, handling, routing)
        };
        assert_eq!(said(own), said(like), "{}", like.backend());
        assert_eq!(own.longest_delay(), like.longest_delay());
    }
    compare::<Memory>();
    compare::<Nats>();
    compare::<JetStream>();
}

// Without `allow_volatile`: it runs on what survives a restart, and compiles on nothing else.
#[subscription(subject = "a", mode = AtLeastOnce, durable = "kept", max_deliver = 3, backoff(initial = "1h", max = "1h"))]
async fn kept(Attempt(attempt): Attempt) -> Result<Ack, &'static str> {
    if attempt.get() == 1 { Err("not yet") } else { Ok(Ack) }
}

fn wired<B: SurvivesRestart + DelaysRedelivery + KeepsForHandler>(backend: B) -> BusBuilder<B> {
    Bus::builder(backend, source!("urn:example:kept")).subscribe(kept)
}

#[tokio::test(start_paused = true)]
async fn what_survives_a_restart_there_survives_a_deployment_in_the_test() {
    let backend = StandIn::<JetStream>::new();
    let test = TestBus::start(wired(backend.clone())).await.unwrap();
    test.publish(&subject!("a"), event("x")).await.unwrap();
    test.handled().await;
    let test = test.restart().await.unwrap();
    test.settled().await;
    let seen = test.delivered_to("kept");
    seen.assert_handled(&[Handled::Failed("not yet".to_owned()), Handled::Acked]);
    assert!((seen[1].at - seen[0].at).as_secs() >= 60 * 60, "the delay is kept over it:\n{seen}");
    assert_eq!(test.stats("kept").unwrap().stranded, 0);
}

#[tokio::test(start_paused = true)]
async fn another_bus_on_a_clone_takes_up_what_the_first_one_left() {
    let backend = StandIn::<JetStream>::new();
    let first = TestBus::start(wired(backend.clone())).await.unwrap();
    first.publish(&subject!("a"), event("x")).await.unwrap();
    first.stop(std::time::Duration::from_secs(1)).await;
    let second = TestBus::start(wired(backend)).await.unwrap();
    second.settled().await;
    assert_eq!(second.stats("kept").unwrap().settlement.acked, 1);
}
