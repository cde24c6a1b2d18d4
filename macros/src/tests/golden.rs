//! What representative declarations expand to, as files. `TRAMLINE_BLESS=1 cargo test -p tramline-macros` writes them anew.

use std::{env, fs, path::PathBuf};

use proc_macro2::TokenStream;

use super::{expand, respond, tokens};

#[track_caller]
fn check(name: &str, attribute: &str, item: &str) {
    check_expansion(name, expand(attribute, item));
}

#[track_caller]
fn check_expansion(name: &str, expansion: TokenStream) {
    let file = syn::parse2(expansion).expect("the expansion is a sequence of items");
    let written = prettyplease::unparse(&file);
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "golden", &format!("{name}.rs")].iter().collect();
    if env::var_os("TRAMLINE_BLESS").is_some() {
        fs::write(&path, &written).expect("the golden file can be written");
    }
    let golden = fs::read_to_string(&path).unwrap_or_default();
    assert!(written == golden, "{} differs; it would be:\n{written}", path.display());
}

#[test]
fn at_most_once_with_every_default() {
    check(
        "at_most_once",
        r#"pattern = "greeting.>""#,
        r#"/// Greets.
        #[cfg(feature = "greetings")]
        #[tracing::instrument]
        pub(crate) async fn greeter(subject: &Subject, hello: Payload<Hello<'_>>) { println!("{subject}: {}", hello.text) }"#,
    );
}

#[test]
fn at_least_once_with_every_setting() {
    check(
        "at_least_once",
        r#"name = "billing invoices", subject = "invoice.raised", mode = AtLeastOnce, durable = "invoices", max_deliver = 5,
           start_at = AllAvailable, slow_handler = ExtendLease, ack_wait = "30s", max_processing_time = "5m",
           backoff(initial = "1500ms", max = "1m"), max_nack_delay = "10m", bound = 512, overflow = Fail, concurrency = 4, keyed = "partitionkey", ordered,
           restart(max_restarts = 5, initial = "1s", max = "30s", reset_after = "1h")"#,
        "async fn invoices(State(db): State<Db>, delivery: Delivery<AtLeastOnce<Delayed>>) -> Result<Settled, Failed> {
            db.insert(delivery).await
        }",
    );
}

#[test]
fn a_mistake_leaves_the_fallback() {
    check(
        "fallback",
        r#"subject = "invoice.raised", mode = AtLeastOnce, max_deliver = 5"#,
        "async fn invoices(attempt: Attempt) -> Ack { Ack }",
    );
}

#[test]
fn a_responder_that_returns_a_value_or_an_error() {
    let expansion = respond(
        r#"subject = "price.ask", group = "pricing", reply = "com.example.quote.v1", bound = 64, concurrency = 8, restart"#,
        "pub async fn price(ask: Payload<Ask<'_>>, State(prices): State<Prices>) -> Result<Quote, UnknownItem> {
            prices.quote(ask.item)
        }",
    );
    check_expansion("responder", expansion);
}

#[test]
fn a_responder_that_returns_a_value_or_an_event() {
    let value = respond(
        r#"subject = "clock.ask", group = "clock", reply = "com.example.time.v1""#,
        "async fn clock() -> Time { Time::now() }",
    );
    check_expansion("responder_value", value);
    let event = respond(
        r#"pattern = "echo.>", group = "echo", name = "the echo""#,
        "async fn echo(event: &Event) -> Event { event.clone() }",
    );
    check_expansion("responder_event", event);
}

#[test]
fn a_topic_with_places() {
    let item = r#"#[topic(subject = "{region}.placed.{total}.{note}", event_type = "com.example.placed.v1", schema = "urn:example:order")]
        struct Placed<'a, T: Clone, const N: usize> where T: Ord { region: Region, note: Wrapped<'a, T, N>, total: u64 }"#;
    check_expansion("topic", crate::topic::topic(tokens(item)));
}

#[test]
fn a_topic_without_places() {
    let item = r#"#[topic(subject = "service.state", event_type = "com.example.state.v1")] enum State { Up, Down }"#;
    check_expansion("topic_without_places", crate::topic::topic(tokens(item)));
}

#[test]
fn a_topic_with_a_mistake_leaves_the_fallback() {
    let item = r#"#[topic(subject = "order.{region}")] struct Order<'a> { region: &'a str }"#;
    check_expansion("topic_fallback", crate::topic::topic(tokens(item)));
}
