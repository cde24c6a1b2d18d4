//! What the client says of its link: up, down, slow, denied.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use async_nats::{ConnectOptions, Event, ServerError};
use tokio::{
    sync::{Notify, broadcast, futures::Notified},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

/// How long a subject that the server denied is not tried again. Rights can be granted while a link lives, and nobody
/// says so.
const DENIED_FOR: Duration = Duration::from_secs(5);
/// How many denied subjects are remembered.
const MOST_DENIED: usize = 1024;
/// How many denials somebody may be behind before one is missed.
const DENIALS: usize = 64;

/// The server denied something, and says so out of line: not to the one who asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(in crate::backend) enum Denied {
    /// A publish to this subject went nowhere.
    #[error("the server denies publishing to `{0}`: grant its user `publish` on it")]
    Publish(String),
    /// There is no subscription to this pattern.
    #[error("the server denies subscribing to `{0}`: grant its user `subscribe` on it")]
    Subscribe(String),
}

impl Denied {
    /// What it is about.
    pub(super) fn subject(&self) -> &str {
        match self {
            Self::Publish(subject) | Self::Subscribe(subject) => subject,
        }
    }
}

/// What the client has said so far, and who waits to hear.
#[derive(Debug)]
pub(super) struct Signals {
    down: Notify,
    /// The link went down, or a publish was denied.
    trouble: Notify,
    disconnects: AtomicU64,
    /// There was a link.
    was_up: AtomicBool,
    /// How many attempts to make the link anew have failed in a row.
    failures: AtomicU64,
    slow: AtomicU64,
    denials: broadcast::Sender<Denied>,
    /// Whether `denied` is to be looked into, which is rare.
    any_denied: AtomicBool,
    denied: Mutex<HashMap<String, Instant>>,
}

impl Signals {
    pub(super) fn new() -> Self {
        Self {
            down: Notify::new(),
            trouble: Notify::new(),
            disconnects: AtomicU64::new(0),
            was_up: AtomicBool::new(false),
            failures: AtomicU64::new(0),
            slow: AtomicU64::new(0),
            denials: broadcast::Sender::new(DENIALS),
            any_denied: AtomicBool::new(false),
            denied: Mutex::default(),
        }
    }

    /// Takes note of one event of the client.
    pub(super) fn note(&self, event: &Event) {
        match event {
            Event::Disconnected => {
                let count = self.disconnects.fetch_add(1, Relaxed) + 1;
                tracing::warn!(
                    name: "link_down",
                    target: "tramline",
                    count,
                    "the link to the NATS server is down: what is published meanwhile is lost"
                );
                self.down.notify_waiters();
                self.trouble.notify_waiters();
            }
            Event::Connected => {
                self.was_up.store(true, Relaxed);
                self.failures.store(0, Relaxed);
                // A link that is made anew may have other rights.
                self.any_denied.store(false, Relaxed);
                self.denied().clear();
                tracing::info!(name: "link_up", target: "tramline", "the link to the NATS server is up");
            }
            Event::SlowConsumer(_) => {
                let count = self.slow.fetch_add(1, Relaxed) + 1;
                // There may be one for each message.
                if count.is_power_of_two() {
                    tracing::warn!(
                        name: "link_slow",
                        target: "tramline",
                        count,
                        "the NATS client was too slow and dropped a message that nobody counts"
                    );
                }
            }
            Event::ClientError(error) => {
                let count = self.failures.fetch_add(1, Relaxed) + 1;
                // There is one for each attempt, for as long as the server is away, or refuses credentials that it took before.
                if count.is_power_of_two() {
                    tracing::warn!(
                        name: "link_fails",
                        target: "tramline",
                        count,
                        reason = %error,
                        "the link to the NATS server cannot be made anew"
                    );
                }
            }
            Event::ServerError(ServerError::Other(text)) => match denied(text) {
                Some(denied) => self.deny(denied),
                None => {
                    tracing::warn!(
                        name: "server",
                        target: "tramline",
                        reason = text,
                        "the NATS server reports an error"
                    );
                }
            },
            Event::LameDuckMode => {
                tracing::warn!(
                    name: "server",
                    target: "tramline",
                    "the NATS server is about to stop and asks its clients to leave"
                );
            }
            other => {
                tracing::debug!(
                    name: "client",
                    target: "tramline",
                    reason = %other,
                    "the NATS client reports an event"
                );
            }
        }
    }

    fn deny(&self, denied: Denied) {
        tracing::warn!(name: "denied", target: "tramline", "{denied}");
        if let Denied::Publish(subject) = &denied {
            let mut all = self.denied();
            if all.len() >= MOST_DENIED {
                all.clear();
            }
            all.insert(subject.clone(), Instant::now());
            self.any_denied.store(true, Relaxed);
            drop(all);
            self.trouble.notify_waiters();
        }
        // Nobody may be waiting.
        let _ = self.denials.send(denied);
    }

