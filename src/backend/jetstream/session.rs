//! One lifetime of the backend: a connection to core NATS, and the stream.

use std::{num::NonZeroUsize, sync::Arc, time::Duration};

use async_nats::{
    HeaderMap,
    client::{Request, RequestErrorKind},
    jetstream::{publish::PublishAck, response::Response},
};

use super::{
    api::Api, consumer, held::Terms, lease::Lease, pull::Pulling, shared::Shared, source::JetStreamSource, stream,
    word::nanoseconds,
};
use crate::{
    backend::nats::{NatsSession, link::NotSent, signals::Denied, wire},
    contract::{AtLeastOnceSpec, CloseError, OpenError, PublishError, Session, SubscribeError},
    event::Event,
    subject::Subject,
};

/// How long the server may take to confirm a publish, or to answer for a stream or a consumer.
pub(super) const ANSWER: Duration = Duration::from_secs(5);
/// The longest identity of an event that goes into a header, in bytes.
const LONGEST_ID: usize = 8 * 1024;

/// One connection to NATS and a stream there, from one start of a bus to its stop. Closing or dropping it ends its sources,
/// which give back what they hold.
#[derive(Debug)]
pub struct JetStreamSession {
    core: NatsSession,
    api: Api,
    stream: String,
    prefetch: NonZeroUsize,
}

impl JetStreamSession {
    /// A session, if the stream is what the backend's type declares.
    pub(super) async fn open(core: NatsSession, stream: &str, prefetch: NonZeroUsize) -> Result<Self, OpenError> {
        let api = Api::new(Arc::clone(core.link()));
        let session = Self { core, api, stream: stream.to_owned(), prefetch };
        match stream::is_as_declared(stream, stream::read(&session.api, stream).await) {
            Ok(()) => Ok(session),
            Err(error) => {
                // It was open for this question only.
                let _ = session.core.close().await;
                Err(error)
            }
        }
    }

    /// The session of what core NATS does.
    pub(super) const fn core(&self) -> &NatsSession {
        &self.core
    }

    /// Opens a source at least once.
    pub(super) async fn subscribe(&self, spec: AtLeastOnceSpec) -> Result<JetStreamSource, SubscribeError> {
        tokio::select! {
            biased;
            () = self.core.link().closed().cancelled() => Err(SubscribeError::Closed),
            source = self.open_source(spec) => source,
        }
    }

    async fn open_source(&self, spec: AtLeastOnceSpec) -> Result<JetStreamSource, SubscribeError> {
        let unconfirmed = |source: Box<dyn std::error::Error + Send + Sync>| SubscribeError::Unconfirmed { source };
        let link = self.core.link();
        is_a_lease(&spec)?;
        let config = stream::read(&self.api, &self.stream).await.map_err(|error| unconfirmed(error.into()))?;
        stream::covers(&self.stream, &config, &spec.name, &spec.pattern)?;
        let identity = consumer::open(&self.api, &self.stream, &spec).await?;
        let reply = link.client().new_inbox();
        let inbox = link.client().subscribe(format!("{reply}.*")).await.map_err(|error| unconfirmed(error.into()))?;
        // A group, so that of all who share the identity one hears of each.
        let group = identity.consumer().to_owned();
        let deaths = link.client().queue_subscribe(identity.deaths(), group).await;
        let deaths = deaths.map_err(|error| unconfirmed(error.into()))?;
        let terms = Terms {
            bound: spec.bound,
            window: spec.bound.min(self.prefetch),
            max_deliver: spec.max_deliver,
            lease: Lease::new(consumer::ack_wait(&spec), spec.slow_handler),
            // Where a pull ends in the moment in which something is declined: https://github.com/nats-io/nats-server/pull/5305
            miscounts: !link.client().is_server_compatible(2, 10, 15),
        };
        let shared = Arc::new(Shared::new(Arc::clone(link), terms));
        let pulling = Pulling::new(Arc::clone(&shared), self.api.clone(), identity, inbox, reply, deaths);
        link.tasks().spawn(pulling.run());
        Ok(JetStreamSource::new(shared))
    }
}

/// Whether the server can hold the lease.
fn is_a_lease(spec: &AtLeastOnceSpec) -> Result<(), SubscribeError> {
    const SHORTEST: Duration = Duration::from_millis(10);
    let asked = consumer::ack_wait(spec);
    let fix = if asked < SHORTEST {
        format!("JetStream holds no lease below {SHORTEST:?}: ask for a longer one")
    } else if nanoseconds(asked) == i64::MAX {
        "JetStream holds no lease beyond 292 years: ask for a shorter one".to_owned()
    } else {
        return Ok(());
    };
    let (subscription, value) = (spec.name.clone(), format!("{asked:?}"));
    Err(SubscribeError::Setting { subscription, setting: "ack_wait", value, fix })
}

