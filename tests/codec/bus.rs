//! Each codec all the way: published as a value, handled as a payload.

use std::time::Duration;

use tokio::sync::mpsc;
use tramline::{
    Bus, Cbor, Event, Json, Memory, MessagePack, Payload, Protobuf, State,
    codec::{Codec, Decodes, Encodes},
    source, subject, subscription,
};

use crate::values::{Everything, Message, example, example_message};

#[derive(Clone)]
struct Seen(mpsc::UnboundedSender<(String, String)>);

#[subscription(subject = "value")]
async fn values(value: Payload<Everything>, event: &Event, State(seen): State<Seen>) {
    let content_type = event.data_content_type().unwrap_or_default().to_owned();
    seen.0.send((content_type, format!("{:?}", *value))).unwrap();
}

#[subscription(subject = "value")]
async fn messages(value: Payload<Message>, event: &Event, State(seen): State<Seen>) {
    let content_type = event.data_content_type().unwrap_or_default().to_owned();
    seen.0.send((content_type, format!("{:?}", *value))).unwrap();
}

/// Publishes a value and compares what its handler got; then bytes that are none.
macro_rules! goes_through {
    ($codec:ident, $handler:ident, $value:expr) => {{
        let (sender, mut seen) = mpsc::unbounded_channel();
        let bus = Bus::builder(Memory::new(), source!("urn:example:test"))
            .codec($codec)
            .state(Seen(sender))
            .subscribe($handler)
            .build()
            .unwrap()
            .start()
            .await
            .unwrap();
        let value = $value;
        bus.publish_value(&subject!("value"), "com.example.value.v1", &value).await.unwrap();
        let (content_type, handled) = seen.recv().await.unwrap();
        assert_eq!(content_type, $codec::CONTENT_TYPE);
        assert_eq!(handled, format!("{value:?}"));
        // A field that has another type than it should.
        let wrong = crate::values::event_in::<$codec>(b"\x82\xa1a\x0b\x0c");
        bus.publish(&subject!("value"), wrong).await.unwrap();
        let stopped = tokio::task::unconstrained(async {
            while bus.stats(stringify!($handler)).unwrap().lost.undecodable == 0 {
                tokio::task::yield_now().await;
            }
            bus.stop(Duration::from_secs(1)).await
        });
        let stats = stopped.await.bus.stats(stringify!($handler)).unwrap();
        assert_eq!((stats.offered, stats.delivered, stats.lost.undecodable), (2, 1, 1), "L6: {stats}");
    }};
}

#[tokio::test]
async fn p1_a_value_is_published_and_handled_in_the_buss_codec() {
    goes_through!(Json, values, example());
    goes_through!(MessagePack, values, example());
    goes_through!(Cbor, values, example());
    goes_through!(Protobuf, messages, example_message());
}

/// That a codec carries what the macros ask for, for any lifetime.
const fn carries<C: Codec + Encodes<Everything> + for<'d> Decodes<'d, Everything>>() {}
const _: () = {
    carries::<Json>();
    carries::<MessagePack>();
    carries::<Cbor>();
};
