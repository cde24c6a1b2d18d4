use tramline::{AtLeastOnce, Delivery, Settled};

fn twice(delivery: Delivery<AtLeastOnce>) -> [Settled; 2] {
    let settled = delivery.ack();
    [settled.clone(), settled]
}

fn main() {
    let _ = twice;
}

// Cause: A message gets one answer. What could be copied could answer twice.
