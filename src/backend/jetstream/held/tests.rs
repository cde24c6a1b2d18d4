use crate::{
    contract::{Malformed, SlowHandler},
    event::Event,
    subject::Subject,
};

use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn held(bound: usize, window: usize, slow: SlowHandler) -> (Held, Instant) {
    let now = Instant::now();
    let terms = Terms {
        bound: NonZeroUsize::new(bound).unwrap(),
        window: NonZeroUsize::new(window).unwrap(),
        max_deliver: NonZeroU32::new(3).unwrap(),
        lease: Lease::new(SECOND, slow),
        miscounts: false,
    };
    (Held::new(terms, now), now)
}

fn extended(bound: usize) -> (Held, Instant) {
    held(bound, bound, SlowHandler::ExtendLease { max_processing_time: 10 * SECOND })
}

fn arrival(sequence: u64, attempt: u32) -> Arrival {
    let event = Event::builder(sequence.to_string(), crate::source!("urn:x"), "t").build().unwrap();
    Arrival {
        message: Ok(Message { subject: Subject::new("a").unwrap(), event }),
        address: format!("{sequence}.{attempt}").into(),
        sequence,
        stored: sequence * 1_000,
        attempt: NonZeroU32::new(attempt).unwrap(),
    }
}

fn hand_over(held: &mut Held, now: Instant) -> Option<Token> {
    match held.poll_next(&Context::from_waker(Waker::noop()), now) {
        Poll::Ready(Some(handed)) => Some(handed.token),
        _ => None,
    }
}

/// Settles, and has the client take it.
fn settle(held: &mut Held, token: Token, outcome: Outcome, now: Instant) -> Result<Verb, Refusal> {
    settle_after(held, token, outcome, Duration::ZERO, now)
}

fn settle_after(
    held: &mut Held,
    token: Token,
    outcome: Outcome,
    delay: Duration,
    now: Instant,
) -> Result<Verb, Refusal> {
    let word = held.begin(token, Settlement::new(outcome).after(delay), now, true)?;
    held.finish(token, true, now);
    Ok(word.verb)
}

fn said(held: &mut Held, now: Instant) -> Vec<(String, Verb)> {
    let words = held.words(now);
    words.iter().for_each(|word| held.said(word));
    words.into_iter().map(|word| (word.address.to_string(), word.verb)).collect()
}

const NAK: Verb = Verb::Nak(Duration::ZERO);

#[test]
fn b4_what_is_asked_for_queued_in_hand_and_resting_is_never_more_than_the_bound() {
    let (mut held, now) = extended(4);
    assert_eq!(held.wanted(now), NonZeroUsize::new(4));
    held.pull(NonZeroUsize::new(4).unwrap());
    assert_eq!(held.wanted(now), None, "one pull at a time");
    (1..=4).for_each(|sequence| held.take_in(arrival(sequence, 1), now));
    assert!(!held.is_pulling());
    let tokens: Vec<Token> = (0..4).map_while(|_| hand_over(&mut held, now)).collect();
    assert_eq!(held.wanted(now), None, "all are in hand");
    settle(&mut held, tokens[0], Outcome::Acked, now).unwrap();
    settle_after(&mut held, tokens[1], Outcome::Nacked, SECOND, now).unwrap();
    assert_eq!(held.wanted(now), NonZeroUsize::new(1), "what waits out a delay keeps its place");
    assert_eq!(held.wanted(now + SECOND), NonZeroUsize::new(2));
}

#[test]
fn b6_a_pull_asks_for_no_more_than_the_client_holds_of_one_subscription() {
    let (mut held, now) = extended(usize::MAX);
    assert_eq!(held.wanted(now), NonZeroUsize::new(MOST));
}

