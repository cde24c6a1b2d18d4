//! How a responder's delivery ends: with one reply, where somebody asked (contract R6, R10).

use super::{
    desk::{Desk, Handled},
    error::chain,
    guard::{Guarded, caught_until},
    publish::unreserved,
    seen::{Place, Wrong},
    tally::Tally,
};
use crate::{
    contract::{FailureReason, FailureReply, Settle},
    event::Event,
    subscription::Word,
};

/// What the requester gets.
pub(super) enum Said {
    /// What the responder replied.
    Reply(Event),
    /// Why it gets a failure reply.
    Failure(FailureReason),
}

impl Desk {
    /// What a responder's requester gets, and the panic's text if the responder panicked, which fails the consumer.
    pub(super) fn answer(&self, tally: &Tally, handled: Handled, place: &Place<'_>) -> (Said, Option<String>) {
        let failure = match handled {
            Guarded::Returned(Ok(judgement)) => {
                tally.delivered.add_one();
                place.judged(&judgement);
                return (self.said(tally, judgement.word, place), None);
            }
            Guarded::Returned(Err(_)) => FailureReason::Undecodable,
            Guarded::Panicked(_) => FailureReason::Panic,
            Guarded::CutOff => FailureReason::Stopping,
        };
        (Said::Failure(failure), self.record(tally, handled, place))
    }

    /// What a responder that returned has said.
    fn said(&self, tally: &Tally, word: Word, place: &Place<'_>) -> Said {
        let why = match word {
            Word::Reply(event) => match unreserved(event) {
                Ok(event) => return Said::Reply(event),
                Err(error) => error.to_string(),
            },
            Word::Failed(failure) => {
                tally.errors.add_one();
                self.warn(place, Wrong::Failed, &failure);
                return Said::Failure(FailureReason::Error);
            }
            Word::BadReply(why) => why.into(),
            Word::Plain => "it returned none".to_owned(),
        };
        self.warn(place, Wrong::BadReply, &why);
        Said::Failure(FailureReason::BadReply)
    }

    /// Sends the reply. Each delivery is counted once, by its first reply: one that cannot be sent is refused, though its
    /// requester gets a failure reply in its place.
    pub(super) async fn send<S: Settle>(
        &self,
        failure: &FailureReply,
        tally: &Tally,
        said: Said,
        place: &Place<'_>,
        settler: S,
    ) {
        let (reply, bad) = match said {
            Said::Reply(event) => (event, false),
            Said::Failure(reason) => (failure.event(reason), reason == FailureReason::BadReply),
        };
        let reply = place.inside(|| self.traces.try_set_on(reply)).unwrap_or_else(|(reply, panic)| {
            self.warn(place, Wrong::Untraced, &panic);
            reply
        });
        // As a settlement, a reply is bounded by the stop (T8).
        let refused = match caught_until(|| settler.answer(reply), &self.given_up).await {
            // Nobody asked (R8).
            Guarded::Returned(None) => {
                tally.unaddressed.add_one();
                return;
            }
            Guarded::Returned(Some(Ok(()))) => None,
            Guarded::Returned(Some(Err(error))) => Some(chain(&error)),
            Guarded::Panicked(text) => Some(format!("the backend panicked while replying: {text}")),
            Guarded::CutOff => Some("the time for it is used up".to_owned()),
        };
        match refused {
            None if !bad => tally.replied.add_one(),
            None => tally.reply_refused.add_one(),
            Some(why) => {
                tally.reply_refused.add_one();
                self.warn(place, Wrong::ReplyRefused, &why);
            }
        }
    }
}
