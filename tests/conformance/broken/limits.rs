//! Faults in how large an event may be.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use futures_util::future::BoxFuture;
use tramline::{Event, contract::PublishError, event::Data};

use super::{Arrival, Fault, Passes, through::Publish};
use crate::both_ways::{Mutant, mutant};

const LIMIT: usize = 256 * 1024;
/// What is larger is large, where there is no limit.
const LARGE: usize = 1024 * 1024;

const ROW: &[&str] = &["at_most_once::payload_limit", "at_least_once::payload_limit"];

pub(crate) fn mutants() -> Vec<Mutant> {
    vec![
        mutant("cuts what is large", || Cuts).breaks(ROW),
        mutant("drops what is large, and says nothing", || Drops).breaks(ROW),
        mutant("refuses what is above its limit", || Limited::by(Limit::Kept)),
        mutant("takes what is above its limit", || Limited::by(Limit::Ignored)).breaks(ROW),
        mutant("cuts what is above its limit", || Limited::by(Limit::Cut)).breaks(ROW),
        mutant("refuses what is above its limit and delivers it", || Limited::by(Limit::Delivered)).breaks(ROW),
        mutant("refuses as if it were not known", || Limited::by(Limit::Unknown)).breaks(ROW),
        mutant("tells of another limit", || Limited::by(Limit::Another)).breaks(ROW),
        mutant("does not say how large it was", || Limited::by(Limit::WithoutSize)).breaks(ROW),
        mutant("takes nothing after a refusal", || Limited::by(Limit::Deaf)).breaks(ROW),
        mutant("has half the limit that it tells of", || Limited::by(Limit::Half)).breaks(ROW),
    ]
}

fn length(event: &Event) -> usize {
    event.data().map_or(0, |data| data.bytes().len())
}

fn cut(event: &Event, length: usize) -> Event {
    let data = event.data().unwrap().bytes().slice(..length);
    event.to_builder().data(event.data_content_type(), Data::Binary(data)).build().unwrap()
}

struct Cuts;

impl Fault for Cuts {
    fn arrives(&self, arrival: &mut Arrival<'_>) -> Passes {
        if length(arrival.event) > LARGE {
            *arrival.event = cut(arrival.event, LARGE);
        }
        Passes::Once
    }
}

struct Drops;

impl Fault for Drops {
    fn publishes<'a>(&'a self, publish: Publish<'a>) -> BoxFuture<'a, Result<(), PublishError>> {
        Box::pin(async move { if length(&publish.event) > LARGE { Ok(()) } else { publish.go().await } })
    }
}

/// What becomes of an event that is above the limit.
#[derive(Clone, Copy, PartialEq)]
enum Limit {
    Kept,
    Ignored,
    Cut,
    Delivered,
    Unknown,
    Another,
    WithoutSize,
    Deaf,
    Half,
}

struct Limited {
    limit: Limit,
    refused: AtomicBool,
}

impl Limited {
    fn by(limit: Limit) -> Self {
        Self { limit, refused: AtomicBool::new(false) }
    }
}

impl Fault for Limited {
    fn payload_limit(&self) -> Option<usize> {
        Some(LIMIT)
    }

    fn publishes<'a>(&'a self, publish: Publish<'a>) -> BoxFuture<'a, Result<(), PublishError>> {
        Box::pin(async move {
            let size = length(&publish.event);
            let limit = if self.limit == Limit::Half { LIMIT / 2 - 1 } else { LIMIT };
            if size <= limit {
                return if self.refused.load(Relaxed) { Ok(()) } else { publish.go().await };
            }
            match self.limit {
                Limit::Ignored => return publish.go().await,
                Limit::Cut => return Publish { event: cut(&publish.event, LIMIT), ..publish }.go().await,
                Limit::Delivered => publish.first(publish.subject).await,
                Limit::Deaf => self.refused.store(true, Relaxed),
                Limit::Kept | Limit::Unknown | Limit::Another | Limit::WithoutSize | Limit::Half => {}
            }
            Err(match self.limit {
                Limit::Unknown => PublishError::Unconfirmed { source: "too large".into() },
                Limit::Another => PublishError::TooLarge { size, limit: LIMIT + 1 },
                Limit::WithoutSize => PublishError::TooLarge { size: 0, limit: LIMIT },
                // Half tells of the whole limit, so that what shows is that the row's smaller event is refused.
                _ => PublishError::TooLarge { size, limit: LIMIT },
            })
        })
    }
}
