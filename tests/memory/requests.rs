//! Request and reply at the session (contract R, N4, N7; rows 42 to 47).

use std::{pin::pin, sync::Arc, time::Duration};

use futures_util::{FutureExt, StreamExt, future::join_all, poll};
use tokio::time::{Instant, advance};
use tramline::{
    Event,
    backend::memory::Memory,
    contract::{
        AnswersRequests, DeliversAtMostOnce, FailureReason, Reply, RequestError, RetireReason, Session, SourceControl,
        SubscribeError,
    },
    source,
};

use crate::{answering::*, owed::durable, support::*};

#[tokio::test(start_paused = true)]
async fn row_42_a_request_is_answered_and_both_events_arrive_as_they_are() {
    let session = open().await;
    let mut responder = answers("*").on(&session).await;
    let full = |id: &str| {
        let builder = Event::builder(id, source!("urn:a%20b?c"), "type").subject("sübject").extension("flag", true);
        builder.binary("x/y", vec![0, 159, 146, 150]).build().unwrap()
    };
    let a = subject("a");
    let mut asking = pin!(Memory::request(&session, &a, full("1"), LONG));
    assert!(poll!(&mut asking).is_pending());
    let incoming = responder.deliveries.next().await.unwrap();
    assert_eq!(incoming.attempt.get(), 1);
    let message = incoming.message.unwrap();
    assert_eq!((message.subject.as_str(), message.event), ("a", full("1")));
    incoming.settler.into_replier().unwrap().reply(full("2")).await.unwrap();
    assert_eq!(asking.await.unwrap(), full("2"));
    assert_eq!(responder.counts(), [1, 0, 0, 0]);
    assert_eq!(Memory::unclaimed(&session), 0);
}

#[tokio::test(start_paused = true)]
async fn row_43_and_r3_where_nobody_receives_it_a_request_ends_at_once() {
    let session = open().await;
    let other = answers("b").on(&session).await;
    let retired = answers("a").on(&session).await;
    retired.retire().await;
    let dropped = answers("a").on(&session).await;
    drop(dropped);
    let none = |result: Option<_>| matches!(result, Some(Err(RequestError::NoResponders)));
    assert!(none(request(&session, 1, LONG).now_or_never()));
    // A queue that shed it did not receive it.
    let full = sub("a").bound(1).sheds_newest().on(&session).await;
    publish(&session, "a", 0).await.unwrap();
    assert!(none(request(&session, 2, LONG).now_or_never()));
    assert_eq!(full.counts(), [1, 1, 1, 0]);
    assert_eq!(other.counts(), [0; 4]);
}

#[tokio::test(start_paused = true)]
async fn row_44_r1_and_r4_a_request_ends_at_its_deadline_and_a_late_reply_is_unclaimed() {
    let session = open().await;
    let mut responder = answers("a").on(&session).await;
    let begun = Instant::now();
    let within = Duration::from_millis(250);
    let result = request(&session, 1, within).await;
    assert!(matches!(result, Err(RequestError::NoReply { within: said }) if said == within), "{result:?}");
    let took = begun.elapsed();
    assert!(took >= within && took < within + Duration::from_millis(5), "{took:?}");
    assert_eq!(Memory::unclaimed(&session), 0);
    reply(responder.take(), reply_to("1")).unwrap();
    assert_eq!(Memory::unclaimed(&session), 1);
}

#[tokio::test(start_paused = true)]
async fn r1_a_deadline_that_no_clock_reaches_is_none_and_one_of_zero_is_over_at_once() {
    let session = open().await;
    let mut responder = answers("a").on(&session).await;
    let mut asking = pin!(request(&session, 1, Duration::MAX));
    assert!(poll!(&mut asking).is_pending());
    advance(LONG).await;
    reply(responder.take(), reply_to("1")).unwrap();
    assert_eq!(asking.await.unwrap(), reply_to("1"));
    assert!(matches!(request(&session, 2, Duration::ZERO).await, Err(RequestError::NoReply { .. })));
}

