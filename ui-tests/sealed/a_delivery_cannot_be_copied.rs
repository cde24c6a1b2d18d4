use tramline::{AtLeastOnce, Delivery, Settled};

fn twice(delivery: Delivery<AtLeastOnce>) -> [Settled; 2] {
    [delivery.clone().ack(), delivery.ack()]
}

fn main() {
    let _ = twice;
}

// Cause: A message gets one answer. What could be copied could answer twice.
