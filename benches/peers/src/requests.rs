//! The work: a small request in JSON, and its reply, decoded on both sides.

use std::{future::Future, time::Duration};

use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;

use crate::{with_channels::Channels, with_ruststream::Ruststream, with_tramline::Tramline};

/// Where a request has a deadline, this is it; none of them passes.
pub const DEADLINE: Duration = Duration::from_secs(5);
/// What the channel holds; a responder of tramline holds as many, and a queue of ruststream has no bound.
pub const BOUND: usize = 256;
/// Requesters at the same time, where there are several. Each waits for its reply before it asks again, so no more
/// requests than this are on their way.
pub const SEVERAL: u64 = 32;

/// What is asked. Numbers, since one of the ways decodes nothing that borrows.
#[derive(Serialize, Deserialize)]
pub struct PriceOf {
    article: u64,
    quantity: u32,
}

/// What is replied.
#[derive(Serialize, Deserialize, ruststream::Outgoing)]
pub struct Price {
    cents: u64,
}

pub const ASKED: PriceOf = PriceOf { article: 1_017, quantity: 3 };

impl PriceOf {
    /// What every responder does.
    pub fn price(&self) -> Price {
        Price { cents: self.article * u64::from(self.quantity) }
    }
}

impl Price {
    /// What every requester does.
    pub fn check(&self) {
        assert_eq!(self.cents, 3_051);
    }
}

/// Somebody who asks, again and again, one request at a time.
pub trait Asks: Clone + Send + Sync + 'static {
    fn ask(&self, requests: u64) -> impl Future<Output = ()> + Send;
}

/// So many requests, of one requester or of several at the same time.
pub async fn ask_many(asks: &impl Asks, requesters: u64, requests: u64) {
    if requesters == 1 {
        return asks.ask(requests).await;
    }
    let mut asking = JoinSet::new();
    for _ in 0..requesters {
        let asks = asks.clone();
        asking.spawn(async move { asks.ask(requests / requesters).await });
    }
    asking.join_all().await;
}

/// The ways to do it that are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// A bounded channel to the responder, and a oneshot back. Both sides encode.
    Channels,
    /// The same two channels, carrying bytes that are there already: both sides decode only.
    ChannelsReady,
    /// The in-memory broker of ruststream, with its runtime.
    Ruststream,
    /// tramline in memory, a value for a value. Both sides encode.
    Values,
    /// tramline in memory, an event that is there already for another: both sides decode only.
    Events,
}

impl Way {
    pub const ALL: [Self; 5] = [Self::Channels, Self::Ruststream, Self::Values, Self::ChannelsReady, Self::Events];

    pub fn name(self) -> &'static str {
        match self {
            Self::Channels => "channels",
            Self::ChannelsReady => "channels-ready",
            Self::Ruststream => "ruststream",
            Self::Values => "tramline",
            Self::Events => "tramline-events",
        }
    }

    /// What it is compared with.
    pub fn rivals(self) -> &'static [Self] {
        match self {
            Self::Channels | Self::ChannelsReady => &[],
            Self::Ruststream => &[Self::Channels],
            Self::Values => &[Self::Channels, Self::Ruststream],
            Self::Events => &[Self::ChannelsReady],
        }
    }
}

/// Something to ask in each of the ways, as [`Asks`] is not a trait for objects.
#[derive(Clone)]
pub enum Asker {
    Channels(Channels),
    Ruststream(Ruststream),
    Tramline(Tramline),
}

impl Asker {
    /// Starts what answers. In a runtime.
    pub async fn start(way: Way) -> Self {
        match way {
            Way::Channels | Way::ChannelsReady => Self::Channels(Channels::start(way)),
            Way::Ruststream => Self::Ruststream(Ruststream::start().await),
            Way::Values | Way::Events => Self::Tramline(Tramline::start(way).await),
        }
    }

    /// So many requests, of one requester or of several.
    pub async fn ask(&self, requesters: u64, requests: u64) {
        match self {
            Self::Channels(channels) => ask_many(channels, requesters, requests).await,
            Self::Ruststream(ruststream) => ask_many(ruststream, requesters, requests).await,
            Self::Tramline(tramline) => ask_many(tramline, requesters, requests).await,
        }
    }
}
