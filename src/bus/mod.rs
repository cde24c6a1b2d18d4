//! The bus: building, starting, publishing, supervising, counting, stopping.

mod activation;
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
mod keys;
mod ledger;
mod lifecycle;
mod outlet;
mod publish;
mod publish_value;
mod reader;
mod status;
mod supervisor;
mod tally;

pub use self::{
    attach::{Attaching, OnRunning},
    batch::PublishBatch,
    builder::BusBuilder,
    checks::{DroppedSetting, Refusal},
    error::{AttachError, BuildError, NotStarted, StartError, StopReport},
    handle::Handle,
    ledger::{Ledger, Lost, SettlementStats, Stats},
    lifecycle::{Bus, Dormant, Running, Stopped},
    publish::{BoxedPublish, Publish, WhenRoom},
    publish_value::{PublishValue, PublishValueWhenRoom},
    status::{BusState, ConsumerState, ConsumerStatus, Health, Status, StatusChanges},
};
