//! tramline's bus in memory, with `#[subscription]` and payloads that the bus decodes.

use tramline::{
    AtLeastOnce, Attempt, Bus, Delivery, Event, Memory, Payload, Settled, bus::BusBuilder, source, subscription,
};

use super::{Publishes, bus::Published};
use crate::{
    job::{Job, Shape},
    work::{self, Order},
};

pub(super) async fn start(job: Job) -> impl Publishes {
    let builder = Bus::builder(Memory::new(), source!("urn:example:bench"));
    let builder = match (job.shape, job.decodes()) {
        (Shape::FanOut(1), false) => builder.subscribe(look),
        (Shape::FanOut(readers), true) => each_of(builder, readers),
        (Shape::Competing(4), true) => builder.subscribe(a).subscribe(b).subscribe(c).subscribe(d),
        (Shape::Acked, true) => builder.subscribe(acknowledge),
        (Shape::DeclinedOnce, true) => builder.subscribe(decline),
        (other, _) => unreachable!("it is not asked for {other:?}"),
    };
    Published::start(builder, job).await
}

#[subscription(subject = "order.placed", bound = 256, overflow = Fail)]
async fn look(event: &Event) {
    work::received(false, event.data().expect("an order").bytes());
}

#[subscription(
    subject = "order.placed", mode = AtLeastOnce, durable = "orders", max_deliver = 5, bound = 256, overflow = Fail,
    allow_volatile,
)]
async fn acknowledge(order: Payload<Order>, delivery: Delivery<AtLeastOnce>) -> Settled {
    work::handled(&order);
    delivery.ack()
}

#[subscription(
    subject = "order.placed", mode = AtLeastOnce, durable = "orders", max_deliver = 5, bound = 256, overflow = Fail,
    allow_volatile,
)]
async fn decline(order: Payload<Order>, Attempt(attempt): Attempt, delivery: Delivery<AtLeastOnce>) -> Settled {
    if attempt.get() == 1 {
        return delivery.nack();
    }
    work::handled(&order);
    delivery.ack()
}

/// The same function under several names, as a bus has no two subscriptions of one name.
macro_rules! same {
    (@ $name:ident { $($settings:tt)* }) => {
        #[subscription(subject = "order.placed", bound = 256, overflow = Fail, $($settings)*)]
        async fn $name(order: Payload<Order>) {
            work::handled(&order);
        }
    };
    ($settings:tt $($name:ident)*) => { $( same!(@ $name $settings); )* };
}

same!({ group = "orders" } a b c d);

/// Subscribes so many of these.
macro_rules! readers {
    ($($name:ident)*) => {
        same!({} $($name)*);

        fn each_of(builder: BusBuilder<Memory>, readers: usize) -> BusBuilder<Memory> {
            let mut wanted = (0..readers).fuse();
            $( let builder = if wanted.next().is_some() { builder.subscribe($name) } else { builder }; )*
            assert!(wanted.next().is_none(), "there are no {readers} of them");
            builder
        }
    };
}

readers!(
    r00 r01 r02 r03 r04 r05 r06 r07 r08 r09 r10 r11 r12 r13 r14 r15
    r16 r17 r18 r19 r20 r21 r22 r23 r24 r25 r26 r27 r28 r29 r30 r31
    r32 r33 r34 r35 r36 r37 r38 r39 r40 r41 r42 r43 r44 r45 r46 r47
    r48 r49 r50 r51 r52 r53 r54 r55 r56 r57 r58 r59 r60 r61 r62 r63
);
