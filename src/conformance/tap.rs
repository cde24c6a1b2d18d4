//! A source, as rows look at it.

use std::{
    future::{Future, poll_fn},
    pin::Pin,
    sync::{Mutex, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use futures_core::Stream;
use tokio::time::{Instant, error::Elapsed, sleep, timeout};

use super::{Failure, Result, Timing, seen::Seen};
use crate::{
    contract::{
        FinalReading, Incoming, Message, Outcome, RetireError, RetireReason, Settle, SettleError, Settlement, Source,
        SourceControl, SourceStats,
    },
    event::Event,
    subject::{Name, Subject},
};

/// A source, as rows look at it: its stream, its control, and the log that both write.
#[must_use = "a source that is dropped subscribes no longer"]
pub struct Tap<S: Source> {
    /// Never locked: a stream need not be `Sync`, and a row that looks at the counters beside it borrows the tap.
    deliveries: Mutex<Pin<Box<S::Deliveries>>>,
    control: S::Control,
    handed_over: u64,
    name: Name,
    timing: Timing,
    seen: Seen,
}

impl<S: Source> Tap<S> {
    pub(super) fn new(source: S, name: Name, timing: Timing, seen: Seen) -> Self {
        let (deliveries, control) = source.split();
        Self { deliveries: Mutex::new(Box::pin(deliveries)), control, handed_over: 0, name, timing, seen }
    }

    /// The subscription's name.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// The control half.
    pub fn control(&self) -> &S::Control {
        &self.control
    }

    /// The next delivery, which has to be a valid event.
    ///
    /// # Errors
    /// Nothing came within the fixture's patience, the stream ended, or what came is malformed.
    pub async fn next(&mut self) -> Result<Got<S::Settler>> {
        match self.next_within(self.timing.patience).await? {
            Some(got) => Ok(got),
            None => {
                let patience = self.timing.patience;
                Err(Failure::seen(format!("nothing came to `{}` within {patience:?}", self.name)))
            }
        }
    }

    /// The next delivery, if one comes within this time.
    ///
    /// # Errors
    /// The stream ended, or what came is malformed.
    pub async fn next_within(&mut self, time: Duration) -> Result<Option<Got<S::Settler>>> {
        let Ok(next) = timeout(time, self.incoming()).await else { return Ok(None) };
        self.got(next).map(Some)
    }

    /// What comes first to one of these taps, and to which, if anything does within this time. They are asked in turn,
    /// beginning with this one.
    ///
    /// # Errors
    /// A stream ended, or what came is malformed.
    pub async fn first_of(taps: &mut [Self], from: usize, time: Duration) -> Result<Option<(usize, Got<S::Settler>)>> {
        let first = poll_fn(|cx| {
            let count = taps.len();
            let mut turn = (from..from + count).map(|at| at % count);
            let first = turn.find_map(|at| match taps[at].poll_incoming(cx) {
                Poll::Ready(next) => Some((at, next)),
                Poll::Pending => None,
            });
            first.map_or(Poll::Pending, Poll::Ready)
        });
        let Ok((at, next)) = timeout(time, first).await else { return Ok(None) };
        taps[at].got(next).map(|got| Some((at, got)))
    }

    fn got(&self, next: Option<Incoming<S::Settler>>) -> Result<Got<S::Settler>> {
        let Some(Incoming { message, attempt, settler, .. }) = next else {
            return Err(Failure::seen(format!("the stream of `{}` ended", self.name)));
        };
        let attempt = attempt.get();
        match message {
            Ok(Message { subject, event, .. }) => {
                let id = event.id();
                self.seen.note(format_args!("`{}` got `{id}` on `{subject}`, attempt {attempt}", self.name));
                let (patience, seen) = (self.timing.patience, self.seen.clone());
                Ok(Got { subject, event, attempt, settler, patience, seen })
            }
            Err(malformed) => {
                Err(Failure::error(format_args!("what came to `{}` as attempt {attempt}", self.name), &malformed))
            }
        }
    }

    /// The next delivery, which has to be a valid event; none where the stream ends.
    ///
    /// # Errors
    /// Nothing came within the fixture's patience, or what came is malformed.
    pub async fn next_or_end(&mut self) -> Result<Option<Got<S::Settler>>> {
        let patience = self.timing.patience;
        match timeout(patience, self.incoming()).await {
            Ok(None) => {
                self.seen.note(format_args!("the stream of `{}` ended", self.name));
                Ok(None)
            }
            Ok(next) => self.got(next).map(Some),
            Err(_) => Err(Failure::seen(format!("nothing came to `{}` within {patience:?}", self.name))),
        }
    }

    /// What comes next, as it is; none where the stream ends.
    pub async fn incoming(&mut self) -> Option<Incoming<S::Settler>> {
        poll_fn(|cx| self.poll_incoming(cx)).await
    }

    fn poll_incoming(&mut self, cx: &mut Context<'_>) -> Poll<Option<Incoming<S::Settler>>> {
        let deliveries = self.deliveries.get_mut().unwrap_or_else(PoisonError::into_inner);
        let next = deliveries.as_mut().poll_next(cx);
        self.handed_over += u64::from(matches!(next, Poll::Ready(Some(_))));
        next
    }

    /// The next so many deliveries, each acknowledged: their ids.
    ///
    /// # Errors
    /// One did not come, or its settlement was refused.
    pub async fn take(&mut self, count: usize) -> Result<Vec<String>> {
        let mut ids = Vec::with_capacity(count);
        for _ in 0..count {
            let got = self.next().await?;
            ids.push(got.id().to_owned());
            got.ack().await?;
        }
        Ok(ids)
    }

    /// The next deliveries are of these events, in whatever order; each is acknowledged.
    ///
    /// # Errors
    /// They are of others, one did not come, or its settlement was refused.
    pub async fn takes(&mut self, ids: &[&str]) -> Result {
        let (mut taken, mut due) = (self.take(ids.len()).await?, ids.to_vec());
        taken.sort();
        due.sort_unstable();
        if taken == due {
            return Ok(());
        }
        Err(Failure::seen(format!("`{}` got {taken:?}, and {due:?} were due", self.name)))
    }

    /// Nothing comes for as long as the fixture watches.
    ///
    /// # Errors
    /// Something came, or the stream ended.
    pub async fn stays_quiet(&mut self) -> Result {
        self.stays_quiet_for(self.timing.quiet).await
    }

    /// Nothing comes for this long.
    ///
    /// # Errors
    /// Something came, or the stream ended.
    pub async fn stays_quiet_for(&mut self, time: Duration) -> Result {
        match self.next_within(time).await? {
            None => Ok(()),
            Some(got) => {
                let (id, attempt) = (got.id(), got.attempt);
                Err(Failure::seen(format!("`{}` got `{id}`, attempt {attempt}, and nothing was due", self.name)))
            }
        }
    }

    /// The stream ends within the fixture's patience, and yields nothing before that.
    ///
    /// # Errors
    /// It goes on, or yields something.
    pub async fn ends(&mut self) -> Result {
        let patience = self.timing.patience;
        match timeout(patience, self.incoming()).await {
            Ok(None) => {
                self.seen.note(format_args!("the stream of `{}` ended", self.name));
                Ok(())
            }
            Ok(Some(_)) => Err(Failure::seen(format!("`{}` got a delivery, and its stream had to end", self.name))),
            Err(_) => Err(Failure::seen(format!("the stream of `{}` did not end within {patience:?}", self.name))),
        }
    }

    /// A reading of the counters, which has to be in balance (L2).
    ///
    /// # Errors
    /// It is not.
    pub fn stats(&self) -> Result<SourceStats> {
        self.balanced(self.control.snapshot())
    }

    /// A reading once so many newcomers are counted, taken in and refused together (L1): what was published may still be
    /// on its way.
    ///
    /// # Errors
    /// More are counted, or not so many within the fixture's patience.
    pub async fn offered(&self, offers: u64) -> Result<SourceStats> {
        let counted = |stats: &SourceStats| stats.accepted + stats.refused;
        let stats = self.reaches(&format!("{offers} offers"), |stats| counted(stats) >= offers).await?;
        if counted(&stats) == offers {
            return Ok(stats);
        }
        let (name, counts) = (&self.name, counts(stats));
        Err(Failure::seen(format!("L1 does not hold at `{name}`, which had {offers} offers: {counts}")))
    }

    /// A reading once the counters have come to what they have to be.
    ///
    /// # Errors
    /// They do not come to it within the fixture's patience, or are not in balance (L2).
    pub async fn reaches(&self, what: &str, holds: impl Fn(&SourceStats) -> bool) -> Result<SourceStats> {
        let patience = self.timing.patience;
        let deadline = Instant::now() + patience;
        loop {
            let stats = self.stats()?;
            if holds(&stats) {
                self.seen.note(format_args!("`{}` counts {}", self.name, counts(stats)));
                return Ok(stats);
            }
            if Instant::now() >= deadline {
                let (name, counts) = (&self.name, counts(stats));
                return Err(Failure::seen(format!("`{name}` did not come to {what} within {patience:?}: {counts}")));
            }
            sleep(Duration::from_millis(5)).await;
        }
    }

    /// Retires the source, and gives its last reading.
    ///
    /// # Errors
    /// It did not retire within the fixture's patience, or the reading is not in balance (L2).
    pub async fn retire(&self, reason: RetireReason) -> Result<FinalReading> {
        self.last(timeout(self.timing.patience, self.control.retire(reason)).await)
    }

    /// Retires the source while its stream is read, and acknowledged, to its end; gives the last reading.
    ///
    /// # Errors
    /// It did not retire within the fixture's patience, its stream did not end, or the reading is not in balance (L2).
    pub async fn retire_beside_reading(&mut self, reason: RetireReason) -> Result<FinalReading> {
        let Self { deliveries, control, handed_over, .. } = self;
        let both = async { tokio::join!(read_to_the_end(deliveries, handed_over), control.retire(reason)).1 };
        let retired = timeout(self.timing.patience, both).await;
        self.last(retired)
    }

    /// Acknowledges what comes until the stream ends.
    ///
    /// # Errors
    /// It did not end within the fixture's patience.
    pub async fn drain(&mut self) -> Result {
        let (patience, before) = (self.timing.patience, self.handed_over);
        let drained = timeout(patience, read_to_the_end(&mut self.deliveries, &mut self.handed_over)).await;
        if drained.is_err() {
            return Err(Failure::seen(format!("the stream of `{}` did not end within {patience:?}", self.name)));
        }
        let count = self.handed_over - before;
        self.seen.note(format_args!("`{}` got {count} more, and its stream ended", self.name));
        Ok(())
    }

    fn last(
        &self,
        retired: std::result::Result<std::result::Result<FinalReading, RetireError>, Elapsed>,
    ) -> Result<FinalReading> {
        let Ok(retired) = retired else {
            return Err(Failure::seen(format!("`{}` did not retire within {:?}", self.name, self.timing.patience)));
        };
        let last = retired.map_err(|error| Failure::error(format_args!("`{}` did not retire", self.name), &error))?;
        self.balanced(last.stats)?;
        self.seen.note(format_args!("`{}` retired: {}", self.name, counts(last.stats)));
        Ok(last)
    }

    fn balanced(&self, stats: SourceStats) -> Result<SourceStats> {
        let handed_over = self.handed_over;
        if stats.accepted == handed_over + stats.pending + stats.evicted {
            return Ok(stats);
        }
        let (name, counts) = (&self.name, counts(stats));
        Err(Failure::seen(format!("L2 does not hold at `{name}`, which handed {handed_over} over: {counts}")))
    }
}

/// Acknowledges what comes until the stream ends, and counts it.
async fn read_to_the_end<S: Settle, D: Stream<Item = Incoming<S>>>(
    deliveries: &mut Mutex<Pin<Box<D>>>,
    handed_over: &mut u64,
) {
    let deliveries = deliveries.get_mut().unwrap_or_else(PoisonError::into_inner);
    while let Some(incoming) = poll_fn(|cx| deliveries.as_mut().poll_next(cx)).await {
        *handed_over += 1;
        // A source that ends may refuse.
        let _ = incoming.settle(Settlement::new(Outcome::Acked)).await;
    }
}

/// One delivery in hand.
#[must_use = "a delivery that is dropped unsettled is given back"]
pub struct Got<S> {
    /// Where it was published.
    pub subject: Subject,
    /// The event.
    pub event: Event,
    /// The number of the attempt.
    pub attempt: u32,
    settler: S,
    patience: Duration,
    seen: Seen,
}

impl<S: Settle> Got<S> {
    /// The event's id.
    pub fn id(&self) -> &str {
        self.event.id()
    }

    /// Settles it.
    ///
    /// # Errors
    /// As the backend answers.
    pub fn settle(self, settlement: Settlement) -> impl Future<Output = std::result::Result<(), SettleError>> + Send {
        let Self { event, attempt, settler, seen, .. } = self;
        async move {
            let settled = settler.settle(settlement).await;
            let (id, Settlement { outcome, delay, .. }) = (event.id(), settlement);
            let answer = if settled.is_ok() { "" } else { ": refused" };
            seen.note(format_args!("attempt {attempt} at `{id}` settled as {outcome:?} after {delay:?}{answer}"));
            settled
        }
    }

    /// Acknowledges it.
    ///
    /// # Errors
    /// The backend refused.
    pub async fn ack(self) -> Result {
        self.say(Settlement::new(Outcome::Acked)).await
    }

    /// Declines it.
    ///
    /// # Errors
    /// The backend refused.
    pub async fn nack(self) -> Result {
        self.say(Settlement::new(Outcome::Nacked)).await
    }

    /// Settles it, which has to be possible.
    ///
    /// # Errors
    /// The backend refused, or did not answer within the fixture's patience.
    pub async fn say(self, settlement: Settlement) -> Result {
        let what = self.settling(settlement);
        let settled = self.answered(settlement).await?;
        settled.map_err(|error| Failure::error(what, &error))
    }

    /// Settles it, which has to be refused (T6).
    ///
    /// # Errors
    /// The backend did it, or did not answer within the fixture's patience.
    pub async fn is_refused(self, settlement: Settlement) -> Result {
        let what = self.settling(settlement);
        match self.answered(settlement).await? {
            Err(_) => Ok(()),
            Ok(()) => Err(Failure::seen(format!("{what} succeeded, and had to be refused"))),
        }
    }

    async fn answered(self, settlement: Settlement) -> Result<std::result::Result<(), SettleError>> {
        let (what, patience) = (self.settling(settlement), self.patience);
        let answer = timeout(patience, self.settle(settlement)).await;
        answer.map_err(|_| Failure::seen(format!("{what} was not answered within {patience:?}")))
    }

    fn settling(&self, settlement: Settlement) -> String {
        format!("settling attempt {} at `{}` as {:?}", self.attempt, self.id(), settlement.outcome)
    }

    /// The settler alone.
    pub fn into_settler(self) -> S {
        self.settler
    }
}

/// A reading in short.
pub(super) fn counts(stats: SourceStats) -> String {
    let SourceStats { accepted, pending, refused, evicted, exhausted, lease_expired, delay_shortened, interruptions } =
        stats;
    format!(
        "accepted {accepted}, pending {pending}, refused {refused}, evicted {evicted}, exhausted {exhausted}, lease \
         expired {lease_expired}, delay shortened {delay_shortened}, interruptions {interruptions}"
    )
}
