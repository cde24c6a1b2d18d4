//! Requests and their responders, as rows look at them.

use std::{num::NonZeroUsize, time::Duration};

use super::{Failure, Fixture, Got, Result, Stage, Tap};
use crate::{
    contract::{AnswersRequests, FailureReason, FailureReply, Reply, ReplyTo, RequestError, ResponderSpec},
    event::{Event, UriReference},
    subject::{Group, Subject},
};

impl<F: Fixture> Stage<F>
where
    F::Backend: AnswersRequests,
{
    /// A responder: a member of this group with this bound.
    ///
    /// # Errors
    /// It was refused.
    pub async fn responder(
        &mut self,
        tokens: &str,
        group: &str,
        bound: usize,
    ) -> Result<Tap<<F::Backend as AnswersRequests>::Requests>> {
        let plan = self.plan(tokens);
        let group = Group::new(self.shared(group)).expect("a row's names are valid");
        let bound = NonZeroUsize::new(bound).expect("a bound is not zero");
        let (name, pattern) = (plan.name, plan.pattern);
        let spec = ResponderSpec::new(plan.id, name.clone(), pattern.clone(), group, bound, self.failure());
        match self.within("subscribing", F::Backend::responder(self.session(), spec)).await? {
            Ok(source) => {
                self.note(format_args!("`{name}` answers on `{pattern}`"));
                Ok(self.look_at(source, name))
            }
            Err(error) => Err(Failure::error(format_args!("`{name}` could not answer on `{pattern}`"), &error)),
        }
    }

    /// What makes the failure replies of this row's responders.
    pub fn failure(&self) -> FailureReply {
        FailureReply::new(UriReference::new("urn:tramline:conformance:responder").expect("it is a URI"))
    }

    /// Asks, with a small event of this id.
    ///
    /// # Errors
    /// As the backend answers.
    pub async fn ask(&self, tokens: &str, id: &str, within: Duration) -> std::result::Result<Event, RequestError> {
        self.ask_on(&self.subject(tokens), self.event(id), within).await
    }

    /// Asks, with this event.
    ///
    /// # Errors
    /// As the backend answers.
    pub async fn ask_on(
        &self,
        subject: &Subject,
        event: Event,
        within: Duration,
    ) -> std::result::Result<Event, RequestError> {
        let id = event.id().to_owned();
        self.note(format_args!("`{id}` is asked on `{subject}`, within {within:?}"));
        let answer = F::Backend::request(self.session(), subject, event, within).await;
        self.note(format_args!("`{id}` has {}", said(&answer)));
        answer
    }

    /// How many replies nobody waited for any more.
    pub fn unclaimed(&self) -> u64 {
        F::Backend::unclaimed(self.session())
    }
}

/// An answer in short.
pub(super) fn said(answer: &std::result::Result<Event, RequestError>) -> String {
    match answer {
        Ok(reply) => match FailureReason::of(reply) {
            None => format!("the reply `{}`", reply.id()),
            Some(reason) => format!("the failure reply \"{reason}\""),
        },
        Err(error) => format!("no reply: {error}"),
    }
}

impl<R: Reply> Got<ReplyTo<R>> {
    /// Its reply address; none where it was published.
    pub fn into_replier(self) -> Option<R> {
        self.into_settler().into_replier()
    }

    /// Answers it with this event.
    ///
    /// # Errors
    /// It has no reply address, or the reply was refused.
    pub async fn answer(self, reply: Event) -> Result {
        let id = self.id().to_owned();
        let Some(replier) = self.into_replier() else {
            return Err(Failure::seen(format!("the request `{id}` has no reply address")));
        };
        let replied = replier.reply(reply).await;
        replied.map_err(|error| Failure::error(format_args!("the reply to `{id}`"), &error))
    }
}
