//! The tests of `examples/service`: its own wiring and its own state, with a till of the test's, in paused time.
//!
//! ```text
//! cargo test --features testing --example testing    the tests
//! cargo run --features testing --example testing     one of them, with what it sees
//! ```
//!
//! Look at how little there is to set up: the service is not changed for its tests, nothing sleeps, and a minute of backoff
//! takes no time. Change `"1s"` in the backoff of `billing` and see what the test says.

#[path = "service/shop.rs"]
mod shop;

use std::{
    error::Error,
    sync::{Arc, Mutex, PoisonError},
};

use shop::{OrderPlaced, Parcels, Shop, Till, TillError, shop};
use tramline::testing::{StandIn, TestBus};

/// A till that says what the test wants, the last one first, and then that all is well, and remembers whom it charged.
#[derive(Default)]
struct ScriptedTill {
    says: Mutex<Vec<TillError>>,
    charged: Mutex<Vec<u32>>,
}

impl Till for ScriptedTill {
    fn charge(&self, order: u32, _cents: u64) -> Result<(), TillError> {
        if let Some(error) = self.says.lock().unwrap_or_else(PoisonError::into_inner).pop() {
            return Err(error);
        }
        self.charged.lock().unwrap_or_else(PoisonError::into_inner).push(order);
        Ok(())
    }
}

impl ScriptedTill {
    fn says(errors: impl IntoIterator<Item = TillError>) -> Arc<Self> {
        Arc::new(Self { says: Mutex::new(errors.into_iter().collect()), charged: Mutex::default() })
    }
}

/// The service with this till. In production it runs on `Memory`, and so it does here: with `StandIn::<JetStream>` in its
/// place it would compile only if it ran there, too.
async fn service(till: Arc<ScriptedTill>) -> Result<(TestBus, Parcels), Box<dyn Error>> {
    let state = Shop { till, parcels: Parcels::default() };
    let parcels = state.parcels.clone();
    Ok((TestBus::start(shop(StandIn::new(), state)).await?, parcels))
}

fn order(order: u32, item: &str) -> OrderPlaced {
    OrderPlaced { order, item: item.to_owned(), cents: 250 }
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() -> Result<(), Box<dyn Error>> {
    let (test, parcels) = service(ScriptedTill::says([TillError::Refused, TillError::Busy])).await?;
    test.redeliver_next("billing", 1);
    test.publish_topic(&order(1, "tea")).await?;
    test.publish_topic(&order(2, "a gift")).await?;
    test.publish_topic(&order(3, "glass")).await?;
    test.settled().await;
    println!("\nwhat was published:\n{}", test.published());
    println!("what was delivered:\n{}", test.deliveries());
    println!("packed: {:?}\n\n{}", parcels.packed(), test.ledger());
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, time::Duration};

    use tramline::{
        contract::PublishError,
        testing::{Handled, PublishRefusal},
    };

    use super::*;
    use crate::shop::OrderBilled;

    type Outcome = Result<(), Box<dyn Error>>;

    fn packed<const N: usize>(items: [(&str, u32); N]) -> BTreeMap<String, u32> {
        items.map(|(item, count)| (item.to_owned(), count)).into()
    }

    #[test]
    fn it_runs() {
        main().expect("the example runs");
    }

    #[tokio::test(start_paused = true)]
    async fn an_order_is_billed_and_then_packed() -> Outcome {
        let (test, parcels) = service(Arc::default()).await?;
        test.publish_topic(&order(1, "tea")).await?;
        test.settled().await;
        let billed = test.published_on("shop.order.billed").only();
        assert_eq!(test.value::<OrderBilled>(&billed.event), OrderBilled { order: 1, item: "tea".to_owned() });
        assert_eq!(parcels.packed(), packed([("tea", 1)]));
        test.delivered_to("dashboard").assert_count(2);
        Ok(())
    }

    #[tokio::test(start_paused = true)]
    async fn a_till_that_is_busy_is_asked_again_after_one_second_and_then_two() -> Outcome {
        let till = ScriptedTill::says([TillError::Busy, TillError::Busy]);
        let (test, parcels) = service(till.clone()).await?;
        test.publish_topic(&order(1, "tea")).await?;

        test.handled().await;
        test.delivered_to("billing").assert_handled(&[Handled::Nacked { delay: None }]);
        assert_eq!(parcels.packed(), packed([]), "not before it is paid for");

        test.settled().await;
        let billing = test.delivered_to("billing");
        billing.assert_count(3);
        let waited = [billing[1].at - billing[0].at, billing[2].at - billing[1].at];
        assert!(waited[0] >= Duration::from_secs(1) && waited[1] >= Duration::from_secs(2), "{waited:?}");
        assert_eq!(parcels.packed(), packed([("tea", 1)]));
        Ok(())
    }

    #[tokio::test(start_paused = true)]
    async fn an_order_that_the_till_refuses_is_done_with_and_not_packed() -> Outcome {
        let (test, parcels) = service(ScriptedTill::says([TillError::Refused])).await?;
        test.publish_topic(&order(1, "tea")).await?;
        test.settled().await;
        assert_eq!(test.delivered_to("billing").only().handled, Handled::Acked);
        test.published_on("shop.order.billed").assert_count(0);
        assert_eq!(parcels.packed(), packed([]));
        Ok(())
    }

    #[tokio::test(start_paused = true)]
    async fn a_confirmation_that_is_lost_bills_twice_and_charges_once_per_attempt() -> Outcome {
        let (test, parcels) = service(Arc::default()).await?;
        test.refuse_publishes("shop.order.billed", 1, PublishRefusal::ConfirmationLost);
        test.publish_topic(&order(1, "tea")).await?;
        test.settled().await;
        // The duplicate is real: a test is where one finds out that packing does not mind, or does.
        test.published_on("shop.order.billed").assert_count(2);
        assert_eq!(parcels.packed(), packed([("tea", 2)]));
        Ok(())
    }

    #[tokio::test(start_paused = true)]
    async fn scales_that_break_are_restarted_and_the_parcel_is_packed() -> Outcome {
        let (test, parcels) = service(Arc::default()).await?;
        test.publish_topic(&order(1, "glass")).await?;
        test.settled().await;
        let packing = test.delivered_to("packing");
        packing.assert_handled(&[Handled::Panicked("the scales broke".to_owned()), Handled::Acked]);
        assert!(test.health().is_healthy());
        assert_eq!(parcels.packed(), packed([("glass", 1)]));
        Ok(())
    }

    #[tokio::test(start_paused = true)]
    async fn a_link_that_is_cut_loses_no_order() -> Outcome {
        let (test, parcels) = service(Arc::default()).await?;
        test.cut_links();
        test.settled().await;
        test.publish_topic(&order(1, "tea")).await?;
        test.settled().await;
        assert_eq!(parcels.packed(), packed([("tea", 1)]));
        Ok(())
    }

    #[tokio::test(start_paused = true)]
    async fn a_full_queue_is_told_to_who_places_the_order() -> Outcome {
        let (test, _) = service(Arc::default()).await?;
        test.refuse_publishes("shop.order.placed", 1, PublishRefusal::QueueFull);
        let refused = test.publish_topic(&order(1, "tea")).await;
        assert!(matches!(refused, Err(PublishError::QueueFull { .. })), "{refused:?}");
        test.publish_topic(&order(1, "tea")).await?;
        Ok(())
    }
}
