//! What a test makes go wrong.

use super::{
    stage::PublishRefusal,
    test_bus::{TestBus, valid},
};
use crate::{codec::Codec, contract::Backend};

impl<L: Backend, C: Codec> TestBus<L, C> {
    /// Makes the next deliveries to a subscription fail, so many: its handler is not called, and it is as if it had returned
    /// an error. At least once the message is declined and comes back while attempts remain.
    ///
    /// # Panics
    /// If there is no such subscription; the message has those there are.
    #[track_caller]
    pub fn fail_next(&self, subscription: &str, deliveries: u32) {
        self.stage.with(subscription, |cue| cue.fail = deliveries);
    }

    /// Makes the handler of a subscription panic on its next deliveries, so many, in place of what it does. Its consumer
    /// fails, and is restarted if it has a restart policy.
    ///
    /// # Panics
    /// If there is no such subscription; the message has those there are.
    #[track_caller]
    pub fn panic_next(&self, subscription: &str, deliveries: u32) {
        self.stage.with(subscription, |cue| cue.panic = deliveries);
    }

    /// Loses the next acknowledgements of a subscription, so many, on their way to the broker: the handler has done its
    /// work, and the same message comes again, as the next attempt. If it was the last one the message is exhausted.
    ///
    /// # Panics
    /// If there is no such subscription, or if it delivers at most once: there nothing comes again, and a duplicate is
    /// the same event published twice.
    #[track_caller]
    pub fn redeliver_next(&self, subscription: &str, deliveries: u32) {
        let at_least_once = self.stage.with(subscription, |cue| {
            cue.lose_acknowledgement = deliveries;
            cue.at_least_once
        });
        assert!(at_least_once, "`{subscription}` is at most once, where nothing comes again: publish the event twice");
    }

    /// Ends the source of a subscription, as the end of a connection does: its consumer fails, and is restarted if it has a
    /// restart policy. At most once what was queued is lost; at least once it is owed.
    ///
    /// # Panics
    /// If there is no such subscription; the message has those there are.
    #[track_caller]
    pub fn cut_link(&self, subscription: &str) {
        let link = self.stage.with(subscription, |cue| cue.link());
        if let Some(link) = link {
            link.cut();
        }
    }

    /// Ends the sources of all subscriptions, as when the broker goes.
    pub fn cut_links(&self) {
        for link in self.stage.links() {
            link.cut();
        }
    }

    /// Refuses the next publishes on the subjects that a pattern selects, so many, whoever makes them; a subject is a
    /// pattern. Requests are not refused.
    ///
    /// # Panics
    /// If it is no valid pattern.
    #[track_caller]
    pub fn refuse_publishes(&self, pattern: &str, publishes: u32, refusal: PublishRefusal) {
        self.stage.refuse(valid(pattern), publishes, refusal);
    }
}
