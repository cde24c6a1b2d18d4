//! Asking: what a request carries, what its reply becomes, and under which name it is counted.

use std::{
    collections::HashMap,
    io::Write,
    sync::{Arc, Mutex},
};

use futures_util::{FutureExt, future::join_all, poll};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use tramline::{
    Event, Subject,
    bus::RequestStats,
    codec::CodecError,
    contract::{FAILURE_ATTRIBUTE, FailureReason, Reply, RequestError},
    name, source, subject,
};

use crate::{
    asked::{Asked, failure, settled},
    support::{event, millis, seconds},
};

#[derive(Debug, Serialize, Deserialize, PartialEq)]
struct PriceOf {
    article: u32,
}

#[derive(Debug, Serialize, Deserialize, PartialEq)]
struct Price {
    cents: u64,
    currency: String,
}

static PRICE_OF: Subject = subject!("price.of");

/// An event that carries this text as JSON.
fn json(text: &str) -> Event {
    Event::builder("1", source!("urn:example:pricing"), "com.example.price.v1").json(text.to_owned()).build().unwrap()
}

fn counts(stats: &RequestStats) -> [u64; 6] {
    [stats.sent, stats.answered, stats.no_responders, stats.no_reply, stats.failed, stats.in_flight]
}

#[tokio::test(start_paused = true)]
async fn r3_a_request_carries_its_event_and_gets_the_reply_and_counts_as_answered() {
    let backend = Asked::default();
    let bus = backend.start().await;
    let mut responder = backend.responder(&PRICE_OF, 8).await;
    let asked = event("question").to_builder().extension("tenant", "t1").subject("tea").build().unwrap();
    let reply = event("answer").to_builder().extension("tenant", "t2").subject("17").build().unwrap();
    let mut request = bus.request(&PRICE_OF, asked.clone()).within(seconds(1));
    assert!(poll!(&mut request).is_pending());
    assert_eq!(counts(&bus.ledger().requests.unnamed), [1, 0, 0, 0, 0, 1]);
    responder
        .answer(|received| {
            assert_eq!(*received, asked);
            reply.clone()
        })
        .await;
    assert_eq!(request.await.expect("answered"), reply);
    let requests = bus.ledger().requests;
    assert_eq!(counts(&requests.unnamed), [1, 1, 0, 0, 0, 0]);
    assert_eq!(requests.unclaimed, 0);
    settled(&requests);
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn p2_a_request_with_a_value_is_the_event_that_a_publish_would_be_and_its_reply_is_a_value() {
    let backend = Asked::default();
    let bus = backend.start().await;
    let mut responder = backend.responder(&PRICE_OF, 8).await;
    let answer = |responder: &mut crate::asked::Responder| {
        responder
            .waiting()
            .map(|(received, replier)| {
                assert_eq!(received.event_type(), "com.example.price.of.v1");
                assert_eq!(*received.source(), source!("urn:example:asker"), "P3");
                assert_eq!(received.data_content_type(), Some("application/json"));
                assert!(received.time().is_some());
                let price_of: PriceOf = serde_json::from_slice(received.data().unwrap().bytes()).unwrap();
                assert_eq!(price_of, PriceOf { article: 17 });
                replier.reply(json(r#"{"cents":250,"currency":"EUR"}"#)).now_or_never().unwrap().unwrap();
            })
            .expect("one is there");
    };
    let value = PriceOf { article: 17 };
    let price = Price { cents: 250, currency: "EUR".to_owned() };
    let mut request = bus.request_value::<Price, _>(&PRICE_OF, "com.example.price.of.v1", &value).within(seconds(1));
    assert!(poll!(&mut request).is_pending());
    answer(&mut responder);
    assert_eq!(request.await.expect("answered"), price);

    let handle = bus.handle();
    let mut request = handle.request_value(&PRICE_OF, "com.example.price.of.v1", &value).within(seconds(1));
    assert!(poll!(&mut request).is_pending());
    answer(&mut responder);
    let inferred: Price = request.await.expect("answered");
    assert_eq!(inferred, price);
    assert_eq!(bus.ledger().requests.unnamed.answered, 2);
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn r7_a_failure_reply_is_an_error_at_once_and_counts_as_answered() {
    let backend = Asked::default();
    let bus = backend.start().await;
    let mut responder = backend.responder(&PRICE_OF, 8).await;
    for reason in FailureReason::ALL {
        let (replied, ()) =
            tokio::join!(bus.request(&PRICE_OF, event(1)).within(seconds(1)), responder.answer(|_| failure(reason)));
        assert!(
            matches!(replied, Err(RequestError::ResponderFailed { reason: said }) if said == reason),
            "{replied:?}"
        );
    }
    let all = FailureReason::ALL.len() as u64;
    assert_eq!(counts(&bus.ledger().requests.unnamed), [all, all, 0, 0, 0, 0]);
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn p4_a_reply_that_cannot_be_decoded_comes_back_with_the_reason_and_counts_as_answered() {
    let backend = Asked::default();
    let bus = backend.start().await;
    let mut responder = backend.responder(&PRICE_OF, 8).await;
    let builder = || json("{}").to_builder();
    let other_type = builder().data(Some("application/cbor"), tramline::event::Data::Binary("x".into()));
    let replies = [
        (other_type.build().unwrap(), "the codec reads `application/json`, and the event carries `application/cbor`"),
        (json(r#"{"cents":"many"}"#), "the data cannot be decoded"),
        (event("nothing"), "the event has no data"),
    ];
    for (reply, why) in replies {
        let ask = bus.request_value::<Price, _>(&PRICE_OF, "com.example.price.of.v1", &PriceOf { article: 17 });
        let (replied, ()) = tokio::join!(ask.within(seconds(1)), responder.answer(|_| reply.clone()));
        let error = replied.expect_err("it is no price");
        assert_eq!(
            error.to_string(),
            format!("the reply, an event of type `{}`, cannot be decoded", reply.event_type())
        );
        let RequestError::Undecodable { reply: given_back, source } = error else { panic!("{error:?}") };
        assert_eq!(given_back, reply);
        assert_eq!(source.to_string(), why);
        assert!(source.is::<CodecError>());
    }
    assert_eq!(counts(&bus.ledger().requests.unnamed), [3, 3, 0, 0, 0, 0]);
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn r2_what_is_refused_before_sending_is_not_counted() {
    let backend = Asked::default();
    let bus = backend.builder().build().unwrap();
    let handle = bus.handle();
    let ask = async |handle: &tramline::Handle<Asked>| handle.request(&PRICE_OF, event(1)).within(seconds(1)).await;
    assert!(matches!(ask(&handle).await, Err(RequestError::NotReady)), "Y5: not started");
    let bus = bus.start().await.unwrap();
    let mut responder = backend.responder(&PRICE_OF, 8).await;

    let reserved = event(1).to_builder().extension(FAILURE_ATTRIBUTE, "error").build().unwrap();
    let error = bus.request(&PRICE_OF, reserved).within(seconds(1)).await.expect_err("reserved");
    assert_eq!(error.to_string(), "the attribute `busfailure` is reserved: leave it out");
    let not_text = HashMap::from([((1, 2), 3)]);
    let error = bus.request_value::<Price, _>(&PRICE_OF, "com.example.price.of.v1", &not_text).within(seconds(1)).await;
    assert!(matches!(error, Err(RequestError::Value { .. })), "{error:?}");
    let error = bus.request_value::<Price, _>(&PRICE_OF, "", &1).within(seconds(1)).await;
    assert!(matches!(error, Err(RequestError::Value { .. })), "an event has a type: {error:?}");
    assert!(responder.waiting().is_none(), "nothing was sent");

    let bus = bus.stop(seconds(1)).await.bus;
    assert!(matches!(ask(&handle).await, Err(RequestError::NotReady)), "Y5: stopped");
    assert_eq!(counts(&bus.ledger().requests.total()), [0; 6]);
}

#[tokio::test(start_paused = true)]
async fn a_request_is_sent_when_it_is_awaited_and_its_deadline_counts_from_there() {
    let backend = Asked::default();
    let bus = backend.start().await;
    let mut responder = backend.responder(&PRICE_OF, 8).await;
    drop(bus.request(&PRICE_OF, event(1)).within(seconds(1)));
    let request = bus.request(&PRICE_OF, event(2)).within(seconds(1));
    assert!(responder.waiting().is_none());
    assert_eq!(bus.ledger().requests.unnamed.sent, 0);
    tokio::time::advance(seconds(10)).await;
    let begun = Instant::now();
    assert!(matches!(request.await, Err(RequestError::NoReply { within }) if within == seconds(1)));
    assert!(begun.elapsed() >= seconds(1) && begun.elapsed() < millis(1_010), "{:?}", begun.elapsed());
    bus.stop(seconds(1)).await;
}

#[tokio::test(start_paused = true)]
async fn r5_a_request_is_counted_under_its_name_if_that_is_declared() {
    let backend = Asked::default();
    let names = [name!("pricing"), name!("stock")];
    let bus = backend.builder().request_names(names).build().unwrap().start().await.unwrap();
    let mut responder = backend.responder(&PRICE_OF, 8).await;
    let (handle, nobody) = (bus.handle(), subject!("nobody"));
    let requests = [
        bus.request(&PRICE_OF, event(1)).named("pricing").within(seconds(1)),
        handle.request(&PRICE_OF, event(2)).within(seconds(1)).named("pricing"),
        bus.request(&PRICE_OF, event(3)).within(seconds(1)),
        bus.request(&PRICE_OF, event(4)).named("prising").within(seconds(1)),
        bus.request(&nobody, event(5)).named("stock").within(seconds(1)),
    ];
    let answering = async {
        for _ in 0..4 {
            responder.answer(Event::clone).await;
        }
    };
    tokio::join!(join_all(requests), answering);
    let requests = bus.ledger().requests;
    assert_eq!(requests.named.iter().filter_map(|row| row.name.clone()).collect::<Vec<_>>(), ["pricing", "stock"]);
    assert_eq!(counts(requests.get("pricing").unwrap()), [2, 2, 0, 0, 0, 0]);
    assert_eq!(counts(requests.get("stock").unwrap()), [1, 0, 1, 0, 0, 0]);
    assert_eq!(counts(&requests.unnamed), [2, 2, 0, 0, 0, 0]);
    assert_eq!(counts(&requests.total()), [5, 4, 1, 0, 0, 0]);
    assert!(requests.get("prising").is_none() && requests.unnamed.name.is_none());
    settled(&requests);
    bus.stop(seconds(1)).await;
}

/// What was logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn r5_a_name_that_is_not_declared_is_logged_once() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
    tracing::subscriber::with_default(subscriber, || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let backend = Asked::default();
            let bus = backend.builder().request_names([name!("pricing")]).build().unwrap().start().await.unwrap();
            for name in ["pricing", "prising", "prising", "stock", "prising"] {
                let _ = bus.request(&PRICE_OF, event(1)).named(name).within(seconds(1)).await;
            }
            // Names that are made up do not fill the log, nor the memory.
            for number in 0..1_000 {
                let _ = bus.request(&PRICE_OF, event(1)).named(&format!("made-up-{number}")).within(seconds(1)).await;
            }
            bus.stop(seconds(1)).await;
        });
    });
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    let lines = |text: &str| log.lines().filter(|line| line.contains(text)).count();
    let words =
        "request name `prising` is not declared, so its requests are counted without a name: add it to `request_names`";
    assert_eq!((lines(words), lines("`pricing`"), lines("`stock`")), (1, 0, 1), "{log}");
    assert_eq!(lines("made-up-"), 62, "64 names are remembered");
}

#[test]
fn r5_a_name_is_declared_once() {
    let builder = Asked::default().builder().request_names([name!("pricing"), name!("stock"), name!("pricing")]);
    let error = builder.request_names([name!("pricing")]).build().expect_err("refused");
    assert_eq!(
        error.to_string(),
        "the bus: `request_names = pricing`: is declared twice, and has one row of counters: declare it once"
    );
    assert_eq!(error.refusals.len(), 1);
    assert_eq!(error.refusals[0].subscription, None);
}

#[tokio::test(start_paused = true)]
async fn a_thousand_requests_at_once_get_a_thousand_replies_of_their_own() {
    let backend = Asked::default();
    let bus = backend.start().await;
    let mut responder = backend.responder(&PRICE_OF, 1_000).await;
    let requests = (0..1_000).map(|id| {
        let request = bus.request(&PRICE_OF, event(id)).within(seconds(1));
        async move { (id, request.await) }
    });
    let answering = async {
        let mut taken = Vec::new();
        for _ in 0..1_000 {
            taken.push(responder.next().await);
        }
        assert_eq!(bus.ledger().requests.unnamed.in_flight, 1_000);
        // The last comes first.
        for (event, replier) in taken.into_iter().rev() {
            replier.reply(event).await.unwrap();
        }
    };
    let (replies, ()) = tokio::join!(join_all(requests), answering);
    for (id, reply) in replies {
        assert_eq!(reply.expect("answered").id(), id.to_string());
    }
    let requests = bus.ledger().requests;
    assert_eq!(counts(&requests.unnamed), [1_000, 1_000, 0, 0, 0, 0]);
    settled(&requests);
    bus.stop(seconds(1)).await;
}
