//! Request and reply.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tramline::{
    Event, Name, Nats, Pattern,
    backend::nats::{NatsReplier, NatsRequestDeliveries, NatsResponderControl, NatsSession},
    contract::{
        AnswersRequests, FAILURE_ATTRIBUTE, FailureReason, FailureReply, Incoming, Reply, ReplyTo, RequestError,
        ResponderSpec, RetireReason, Session, Source, SourceControl, SourceId,
    },
    source,
};

use super::support::{
    PATIENCE, Sink, event, group, many, next, on_both, on_both_with, open, publish, subject, until, within,
};

struct Responder {
    deliveries: NatsRequestDeliveries,
    control: NatsResponderControl,
}

impl Responder {
    async fn on(session: &NatsSession, pattern: &str, bound: usize) -> Self {
        let failure = FailureReply::new(source!("urn:example:responder"));
        let (name, pattern) = (Name::new("responder").unwrap(), Pattern::new(pattern).unwrap());
        let spec = ResponderSpec::new(SourceId::new(1, 0, 0), name, pattern, group("g"), many(bound), failure);
        let (deliveries, control) = Nats::responder(session, spec).await.unwrap().split();
        Self { deliveries, control }
    }

    async fn next(&mut self) -> Incoming<ReplyTo<NatsReplier>> {
        within("a request", next(&mut self.deliveries)).await.expect("the source lives")
    }

    async fn asked(&mut self) -> (Event, NatsReplier) {
        let Incoming { message, settler, .. } = self.next().await;
        (message.unwrap().event, settler.into_replier().expect("it is a request"))
    }
}

async fn ask(session: &NatsSession, id: impl ToString, within: Duration) -> Result<Event, RequestError> {
    Nats::request(session, &subject("ask"), event(id), within).await
}

