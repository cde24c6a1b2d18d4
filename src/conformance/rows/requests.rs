//! Request and reply.

use std::{collections::BTreeMap, pin::pin};

use tokio::time::Instant;

use super::delivery::difference;
use crate::{
    conformance::{Failure, Fixture, Result, Row, Stage, Tap, asking::said, proof::ensure},
    contract::{AnswersRequests, FailureReason, Reply, RequestError, RetireReason},
    event::{Event, Timestamp, Uri, UriReference},
};

pub(crate) const REQUEST_ANSWERED: Row = Row {
    number: "42",
    name: "request_answered",
    needs: "answers requests",
    rules: "R4, R6, R10, Q2",
    promise: "a reply, a failure reply too, reaches the request that it answers with its attributes intact; where a responder is at its bound or is given up, the requester hears just that",
    cause: "replies are matched by arrival",
};

/// Row 42 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn request_answered<F: Fixture>(mut stage: Stage<F>) -> Result
where
    F::Backend: AnswersRequests,
{
    let patience = stage.timing().patience;
    let mut tap = stage.responder("a", "group", 64).await?;
    let (question, reply) = (full_event("question"), full_event("reply"));
    let answered = async {
        let got = tap.next().await?;
        let (event, subject) = (got.event.clone(), got.subject.clone());
        got.answer(reply.clone()).await?;
        Ok::<_, Failure>((event, subject))
    };
    let subject = stage.subject("a");
    let (answer, asked) = tokio::join!(stage.ask_on(&subject, question.clone(), patience), answered);
    let (event, on) = asked?;
    ensure!(on == subject, "`question` was asked on `{subject}`, and came on `{on}`");
    let Ok(answer) = answer else {
        return Err(Failure::seen(format!("a request that was answered has {}", said(&answer))));
    };
    let keeps_kinds = stage.fixture().keeps_extension_kinds();
    for (sent, came) in [(question, event), (reply, answer)] {
        if let Some(difference) = difference(&sent, &came, keeps_kinds) {
            return Err(Failure::seen(format!("`{}` arrived otherwise than it was sent: {difference}", sent.id())));
        }
    }

    // In the other order than they were asked in, and the last one with a failure.
    let others = async {
        let mut asked = BTreeMap::new();
        for _ in 0..3 {
            let got = tap.next().await?;
            asked.insert(got.id().to_owned(), got);
        }
        for (id, got) in asked.into_iter().rev() {
            let reply = if id == "3" { stage.failure().event(FailureReason::Error) } else { stage.event(&id) };
            got.answer(reply).await?;
        }
        Ok::<_, Failure>(())
    };
    let ask = |id| stage.ask("a", id, patience);
    let (one, two, three, answered) = tokio::join!(ask("1"), ask("2"), ask("3"), others);
    answered?;
    for (id, answer) in [("1", one), ("2", two)] {
        let its = matches!(&answer, Ok(reply) if reply.id() == id && FailureReason::of(reply).is_none());
        ensure!(its, "the request `{id}` was answered with `{id}`, and it has {}", said(&answer));
    }
    fails(&three, FailureReason::Error, "a request that was answered with a failure")?;
    turned_away(&mut stage).await?;
    let unclaimed = stage.unclaimed();
    ensure!(unclaimed == 0, "{unclaimed} replies count as unclaimed, and every one was awaited");
    Ok(())
}

/// A responder at its bound, and one that is given up, as far as the link lets them answer (R10).
async fn turned_away<F: Fixture>(stage: &mut Stage<F>) -> Result
where
    F::Backend: AnswersRequests,
{
    let within = stage.timing().quiet * 5;
    let mut tap = stage.responder("b", "group", 1).await?;
    let ask = |id| stage.ask("b", id, stage.timing().patience);
    let mut first = pin!(ask("fits"));
    tokio::select! {
        answer = &mut first => return Err(Failure::seen(format!("a request that nobody read has {}", said(&answer)))),
        full = tap.reaches("one pending request", |stats| stats.pending > 0) => full.map(drop)?,
    }
    match stage.ask("b", "too-many", within).await {
        // The broker holds it, or cannot say.
        Err(RequestError::NoReply { .. }) => {}
        answer => {
            fails(&answer, FailureReason::Full, "a request to a responder at its bound")?;
            let refused = tap.stats()?.refused;
            ensure!(refused == 1, "one request was told that there is no room, and {refused} count as refused");
        }
    }
    let given_up = async { tap.next().await.map(drop) };
    let (answer, got) = tokio::join!(async { tokio::time::timeout(within, first).await }, given_up);
    got?;
    // No answer within the time that was given is the link's.
    answer.map_or(Ok(()), |answer| fails(&answer, FailureReason::Stopping, "a request that was given up"))
}

pub(crate) const REQUEST_NO_RESPONDERS: Row = Row {
    number: "43",
    name: "request_no_responders",
    needs: "answers requests",
    rules: "R3",
    promise: "a request that nobody receives fails promptly",
    cause: "it waits for its deadline",
};

