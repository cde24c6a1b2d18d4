//! tramline's bus in memory, with subscriptions that are made at run time, and closures that decode.

use std::num::{NonZeroU32, NonZeroUsize};

use tramline::{
    AtLeastOnce, AtMostOnce, Bus, Delivery, DurableName, Event, Fail, Group, Memory, Name, Pattern, Subject,
    bus::BusBuilder, source,
};

use super::{
    Publishes,
    bus::{Published, SUBJECT},
};
use crate::{
    job::{BOUND, Job, PATTERNS, Shape, bystander, pattern},
    work,
};

/// More than are needed.
const ATTEMPTS: NonZeroU32 = NonZeroU32::new(5).unwrap();

pub(super) async fn start(job: Job) -> impl Publishes {
    let builder = Bus::builder(Memory::new(), source!("urn:example:bench"));
    let builder = match job.shape {
        Shape::FanOut(readers) => (0..readers).fold(builder, |builder, index| {
            at_most_once(builder, job, &format!("reader{index}"), SUBJECT.clone().into(), None)
        }),
        Shape::Competing(readers) => (0..readers).fold(builder, |builder, index| {
            let group = Group::new("orders").expect("it is valid");
            at_most_once(builder, job, &format!("member{index}"), SUBJECT.clone().into(), Some(group))
        }),
        Shape::Patterns => (0..PATTERNS).fold(builder, |builder, index| {
            let pattern = Pattern::new(pattern(index)).expect("it is valid");
            at_most_once(builder, job, &format!("region{index}"), pattern, None)
        }),
        Shape::Among(others) => {
            let builder = at_most_once(builder, job, "reader", SUBJECT.clone().into(), None);
            (0..others).fold(builder, |builder, index| {
                let subject = Subject::new(bystander(index)).expect("it is valid");
                at_most_once(builder, job, &format!("aside{index}"), subject.into(), None)
            })
        }
        Shape::Acked => builder
            .at_least_once(name("orders"), DurableName::new("orders").expect("it is valid"), ATTEMPTS)
            .subject(SUBJECT.clone())
            .bound(bound())
            .overflow(Fail)
            .allow_volatile()
            .handle(move |delivery: Delivery<AtLeastOnce>| async move {
                received(job, delivery.event());
                delivery.ack()
            }),
        Shape::DeclinedOnce => builder
            .at_least_once(name("orders"), DurableName::new("orders").expect("it is valid"), ATTEMPTS)
            .subject(SUBJECT.clone())
            .bound(bound())
            .overflow(Fail)
            .allow_volatile()
            .handle(move |delivery: Delivery<AtLeastOnce>| async move {
                if delivery.attempt() == NonZeroU32::MIN {
                    return delivery.nack();
                }
                received(job, delivery.event());
                delivery.ack()
            }),
    };
    Published::start(builder, job).await
}

fn at_most_once(
    builder: BusBuilder<Memory>,
    job: Job,
    reader: &str,
    pattern: Pattern,
    group: Option<Group>,
) -> BusBuilder<Memory> {
    let subscription = builder.at_most_once(name(reader)).pattern(pattern).bound(bound()).overflow(Fail);
    let subscription = match group {
        None => subscription,
        Some(group) => subscription.group(group),
    };
    subscription.handle(move |delivery: Delivery<AtMostOnce>| async move { received(job, delivery.event()) })
}

fn received(job: Job, event: &Event) {
    work::received(job.decodes(), event.data().expect("an order").bytes());
}

fn name(name: &str) -> Name {
    Name::new(name).expect("it is valid")
}

fn bound() -> NonZeroUsize {
    NonZeroUsize::new(BOUND).expect("it is not zero")
}
