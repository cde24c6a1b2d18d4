use tramline::Topic;

#[derive(Topic)]
#[topic(subject = "service.{name}", event_type = "com.example.service.v1")]
enum Service<'a> {
    Up { name: &'a str },
    Down { name: &'a str },
}

fn main() {
    let _ = (Service::Up { name: "a" }, Service::Down { name: "b" }.subject());
}

// Cause: A place is filled from a field. Which fields an enum has depends on its variant.
