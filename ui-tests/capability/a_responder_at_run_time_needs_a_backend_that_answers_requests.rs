use backends::AtMostOnly;
use tramline::{Bus, group, name, source, subject};

fn main() {
    let _ = Bus::builder(AtMostOnly, source!("urn:example:pricing"))
        .responder(name!("price"), group!("pricing"))
        .subject(subject!("price.ask"))
        .handle(|asked| async move { asked.event().clone() });
}

// Cause: A responder sends a reply to whoever asked, which not every backend can carry.