impl Session for JetStreamSession {
    /// `Ok` says that the stream has it. It has it once: an event that is published again to the same subject, with the same
    /// source and id, within the stream's duplicate window, is confirmed and not kept a second time.
    ///
    /// Publishes that are awaited side by side are confirmed side by side: none waits for another.
    async fn publish(&self, subject: &Subject, event: Event) -> Result<(), PublishError> {
        let link = self.core.link();
        link.ready().map_err(|error| match error {
            NotSent::Closed => PublishError::Closed,
            error => PublishError::Unconfirmed { source: error.into() },
        })?;
        let (mut headers, payload) = link.writer().write(&event);
        identify(&mut headers, subject, &event);
        let limit = link.client().max_payload();
        if let Some(size) = wire::too_large(&headers, &payload, limit) {
            return Err(PublishError::TooLarge { size, limit });
        }
        let request = Request::new().headers(headers).payload(payload).timeout(Some(ANSWER));
        if let Some(denied) = link.is_denied(subject.as_str()) {
            return Err(unconfirmed(Unconfirmed::Denied(denied)));
        }
        let trouble = link.trouble(subject.as_str());
        let answer = tokio::select! {
            biased;
            answer = link.client().send_request(wire::address(subject), request) => answer,
            () = link.closed().cancelled() => return Err(unconfirmed(Unconfirmed::Late)),
            trouble = trouble => return Err(unconfirmed(match trouble {
                NotSent::Denied(denied) => Unconfirmed::Denied(denied),
                _ => Unconfirmed::Down,
            })),
        };
        let answer = answer.map_err(|error| match not_answered(error, subject, &self.stream) {
            None => {
                let (mut headers, payload) = link.writer().write(&event);
                identify(&mut headers, subject, &event);
                let (size, limit) = (wire::size(&headers, &payload), link.client().max_payload());
                PublishError::TooLarge { size, limit }
            }
            Some(error) => unconfirmed(error),
        })?;
        match serde_json::from_slice(&answer.payload) {
            Ok(Response::Ok::<PublishAck>(_)) => Ok(()),
            Ok(Response::Err { error }) => Err(unconfirmed(Unconfirmed::Refused(error))),
            Err(_) => Err(unconfirmed(Unconfirmed::Foreign { subject: subject.to_string() })),
        }
    }

    async fn close(&self) -> Result<(), CloseError> {
        self.core.close().await
    }
}

/// Why a publish is not known to have been taken.
#[derive(Debug, thiserror::Error)]
enum Unconfirmed {
    #[error("the link to the NATS server went down before the publish was confirmed")]
    Down,
    #[error("the session was closed meanwhile: whether the stream has it is not known")]
    Late,
    #[error(
        "no stream keeps `{subject}`: run `nats stream edit {stream} --subjects` with its subjects and this one, or publish to \
         a subject that it keeps"
    )]
    NoStream { subject: String, stream: String },
    #[error(transparent)]
    Denied(Denied),
    #[error("the stream did not confirm it within {ANSWER:?}")]
    Silent,
    #[error("the stream refused it: {0}")]
    Refused(async_nats::jetstream::Error),
    #[error("somebody who is no stream answers on `{subject}`")]
    Foreign { subject: String },
    #[error("the NATS client did not send it")]
    Client(#[source] async_nats::RequestError),
}

/// Why there is no answer; none where the limit has shrunk since it was looked at, and the client did not send it.
fn not_answered(error: async_nats::RequestError, subject: &Subject, stream: &str) -> Option<Unconfirmed> {
    match error.kind() {
        RequestErrorKind::MaxPayloadExceeded => None,
        RequestErrorKind::NoResponders => {
            Some(Unconfirmed::NoStream { subject: subject.to_string(), stream: stream.to_owned() })
        }
        RequestErrorKind::TimedOut => Some(Unconfirmed::Silent),
        _ => Some(Unconfirmed::Client(error)),
    }
}

fn unconfirmed(error: Unconfirmed) -> PublishError {
    PublishError::Unconfirmed { source: error.into() }
}

/// Says what to tell duplicates by: the event's source and id (contract Q8), and the subject, since one event may be
/// published to several. An identity that is too long for a header goes without.
fn identify(headers: &mut HeaderMap, subject: &Subject, event: &Event) {
    // There is no space in a subject or a source.
    let id = format!("{subject} {} {}", event.source(), event.id());
    if id.len() <= LONGEST_ID {
        headers.insert(async_nats::header::NATS_MESSAGE_ID, id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_client_finds_too_large_after_all_is_too_large_and_not_unconfirmed() {
        let why = |kind: RequestErrorKind| not_answered(kind.into(), &Subject::new("a").unwrap(), "S");
        assert!(why(RequestErrorKind::MaxPayloadExceeded).is_none());
        assert!(matches!(why(RequestErrorKind::TimedOut), Some(Unconfirmed::Silent)));
        assert!(matches!(why(RequestErrorKind::Other), Some(Unconfirmed::Client(_))));
    }
}
