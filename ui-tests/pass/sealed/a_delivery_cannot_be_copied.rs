use tramline::{AtLeastOnce, Delivery, Settled};

fn twice(delivery: Delivery<AtLeastOnce>) -> Settled {
    delivery.ack()
}

fn main() {
    let _ = twice;
}
