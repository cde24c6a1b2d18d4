//! A reply address of memory's with the hooks of a fault around it.

use std::sync::Arc;

use tramline::{
    Event,
    backend::memory::MemoryReplier,
    contract::{Reply, ReplyError, ReplyTo, SourceId},
};

use super::{Fault, hand::Settling};

impl Settling for ReplyTo<MemoryReplier> {
    type Broken = ReplyTo<BrokenReplier>;

    fn broken(self, fault: &Arc<dyn Fault>, _source: SourceId, _id: &str, _attempt: u32) -> ReplyTo<BrokenReplier> {
        let inside = self.into_replier();
        if inside.is_some() || fault.makes_addresses_up() {
            ReplyTo::request(BrokenReplier { inside, fault: fault.clone() })
        } else {
            ReplyTo::nobody()
        }
    }
}

pub(crate) struct BrokenReplier {
    /// None where the address is made up.
    inside: Option<MemoryReplier>,
    fault: Arc<dyn Fault>,
}

impl Reply for BrokenReplier {
    async fn reply(self, event: Event) -> Result<(), ReplyError> {
        match self.inside {
            Some(inside) => inside.reply(self.fault.replies(event)).await,
            None => Ok(()),
        }
    }
}