#[tokio::test(flavor = "multi_thread")]
async fn r3_a_request_is_answered_and_both_arrive_as_they_were_sent() {
    on_both(async |server| {
        let (asking, answering) = (open(server.url()).await, open(server.url()).await);
        let mut responder = Responder::on(&answering, "ask", 8).await;
        for round in 0..20 {
            let (reply, ()) = tokio::join!(ask(&asking, round, PATIENCE), async {
                let (asked, replier) = responder.asked().await;
                assert_eq!(asked, event(round));
                replier
                    .reply(event(format!("re {round}")).to_builder().extension("n", 7).build().unwrap())
                    .await
                    .unwrap();
            });
            let reply = reply.unwrap();
            assert_eq!((reply.id(), reply.extension("n").is_some()), (format!("re {round}").as_str(), true));
        }
        assert_eq!(Nats::unclaimed(&asking), 0);
        asking.close().await.unwrap();
        answering.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r3_where_nobody_answers_that_is_said_at_once() {
    on_both(async |server| {
        let session = open(server.url()).await;
        let begun = Instant::now();
        let error = ask(&session, 0, PATIENCE * 10).await.unwrap_err();
        assert!(matches!(error, RequestError::NoResponders), "{error:?}");
        assert!(begun.elapsed() < PATIENCE, "promptly");
        // Somebody received it, and nobody is going to answer.
        let _subscription = Sink::on(&session, "ask").await;
        let error = ask(&session, 0, Duration::from_millis(50)).await.unwrap_err();
        assert!(matches!(error, RequestError::NoReply { .. }), "{error:?}");
        session.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r4_every_reply_that_comes_too_late_or_beside_is_unclaimed() {
    on_both(async |server| {
        let session = open(server.url()).await;
        let mut responder = Responder::on(&session, "ask", 8).await;
        let short = Duration::from_millis(50);
        let error = ask(&session, "late", short).await.unwrap_err();
        assert!(matches!(error, RequestError::NoReply { within } if within == short), "{error:?}");
        let (_, late) = responder.asked().await;
        late.reply(event("late")).await.unwrap();
        until("the late one is counted", || async { Nats::unclaimed(&session) == 1 }).await;

        // Given up before the deadline.
        let given_up = tokio::time::timeout(short, ask(&session, "given up", PATIENCE)).await;
        assert!(given_up.is_err());
        responder.asked().await.1.reply(event("late")).await.unwrap();
        until("it is counted too", || async { Nats::unclaimed(&session) == 2 }).await;

        // Two answer; one is first.
        let bare = async_nats::connect(server.url()).await.unwrap();
        let mut second = bare.subscribe("ask").await.unwrap();
        bare.flush().await.unwrap();
        let echo = Sink::on(&session, "echo").await;
        drop(echo);
        let (reply, ()) = tokio::join!(ask(&session, "two", PATIENCE), async {
            let asked = within("the second", next(&mut second)).await.unwrap();
            let to = asked.reply.unwrap();
            for id in ["\"first\"", "\"second\""] {
                let text = format!(r#"{{"specversion":"1.0","id":{id},"source":"/s","type":"t"}}"#);
                bare.publish(to.clone(), text.into()).await.unwrap();
            }
        });
        assert_eq!(reply.unwrap().id(), "first");
        until("the second is counted", || async { Nats::unclaimed(&session) == 3 }).await;
        session.close().await.unwrap();
        assert_eq!(Nats::unclaimed(&session), 3, "readable after the close");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r9_one_member_of_a_group_answers() {
    on_both(async |server| {
        let (one, two) = (open(server.url()).await, open(server.url()).await);
        let members = [Responder::on(&one, "ask", 64).await, Responder::on(&two, "ask", 64).await];
        let answering = members.map(|mut member| {
            tokio::spawn(async move {
                for _ in 0.. {
                    let Some(Incoming { message, settler, .. }) = next(&mut member.deliveries).await else { break };
                    let replier = settler.into_replier().unwrap();
                    replier.reply(message.unwrap().event).await.unwrap();
                }
                member.control.snapshot().accepted
            })
        });
        for id in 0..50 {
            assert_eq!(ask(&one, id, PATIENCE).await.unwrap().id(), id.to_string());
        }
        assert_eq!(Nats::unclaimed(&one), 0);
        one.close().await.unwrap();
        two.close().await.unwrap();
        let mut taken = 0;
        for answering in answering {
            taken += within("it ends", answering).await.unwrap();
        }
        assert_eq!(taken, 50, "each went to one");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r10_a_request_beyond_the_bound_gets_its_failure_reply_at_once() {
    on_both(async |server| {
        let session = open(server.url()).await;
        let mut responder = Responder::on(&session, "ask", 1).await;
        let (first, full) = tokio::join!(ask(&session, "first", PATIENCE), async {
            until("it is in the queue", || async { responder.control.snapshot().accepted == 1 }).await;
            let reply = ask(&session, "second", PATIENCE).await.unwrap();
            let (_, replier) = responder.asked().await;
            replier.reply(event("answer")).await.unwrap();
            reply
        });
        assert_eq!(first.unwrap().id(), "answer");
        assert_eq!(FailureReason::of(&full), Some(FailureReason::Full));
        assert_eq!(full.source().as_str(), "urn:example:responder");
        assert_eq!(responder.control.snapshot().refused, 1);
        session.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r10_a_request_whose_responder_stops_gets_its_failure_reply_at_once() {
    on_both(async |server| {
        let session = open(server.url()).await;
        let mut responder = Responder::on(&session, "ask", 8).await;
        let dropped = async { drop(responder.asked().await) };
        let (reply, ()) = tokio::join!(ask(&session, "dropped", PATIENCE), dropped);
        assert_eq!(FailureReason::of(&reply.unwrap()), Some(FailureReason::Stopping));
        let (reply, last) = tokio::join!(ask(&session, "queued", PATIENCE), async {
            until("it is in the queue", || async { responder.control.snapshot().pending == 1 }).await;
            responder.control.retire(RetireReason::Stopping).await.unwrap()
        });
        let reply = reply.unwrap();
        assert_eq!(FailureReason::of(&reply), Some(FailureReason::Stopping));
        assert!(reply.extension(FAILURE_ATTRIBUTE).is_some());
        assert_eq!((last.stats.accepted, last.stats.pending), (2, 1));
        session.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r6_a_reply_that_is_too_large_is_refused_here_and_a_failure_reply_there() {
    on_both_with(
        |setup| setup.max_payload(4096),
        async |server| {
            let session = open(server.url()).await;
            let mut responder = Responder::on(&session, "ask", 8).await;
            let (reply, error) = tokio::join!(ask(&session, 0, PATIENCE), async {
                let large = event("large").to_builder().text("x".repeat(5000)).build().unwrap();
                responder.asked().await.1.reply(large).await.unwrap_err()
            });
            assert_eq!(FailureReason::of(&reply.unwrap()), Some(FailureReason::BadReply));
            assert!(super::support::chain(&error).contains("4096"), "{error:?}");
            let large = event("large").to_builder().text("x".repeat(5000)).build().unwrap();
            let error = Nats::request(&session, &subject("ask"), large, PATIENCE).await.unwrap_err();
            assert!(matches!(error, RequestError::TooLarge { limit: 4096, .. }), "{error:?}");
            session.close().await.unwrap();
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r8_what_was_published_to_a_responder_has_no_reply_address() {
    on_both(async |server| {
        let session = open(server.url()).await;
        let mut responder = Responder::on(&session, "ask", 8).await;
        publish(&session, "ask", "published").await.unwrap();
        let Incoming { message, settler, .. } = responder.next().await;
        assert_eq!(message.unwrap().event.id(), "published");
        assert!(settler.into_replier().is_none());
        session.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn n4_a_request_that_waits_when_its_session_is_closed_ends_with_an_error() {
    on_both(async |server| {
        let session = Arc::new(open(server.url()).await);
        let elsewhere = open(server.url()).await;
        let mut responder = Responder::on(&elsewhere, "ask", 8).await;
        let asking = tokio::spawn({
            let session = session.clone();
            async move { ask(&session, 0, PATIENCE * 10).await }
        });
        let (_, replier) = responder.asked().await;
        within("the close", session.close()).await.unwrap();
        let asked = within("the request", asking).await.unwrap();
        assert!(matches!(asked, Err(RequestError::Closed)), "{asked:?}");
        assert!(matches!(ask(&session, 0, PATIENCE).await, Err(RequestError::Closed)));
        drop(replier);
        elsewhere.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_requests_at_once_get_each_their_own_reply() {
    on_both(async |server| {
        let (asking, answering) = (Arc::new(open(server.url()).await), open(server.url()).await);
        let mut responder = Responder::on(&answering, "ask", 2_000).await;
        let answers = tokio::spawn(async move {
            for _ in 0..1_000 {
                let (asked, replier) = responder.asked().await;
                replier.reply(asked).await.unwrap();
            }
        });
        let asked = (0..1_000).map(|id| {
            let asking = asking.clone();
            tokio::spawn(async move { (id, ask(&asking, id, PATIENCE).await.unwrap()) })
        });
        for asked in asked.collect::<Vec<_>>() {
            let (id, reply) = asked.await.unwrap();
            assert_eq!(reply.id(), id.to_string());
        }
        answers.await.unwrap();
        assert_eq!(Nats::unclaimed(&asking), 0);
        asking.close().await.unwrap();
        answering.close().await.unwrap();
    })
    .await;
}