#[test]
fn q10_where_the_link_goes_down_with_each_lease_one_message_is_asked_for_at_a_time() {
    let (mut held, now) = extended(8);
    held.link_is_made(now);
    assert_eq!(held.wanted(now), NonZeroUsize::new(8), "once is an outage");
    held.link_is_made(now + 5 * SECOND);
    assert_eq!(held.wanted(now + 5 * SECOND), NonZeroUsize::new(8), "and another one");
    held.link_is_made(now + 6 * SECOND);
    assert_eq!(held.wanted(now + 6 * SECOND), NonZeroUsize::new(1));
    held.link_is_made(now + 7 * SECOND);
    assert_eq!(held.wanted(now + 8 * SECOND), NonZeroUsize::new(1));
    assert_eq!(held.wanted(now + 9 * SECOND), NonZeroUsize::new(8), "it comes no more");
}

#[test]
fn b4_what_comes_beyond_the_bound_is_given_back_and_not_counted() {
    let (mut held, now) = extended(1);
    held.take_in(arrival(1, 1), now);
    held.take_in(arrival(2, 1), now);
    assert_eq!(said(&mut held, now), [("2.1".to_owned(), Verb::Nak(LATER))]);
    assert_eq!(held.stats().accepted, 1);
}

#[test]
fn b6_the_window_is_refilled_when_half_of_it_is_empty() {
    let (mut held, now) = held(16, 4, SlowHandler::Redeliver);
    assert_eq!(held.wanted(now), NonZeroUsize::new(4));
    (1..=4).for_each(|sequence| held.take_in(arrival(sequence, 1), now));
    hand_over(&mut held, now);
    assert_eq!(held.wanted(now), None);
    hand_over(&mut held, now);
    assert_eq!(held.wanted(now), NonZeroUsize::new(2));
}

#[test]
fn t2_the_last_attempt_declined_is_ended_and_counted_and_returned_it_is_neither() {
    for outcome in [Outcome::Nacked, Outcome::Silent, Outcome::Unheard] {
        let (mut held, now) = extended(4);
        held.take_in(arrival(1, 2), now);
        held.take_in(arrival(2, 3), now);
        held.take_in(arrival(3, 4), now);
        let verbs: Vec<_> = (0..3)
            .map(|_| {
                let token = hand_over(&mut held, now).unwrap();
                settle(&mut held, token, outcome, now).unwrap()
            })
            .collect();
        assert_eq!(verbs, [NAK, Verb::Term, Verb::Term], "{outcome:?}");
        assert_eq!(held.stats().exhausted, 2);
    }
    let (mut held, now) = extended(4);
    held.take_in(arrival(1, 3), now);
    let token = hand_over(&mut held, now).unwrap();
    assert_eq!(settle(&mut held, token, Outcome::Returned, now), Ok(NAK));
    assert_eq!(held.stats().exhausted, 0);
}

#[test]
fn t6_a_settlement_is_refused_while_the_link_is_down_and_its_message_is_given_back_over_the_next_one() {
    let (mut held, now) = extended(4);
    held.take_in(arrival(1, 1), now);
    let token = hand_over(&mut held, now).unwrap();
    let refused = held.begin(token, Settlement::new(Outcome::Acked), now, false);
    assert_eq!(refused, Err(Refusal::Down));
    assert_eq!(said(&mut held, now), [("1.1".to_owned(), NAK)]);
    assert_eq!(settle(&mut held, token, Outcome::Acked, now), Err(Refusal::Lapsed));
}

#[test]
fn t6_a_settlement_that_the_client_does_not_take_judges_nothing() {
    let (mut held, now) = extended(4);
    held.take_in(arrival(1, 3), now);
    let token = hand_over(&mut held, now).unwrap();
    held.begin(token, Settlement::new(Outcome::Nacked), now, true).unwrap();
    held.finish(token, false, now);
    assert_eq!((said(&mut held, now), held.stats().exhausted), (vec![("1.3".to_owned(), NAK)], 0));
}

#[test]
fn t4_a_settler_that_is_dropped_gives_its_message_back_also_in_the_middle_of_settling() {
    let (mut held, now) = extended(4);
    held.take_in(arrival(1, 1), now);
    held.take_in(arrival(2, 1), now);
    let (one, two) = (hand_over(&mut held, now).unwrap(), hand_over(&mut held, now).unwrap());
    held.abandon(one);
    held.begin(two, Settlement::new(Outcome::Acked), now, true).unwrap();
    assert!(!held.is_settled());
    held.abandon(two);
    assert!(held.is_settled());
    assert_eq!(said(&mut held, now), [("1.1".to_owned(), NAK), ("2.1".to_owned(), NAK)]);
}

