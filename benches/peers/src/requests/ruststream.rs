//! ruststream: its broker in memory, a subscriber that replies to the inbox which the request names, and its requester,
//! as the crate's chapter on request and reply shows them.

use std::future::pending;

use ::ruststream::{
    OutgoingMessage,
    memory::{MemoryRequester, prelude::*},
    runtime::{Outgoing, PublishContext},
};

use super::{ASKED, Asks, DEADLINE, Price, PriceOf};

const SUBJECT: &str = "price.ask";

#[subscriber("price.ask", reply("price.unasked"))]
async fn answer(asked: &PriceOf) -> Price {
    let price = asked.price();
    price.check();
    price
}

/// Sends the reply where the request says.
struct ToInbox;

impl<C, Options> PublishTransform<ForReply<C>, Options> for ToInbox {
    type Destination = Names;

    fn apply(&self, reply: &mut Outgoing<'_>, _options: &mut Option<Options>, context: &PublishContext<'_, C>) {
        let inbox = context.headers().get_shared("reply-to").expect("it was requested");
        reply.set_name(Str::try_from(inbox).expect("a name"));
    }
}

#[derive(Clone)]
pub(super) struct Ruststream {
    requester: MemoryRequester,
}

impl Ruststream {
    pub(super) async fn start() -> Self {
        let broker = MemoryBroker::new();
        let app = RustStream::new(AppInfo::new("prices", "1.0.0")).with_broker(broker.clone(), |scope| {
            scope.include(answer).out_reply(Publish).transform(ToInbox);
        });
        let running = app.start().await.expect("it starts");
        // It runs until it is dropped: here, with the runtime.
        tokio::spawn(async move {
            let _running = running;
            pending::<()>().await;
        });
        Self { requester: broker.requester() }
    }
}

impl Asks for Ruststream {
    async fn ask(&self, requests: u64) {
        for _ in 0..requests {
            let asked = serde_json::to_vec(&ASKED).expect("it can be written");
            let request = OutgoingMessage::new(SUBJECT, asked.as_slice());
            let reply = self.requester.request(request, DEADLINE).await.expect("a reply");
            let price: Price = serde_json::from_slice(reply.payload()).expect("a price");
            price.check();
        }
    }
}
