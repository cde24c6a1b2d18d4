//! What holds by type: what may go to another thread, and which backend can do what.

use static_assertions::{assert_impl_all, assert_not_impl_any};
use tramline::{
    AtMostOnce, Bus, Cancelled, Delivery, Dormant, Event, Handle, Memory, Publisher, Running,
    backend::memory::{MemoryReplier, MemorySettler},
    bus::{
        BusBuilder, Ledger, NoDeadline, Request, RequestLedger, Stats, Status, StatusChanges, StopReport, Stopped,
        Within,
    },
    contract::{
        AnswersRequests, Backend, DelaysRedelivery, DeliversAtLeastOnce, DeliversAtMostOnce, FailsWhenFull,
        KeepsForHandler, MatchesPatterns, Orders, Replays, Reply, RequestError, RoutesAroundDegraded, Settle,
        ShedsNewest, ShedsOldest, SurvivesRestart,
    },
    subject,
};

use crate::support::{builder, event, name, seconds};

assert_impl_all!(Bus<Memory, Dormant>: Send, Sync);
assert_impl_all!(Bus<Memory, Running>: Send, Sync);
assert_not_impl_any!(Bus<Memory, Running>: Clone);
assert_impl_all!(Handle<Memory>: Send, Sync, Clone);
assert_impl_all!(BusBuilder<Memory>: Send);
assert_impl_all!(StatusChanges: Send, Sync, Clone);
assert_impl_all!(Stopped<Memory>: Send);
assert_impl_all!(Publisher: Send, Sync, Clone);
assert_impl_all!(Cancelled: Send, Sync, Clone);
assert_impl_all!(Delivery<AtMostOnce>: Send, Sync);
assert_not_impl_any!(Delivery<AtMostOnce>: Clone);
assert_impl_all!(Stats: Send, Sync, serde::Serialize);
assert_impl_all!(Ledger: serde::Serialize);
assert_impl_all!(RequestLedger: Send, Sync, serde::Serialize);
assert_impl_all!(Request<'static, Event, Within>: Send, Unpin, Future);
assert_impl_all!(Request<'static, Event, NoDeadline>: Send);
assert_not_impl_any!(Request<'static, Event, NoDeadline>: Future, IntoFuture);
assert_impl_all!(Status: serde::Serialize);
assert_impl_all!(StopReport: Send, Sync);

assert_impl_all!(
    Memory: DeliversAtMostOnce,
    DeliversAtLeastOnce,
    KeepsForHandler,
    DelaysRedelivery,
    ShedsNewest,
    ShedsOldest,
    FailsWhenFull,
    MatchesPatterns,
    Orders,
    RoutesAroundDegraded,
    AnswersRequests
);
assert_not_impl_any!(Memory: SurvivesRestart, Replays);
assert_impl_all!(MemorySettler: Send, Sync, Settle);
assert_not_impl_any!(MemorySettler: Clone);
assert_impl_all!(MemoryReplier: Send, Sync, Reply);
assert_not_impl_any!(MemoryReplier: Clone);

fn send<T: Send>(value: T) -> T {
    value
}

fn lives_for_ever<T: Send + Sync + Clone + 'static>(_: &T) {}

#[tokio::test(start_paused = true)]
async fn y5_everything_that_is_awaited_may_move_between_threads() {
    let bus = builder().at_most_once(name("one")).subject(subject!("a")).handle(async |_| {}).build().unwrap();
    let handle = bus.handle();
    lives_for_ever(&handle);
    let bus = send(bus.start()).await.unwrap();
    let subject = subject!("a");
    send(bus.publish(&subject, event(0))).await.unwrap();
    send(handle.publish(&subject, event(0))).await.unwrap();
    send(bus.publish(&subject, event(0)).when_room().within(seconds(1))).await.unwrap();
    send(bus.publish_value(&subject, "com.example.test.v1", "value")).await.unwrap();
    let asked = send(bus.request(&subject, event(0)).within(seconds(1))).await;
    assert!(matches!(asked, Err(RequestError::NoReply { .. })), "a subscription has it, and does not answer");
    let asked = send(handle.request_value::<u64, _>(&subject, "com.example.test.v1", "value").within(seconds(1))).await;
    assert!(matches!(asked, Err(RequestError::NoReply { .. })), "a subscription has it, and does not answer");
    send(handle.ready()).await;
    send(bus.at_most_once(name("two")).subject(subject!("a")).handle(async |_| {})).await.unwrap();
    send(bus.stop(seconds(1))).await;
}

#[test]
fn k_the_capabilities_of_memory_as_a_value_are_those_of_its_traits() {
    macro_rules! implements {
        ($capability:ident) => {{
            #[allow(dead_code)]
            trait Otherwise {
                const HOLDS: bool = false;
            }
            impl<T> Otherwise for T {}
            struct Asked<T>(std::marker::PhantomData<T>);
            #[allow(dead_code)]
            impl<T: $capability> Asked<T> {
                const HOLDS: bool = true;
            }
            Asked::<Memory>::HOLDS
        }};
    }
    let table = Memory::CAPABILITIES;
    assert_eq!(table.backend(), "Memory");
    assert!(!table.persistent());
    assert_eq!(table.at_most_once(), implements!(DeliversAtMostOnce));
    assert_eq!(table.at_least_once(), implements!(DeliversAtLeastOnce));
    assert_eq!(table.sheds_newest(), implements!(ShedsNewest));
    assert_eq!(table.sheds_oldest(), implements!(ShedsOldest));
    assert_eq!(table.fails_when_full(), implements!(FailsWhenFull));
    assert_eq!(table.matches_patterns(), implements!(MatchesPatterns));
    assert_eq!(table.survives_restart(), implements!(SurvivesRestart));
    assert_eq!(table.keeps_for_handler(), implements!(KeepsForHandler));
    assert_eq!(table.orders(), implements!(Orders));
    assert_eq!(table.replays(), implements!(Replays));
    assert_eq!(table.delays_redelivery(), implements!(DelaysRedelivery));
    assert_eq!(table.routes_around_degraded(), implements!(RoutesAroundDegraded));
    assert_eq!(table.answers_requests(), implements!(AnswersRequests));
}
