//! The end of sessions, and publishes beside it, in both modes.

use std::{future::poll_fn, pin::pin, task::Poll};

use crate::{
    conformance::{DeliversIn, Failure, Fixture, Result, Row, Stage, proof::ensure},
    contract::{Backend, QueuePlace, RetireReason, Session, Storage, SubscribeError},
};

pub(crate) const CLOSE_RELEASES: Row = Row {
    number: "18",
    name: "close_releases",
    needs: "a mode",
    rules: "N4, N2",
    promise: "closing ends every source, publishes fail promptly, also one that was begun before and polled after, subscribing is refused, and closing again does no harm",
    cause: "sources are forgotten by the session, or a kept future holds it",
};

/// Row 18 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn close_releases<F: Fixture, M>(mut stage: Stage<F>) -> Result
where
    F::Backend: DeliversIn<M>,
{
    let mut waiting = stage.tap::<M>("a").await?;
    let mut unread = stage.tap::<M>("b").await?;
    stage.publish("a", ["1"]).await?;
    waiting.take(1).await?;
    stage.publish("b", ["2", "3"]).await?;
    let (late, session, nobody) = (stage.plan("a"), stage.share_session(), stage.subject("nobody"));
    let kept = session.publish(&nobody, stage.event("kept"));
    let mut begun = pin!(session.publish(&nobody, stage.event("begun")));
    let at_once = poll_fn(|cx| Poll::Ready(begun.as_mut().poll(cx))).await;

    let (ended, closed) = tokio::join!(waiting.ends(), stage.close());
    closed?;
    ended?;
    unread.ends().await?;
    match at_once {
        Poll::Ready(published) => {
            published.map_err(|error| Failure::error("a publish before the close was refused", &error))?;
        }
        Poll::Pending => {
            // It may have gone out before the close.
            let published = stage.within("a publish that was begun before the close", begun).await?;
            stage.note(format_args!("a publish begun before the close came to {published:?}"));
        }
    }
    let published = stage.within("a publish that was made before the close and polled after it", kept).await?;
    ensure!(published.is_err(), "a publish that was made before the close and polled after it was accepted");
    let publish = session.publish(&nobody, stage.event("late"));
    let published = stage.within("a publish after the close", publish).await?;
    ensure!(published.is_err(), "a publish after the close was accepted");
    let subscribe = <F::Backend as DeliversIn<M>>::subscribe(&session, late);
    match stage.within("a subscribe after the close", subscribe).await? {
        Err(SubscribeError::Closed) => {}
        Err(error) => return Err(Failure::error("a subscribe after the close was not told so, but", &error)),
        Ok(_) => return Err(Failure::seen("a subscribe after the close was accepted")),
    }
    stage.close().await?;
    for tap in [&waiting, &unread] {
        tap.retire(RetireReason::Stopping).await?;
    }
    Ok(())
}

pub(crate) const SESSIONS_IN_SEQUENCE: Row = Row {
    number: "19",
    name: "sessions_in_sequence",
    needs: "a mode, volatile",
    rules: "N4",
    promise: "a new session, of the same backend value or another, sees nothing of the one before",
    cause: "state is kept in the backend value",
};

/// Row 19 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn sessions_in_sequence<F: Fixture, M>(mut stage: Stage<F>) -> Result
where
    F::Backend: DeliversIn<M>,
{
    if <<F::Backend as Backend>::Storage as Storage>::PERSISTENT {
        return Err(Failure::not_applicable("its storage is persistent: rows D1 and D3 say what it keeps"));
    }
    if <F::Backend as DeliversIn<M>>::OWES && <F::Backend as DeliversIn<M>>::QUEUE == QueuePlace::Elsewhere {
        return Err(Failure::not_applicable("its queues are the broker's, which owes what is in them past a session"));
    }
    let group = stage.shared("group");
    for (another, tokens) in [(false, "a"), (true, "b")] {
        let plan = stage.plan(tokens).shared(&group);
        let mut before = stage.subscribe::<M>(plan).await?;
        stage.publish(tokens, ["in-hand", "left-1", "left-2"]).await?;
        let in_hand = before.next().await?;
        if another {
            stage.reopen_elsewhere().await?;
        } else {
            stage.reopen().await?;
        }
        let plan = stage.plan(tokens).shared(&group);
        let mut after = stage.subscribe::<M>(plan).await?;
        drop((in_hand, before));
        after.stays_quiet().await?;
        stage.publish(tokens, ["new"]).await?;
        let got = after.next().await?;
        ensure!(
            (got.id(), got.attempt) == ("new", 1),
            "attempt {} at `{}` came instead of `new`",
            got.attempt,
            got.id()
        );
        got.ack().await?;
        let stats = after.stats()?;
        ensure!(stats.accepted == 1, "the source accepted {}, and one event was published to it", stats.accepted);
        stage.reopen().await?;
    }
    Ok(())
}

pub(crate) const PUBLISH_BESIDE_CLOSE: Row = Row {
    number: "20",
    name: "publish_beside_close",
    needs: "a mode",
    rules: "N2, N4",
    promise: "publishes beside a close succeed or fail, and come to an end; one that begins after it fails, and the counters are in balance",
    cause: "a publisher waits for what nobody will do any more",
};

/// Row 20 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn publish_beside_close<F: Fixture, M>(mut stage: Stage<F>) -> Result
where
    F::Backend: DeliversIn<M>,
{
    for (already, steps) in [(0, 4), (1, 0), (5, 1), (10, 2), (20, 3)] {
        // Not the subjects of a round before: where an identity outlives its session, it may be full by now.
        let (to_a, to_b) = (format!("a{already}"), format!("b{already}"));
        let (mut a, mut b) = (stage.tap::<M>(&to_a).await?, stage.tap::<M>(&to_b).await?);
        let floods = [(&to_a, "1-"), (&to_a, "2-"), (&to_b, "3-")].map(|(to, ids)| stage.flood(to, ids, usize::MAX));
        a.take(already).await?;
        stage.give_way(steps).await;
        let (closed, a_ended, b_ended) = tokio::join!(stage.close(), a.drain(), b.drain());
        closed.and(a_ended).and(b_ended)?;
        for flood in &floods {
            flood.stop();
        }
        for flood in floods {
            ensure!(flood.ended().await?.is_some(), "a publish that began after the close was accepted");
        }
        for tap in [&a, &b] {
            tap.retire(RetireReason::Stopping).await?;
        }
        stage.reopen().await?;
    }
    Ok(())
}
