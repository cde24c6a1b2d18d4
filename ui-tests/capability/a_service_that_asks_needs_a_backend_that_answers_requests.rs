use backends::AtMostOnly;
use tramline::contract::AnswersRequests;

fn price_service<B: AnswersRequests>(_backend: B) {}

fn main() {
    price_service(AtMostOnly);
}

// Cause: A request needs a way back for its reply, which not every backend has.
