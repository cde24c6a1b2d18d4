//! The bus: building, starting, publishing, asking, supervising, counting, stopping.
//!
//! To publish is to tell whoever listens; to [request](Bus::request) is to ask, with a deadline, on a backend that
//! [answers requests](crate::contract::AnswersRequests). What became of either is in the [`Ledger`]: of each message by
//! subscription, of each request by [name](BusBuilder::request_names).

mod activation;
mod answer;
mod attach;
mod batch;
mod builder;
mod checks;
mod consumer;
mod core;
mod desk;
mod error;
mod feed;
mod gate;
mod guard;
mod handle;
mod idle;
mod keys;
mod ledger;
mod lifecycle;
mod limit;
mod losses;
#[cfg(feature = "metrics")]
mod metrics;
mod outlet;
mod publish;
mod publish_value;
mod reader;
mod request;
mod seen;
mod status;
mod supervisor;
mod tally;
mod traces;
pub(crate) mod watch;

pub use self::{
    attach::{Attaching, OnRunning},
    batch::PublishBatch,
    builder::BusBuilder,
    checks::{DroppedSetting, Refusal},
    error::{AttachError, BuildError, NotStarted, StartError, StopReport},
    handle::Handle,
    ledger::{Ledger, Lost, ReplyStats, SettlementStats, Stats},
    lifecycle::{Bus, Dormant, Running, Stopped},
    publish::{BoxedPublish, Publish, WhenRoom},
    publish_value::{PublishValue, PublishValueWhenRoom},
    request::{Deadline, NoDeadline, Request, RequestLedger, RequestStats, Within},
    status::{BusState, ConsumerState, ConsumerStatus, Health, Status, StatusChanges},
};
