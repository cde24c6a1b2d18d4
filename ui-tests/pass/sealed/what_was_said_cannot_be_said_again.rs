use tramline::{AtLeastOnce, Delivery, Settled};

fn twice(delivery: Delivery<AtLeastOnce>) -> [Settled; 1] {
    let settled = delivery.ack();
    [settled]
}

fn main() {
    let _ = twice;
}