    /// Whether the server has denied publishing to this subject just now.
    pub(super) fn is_denied(&self, subject: &str) -> Option<Denied> {
        if !self.any_denied.load(Relaxed) {
            return None;
        }
        let mut all = self.denied();
        let since = all.get(subject)?;
        if since.elapsed() < DENIED_FOR {
            return Some(Denied::Publish(subject.to_owned()));
        }
        all.remove(subject);
        None
    }

    /// Hears of what the server denies from now on.
    pub(super) fn denials(&self) -> broadcast::Receiver<Denied> {
        self.denials.subscribe()
    }

    /// Ready once the link goes down after this call.
    pub(super) fn down(&self) -> Notified<'_> {
        self.down.notified()
    }

    /// Ready once the link goes down after this call, or a publish is denied.
    #[allow(dead_code, reason = "for JetStream, which is a feature of its own")]
    pub(super) fn trouble(&self) -> Notified<'_> {
        self.trouble.notified()
    }

    /// Whether there was a link.
    pub(super) fn was_up(&self) -> bool {
        self.was_up.load(Relaxed)
    }

    /// How often the link went down, as far as the client said so.
    pub(super) fn disconnects(&self) -> u64 {
        self.disconnects.load(Relaxed)
    }

    /// How often the client dropped what it could not hand on, as far as it said so.
    pub(super) fn slow(&self) -> u64 {
        self.slow.load(Relaxed)
    }

    fn denied(&self) -> MutexGuard<'_, HashMap<String, Instant>> {
        self.denied.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads what the server says of rights: `Permissions Violation for Subscription to "a.b" using queue "q"`.
fn denied(text: &str) -> Option<Denied> {
    let what = text.strip_prefix("Permissions Violation for ")?;
    let (kind, rest) = what.split_once('"')?;
    let (subject, _) = rest.split_once('"')?;
    match kind.trim_end() {
        "Subscription to" => Some(Denied::Subscribe(subject.to_owned())),
        "Publish to" => Some(Denied::Publish(subject.to_owned())),
        _ => None,
    }
}

/// Has the client tell `signals` what becomes of its link, and `ended` when it is gone; and wait for so long before it makes a
/// link anew. It would also wait before it makes the first one.
pub(super) fn observed(
    mut connect: ConnectOptions,
    signals: &Arc<Signals>,
    ended: &CancellationToken,
    delay: Option<Duration>,
) -> ConnectOptions {
    if let Some(delay) = delay {
        let signals = Arc::clone(signals);
        connect = connect.reconnect_delay_callback(move |_| if signals.was_up() { delay } else { Duration::ZERO });
    }
    let signals = Arc::clone(signals);
    // The client's two tasks hold the callback: one by itself, and the other by the channel that feeds it.
    let alive = ended.clone().drop_guard();
    connect.event_callback(move |event| {
        let _ = &alive;
        signals.note(&event);
        std::future::ready(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_server_says_of_rights_is_read() {
        let read = |text| denied(text);
        assert_eq!(read(r#"Permissions Violation for Publish to "a.b""#), Some(Denied::Publish("a.b".into())));
        let subscribe = Some(Denied::Subscribe("a.>".into()));
        assert_eq!(read(r#"Permissions Violation for Subscription to "a.>""#), subscribe);
        assert_eq!(read(r#"Permissions Violation for Subscription to "a.>" using queue "q""#), subscribe);
        assert_eq!(read("Permissions Violation for Publish"), None);
        assert_eq!(read("Unknown Protocol Operation"), None);
    }

    #[tokio::test]
    async fn what_nobody_can_count_is_told_each_time_and_a_link_that_goes_down_to_those_who_wait() {
        let signals = Signals::new();
        let down = signals.down();
        signals.note(&Event::SlowConsumer(1));
        signals.note(&Event::SlowConsumer(1));
        signals.note(&Event::Disconnected);
        signals.note(&Event::Connected);
        down.await;
        assert_eq!((signals.slow(), signals.disconnects()), (2, 1));
    }

    #[tokio::test(start_paused = true)]
    async fn a_denied_subject_is_tried_again_after_a_while_and_on_a_new_link() {
        let signals = Signals::new();
        let deny = || {
            let text = r#"Permissions Violation for Publish to "a""#.to_owned();
            signals.note(&Event::ServerError(ServerError::Other(text)));
        };
        deny();
        assert_eq!(signals.is_denied("a"), Some(Denied::Publish("a".into())));
        assert_eq!(signals.is_denied("b"), None);
        tokio::time::advance(DENIED_FOR).await;
        assert_eq!(signals.is_denied("a"), None);
        deny();
        signals.note(&Event::Connected);
        assert_eq!(signals.is_denied("a"), None);
    }
}