/// Row 43 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn request_no_responders<F: Fixture>(mut stage: Stage<F>) -> Result
where
    F::Backend: AnswersRequests,
{
    let none = async |stage: &Stage<F>, when: &str| {
        let within = stage.timing().patience;
        let began = Instant::now();
        let answer = stage.within("a request", stage.ask("a", "1", within)).await;
        let took = began.elapsed();
        match answer {
            Ok(Err(RequestError::NoResponders)) if took < within / 2 => Ok(()),
            Ok(answer) => {
                let has = said(&answer);
                Err(Failure::seen(format!("{when}, a request that had {within:?} has, after {took:?}, {has}")))
            }
            Err(hangs) => Err(hangs),
        }
    };
    none(&stage, "without a responder").await?;
    let _elsewhere = stage.responder("b", "group", 4).await?;
    none(&stage, "with a responder on another subject").await?;
    let tap = stage.responder("a", "group", 4).await?;
    tap.retire(RetireReason::Stopping).await?;
    none(&stage, "once the responder had retired").await
}

pub(crate) const REQUEST_DEADLINE: Row = Row {
    number: "44",
    name: "request_deadline",
    needs: "answers requests",
    rules: "R1, R4, R11",
    promise: "a request ends at its deadline and not before; a reply that is late, or whose request was dropped, is counted as unclaimed, once",
    cause: "the late reply is dropped or handed to another request",
};

/// Row 44 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn request_deadline<F: Fixture>(mut stage: Stage<F>) -> Result
where
    F::Backend: AnswersRequests,
{
    let within = stage.timing().quiet * 2;
    let mut tap = stage.responder("a", "group", 64).await?;
    let began = Instant::now();
    let (answer, late) = tokio::join!(stage.ask("a", "late", within), tap.next());
    let took = began.elapsed();
    ensure!(
        matches!(answer, Err(RequestError::NoReply { within: said }) if said == within),
        "a request that nobody answers within {within:?} has, after {took:?}, {}",
        said(&answer)
    );
    ensure!(took >= within, "a request had {within:?}, and ended after {took:?}");
    unclaimed(&stage, 0, "before a late reply").await?;
    late?.answer(stage.event("late-reply")).await?;
    unclaimed(&stage, 1, "after a reply to a request that had ended").await?;

    let given_up = {
        let mut request = pin!(stage.ask("a", "given-up", stage.timing().patience));
        tokio::select! {
            answer = &mut request => {
                return Err(Failure::seen(format!("a request that nobody has answered has {}", said(&answer))));
            }
            got = tap.next() => got?,
        }
    };
    // While another one waits.
    let answered = async {
        let got = tap.next().await?;
        given_up.answer(stage.event("reply-to-nobody")).await?;
        unclaimed(&stage, 2, "after a reply to a request that was dropped").await?;
        got.answer(stage.event("in-time-reply")).await
    };
    let (answer, answered) = tokio::join!(stage.ask("a", "in-time", stage.timing().patience), answered);
    answered?;
    let its = matches!(&answer, Ok(reply) if reply.id() == "in-time-reply");
    ensure!(its, "a request that was answered in time has {}", said(&answer));
    stage.pass(stage.timing().quiet).await;
    unclaimed(&stage, 2, "with no further reply").await?;
    stage.close().await?;
    unclaimed(&stage, 2, "after the close").await
}

/// Waits until so many replies are unclaimed, and no more are.
async fn unclaimed<F: Fixture>(stage: &Stage<F>, expected: u64, when: &str) -> Result
where
    F::Backend: AnswersRequests,
{
    let deadline = Instant::now() + stage.timing().patience;
    loop {
        let unclaimed = stage.unclaimed();
        if unclaimed == expected {
            return Ok(());
        }
        let may_come = unclaimed < expected && Instant::now() < deadline;
        ensure!(may_come, "{when}, {unclaimed} replies are unclaimed, and {expected} had to be");
        tokio::time::sleep(stage.timing().quiet / 20).await;
    }
}

pub(crate) const REQUEST_ONE_OF_GROUP: Row = Row {
    number: "45",
    name: "request_one_of_group",
    needs: "answers requests",
    rules: "R9, N11",
    promise: "exactly one member of a group gets a request, and its reply is the only one",
    cause: "each member answers",
};

