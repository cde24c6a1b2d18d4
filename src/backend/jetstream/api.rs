//! Questions about streams and consumers: what the server answers, or that it denies them.

use std::sync::Arc;

use async_nats::jetstream::{
    Context,
    context::{ContextBuilder, RequestError},
    response::Response,
};
use serde::{Serialize, de::DeserializeOwned};

use super::session::ANSWER;
use crate::backend::nats::{link::Link, signals::Denied};

/// Asks over one connection.
#[derive(Debug, Clone)]
pub(super) struct Api {
    link: Arc<Link>,
    context: Context,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unanswered {
    #[error(transparent)]
    Denied(Denied),
    #[error("the server did not answer")]
    Silent(#[source] RequestError),
}

impl Api {
    pub(super) fn new(link: Arc<Link>) -> Self {
        let context = ContextBuilder::new().timeout(ANSWER).build(link.client().clone());
        Self { link, context }
    }

    /// Asks at this subject, which begins after `$JS.API.`.
    ///
    /// A denial comes to the connection, and not to the question: without looking there, it would be a silence.
    pub(super) async fn ask<T: DeserializeOwned>(
        &self,
        subject: String,
        question: &impl Serialize,
    ) -> Result<Response<T>, Unanswered> {
        let mut denials = self.link.denials();
        let whole = format!("$JS.API.{subject}");
        tokio::select! {
            biased;
            answer = self.context.request(subject, question) => answer.map_err(Unanswered::Silent),
            denied = denials.publishing(|denied| denied == whole) => Err(Unanswered::Denied(denied)),
        }
    }
}