#[test]
fn e5_heartbeats_go_out_for_all_that_is_held_until_the_processing_time_has_passed() {
    let (mut held, now) = extended(4);
    held.take_in(arrival(1, 1), now);
    held.take_in(arrival(2, 1), now);
    let in_hand = hand_over(&mut held, now).unwrap();
    let mut clock = now;
    for _ in 0..39 {
        clock += SECOND / 4;
        held.look(clock, true);
        held.heard(clock);
    }
    assert_eq!(held.stats().lease_expired, 0);
    let mut beats: Vec<_> = {
        let (mut held, now) = extended(4);
        held.take_in(arrival(1, 1), now);
        held.take_in(arrival(2, 1), now);
        hand_over(&mut held, now);
        held.look(now + SECOND / 2, true).into_iter().map(|word| (word.address.to_string(), word.verb)).collect()
    };
    beats.sort_by(|left, right| left.0.cmp(&right.0));
    assert_eq!(beats, [("1.1".to_owned(), Verb::Progress), ("2.1".to_owned(), Verb::Progress)]);

    held.look(now + 10 * SECOND, true);
    assert_eq!(said(&mut held, clock).len(), 2, "both are handed on");
    let stats = held.stats();
    assert_eq!((stats.lease_expired, stats.accepted, stats.pending), (2, 2, 1));
    assert_eq!(settle(&mut held, in_hand, Outcome::Acked, clock), Err(Refusal::Lapsed));
}

/// Lets the time pass that a message may be in hand, with a link that carries heartbeats; what time it is then.
fn spend(held: &mut Held, now: Instant) -> Instant {
    let mut clock = now;
    while clock < now + 10 * SECOND {
        clock += SECOND / 4;
        held.look(clock, true);
        held.heard(clock);
    }
    clock
}

#[test]
fn e5_a_message_that_spends_its_time_at_the_last_attempt_is_exhausted_and_one_that_nobody_was_handed_is_not() {
    let (mut held, now) = extended(4);
    held.take_in(arrival(1, 3), now);
    held.take_in(arrival(2, 3), now);
    hand_over(&mut held, now);
    let clock = spend(&mut held, now);
    let mut words = said(&mut held, clock);
    words.sort_by(|left, right| left.0.cmp(&right.0));
    assert_eq!(words, [("1.3".to_owned(), Verb::Term), ("2.3".to_owned(), NAK)]);
    assert_eq!(held.stats().exhausted, 1);
}

#[test]
fn l11_what_was_given_up_is_forgotten_by_age_and_not_by_place() {
    let (mut held, _) = extended(4);
    let many = crate::backend::jetstream::done::MOST as u64;
    (0..many).for_each(|sequence| assert!(held.is_dead(10_000 + sequence)));
    assert!(held.is_dead(1), "it is news");
    assert!(!held.is_dead(1), "and the second time it is not");
    assert!(!held.is_dead(10_001));
    assert_eq!(held.stats().exhausted, many + 1);
}

#[test]
fn l8_what_was_terminated_for_its_spent_lease_and_comes_again_is_exhausted_once_and_handed_to_nobody() {
    let (mut held, now) = extended(4);
    held.take_in(arrival(1, 3), now);
    hand_over(&mut held, now);
    let clock = spend(&mut held, now);
    held.take_in(arrival(1, 4), clock);
    let again = hand_over(&mut held, clock).expect("nothing has been said yet");
    held.give_back(again);
    assert_eq!(said(&mut held, clock), [("1.3".to_owned(), Verb::Term), ("1.4".to_owned(), NAK)]);
    held.take_in(arrival(1, 5), clock);
    assert_eq!((hand_over(&mut held, clock), held.stats().exhausted), (None, 1));
    assert_eq!(said(&mut held, clock), [("1.5".to_owned(), Verb::Ack)]);
}