/// Row 45 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn request_one_of_group<F: Fixture>(mut stage: Stage<F>) -> Result
where
    F::Backend: AnswersRequests,
{
    let patience = stage.timing().patience;
    let mut taps = [stage.responder("a", "group", 64).await?, stage.responder("a", "group", 64).await?];
    for id in ["1", "2", "3", "4", "5", "6"] {
        let answered = async {
            match Tap::first_of(&mut taps, 0, patience).await? {
                Some((at, got)) => {
                    ensure!(got.id() == id, "`{}` came to a member, and `{id}` was asked", got.id());
                    got.answer(stage.event(&format!("{id}-by-{at}"))).await
                }
                None => Err(Failure::seen(format!("no member got the request `{id}`"))),
            }
        };
        let (answer, answered) = tokio::join!(stage.ask("a", id, patience), answered);
        answered?;
        let its = matches!(&answer, Ok(reply) if reply.id().starts_with(id) && FailureReason::of(reply).is_none());
        ensure!(its, "the request `{id}` has {}", said(&answer));
    }
    let further = Tap::first_of(&mut taps, 0, stage.timing().quiet).await?;
    if let Some((_, got)) = further {
        return Err(Failure::seen(format!("a second member got the request `{}`, which was answered", got.id())));
    }
    let unclaimed = stage.unclaimed();
    ensure!(unclaimed == 0, "{unclaimed} further replies came");
    Ok(())
}

pub(crate) const REQUEST_CLOSING_SESSION: Row = Row {
    number: "46",
    name: "request_closing_session",
    needs: "answers requests",
    rules: "N4",
    promise: "closing the session ends a request that waits, and one that is polled only later, and a reply after it is refused",
    cause: "the waiter is not reachable from the session",
};

/// Row 46 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn request_closing_session<F: Fixture>(mut stage: Stage<F>) -> Result
where
    F::Backend: AnswersRequests,
{
    // Less than the row's patience, so that a request which waits for its deadline is seen to.
    let within = stage.timing().patience / 2;
    let mut tap = stage.responder("a", "group", 4).await?;
    let kept = stage.ask("a", "kept", within);
    let waits = stage.ask("a", "waits", within);
    let close = async {
        let got = tap.next().await?;
        stage.close().await?;
        tap.ends().await?;
        Ok::<_, Failure>(got)
    };
    let (waited, got) = tokio::join!(stage.within("a request that waits beside a close", waits), close);
    let got = got?;
    is_closed(&waited?, "a request that waited when the session was closed")?;
    is_closed(
        &stage.within("a request that was made before the close", kept).await?,
        "a request that was made before the close and polled after it",
    )?;
    let late = stage.ask("a", "late", within);
    is_closed(&stage.within("a request after the close", late).await?, "a request after the close")?;
    let Some(replier) = got.into_replier() else {
        return Err(Failure::seen("a request has no reply address"));
    };
    let replied = stage.within("a reply after the close", replier.reply(stage.event("too-late"))).await?;
    ensure!(replied.is_err(), "a reply after the close went out");
    Ok(())
}

pub(crate) const ANSWER_UNREQUESTED: Row = Row {
    number: "47",
    name: "answer_unrequested",
    needs: "answers requests",
    rules: "R8",
    promise: "what was published and not requested has no reply address",
    cause: "an address is made up",
};

/// Row 47 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn answer_unrequested<F: Fixture>(mut stage: Stage<F>) -> Result
where
    F::Backend: AnswersRequests,
{
    let mut tap = stage.responder("a", "group", 4).await?;
    stage.publish("a", ["published"]).await?;
    let got = tap.next().await?;
    ensure!(got.id() == "published", "`{}` came, and `published` was published", got.id());
    ensure!(got.into_replier().is_none(), "what was published came with a reply address");
    let answered = async { tap.next().await?.answer(stage.event("reply")).await };
    let (answer, answered) = tokio::join!(stage.ask("a", "requested", stage.timing().patience), answered);
    answered?;
    let its = matches!(&answer, Ok(reply) if reply.id() == "reply");
    ensure!(its, "a request that was answered has {}", said(&answer));
    let unclaimed = stage.unclaimed();
    ensure!(unclaimed == 0, "{unclaimed} replies are unclaimed, and the only one was awaited");
    Ok(())
}

fn is_closed(answer: &std::result::Result<Event, RequestError>, what: &str) -> Result {
    ensure!(matches!(answer, Err(RequestError::Closed)), "{what} has {}", said(answer));
    Ok(())
}

/// The answer is a failure reply for this reason.
fn fails(answer: &std::result::Result<Event, RequestError>, reason: FailureReason, what: &str) -> Result {
    let fails = matches!(answer, Ok(reply) if FailureReason::of(reply) == Some(reason));
    ensure!(fails, "{what} has {}, and \"{reason}\" was due", said(answer));
    Ok(())
}

/// An event with something in every attribute.
fn full_event(id: &str) -> Event {
    let uri = "a URI is one";
    Event::builder(id, UriReference::new("/responders/%7Eone?a=b#c").expect(uri), "tramline.conformance.full")
        .subject("the subject of \"it\"")
        .time("2026-01-02T03:04:05.678901+02:00".parse::<Timestamp>().expect("it is a time"))
        .data_schema(Uri::new("https://example.com/schema").expect(uri))
        .extension("text", "ein Wört")
        .extension("number", 7)
        .extension("truth", true)
        .binary("application/octet-stream", vec![0, 159, 146, 150])
        .build()
        .expect("it is valid")
}
