//! Request and reply: a small request in JSON, and its reply, decoded on both sides.

mod channels;
mod ruststream;
mod tramline;

use std::{future::Future, time::Duration};

use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;

use self::{channels::Channels, ruststream::Ruststream, tramline::Tramline};

/// Where a request has a deadline, this is it; none of them passes.
const DEADLINE: Duration = Duration::from_secs(5);
/// Requesters at the same time, where there are several. Each waits for its reply before it asks again, so no more
/// requests than this are on their way.
pub const SEVERAL: u64 = 32;

/// What is asked. Numbers, since one of the ways decodes nothing that borrows.
#[derive(Serialize, Deserialize)]
struct PriceOf {
    article: u64,
    quantity: u32,
}

/// What is replied.
#[derive(Serialize, Deserialize, ::ruststream::Outgoing)]
struct Price {
    cents: u64,
}

const ASKED: PriceOf = PriceOf { article: 1_017, quantity: 3 };

impl PriceOf {
    /// What every responder does.
    fn price(&self) -> Price {
        Price { cents: self.article * u64::from(self.quantity) }
    }
}

impl Price {
    /// What every requester does.
    fn check(&self) {
        assert_eq!(self.cents, 3_051);
    }
}

/// Somebody who asks, again and again, one request at a time.
trait Asks: Clone + Send + Sync + 'static {
    fn ask(&self, requests: u64) -> impl Future<Output = ()> + Send;
}

/// So many requests, of one requester or of several at the same time.
async fn ask_many(asks: &impl Asks, requesters: u64, requests: u64) {
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
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Channels, Self::Ruststream, Self::Values, Self::ChannelsReady, Self::Events];

    /// As the table calls it, and as an argument.
    pub fn name(self) -> &'static str {
        match self {
            Self::Channels => "channels",
            Self::ChannelsReady => "channels-ready",
            Self::Ruststream => "ruststream",
            Self::Values => "tramline",
            Self::Events => "tramline-events",
        }
    }

    /// What is compared with it.
    pub fn compared(self) -> Option<Self> {
        match self {
            Self::Channels | Self::Ruststream => Some(Self::Values),
            Self::ChannelsReady => Some(Self::Events),
            Self::Values | Self::Events => None,
        }
    }
}

/// Something to ask, in one of the ways.
#[derive(Clone)]
pub struct Asker(Started);

/// Each of them, as [`Asks`] is not a trait for objects.
#[derive(Clone)]
enum Started {
    Channels(Channels),
    Ruststream(Ruststream),
    Tramline(Tramline),
}

impl Asker {
    /// Starts what answers. In a runtime.
    pub async fn start(way: Way) -> Self {
        Self(match way {
            Way::Channels | Way::ChannelsReady => Started::Channels(Channels::start(way)),
            Way::Ruststream => Started::Ruststream(Ruststream::start().await),
            Way::Values | Way::Events => Started::Tramline(Tramline::start(way).await),
        })
    }

    /// So many requests, of one requester or of several.
    pub async fn ask(&self, requesters: u64, requests: u64) {
        match &self.0 {
            Started::Channels(channels) => ask_many(channels, requesters, requests).await,
            Started::Ruststream(ruststream) => ask_many(ruststream, requesters, requests).await,
            Started::Tramline(tramline) => ask_many(tramline, requesters, requests).await,
        }
    }
}
