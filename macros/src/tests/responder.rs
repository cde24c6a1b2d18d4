//! Every refusal of `#[responder]`: one error for one mistake, on the token, naming the fix.

use super::{errors, respond};

const ITEM: &str = "async fn price() -> Quote { quote() }";
const WHOLE: &str = r#"subject = "price.ask", group = "pricing", reply = "com.example.quote.v1""#;

/// The attribute has this one mistake.
#[track_caller]
fn refused(attribute: &str, at: &str, text: &str) {
    refused_for(attribute, ITEM, at, text);
}

#[track_caller]
fn refused_for(attribute: &str, item: &str, at: &str, text: &str) {
    let found = errors(respond(attribute, item));
    assert_eq!(found, [(at.to_owned(), text.to_owned())], "in `{attribute}` on `{item}`");
    for line in text.lines() {
        assert!(line.len() <= 150, "{} characters: {line}", line.len());
    }
}

#[track_caller]
fn accepted_for(attribute: &str, item: &str) {
    assert_eq!(errors(respond(attribute, item)), [], "in `{attribute}` on `{item}`");
}

fn with(more: &str) -> String {
    format!("{WHOLE}, {more}")
}

#[test]
fn what_makes_sense_is_accepted() {
    accepted_for(WHOLE, ITEM);
    accepted_for(&with(r#"name = "prices", bound = 1, concurrency = 8, restart(max_restarts = 3)"#), ITEM);
    accepted_for(WHOLE, "async fn price(ask: Payload<Ask<'_>>) -> Result<Quote, Failed> { quote(ask) }");
    accepted_for(
        r#"pattern = "price.*", group = "pricing""#,
        "async fn price(event: &Event) -> Event { event.clone() }",
    );
    accepted_for(r#"subject = "a", group = "g""#, "async fn price() -> Result<Event, Failed> { ask() }");
}

#[test]
fn r9_a_group_is_required() {
    refused(
        r#"subject = "price.ask", reply = "t""#,
        "",
        "a responder is a member of a group, so that one of them answers each request; \
         add `group = \"..\"`, the name of the service",
    );
}

#[test]
fn c6_it_answers_on_something() {
    refused(
        r#"group = "pricing", reply = "t""#,
        "",
        "this responder answers on no subject; write `subject = \"..\"`, or `pattern = \"..\"` with wildcards",
    );
}

#[test]
fn c25_what_belongs_to_another_mode() {
    let cases = [
        ("mode = AtLeastOnce", "mode", "a responder answers each request at most once"),
        ("mode = AtMostOnce", "mode", "a responder answers each request at most once"),
        (r#"durable = "d""#, "durable", "nothing is kept for a responder: a request is answered now or not at all"),
        ("start_at = New", "start_at", "nothing is kept for a responder: a request is answered now or not at all"),
        ("max_deliver = 3", "max_deliver", "a request has one attempt, and its requester tries again"),
        (
            r#"backoff(initial = "1s", max = "2s")"#,
            "backoff",
            "a request has one attempt, and its requester tries again",
        ),
        (r#"max_nack_delay = "1s""#, "max_nack_delay", "a request has one attempt, and its requester tries again"),
        ("allow_volatile", "allow_volatile", "nothing is kept for a responder, so a restart loses nothing"),
        ("slow_handler = Redeliver", "slow_handler", "a request has no lease, its requester has a deadline"),
        (r#"ack_wait = "1s""#, "ack_wait", "a request has no lease, its requester has a deadline"),
        (
            r#"max_processing_time = "1s""#,
            "max_processing_time",
            "a request has no lease, its requester has a deadline",
        ),
        ("overflow = Fail", "overflow", "a request above the bound is turned away, and its requester told at once"),
        ("keyed = subject", "keyed", "requests have no order: each requester waits for its own reply"),
        ("ordered", "ordered", "requests have no order: each requester waits for its own reply"),
    ];
    for (setting, word, why) in cases {
        let text = format!("{why}; leave `{word}` out, or write `#[subscription(..)]`, which does not reply");
        refused(&with(setting), word, &text);
    }
}

#[test]
fn c25_a_mode_with_what_belongs_to_it_is_one_mistake() {
    refused(
        &with(r#"mode = AtLeastOnce, durable = "d", max_deliver = 3"#),
        "mode",
        "a responder answers each request at most once; leave `mode`, `durable` and `max_deliver` out, \
         or write `#[subscription(..)]`, which does not reply",
    );
    let found = errors(respond(&with("mode = AtMostOnce, ordered"), ITEM));
    assert_eq!(found.len(), 2, "{found:?}");
}

#[test]
fn c24_a_bound_that_is_none() {
    refused(
        &with("bound = unbounded"),
        "unbounded",
        "unbounded is not a policy; write `bound = N`, or leave it out for 256",
    );
}

#[test]
fn unknown_words() {
    refused(
        &with(r#"queue = "q""#),
        "queue",
        "unknown setting `queue`; the settings are\n\
         `name`, `subject`, `pattern`, `group`, `reply`, `bound`, `concurrency`, `restart`",
    );
    refused(
        r#"subject = "a", group = "g", replly = "t""#,
        "replly",
        "unknown setting `replly`; did you mean `reply`? the settings are\n\
         `name`, `subject`, `pattern`, `group`, `reply`, `bound`, `concurrency`, `restart`",
    );
}

#[test]
fn q1_an_event_type_that_is_none() {
    let text = "`reply` is the type of the reply's event, which is not empty and has no control characters; \
                write it as in `reply = \"com.example.quote.v1\"`";
    refused(r#"subject = "a", group = "g", reply = """#, r#""""#, text);
    refused(r#"subject = "a", group = "g", reply = "a\nb""#, r#""a\nb""#, text);
}

#[test]
fn r6_it_returns_its_reply() {
    let text = "a responder returns its reply: a value beside `reply = \"..\"`, an `Event`, or a `Result` of one of them;\n\
                to reply nothing write `#[subscription(..)]`";
    refused_for(WHOLE, "async fn price() {}", "price", text);
    refused_for(WHOLE, "async fn price() -> () {}", "()", text);
    refused_for(r#"subject = "a", group = "g""#, "async fn price() -> Result<(), Failed> { Ok(()) }", "()", text);
    refused_for(
        WHOLE,
        "async fn price() -> impl Serialize { 1 }",
        "impl",
        "a responder's reply has one type; write it instead of `impl Trait`",
    );
}

#[test]
fn what_is_no_handler_is_no_responder() {
    refused_for(WHOLE, "fn price() -> Quote { quote() }", "fn", "a handler is asynchronous; write `async fn`");
    refused_for(WHOLE, "struct Price;", "", "`#[responder(..)]` goes on an `async fn`");
}
