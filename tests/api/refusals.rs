//! What `build()` refuses, word for word: each refusal names the subscription, the setting and the fix.

use std::num::NonZeroU32;

use tramline::{
    Ack, Backoff, Bus, DurableName, Fail, Group, KeyedBy, ShedNewest, ShedOldest,
    bus::{BuildError, BusBuilder},
    source, subject,
    subscription::{Asks, AtLeastOnceBuilder, AtMostOnceBuilder, Immediate, Keeps, MayForget},
};

use crate::{
    backends::Modest,
    shelf::Shelf,
    support::{builder, many, name, seconds},
};

type InShelf = BusBuilder<Shelf>;

fn shelf() -> InShelf {
    Bus::builder(Shelf::default(), source!("urn:example:test"))
}

fn durable(
    of: InShelf,
    text: &str,
    durable: &str,
) -> AtLeastOnceBuilder<Shelf, InShelf, Asks<Immediate, MayForget, Keeps>> {
    of.at_least_once(name(text), DurableName::new(durable).unwrap(), NonZeroU32::MIN)
        .subject(subject!("a"))
        .allow_volatile()
}

fn member(
    of: BusBuilder<tramline::Memory>,
    text: &str,
) -> AtMostOnceBuilder<tramline::Memory, BusBuilder<tramline::Memory>> {
    of.at_most_once(name(text)).subject(subject!("a")).group(Group::new("workers").unwrap())
}

#[track_caller]
fn refused<T: std::fmt::Debug>(built: Result<T, BuildError>, words: &[&str]) {
    let error = built.expect_err("refused");
    assert_eq!(error.refusals.iter().map(ToString::to_string).collect::<Vec<_>>(), words);
    assert_eq!(error.to_string(), words.join("\n"));
    assert_eq!(
        format!("{error:?}"),
        format!("the bus cannot be built:\n{error}"),
        "what a `main` prints that returns it"
    );
}

#[test]
fn c5b_two_subscriptions_of_one_name() {
    let bus = builder()
        .at_most_once(name("one"))
        .subject(subject!("a"))
        .handle(async |_| {})
        .at_most_once(name("one"))
        .subject(subject!("b"))
        .handle(async |_| {});
    refused(
        bus.build(),
        &["subscription `one`: `name = one`: another subscription of this bus has this name: give each its own"],
    );
}

#[test]
fn c5b_two_of_one_durable_name() {
    let bus = durable(shelf(), "one", "orders").handle(async |_| Ack);
    let bus = durable(bus, "two", "orders").handle(async |_| Ack);
    refused(
        bus.build(),
        &[
            "subscription `two`: `durable = orders`: subscription `one` of this bus has it too: more hands in one process are `concurrency`",
        ],
    );
}

#[test]
fn c23_max_nack_delay_below_the_backoffs_maximum() {
    let backoff = Backoff::new(seconds(1), seconds(60), 2.0).unwrap();
    let bus = durable(shelf(), "one", "orders").backoff(backoff).max_nack_delay(seconds(5)).handle(async |_| Ack);
    refused(
        bus.build(),
        &["subscription `one`: `max_nack_delay = 5s`: is below `backoff.max = 60s`: raise it, or lower the backoff's"],
    );
}

#[test]
fn c29_delays_above_what_the_backend_can_hold() {
    let backoff = Backoff::new(seconds(1), seconds(7_200), 2.0).unwrap();
    let bus = durable(shelf(), "one", "orders").backoff(backoff).max_nack_delay(seconds(10_000)).handle(async |_| Ack);
    refused(
        bus.build(),
        &[
            "subscription `one`: `backoff.max = 7200s`: backend `Shelf` holds a message back for at most 3600s: lower it",
            "subscription `one`: `max_nack_delay = 10000s`: backend `Shelf` holds a message back for at most 3600s: lower it",
        ],
    );
}

#[test]
fn c32_ordered_with_concurrency_or_with_a_backoff() {
    let bus =
        builder().at_most_once(name("one")).subject(subject!("a")).ordered().concurrency(many(2)).handle(async |_| {});
    refused(
        bus.build(),
        &[
            "subscription `one`: `concurrency = 2`: order within one subscription holds only one message at a time: leave `ordered` or `concurrency` out, or say what `keyed` goes by",
        ],
    );
    let backoff = Backoff::new(seconds(1), seconds(60), 2.0).unwrap();
    let bus = durable(shelf(), "one", "orders").ordered().backoff(backoff).handle(async |_| Ack);
    refused(
        bus.build(),
        &[
            "subscription `one`: `backoff = ..`: a declined message would be overtaken: leave `ordered` or `backoff` out, or say what `keyed` goes by",
        ],
    );
}

#[test]
fn c32_ordered_and_keyed_may_have_both() {
    let backoff = Backoff::new(seconds(1), seconds(60), 2.0).unwrap();
    let one = durable(shelf(), "one", "orders").ordered().keyed(KeyedBy::subject()).concurrency(many(4));
    one.backoff(backoff).handle(async |_| Ack).build().expect("keys keep the order");
}

