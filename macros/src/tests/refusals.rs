//! Every refusal: one error for one mistake, on the token, naming the fix.

use super::{errors, expand};

const ITEM: &str = "async fn invoices() -> Ack { Ack }";

/// The attribute has this one mistake.
#[track_caller]
fn refused(attribute: &str, at: &str, text: &str) {
    refused_for(attribute, ITEM, at, text);
}

#[track_caller]
fn refused_for(attribute: &str, item: &str, at: &str, text: &str) {
    let found = errors(expand(attribute, item));
    assert_eq!(found, [(at.to_owned(), text.to_owned())], "in `{attribute}` on `{item}`");
    for line in text.lines() {
        assert!(line.len() <= 150, "{} characters: {line}", line.len());
    }
}

/// The handler has this one mistake.
#[track_caller]
fn handler_refused(item: &str, at: &str, text: &str) {
    refused_for(r#"subject = "a""#, item, at, text);
}

/// At least once, with this besides.
fn at_least_once(more: &str) -> String {
    format!(r#"subject = "a", mode = AtLeastOnce, durable = "d", max_deliver = 3, {more}"#)
}

fn at_most_once(more: &str) -> String {
    format!(r#"subject = "a", mode = AtMostOnce, {more}"#)
}

#[track_caller]
fn accepted(attribute: &str) {
    assert_eq!(errors(expand(attribute, ITEM)), []);
}

#[test]
fn what_makes_sense_is_accepted() {
    accepted(r#"subject = "a""#);
    accepted(r#"pattern = "a.>", name = "n", group = "g", bound = 1, overflow = prefer(ShedOldest), ordered, restart"#);
    accepted(&at_least_once("allow_volatile"));
    accepted(&at_least_once(r#"slow_handler = Redeliver, ack_wait = "30s", start_at = New, overflow = prefer(Fail)"#));
    accepted(&at_least_once(r#"max_processing_time = "5m", ordered, concurrency = 1, restart(),"#));
    accepted(&at_least_once(r#"backoff(initial = "1s", max = "1s", multiplier = 1), max_nack_delay = "1s""#));
    accepted(&at_most_once("bound = 4, concurrency = 8"));
    accepted(&at_most_once("concurrency = 8, keyed = subject, ordered"));
    accepted(r#"subject = "a", keyed = "partitionkey", concurrency = 2"#);
    accepted(&at_least_once(r#"keyed = subject, ordered, backoff(initial = "1s", max = "1s"), concurrency = 4"#));
    accepted(&at_least_once("keyed = subject"));
    let borrowing =
        "async fn f(a: &Subject, b: Payload<Cow<'_, &'static str>>, c: State<for<'a> fn(&'a u8) -> &'a u8>) {}";
    assert_eq!(errors(expand(r#"subject = "a""#, borrowing)), []);
}

#[test]
fn two_mistakes_are_two_errors() {
    let found = errors(expand(r#"mode = AtLeastOnce, bound = 0"#, "fn invoices() {}"));
    assert_eq!(found.len(), 5, "no subject, no durable, no max_deliver, a bound of zero, no `async`: {found:?}");
}

#[test]
fn unknown_words() {
    refused(
        r#"subject = "a", queue = "q""#,
        "queue",
        "unknown setting `queue`; the settings are\n\
         in both modes: `name`, `subject`, `pattern`, `mode`, `bound`, `overflow`, `concurrency`, `keyed`, `ordered`, `restart`\n\
         at most once: `group`\n\
         at least once: `durable`, `max_deliver`, `allow_volatile`, `start_at`, `slow_handler`, `ack_wait`, \
         `max_processing_time`, `backoff`, `max_nack_delay`",
    );
    refused(
        r#"subjekt = "a""#,
        "subjekt",
        "unknown setting `subjekt`; did you mean `subject`? the settings are\n\
         in both modes: `name`, `subject`, `pattern`, `mode`, `bound`, `overflow`, `concurrency`, `keyed`, `ordered`, `restart`\n\
         at most once: `group`\n\
         at least once: `durable`, `max_deliver`, `allow_volatile`, `start_at`, `slow_handler`, `ack_wait`, \
         `max_processing_time`, `backoff`, `max_nack_delay`",
    );
    refused(
        r#"subject = "a", mode = AtLeastOnce, durabel = "d", max_deliver = 3"#,
        "durabel",
        "unknown setting `durabel`; did you mean `durable`? the settings are\n\
         in both modes: `name`, `subject`, `pattern`, `mode`, `bound`, `overflow`, `concurrency`, `keyed`, `ordered`, `restart`\n\
         at most once: `group`\n\
         at least once: `durable`, `max_deliver`, `allow_volatile`, `start_at`, `slow_handler`, `ack_wait`, \
         `max_processing_time`, `backoff`, `max_nack_delay`",
    );
    refused(
        r#"subject = "a", competing"#,
        "competing",
        "`competing` is not a setting; write `group = \"..\"`, or at least once nothing, the durable name is the group",
    );
    refused(
        r#"subject = "a", restart(max_restart = 5)"#,
        "max_restart",
        "`restart` has no `max_restart`; did you mean `max_restarts`? its parts are `max_restarts`, `initial`, `max`, `reset_after`",
    );
    refused(
        r#"subject = "a", restart(jitter = true)"#,
        "jitter",
        "`restart` has no `jitter`; its parts are `max_restarts`, `initial`, `max`, `reset_after`",
    );
    refused(
        &at_least_once(r#"backoff(initial = "1s", max = "2s", jitter)"#),
        "jitter",
        "`backoff` has no `jitter`; its parts are `initial`, `max`, `multiplier`",
    );
}

#[test]
fn duplicates() {
    refused(r#"subject = "a", subject = "b""#, "subject", "`subject` is given twice; leave one of them");
    refused(
        r#"subject = "a", restart(max = "1s", initial = "1s", max = "2s")"#,
        "max",
        "`max` is given twice; leave one of them",
    );
}

#[test]
fn syntax() {
    refused(r#"subject = "a", bound ="#, "bound", "`bound =` has no value: write it after the `=`");
    refused(
        r#"subject = "a", bound = 2 * 8"#,
        "*",
        "expected `,` before this: `bound` takes one literal or word, not an expression",
    );
    refused(
        r#"subject = "a" bound = 2"#,
        "bound",
        "expected `,` before this: `subject` takes one literal or word, not an expression",
    );
    refused(
        r#"subject = &*SUBJECT"#,
        "&",
        "`subject` takes a literal; for a value known only at run time use the builders of `Bus::builder`",
    );
    refused(r#"subject = "a", "b""#, r#""b""#, "a setting begins with a word: `word`, `word = value` or `word(..)`");
    refused(r#""a.b""#, r#""a.b""#, "a setting has a name; write `subject = \"a.b\"`");
    refused(r#""a.*", bound = 8"#, r#""a.*""#, "a setting has a name; write `pattern = \"a.*\"`");
}

#[test]
fn c6_neither_or_both_of_subject_and_pattern() {
    let text = "this subscription selects nothing; write `subject = \"..\"`, or `pattern = \"..\"` with wildcards";
    refused("", "", text);
    refused(
        r#"subject = "a", pattern = "a""#,
        "pattern",
        "`pattern` and `subject` exclude each other; leave one of them, a pattern can be one whole subject",
    );
}

#[test]
fn wrong_values() {
    refused(r#"subject = a"#, "a", "`subject` takes a text; write `subject = \"..\"`");
    refused(r#"subject = 5"#, "5", "`subject` takes a text; write `subject = \"..\"`");
    refused("subject", "subject", "`subject` takes a text; write `subject = \"..\"`");
    refused(
        r#"subject = "a", ordered = true"#,
        "true",
        "`ordered` takes no value; write `ordered` alone, or leave it out",
    );
    refused(
        r#"subject = "a", concurrency = 0"#,
        "0",
        "`concurrency` takes a whole number of at least 1, as in `concurrency = 8`",
    );
    refused(
        r#"subject = "a", concurrency = "4""#,
        r#""4""#,
        "`concurrency` takes a whole number of at least 1, as in `concurrency = 8`",
    );
    refused(
        r#"subject = "a", restart(max_restarts = -1)"#,
        "-1",
        "`max_restarts` takes a whole number, as in `max_restarts = 5`",
    );
    refused(
        r#"subject = "a", restart = "1s""#,
        r#""1s""#,
        "`restart` is written alone, or with parts as in `restart(max_restarts = 5, max = \"30s\")`",
    );
}

#[test]
fn words_as_values() {
    refused(
        r#"subject = "a", mode = AtLeastOnse, durable = "d", max_deliver = 3"#,
        "AtLeastOnse",
        "`mode` takes `AtMostOnce` or `AtLeastOnce`, not `AtLeastOnse`; did you mean `AtLeastOnce`?",
    );
    refused(
        r#"subject = "a", mode = ExactlyOnce"#,
        "ExactlyOnce",
        "`mode` takes `AtMostOnce` or `AtLeastOnce`, not `ExactlyOnce`",
    );
    refused(
        r#"subject = "a", mode = "AtMostOnce""#,
        r#""AtMostOnce""#,
        "`mode` takes `AtMostOnce` or `AtLeastOnce`, without quotes",
    );
    refused(
        r#"subject = "a", overflow = DropOldest"#,
        "DropOldest",
        "`overflow` takes `ShedNewest`, `ShedOldest` or `Fail`, not `DropOldest`",
    );
    refused(
        r#"subject = "a", overflow = prefer()"#,
        "prefer",
        "`overflow` takes `ShedNewest`, `ShedOldest` or `Fail`, or one of them as in `prefer(ShedOldest)`",
    );
    refused(
        &at_least_once("start_at = Beginning"),
        "Beginning",
        "`start_at` takes `New` or `AllAvailable`, not `Beginning`",
    );
    refused(
        &at_least_once("slow_handler = redeliver"),
        "redeliver",
        "`slow_handler` takes `ExtendLease` or `Redeliver`, not `redeliver`; did you mean `Redeliver`?",
    );
}

#[test]
fn durations() {
    let as_in = "write it as in `ack_wait = \"30s\"` or `ack_wait = \"1m 30s\"`";
    refused(
        &at_least_once("ack_wait = 30"),
        "30",
        "`ack_wait` takes a duration with its unit; write `ack_wait = \"30s\"` for seconds",
    );
    refused(&at_least_once("ack_wait = 1.5"), "1.5", &format!("`ack_wait` takes a duration in quotes; {as_in}"));
    refused(&at_least_once(r#"ack_wait = "0s""#), r#""0s""#, &format!("`ack_wait` is above zero; {as_in}"));
    refused(
        &at_least_once(r#"ack_wait = "30""#),
        r#""30""#,
        &format!("`ack_wait` takes a duration: time unit needed, for example 30sec or 30ms; {as_in}"),
    );
}

#[test]
fn c10_at_most_once_confirmed_is_reserved() {
    refused(
        r#"subject = "a", mode = AtMostOnceConfirmed"#,
        "AtMostOnceConfirmed",
        "`AtMostOnceConfirmed` is reserved: it would have the broker confirm each settlement before the handler runs,\n\
         which no backend does yet; write `AtMostOnce` or `AtLeastOnce`",
    );
}

#[test]
fn c11_at_least_once_needs_a_durable_name() {
    refused(
        r#"subject = "a", mode = AtLeastOnce, max_deliver = 3"#,
        "AtLeastOnce",
        "`AtLeastOnce` needs a durable name, under which what is owed is kept; add `durable = \"..\"`",
    );
}

#[test]
fn c12_at_least_once_needs_max_deliver_of_at_least_one() {
    refused(
        r#"subject = "a", mode = AtLeastOnce, durable = "d""#,
        "AtLeastOnce",
        "`AtLeastOnce` needs an end to its attempts; add `max_deliver = N`",
    );
    refused(
        r#"subject = "a", mode = AtLeastOnce, durable = "d", max_deliver = 0"#,
        "0",
        "`max_deliver` takes a whole number of at least 1, as in `max_deliver = 8`; it counts all attempts, the first one too",
    );
}

#[test]
fn c13_at_least_once_sheds_nothing() {
    let text = "a shed message was never acknowledged, so under `AtLeastOnce` it is still owed; \
                write `overflow = Fail`, or leave it out";
    refused(&at_least_once("overflow = ShedNewest"), "ShedNewest", text);
    refused(&at_least_once("overflow = ShedOldest"), "ShedOldest", text);
    refused(&at_least_once("overflow = prefer(ShedOldest)"), "ShedOldest", text);
}

#[test]
fn c15_at_most_once_takes_nothing_of_at_least_once() {
    let cases = [
        ("durable", r#"durable = "d""#, "nothing is kept under a name; to compete write `group = \"..\"`"),
        ("max_deliver", "max_deliver = 3", "there is one attempt"),
        ("allow_volatile", "allow_volatile", "nothing survives a restart anyway"),
        ("start_at", "start_at = New", "a subscription begins at what is published from then on"),
        ("slow_handler", "slow_handler = Redeliver", "there is no lease"),
        ("ack_wait", r#"ack_wait = "3s""#, "there is no lease"),
        ("max_processing_time", r#"max_processing_time = "3s""#, "there is no lease"),
        ("backoff", r#"backoff(initial = "1s", max = "2s")"#, "nothing comes back"),
        ("max_nack_delay", r#"max_nack_delay = "3s""#, "nothing comes back"),
    ];
    for (word, setting, why) in cases {
        let text = format!("`{word}` is for `AtLeastOnce`: at most once {why}; leave it out, or change `mode`");
        refused(&at_most_once(setting), word, &text);
        let text = format!("`{word}` means something only at least once; write `mode = AtLeastOnce`, or leave it out");
        refused(&format!(r#"subject = "a", {setting}"#), word, &text);
    }
}

#[test]
fn c15_a_forgotten_mode_is_one_mistake() {
    refused(
        r#"subject = "a", durable = "d", max_deliver = 3, ack_wait = "3s""#,
        "durable",
        "`durable`, `max_deliver` and `ack_wait` mean something only at least once; write `mode = AtLeastOnce`, or leave them out",
    );
}

#[test]
fn c17_max_processing_time_bounds_extend_lease_only() {
    refused(
        &at_least_once(r#"slow_handler = Redeliver, max_processing_time = "5m""#),
        "max_processing_time",
        "`max_processing_time` bounds `ExtendLease`; under `Redeliver` leave it out, the lease is `ack_wait`",
    );
}

#[test]
fn c21_the_durable_name_is_the_group() {
    refused(
        &at_least_once(r#"group = "g""#),
        "group",
        "under `AtLeastOnce` the durable name is the group; leave `group` out",
    );
}

#[test]
fn c23_max_nack_delay_is_not_below_the_backoff() {
    refused(
        &at_least_once(r#"backoff(initial = "1s", max = "1m"), max_nack_delay = "59s""#),
        r#""59s""#,
        "`max_nack_delay` is below `backoff`'s `max`; raise it, or leave it out",
    );
}

#[test]
fn c24_a_bound_is_a_number_of_at_least_one() {
    let text = "`bound` takes a whole number of at least 1, as in `bound = 8`; \
                unbounded is not a policy, and without it the bound is 256";
    refused(r#"subject = "a", bound = 0"#, "0", text);
    refused(r#"subject = "a", bound = -1"#, "-1", text);
    let fix = "unbounded is not a policy; write `bound = N`, or leave it out for 256";
    refused(r#"subject = "a", bound = unbounded"#, "unbounded", fix);
    refused(r#"subject = "a", unbounded"#, "unbounded", fix);
}

#[test]
fn c28_a_backoff_makes_sense() {
    let as_in = "as in `backoff(initial = \"1s\", max = \"1m\", multiplier = 2.0)`";
    refused(
        &at_least_once(r#"backoff(initial = "0s", max = "1m")"#),
        r#""0s""#,
        "`initial` is above zero; write it as in `initial = \"30s\"` or `initial = \"1m 30s\"`",
    );
    refused(
        &at_least_once(r#"backoff(initial = "2s", max = "1s")"#),
        r#""1s""#,
        "`max` is below `initial`; the delay grows from `initial` up to `max`, so raise `max`",
    );
    let multiplier = "`multiplier` takes a finite number of at least 1, as in `multiplier = 2.0`";
    for factor in ["0.5", "0", "1e999", "-2.0", "\"2\""] {
        let setting = format!(r#"backoff(initial = "1s", max = "1m", multiplier = {factor})"#);
        refused(&at_least_once(&setting), factor, multiplier);
    }
    refused(&at_least_once("backoff"), "backoff", &format!("`backoff` is written with its parts, {as_in}"));
    refused(
        &at_least_once("backoff()"),
        "backoff",
        &format!("`backoff` lacks `initial` and `max`; it is written {as_in}"),
    );
    refused(
        &at_least_once(r#"backoff(initial = "1s")"#),
        "backoff",
        &format!("`backoff` lacks `max`; it is written {as_in}"),
    );
}

#[test]
fn g2_keyed_names_its_key() {
    const TAKES: &str = "`keyed` takes the word `subject`, or an extension attribute's name in quotes";
    for (written, at, then) in [
        ("keyed", "keyed", ", as in `keyed = \"partitionkey\"`"),
        ("keyed = 8", "8", ", as in `keyed = \"partitionkey\"`"),
        ("keyed = tenant", "tenant", "; write `keyed = subject` or `keyed = \"tenant\"`"),
        ("keyed = \"subject\"", "\"subject\"", "; for the subject write `keyed = subject`"),
    ] {
        refused(&at_most_once(&format!("concurrency = 8, {written}")), at, &format!("{TAKES}{then}"));
    }
}

#[test]
fn g2_keyed_at_most_once_needs_more_than_one_hand() {
    for hands in ["keyed = subject", "keyed = subject, concurrency = 1"] {
        refused(
            &at_most_once(hands),
            "keyed",
            "`keyed` asks for nothing at most once with one message at a time, which has all keys in order; \
             write `concurrency = 8`, or leave it out",
        );
    }
}

#[test]
fn c32_ordered_is_one_message_at_a_time() {
    refused(
        r#"subject = "a", ordered, concurrency = 2"#,
        "2",
        "`ordered` handles one message at a time; leave `concurrency` or `ordered` out, or add `keyed = subject`",
    );
    refused(
        &at_least_once(r#"ordered, backoff(initial = "1s", max = "1m")"#),
        "backoff",
        "`ordered` excludes `backoff`, which lets later messages pass; leave one of them out, or add `keyed = subject`",
    );
}

#[test]
fn c34_concurrency_is_within_the_bound_at_least_once() {
    refused(
        &at_least_once("bound = 4, concurrency = 5"),
        "5",
        "`concurrency` is above the bound of 4, so that many are never at hand; raise `bound`, or lower it",
    );
    refused(
        &at_least_once("concurrency = 257"),
        "257",
        "`concurrency` is above the bound of 256, so that many are never at hand; raise `bound`, or lower it",
    );
}

#[test]
fn v2_the_waits_of_a_restart_make_sense() {
    refused(
        r#"subject = "a", restart(initial = "2s", max = "1s")"#,
        r#""1s""#,
        "`max` is below `initial`; the delay grows from `initial` up to `max`, so raise `max`",
    );
    refused(
        r#"subject = "a", restart(initial = "1m")"#,
        r#""1m""#,
        "`initial` is above the longest wait, 30s unless named; give `max` too, or lower `initial`",
    );
}

#[test]
fn what_a_handler_cannot_be() {
    handler_refused("fn f() {}", "fn", "a handler is asynchronous; write `async fn`");
    handler_refused(
        "async unsafe fn f() {}",
        "unsafe",
        "a handler cannot be `unsafe`, the bus calls it; leave `unsafe` out",
    );
    handler_refused(r#"async extern "C" fn f() {}"#, "extern", "a handler cannot be `extern`; leave the ABI out");
    handler_refused(
        "async fn f(&self, attempt: Attempt) {}",
        "self",
        "a handler has no `self`; write a free function, and take what it needs as `State<T>`",
    );
    handler_refused(
        "async fn f<T>(value: Payload<T>) {}",
        "T",
        "a handler is not generic, it is registered by its name; write the type, or use `Bus::builder`'s closures",
    );
    handler_refused(
        "async fn f<const N: usize>(value: Payload<[u8; N]>) {}",
        "N",
        "a handler is not generic, it is registered by its name; write the value, or a constant",
    );
    handler_refused(
        "async fn f<'a>(subject: &'a Subject) {}",
        "'a",
        "a handler names no lifetime; write `'_`, all arguments borrow from the delivery",
    );
    let text = "a handler names no lifetime; write `'_`, all arguments borrow from the delivery";
    handler_refused("async fn f(subject: &'a Subject) {}", "'a", text);
    handler_refused("async fn f(subject: &'d Subject) {}", "'d", text);
    handler_refused(
        "async fn f(value: Payload<_>) {}",
        "_",
        "a handler's argument has one type; write it instead of `_`",
    );
    handler_refused(
        "async fn f();",
        ";",
        "`#[subscription(..)]` goes on an `async fn` with a body; expected curly braces",
    );
    handler_refused("async fn f() where u8: Copy {}", "where", "a handler has no `where` clause; leave it out");
    handler_refused(
        "async fn f(value: Payload<impl Sized>) {}",
        "impl",
        "a handler's argument has one type; write it instead of `impl Trait`",
    );
    handler_refused(
        "async fn f(#[cfg(x)] attempt: Attempt) {}",
        "#",
        "a handler's argument has no attributes; leave it out",
    );
    handler_refused("struct F;", "", "`#[subscription(..)]` goes on an `async fn`");
}
