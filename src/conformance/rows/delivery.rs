//! Who gets a message, and what of it, in both modes.

use crate::{
    conformance::{DeliversIn, Failure, Fixture, Result, Row, Stage, corpus::corpus, proof::ensure},
    event::{Event, Value},
};

pub(crate) const FANOUT_EVERY_SUBSCRIBER: Row = Row {
    number: "3",
    name: "fanout_every_subscriber",
    needs: "a mode",
    rules: "N, S8",
    promise: "every source gets every message that its pattern selects, once",
    cause: "one queue is shared by subscribers that do not compete",
};

/// Row 3 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn fanout_every_subscriber<F: Fixture, M>(mut stage: Stage<F>) -> Result
where
    F::Backend: DeliversIn<M>,
{
    const MESSAGES: usize = 12;
    let mut taps = Vec::new();
    for _ in 0..3 {
        taps.push(stage.tap::<M>("a").await?);
    }
    let ids = numbered(0..MESSAGES);
    stage.publish("a", ids.iter().map(String::as_str)).await?;
    // Side by side, so that what comes to one too often is seen however it is spread.
    let got = stage.gather(&mut taps, 3 * MESSAGES).await?;
    for (at, tap) in taps.iter().enumerate() {
        for id in &ids {
            let times = got.get(&(at, id.clone())).copied().unwrap_or_default();
            ensure!(times == 1, "`{}` got `{id}` {times} times, and it was published once", tap.name());
        }
        tap.stats()?;
    }
    Ok(())
}

pub(crate) const COMPETING_EXACTLY_ONE: Row = Row {
    number: "4",
    name: "competing_exactly_one",
    needs: "a mode",
    rules: "N11",
    promise: "of the members of a group exactly one gets a message, and no message is lost",
    cause: "each member subscribes for itself, or a rollback hands a message out twice",
};

/// Row 4 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn competing_exactly_one<F: Fixture, M>(mut stage: Stage<F>) -> Result
where
    F::Backend: DeliversIn<M>,
{
    const MESSAGES: usize = 30;
    let (mut group, mut other) = (Vec::new(), Vec::new());
    for (taps, name, members) in [(&mut group, "group", 3), (&mut other, "other", 2)] {
        for _ in 0..members {
            let plan = stage.plan("a").shared(stage.shared(name));
            taps.push(stage.subscribe::<M>(plan).await?);
        }
    }
    let ids = numbered(0..MESSAGES);
    stage.publish("a", ids.iter().map(String::as_str)).await?;
    for (taps, name) in [(&mut group, "the group"), (&mut other, "the other group")] {
        let got = stage.gather(taps, MESSAGES).await?;
        for id in &ids {
            let times: usize = got.iter().filter(|((_, got), _)| got == id).map(|(_, times)| times).sum();
            ensure!(times == 1, "the members of {name} got `{id}` {times} times, and it was published once");
        }
        for tap in taps {
            tap.stats()?;
        }
    }
    Ok(())
}

pub(crate) const EVENT_ROUND_TRIP: Row = Row {
    number: "6",
    name: "event_round_trip",
    needs: "a mode",
    rules: "Q2",
    promise: "an event arrives as it was published: attribute text and data bytes to the byte, kinds and extension types kept",
    cause: "text is normalised, decoded twice, or data of one kind comes back as another",
};

/// Row 6 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn event_round_trip<F: Fixture, M>(mut stage: Stage<F>) -> Result
where
    F::Backend: DeliversIn<M>,
{
    const LARGE: usize = 64 * 1024;
    let large = stage.fixture().payload_limit().map_or(LARGE, |limit| LARGE.min(limit / 2));
    let mut tap = stage.tap::<M>("a").await?;
    for published in corpus(&stage.event("small"), large) {
        stage.publish_event("a", published.clone()).await?;
        let got = tap.next().await?;
        if let Some(difference) = difference(&published, &got.event, stage.fixture().keeps_extension_kinds()) {
            return Err(Failure::seen(format!("`{}` arrived otherwise than published: {difference}", published.id())));
        }
        got.ack().await?;
    }
    Ok(())
}

pub(crate) const EXACT_SUBJECT_ONLY: Row = Row {
    number: "9",
    name: "exact_subject_only",
    needs: "a mode",
    rules: "S8",
    promise: "a subscription to one subject gets nothing of another",
    cause: "subjects are compared by their beginning",
};

/// Row 9 of [`ROWS`](crate::conformance::ROWS).
///
/// # Errors
/// The row is red.
pub async fn exact_subject_only<F: Fixture, M>(mut stage: Stage<F>) -> Result
where
    F::Backend: DeliversIn<M>,
{
    let subscribed = ["a.b", "a.bc", "a"];
    let mut taps = Vec::new();
    for subject in subscribed {
        taps.push(stage.tap::<M>(subject).await?);
    }
    for subject in ["a.b", "a.bc", "a", "a.b.c", "a.B", "a.bcd", "A", "ab", "b", "b.a.b"] {
        stage.publish(subject, [subject]).await?;
    }
    let got = stage.gather(&mut taps, subscribed.len()).await?;
    for (at, subject) in subscribed.iter().enumerate() {
        let got: Vec<_> = got.iter().filter(|((tap, _), _)| *tap == at).map(|((_, id), _)| id).collect();
        ensure!(got == [subject], "the source of `{subject}` got what was published to {got:?}");
    }
    Ok(())
}

fn numbered(range: std::ops::Range<usize>) -> Vec<String> {
    range.map(|number| number.to_string()).collect()
}

/// What of an event is not what was published, if anything.
pub(super) fn difference(published: &Event, got: &Event, with_kinds: bool) -> Option<String> {
    if published == got {
        return None;
    }
    let told = |name: &str, published: &dyn std::fmt::Debug, got: &dyn std::fmt::Debug| {
        Some(format!("`{name}` was {published:?} and is {got:?}"))
    };
    macro_rules! attributes {
        ($($name:literal: $attribute:ident),*) => {
            $(if published.$attribute() != got.$attribute() {
                return told($name, &published.$attribute(), &got.$attribute());
            })*
        };
    }
    attributes! {
        "id": id, "source": source, "type": event_type, "subject": subject, "time": time,
        "datacontenttype": data_content_type, "dataschema": data_schema, "data": data
    }
    let names = published.extensions().chain(got.extensions()).map(|(name, _)| name);
    for name in names {
        let (published, got) = (published.extension(name), got.extension(name));
        let same = match (published, got) {
            (Some(Value::Boolean(_) | Value::Integer(_)), Some(Value::String(text))) if !with_kinds => {
                published.is_some_and(|published| published.to_text() == *text)
            }
            _ => published == got,
        };
        if !same {
            return told(name, &published, &got);
        }
    }
    if with_kinds { Some("it is not equal, and no attribute says why".to_owned()) } else { None }
}