#[tokio::test(start_paused = true)]
async fn r1_a_reply_that_is_there_counts_also_when_the_requester_looks_after_its_deadline_or_the_close() {
    let session = open().await;
    let mut responder = answers("a").on(&session).await;
    let mut late = pin!(request(&session, 1, Duration::from_millis(1)));
    let mut closed = pin!(request(&session, 2, LONG));
    assert!(poll!(&mut late).is_pending() && poll!(&mut closed).is_pending());
    reply(responder.take(), reply_to("1")).unwrap();
    reply(responder.take(), reply_to("2")).unwrap();
    advance(Duration::from_millis(2)).await;
    assert_eq!(late.await.unwrap(), reply_to("1"));
    session.close().await.unwrap();
    assert_eq!(closed.await.unwrap(), reply_to("2"));
    assert_eq!(Memory::unclaimed(&session), 0);
}

#[tokio::test(start_paused = true)]
async fn r4_and_r11_a_request_whose_future_is_dropped_is_given_up_and_its_reply_is_unclaimed_before_and_after() {
    let session = open().await;
    let mut responder = answers("a").on(&session).await;
    for reply_first in [true, false] {
        let mut asking = Box::pin(request(&session, 1, LONG));
        assert!(poll!(&mut asking).is_pending());
        let replier = responder.take();
        if reply_first {
            reply(replier, reply_to("1")).unwrap();
            drop(asking);
        } else {
            drop(asking);
            reply(replier, reply_to("1")).unwrap();
        }
    }
    assert_eq!(Memory::unclaimed(&session), 2);
    drop(request(&session, "never polled", LONG));
    assert_eq!(responder.counts(), [2, 0, 0, 0], "a request that is never polled is never sent");
    session.close().await.unwrap();
    assert_eq!(Memory::unclaimed(&session), 2, "it stays readable");
}

#[tokio::test(start_paused = true)]
async fn a_request_that_was_given_up_holds_nothing_once_its_responder_has_let_go() {
    let session = open().await;
    let mut responder = answers("a").on(&session).await;
    let data = bytes::Bytes::from(vec![0; 1_000]);
    let with_data = || event(0).to_builder().binary("x/y", data.clone()).build().unwrap();
    let a = subject("a");
    let mut asking = Box::pin(Memory::request(&session, &a, with_data(), LONG));
    assert!(poll!(&mut asking).is_pending());
    drop(asking);
    let (request, replier) = responder.try_next().unwrap();
    drop(request);
    assert!(data.is_unique());
    // Nor is the reply kept for whom nobody is.
    reply(replier.unwrap(), with_data()).unwrap();
    assert!(data.is_unique());
}

#[tokio::test(start_paused = true)]
async fn row_45_exactly_one_member_of_a_group_gets_a_request_also_around_one_that_is_full() {
    let session = open().await;
    let mut members = [answers("a").bound(2).on(&session).await, answers("a").bound(2).on(&session).await];
    let asking: Vec<_> = (0..4).map(|id| Box::pin(request(&session, id, LONG))).collect();
    let mut asking = join_all(asking);
    assert!(poll!(&mut asking).is_pending());
    assert_eq!(members.each_ref().map(Responder::counts), [[2, 2, 0, 0]; 2]);
    for member in &mut members {
        while let Some((request, replier)) = member.try_next() {
            reply(replier.unwrap(), reply_to(request.id())).unwrap();
        }
    }
    for (id, result) in asking.await.into_iter().enumerate() {
        assert_eq!(result.unwrap(), reply_to(&id.to_string()));
    }
    members[0].retire().await;
    assert!(request(&session, 5, LONG).now_or_never().is_none());
    assert_eq!(members[1].counts(), [3, 1, 0, 0], "a retired member is out of its group");
}

#[tokio::test(start_paused = true)]
async fn r4_of_several_groups_each_gets_a_request_the_first_reply_answers_it_and_the_rest_is_unclaimed() {
    let session = open().await;
    let mut groups = [answers("a").on(&session).await, answers(">").group("h").on(&session).await];
    let mut plain = sub("a").fails().on(&session).await;
    let mut competing = sub("*").group("g").on(&session).await;
    let mut owed = durable("d").on(&session).await;
    let mut asking = pin!(request(&session, 1, LONG));
    assert!(poll!(&mut asking).is_pending());
    let repliers = groups.each_mut().map(Responder::take);
    assert_eq!((plain.drain(), competing.drain()), (vec!["1".to_owned()], vec!["1".to_owned()]));
    assert_eq!(owed.take().unwrap().id, "1");
    for (number, replier) in repliers.into_iter().enumerate() {
        reply(replier, event(number)).unwrap();
    }
    assert_eq!(asking.await.unwrap().id(), "0");
    assert_eq!(Memory::unclaimed(&session), 1);
}