#[test]
fn e5_without_heartbeats_a_lease_lapses_and_nothing_is_said_of_it() {
    let (mut held, now) = extended(4);
    held.take_in(arrival(1, 3), now);
    let token = hand_over(&mut held, now).unwrap();
    assert!(held.look(now + SECOND / 2, false).is_empty());
    assert_eq!(settle(&mut held, token, Outcome::Acked, now + SECOND), Err(Refusal::Lapsed));
    assert_eq!((said(&mut held, now).len(), held.stats().lease_expired, held.stats().exhausted), (0, 1, 0));
}

#[test]
fn e5_a_heartbeat_counts_once_the_server_has_heard_it() {
    let (mut held, now) = extended(4);
    held.take_in(arrival(1, 1), now);
    held.take_in(arrival(2, 1), now);
    let (one, two) = (hand_over(&mut held, now).unwrap(), hand_over(&mut held, now).unwrap());
    let sent = now + SECOND / 2;
    assert_eq!(held.look(sent, true).len(), 2);
    assert_eq!(settle(&mut held, one, Outcome::Acked, now + SECOND), Err(Refusal::Lapsed), "nobody answered");
    held.heard(sent);
    assert_eq!(settle(&mut held, two, Outcome::Acked, now + SECOND), Ok(Verb::Ack));
}

#[test]
fn m2_what_was_acknowledged_and_comes_again_is_acknowledged_again_and_handed_to_nobody() {
    let (mut held, now) = extended(4);
    held.take_in(arrival(1, 1), now);
    let token = hand_over(&mut held, now).unwrap();
    settle(&mut held, token, Outcome::Acked, now).unwrap();
    held.take_in(arrival(1, 2), now);
    assert_eq!(said(&mut held, now), [("1.2".to_owned(), Verb::Ack)]);
    assert_eq!((hand_over(&mut held, now), held.stats().accepted), (None, 1));
    // A server that crashed may have forgotten that there was an attempt.
    held.link_is_new(now);
    held.take_in(arrival(1, 1), now);
    assert_eq!(said(&mut held, now), [("1.1".to_owned(), Verb::Ack)]);
    // Long after that somebody has asked the server to send it again.
    held.take_in(arrival(1, 1), now + 2 * DOUBT);
    assert!(hand_over(&mut held, now + 2 * DOUBT).is_some());
}

#[test]
fn m2_what_was_acknowledged_and_comes_as_if_for_the_first_time_is_not_handled_again_on_a_server_that_miscounts() {
    let (mut held, now) = extended(4);
    held.terms.miscounts = true;
    held.take_in(arrival(1, 1), now);
    let token = hand_over(&mut held, now).unwrap();
    settle(&mut held, token, Outcome::Acked, now).unwrap();
    held.take_in(arrival(1, 1), now);
    assert_eq!(said(&mut held, now), [("1.1".to_owned(), Verb::Ack)]);
    assert_eq!(hand_over(&mut held, now), None);
}

#[test]
fn m2_another_message_in_the_place_of_one_that_was_acknowledged_is_handed_over() {
    let (mut held, now) = extended(4);
    held.take_in(arrival(1, 1), now);
    let token = hand_over(&mut held, now).unwrap();
    settle(&mut held, token, Outcome::Acked, now).unwrap();
    // The machine crashed and forgot the message; then another one was stored and got its number.
    held.link_is_new(now);
    held.take_in(Arrival { stored: 1_001, ..arrival(1, 1) }, now);
    assert_eq!(said(&mut held, now), [], "nobody has handled it");
    let token = hand_over(&mut held, now).expect("it is handed over");
    settle(&mut held, token, Outcome::Acked, now).unwrap();
    held.take_in(Arrival { stored: 1_001, ..arrival(1, 2) }, now);
    assert_eq!(said(&mut held, now), [("1.2".to_owned(), Verb::Ack)], "and now it is that one that is done");
}