#[test]
fn g2_members_of_one_group_are_not_keyed() {
    let bus = member(builder(), "one").keyed(KeyedBy::attribute("partitionkey").unwrap()).handle(async |_| {});
    let bus = member(bus, "two").handle(async |_| {});
    refused(
        bus.build(),
        &[
            "subscription `two`: `keyed = \"partitionkey\"`: messages of one key would go to `one` too, side by side: more hands in one process are `concurrency`",
        ],
    );
}

#[test]
fn q3_a_key_is_named_as_an_extension_is() {
    let error = KeyedBy::attribute("source").expect_err("the event's own").to_string();
    assert!(error.contains("source"), "{error}");
    KeyedBy::attribute("").expect_err("empty");
    let error = KeyedBy::attribute("busfailure").expect_err("R7: reserved").to_string();
    assert!(error.contains("only a failure reply carries it"), "{error}");
    KeyedBy::attribute("Tenant").expect_err("upper case");
}

#[test]
fn c34_concurrency_above_the_bound_at_least_once() {
    let bus = durable(shelf(), "one", "orders").bound(many(4)).concurrency(many(5)).handle(async |_| Ack);
    refused(
        bus.build(),
        &[
            "subscription `one`: `concurrency = 5`: is above `bound = 4`, and at least once what is in hand counts against the bound: lower it, or raise `bound`",
        ],
    );
    let bus = builder().at_most_once(name("one")).subject(subject!("a")).bound(many(4)).concurrency(many(5));
    bus.handle(async |_| {}).build().expect("at most once it is allowed");
}

#[test]
fn c35_members_of_one_group_with_different_bounds_or_policies() {
    let bus = member(builder(), "one").handle(async |_| {});
    let bus = member(bus, "two").bound(many(7)).overflow(Fail).handle(async |_| {});
    refused(
        bus.build(),
        &[
            "subscription `two`: `bound = 7`: members of group `workers` have one bound, and `one` has 256: give both the same",
            "subscription `two`: `overflow = Fail`: members of group `workers` have one policy, and `one` names none: give both the same",
        ],
    );
    let bus = member(builder(), "one").overflow(ShedNewest).handle(async |_| {});
    let bus = member(bus, "two").handle(async |_| {});
    refused(
        bus.build(),
        &[
            "subscription `two`: `overflow` is not named: members of group `workers` have one policy, and `one` has `ShedNewest`: give both the same",
        ],
    );
    let bus = member(builder(), "one").handle(async |_| {});
    let bus = bus.at_most_once(name("two")).subject(subject!("b")).group(Group::new("workers").unwrap()).bound(many(7));
    bus.handle(async |_| {}).build().expect("B10: a group is a name and a pattern");
}

#[test]
fn c35_r9_responders_of_one_group_have_one_bound_and_nobody_else_is_in_it() {
    let responder = |of: BusBuilder<tramline::Memory>, text: &str, bound| {
        let begun = of.responder(name(text), Group::new("workers").unwrap()).subject(subject!("a")).bound(many(bound));
        begun.handle(|asked| async move { asked.event().clone() })
    };
    let bus = responder(responder(builder(), "one", 4), "two", 7);
    refused(
        bus.build(),
        &[
            "subscription `two`: `bound = 7`: members of group `workers` have one bound, and `one` has 4: give both the same",
        ],
    );
    let bus = responder(member(builder(), "one").handle(async |_| {}), "two", 256);
    refused(
        bus.build(),
        &[
            "subscription `two`: `group = workers`: a request may go to `one`, which does not answer: give each a group of its own",
        ],
    );
    let bus = member(responder(builder(), "one", 256), "two").handle(async |_| {});
    refused(
        bus.build(),
        &[
            "subscription `two`: `group = workers`: a request to `one` may come here and get no reply: give each a group of its own",
        ],
    );
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let bus = member(builder(), "one").handle(async |_| {});
    let bus = member(bus, "one").bound(many(7)).ordered().concurrency(many(2)).handle(async |_| {});
    assert_eq!(bus.build().unwrap_err().refusals.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn c31_a_preferred_policy_that_is_not_offered_is_dropped_listed_and_the_bus_is_usable() {
    let bus = Bus::builder(Modest, source!("urn:example:test"))
        .at_most_once(name("one"))
        .subject(subject!("a"))
        .prefer(ShedOldest)
        .handle(async |_| {})
        .at_most_once(name("two"))
        .subject(subject!("a"))
        .prefer(Fail)
        .handle(async |_| {})
        .build()
        .expect("a usable bus");
    let dropped: Vec<_> = bus.dropped().iter().map(ToString::to_string).collect();
    assert_eq!(
        dropped,
        [
            "subscription `one`: `overflow = prefer(ShedOldest)` is not offered; the backend does its own",
            "subscription `two`: `overflow = prefer(Fail)` is not offered; the backend does its own",
        ]
    );
    let bus = bus.start().await.unwrap();
    assert_eq!(bus.dropped().len(), 2);
    assert_eq!(bus.stop(seconds(1)).await.bus.dropped().len(), 2);

    let bus = builder().at_most_once(name("one")).subject(subject!("a")).prefer(ShedOldest).handle(async |_| {});
    assert!(bus.build().unwrap().dropped().is_empty(), "memory offers it");
}