#[tokio::test(start_paused = true)]
async fn r3_a_request_that_only_subscriptions_received_waits_until_its_deadline() {
    let session = open().await;
    let mut plain = sub("a").on(&session).await;
    let result = request(&session, 1, Duration::from_secs(1)).await;
    assert!(matches!(result, Err(RequestError::NoReply { .. })), "somebody received it: {result:?}");
    assert_eq!(plain.drain(), ["1"]);
}

#[tokio::test(start_paused = true)]
async fn b8_where_a_subscription_that_fails_when_full_is_full_nobody_gets_the_request() {
    for is_owed in [false, true] {
        let session = open().await;
        let mut responder = answers("a").on(&session).await;
        let (failing, owed);
        if is_owed {
            owed = durable("d").bound(1).on(&session).await;
            publish(&session, "a", 0).await.unwrap();
            let result = request(&session, 1, LONG).now_or_never();
            assert!(matches!(result, Some(Err(RequestError::QueueFull { .. }))), "{result:?}");
            assert_eq!(owed.counts(), [1, 1, 1, 0]);
        } else {
            failing = sub("a").named("small").bound(1).fails().on(&session).await;
            publish(&session, "a", 0).await.unwrap();
            let result = request(&session, 1, LONG).now_or_never();
            let Some(Err(refusal @ RequestError::QueueFull { .. })) = result else { panic!("{result:?}") };
            let said = refusal.to_string();
            assert!(said.contains("`small`") && said.contains("bound"), "{said}");
            assert_eq!(failing.counts(), [1, 1, 1, 0]);
        }
        let (published, address) = responder.try_next().unwrap();
        assert!(published.id() == "0" && address.is_none());
        assert!(responder.try_next().is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn r8_and_row_47_a_published_message_has_no_reply_address_and_is_bounded_like_a_request() {
    let session = open().await;
    let mut responder = answers("a").bound(2).on(&session).await;
    for id in 0..3 {
        publish(&session, "a", id).await.unwrap();
    }
    assert_eq!(responder.counts(), [2, 2, 1, 0], "the newcomer is refused, and its publisher not told");
    let (published, address) = responder.try_next().unwrap();
    assert!(published.id() == "0" && address.is_none());
    // Beside another subscription it goes another way.
    let mut plain = sub("a").fails().on(&session).await;
    publish(&session, "a", 3).await.unwrap();
    publish(&session, "a", 4).await.unwrap();
    assert_eq!(responder.counts(), [3, 2, 2, 0]);
    assert_eq!(plain.drain(), ["3", "4"]);
    publish_when_room(&session, &subject("a"), &event(5)).await.unwrap();
    assert_eq!(responder.counts(), [3, 2, 3, 0], "nobody waits for room in it");
    assert_eq!(Memory::unclaimed(&session), 0);
}

#[tokio::test(start_paused = true)]
async fn b3_and_r10_a_request_that_finds_its_responder_full_is_told_at_once_and_counted() {
    let session = open().await;
    let mut responder = answers("a").bound(1).on(&session).await;
    let mut first = pin!(request(&session, 1, LONG));
    assert!(poll!(&mut first).is_pending());
    let told = request(&session, 2, LONG).now_or_never().expect("at once");
    assert_eq!(failure(&told), Some(FailureReason::Full));
    assert_eq!(*told.unwrap().source(), source!("urn:test:responder"), "in the responder's name");
    assert_eq!(responder.counts(), [1, 1, 1, 0]);
    reply(responder.take(), reply_to("1")).unwrap();
    first.await.unwrap();
    assert!(request(&session, 3, LONG).now_or_never().is_none(), "there is room again");
    assert_eq!(responder.counts(), [2, 1, 1, 0]);
}

#[tokio::test(start_paused = true)]
async fn r6_and_r10_a_reply_address_that_is_dropped_unused_says_that_its_responder_stops() {
    let session = open().await;
    let mut responder = answers("a").on(&session).await;
    let mut asking = pin!(request(&session, 1, LONG));
    assert!(poll!(&mut asking).is_pending());
    drop(responder.take());
    assert_eq!(failure(&asking.await), Some(FailureReason::Stopping));

    let mut asking = pin!(request(&session, 2, LONG));
    assert!(poll!(&mut asking).is_pending());
    drop(responder.take().reply(reply_to("2")));
    assert_eq!(failure(&asking.await), Some(FailureReason::Stopping), "a reply that is never polled is not sent");
}

#[tokio::test(start_paused = true)]
async fn n7_l2_and_r10_a_retire_answers_what_is_queued_at_once_and_its_counters_never_change_again() {
    for reason in [RetireReason::Restarting, RetireReason::Stopping, RetireReason::GivenUp] {
        let session = open().await;
        let mut responder = answers("a").bound(4).on(&session).await;
        let mut asking: Vec<_> = (0..5).map(|id| Box::pin(request(&session, id, LONG))).collect();
        for asking in &mut asking[..4] {
            assert!(poll!(asking).is_pending());
        }
        assert_eq!(failure(&asking.pop().unwrap().await), Some(FailureReason::Full));
        let in_hand = responder.take();
        let last = responder.control.retire(reason).await.unwrap().stats;
        assert_eq!(counts(last), [4, 3, 1, 0]);
        for asking in asking.drain(1..) {
            assert_eq!(failure(&asking.now_or_never().expect("at once")), Some(FailureReason::Stopping));
        }
        assert!(responder.has_ended() && responder.has_ended());
        // What is in hand may still be answered: a stop lets handlers finish.
        reply(in_hand, reply_to("0")).unwrap();
        assert_eq!(asking.pop().unwrap().await.unwrap(), reply_to("0"));
        assert!(matches!(request(&session, 9, LONG).now_or_never(), Some(Err(RequestError::NoResponders))));
        assert_eq!(counts(responder.retire().await), [4, 3, 1, 0]);
        assert_eq!(responder.stats(), last);
        assert_eq!(Memory::unclaimed(&session), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn n7_a_retire_after_the_stream_was_dropped_answers_what_is_queued_too() {
    let session = open().await;
    let Responder { deliveries, control } = answers("a").on(&session).await;
    let mut asking = pin!(request(&session, 1, LONG));
    assert!(poll!(&mut asking).is_pending());
    drop(deliveries);
    assert!(poll!(&mut asking).is_pending());
    drop(control);
    assert_eq!(failure(&asking.await), Some(FailureReason::Stopping), "dropping both halves retires");
}

#[tokio::test(start_paused = true)]
async fn n4_and_row_46_a_close_ends_every_requester_and_no_reply_goes_out_after_it() {
    let session = open().await;
    let mut responder = answers("a").on(&session).await;
    let never_polled = request(&session, "kept", LONG);
    let mut asking: Vec<_> = (0..3).map(|id| Box::pin(request(&session, id, LONG))).collect();
    for asking in &mut asking {
        assert!(poll!(asking).is_pending());
    }
    let in_hand = responder.take();
    session.close().await.unwrap();
    for result in join_all(asking).now_or_never().expect("at once") {
        assert!(matches!(result, Err(RequestError::Closed)), "{result:?}");
    }
    assert!(matches!(never_polled.now_or_never(), Some(Err(RequestError::Closed))));
    let refused = reply(in_hand, reply_to("0")).unwrap_err();
    assert_eq!(std::error::Error::source(&refused).unwrap().to_string(), "the session is closed");
    assert!(responder.has_ended());
    assert_eq!(counts(responder.retire().await), [3, 2, 0, 0]);
    assert!(matches!(answers("a").try_on(&session).await, Err(SubscribeError::Closed)));
    assert_eq!(Memory::unclaimed(&session), 0, "what did not go out is not unclaimed");
}

#[tokio::test(start_paused = true)]
async fn n4_a_close_wakes_the_requester_that_sleeps() {
    let session = Arc::new(open().await);
    let _responder = answers("a").on(&session).await;
    let requester = tokio::spawn({
        let session = Arc::clone(&session);
        async move { request(&session, 1, LONG).await }
    });
    tokio::task::yield_now().await;
    let begun = Instant::now();
    session.close().await.unwrap();
    assert!(matches!(requester.await.unwrap(), Err(RequestError::Closed)));
    assert!(begun.elapsed() < Duration::from_secs(1));
}

#[tokio::test]
async fn b10_a_group_has_one_bound_and_all_of_its_members_answer_or_none() {
    let session = open().await;
    let first = answers("a").bound(2).on(&session).await;
    let refused = answers("a").bound(3).try_on(&session).await.map(drop);
    assert!(matches!(refused, Err(SubscribeError::Setting { setting: "bound", .. })), "{refused:?}");
    let spec = sub("a").group("g").bound(2).spec();
    let refused = Memory::at_most_once(&session, spec).await.map(drop);
    assert!(matches!(refused, Err(SubscribeError::Setting { setting: "group", .. })), "{refused:?}");
    let _plain = sub("b").group("g").on(&session).await;
    let refused = answers("b").try_on(&session).await.map(drop);
    assert!(matches!(refused, Err(SubscribeError::Setting { setting: "group", .. })), "{refused:?}");
    // A refusal leaves nothing behind.
    assert!(request(&session, 1, LONG).now_or_never().is_none());
    assert_eq!(first.counts(), [1, 1, 0, 0]);
}

#[tokio::test(start_paused = true)]
async fn the_sources_of_responders_leave_the_other_tasks_of_their_thread_their_turn() {
    let session = open().await;
    let mut responder = answers("a").bound(10_000).on(&session).await;
    for id in 0..10_000 {
        publish(&session, "a", id).await.unwrap();
    }
    let flag = Arc::new(std::sync::atomic::AtomicBool::new(false));
    tokio::spawn({
        let flag = Arc::clone(&flag);
        async move { flag.store(true, std::sync::atomic::Ordering::Relaxed) }
    });
    let mut taken = 0;
    while !flag.load(std::sync::atomic::Ordering::Relaxed) {
        responder.deliveries.next().await.unwrap();
        taken += 1;
    }
    assert!(taken < 1_000, "{taken} without a turn");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_requests_at_once_each_get_the_reply_to_themselves() {
    let session = Arc::new(open().await);
    for _ in 0..2 {
        let mut responder = answers("a").bound(1_000).on(&session).await;
        tokio::spawn(async move {
            while let Some(first) = responder.deliveries.next().await {
                let more = std::iter::from_fn(|| responder.deliveries.next().now_or_never().flatten());
                let held: Vec<_> = std::iter::once(first).chain(more).collect();
                // The last ones first, so that order alone brings nobody the right one.
                for incoming in held.into_iter().rev() {
                    let to = reply_to(incoming.message.unwrap().event.id());
                    incoming.settler.into_replier().unwrap().reply(to).await.unwrap();
                }
            }
        });
    }
    let requesters: Vec<_> = (0..1_000)
        .map(|id| {
            let session = Arc::clone(&session);
            tokio::spawn(async move { request(&session, id, LONG).await })
        })
        .collect();
    for (id, requester) in requesters.into_iter().enumerate() {
        assert_eq!(soon(requester).await.unwrap().unwrap(), reply_to(&id.to_string()));
    }
    assert_eq!(Memory::unclaimed(&session), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r4_beside_a_close_every_request_ends_and_every_reply_that_went_out_is_accounted() {
    for round in 0..100 {
        let session = Arc::new(open().await);
        let mut responder = answers("a").bound(8).on(&session).await;
        let replies = tokio::spawn(async move {
            let mut sent = 0;
            while let Some(incoming) = responder.deliveries.next().await {
                let replier = incoming.settler.into_replier().unwrap();
                sent += u64::from(replier.reply(event("reply")).await.is_ok());
            }
            sent
        });
        let requesters: Vec<_> = (0..2)
            .map(|_| {
                let session = Arc::clone(&session);
                tokio::spawn(async move {
                    let mut answered = 0;
                    loop {
                        // Some are polled once and given up.
                        let _ = is_pending(request(&session, 0, LONG));
                        match request(&session, 0, LONG).await {
                            Ok(reply) => answered += u64::from(FailureReason::of(&reply).is_none()),
                            Err(RequestError::Closed) => return answered,
                            Err(other) => panic!("{other}"),
                        }
                    }
                })
            })
            .collect();
        for _ in 0..round {
            tokio::task::yield_now().await;
        }
        session.close().await.unwrap();
        let mut answered = 0;
        for requester in requesters {
            answered += soon(requester).await.unwrap();
        }
        let sent: u64 = soon(replies).await.unwrap();
        let full_and_unclaimed = Memory::unclaimed(&session);
        assert!(answered <= sent && sent <= answered + full_and_unclaimed, "{sent} {answered} {full_and_unclaimed}");
    }
}