#[test]
fn l8_what_was_terminated_and_comes_again_is_exhausted_once_and_handed_to_nobody() {
    let (mut held, now) = extended(4);
    held.take_in(arrival(1, 3), now);
    let token = hand_over(&mut held, now).unwrap();
    assert_eq!(settle(&mut held, token, Outcome::Nacked, now), Ok(Verb::Term));
    // The word was lost on its way.
    held.take_in(arrival(1, 4), now);
    assert_eq!(hand_over(&mut held, now), None, "it had its attempts");
    assert_eq!(said(&mut held, now).len(), 1, "the server is told again");
    assert_eq!(held.stats().exhausted, 1);
}

#[test]
fn e1_a_settlement_under_way_when_its_lease_ends_keeps_nobody_awake() {
    for slow in [SlowHandler::Redeliver, SlowHandler::ExtendLease { max_processing_time: SECOND }] {
        let (mut held, now) = held(4, 4, slow);
        held.take_in(arrival(1, 1), now);
        let token = hand_over(&mut held, now).unwrap();
        held.begin(token, Settlement::new(Outcome::Acked), now, true).unwrap();
        let later = now + 2 * SECOND;
        held.look(later, true);
        assert!(held.wakes(now) > later, "the client's buffer is full, and nothing can be done about it");
    }
}

#[test]
fn e7_what_the_server_sends_again_is_not_its_old_receivers_any_more() {
    let (mut held, now) = held(4, 4, SlowHandler::Redeliver);
    held.take_in(arrival(1, 1), now);
    let old = hand_over(&mut held, now).unwrap();
    held.take_in(arrival(1, 2), now + SECOND / 2);
    let new = hand_over(&mut held, now + SECOND / 2).unwrap();
    assert_eq!(settle(&mut held, old, Outcome::Acked, now + SECOND / 2), Err(Refusal::Lapsed));
    assert_eq!(settle(&mut held, new, Outcome::Acked, now + SECOND / 2), Ok(Verb::Ack));
    assert_eq!(held.stats().lease_expired, 1);
}

#[test]
fn e8_a_lease_that_ends_in_the_window_is_counted_and_its_message_is_not_handed_over() {
    let (mut held, now) = held(4, 4, SlowHandler::Redeliver);
    held.take_in(arrival(1, 1), now);
    assert_eq!(hand_over(&mut held, now + SECOND), None);
    let stats = held.stats();
    assert_eq!(
        (stats.lease_expired, stats.accepted, stats.pending),
        (1, 1, 1),
        "it is released when the source retires"
    );
    held.take_in(arrival(1, 2), now + SECOND);
    assert_eq!((held.stats().accepted, held.stats().pending), (1, 1), "or takes its own place again");
}

#[test]
fn n7_the_end_gives_everything_back_in_the_order_of_the_stream_and_freezes_what_was_pending() {
    let (mut held, now) = extended(8);
    for sequence in [3, 1, 2] {
        held.take_in(arrival(sequence, 1), now);
    }
    let in_hand = hand_over(&mut held, now).unwrap();
    held.end();
    assert!(matches!(held.poll_next(&Context::from_waker(Waker::noop()), now), Poll::Ready(None)));
    assert_eq!(settle(&mut held, in_hand, Outcome::Acked, now), Err(Refusal::Ended));
    held.abandon(in_hand);
    held.take_in(arrival(4, 1), now);
    assert_eq!(said(&mut held, now), [], "it would come again to the open pull");
    held.release();
    let addresses: Vec<_> = said(&mut held, now).into_iter().map(|(address, _)| address).collect();
    assert_eq!(addresses, ["1.1", "2.1", "3.1", "4.1"]);
    let stats = held.stats();
    assert_eq!((stats.accepted, stats.pending), (3, 2));
    assert_eq!(held.wanted(now), None);
}

#[test]
fn q10_what_is_malformed_takes_a_place_and_an_attempt_as_any_message() {
    let (mut held, now) = extended(1);
    held.take_in(Arrival { message: Err(Malformed::new("no event")), ..arrival(1, 3) }, now);
    assert_eq!(held.wanted(now), None);
    let token = hand_over(&mut held, now).unwrap();
    assert_eq!(settle(&mut held, token, Outcome::Silent, now), Ok(Verb::Term));
    assert_eq!(held.stats().exhausted, 1);
}
