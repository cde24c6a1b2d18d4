//! The derive: what it accepts, and every refusal with its place and its fix.

use super::{errors, tokens};

fn expand(attribute: &str, item: &str) -> proc_macro2::TokenStream {
    crate::topic::topic(tokens(&format!("{attribute} {item}")))
}

const EVENT_TYPE: &str = r#"event_type = "com.example.order.v1""#;

#[track_caller]
fn accepted(subject: &str, item: &str) {
    assert_eq!(errors(expand(&format!(r#"#[topic(subject = "{subject}", {EVENT_TYPE})]"#), item)), []);
}

/// The subject has this one mistake.
#[track_caller]
fn subject_refused(subject: &str, item: &str, text: &str) {
    refused(&format!(r#"#[topic(subject = "{subject}", {EVENT_TYPE})]"#), item, &format!("\"{subject}\""), text);
}

#[track_caller]
fn refused(attribute: &str, item: &str, at: &str, text: &str) {
    let found = errors(expand(attribute, item));
    assert_eq!(found, [(at.to_owned(), text.to_owned())], "in `{attribute}` on `{item}`");
    assert!(text.len() <= 150, "{} characters: {text}", text.len());
}

#[test]
fn what_makes_sense_is_accepted() {
    accepted("order.placed", "struct Order;");
    accepted("order.placed", "enum Order { Placed { at: u64 }, Gone }");
    accepted("{region}.{type}.{region}", "struct Order { region: u8, r#type: u8 }");
    accepted("{1}.x.{0}", "struct Order<'a, T: ?Sized, const N: usize>(&'a T, [u8; N]) where T: Debug;");
}

#[test]
fn places() {
    let order = "struct Order { region: u8, total: u8 }";
    let whole = "is no place: a place is one whole token and names one field; write it as in `order.{region}.placed`";
    for token in ["in-{region}", "{region}-x", "{region", "region}", "{{region}}", "{region}{total}", "{order.region}"]
    {
        subject_refused(&format!("order.{token}"), order, &format!("`{token}` {whole}"));
    }
    subject_refused("order.{}", order, "`{}` names no field; write the field's name between the braces");
    subject_refused(
        "order.{regoin}",
        order,
        "`Order` has no field `regoin`; did you mean `region`? a place takes one of `region`, `total`",
    );
    subject_refused("order.{2}", "struct Order(u8, u8);", "`Order` has no field `2`; a place takes one of `0`, `1`");
    subject_refused("order.{a}", "struct Order;", "`Order` has no field `a`; it has none at all, leave `{a}` out");
    subject_refused(
        "order.{a}",
        "enum Order { A { a: u8 } }",
        "an enum has no fields that all its variants share, so its subject has no places; leave `{a}` out, or derive \
         `Topic` on a struct",
    );
}

#[test]
fn two_mistakes_are_two_errors() {
    let found = errors(expand(r#"#[topic(subject = "{a}.{b}", events = "x")]"#, "struct Order { c: u8 }"));
    assert_eq!(found.len(), 4, "an unknown word, no event type, two places without a field: {found:?}");
}

#[test]
fn what_is_missing() {
    refused(
        "#[topic()]",
        "struct Order;",
        "topic",
        "`Order` lacks its subject and its event type; write it as in `#[topic(subject = \"..\", event_type = \"..\")]`",
    );
    refused(
        "",
        "struct Order;",
        "Order",
        "`Order` lacks its subject and its event type; write it as in `#[topic(subject = \"..\", event_type = \"..\")]`",
    );
    refused(
        &format!("#[topic({EVENT_TYPE})]"),
        "struct Order;",
        "topic",
        "`#[topic(..)]` lacks `subject`, where its values go; add `subject = \"..\"`",
    );
    refused(
        r#"#[topic(subject = "a")]"#,
        "struct Order;",
        "topic",
        "`#[topic(..)]` lacks `event_type`, the type of its events; add `event_type = \"com.example.order.placed.v1\"`",
    );
}

#[test]
fn the_attribute_itself() {
    let parts = "its parts are `subject`, `event_type`, `schema`";
    let with = |more: &str| format!(r#"#[topic(subject = "a", {EVENT_TYPE}, {more})]"#);
    refused(&with("queue = \"q\""), "struct Order;", "queue", &format!("`topic` has no `queue`; {parts}"));
    refused(
        &with("shema = \"a:b\""),
        "struct Order;",
        "shema",
        &format!("`topic` has no `shema`; did you mean `schema`? {parts}"),
    );
    refused(&with("subject = \"b\""), "struct Order;", "subject", "`subject` is given twice; leave one of them");
    refused(&with("schema = 1"), "struct Order;", "1", "`schema` takes a text; write `schema = \"..\"`");
    refused(&with("schema"), "struct Order;", "schema", "`schema` takes a text; write `schema = \"..\"`");
    refused(
        r#"#[topic = "order.placed"]"#,
        "struct Order;",
        "topic",
        "`topic` has its parts in parentheses; write it as in `#[topic(subject = \"..\", event_type = \"..\")]`",
    );
    let on_type = "`#[topic(..)]` goes on the type itself; a field fills a place by its name, as in `subject = \"order.{region}\"`";
    for item in [
        "struct Order { #[topic(token)] region: u8 }",
        "struct Order(#[topic(token)] u8);",
        "enum Order { #[topic(token)] A }",
        "enum Order { A(#[topic(token)] u8) }",
    ] {
        refused(&with(""), item, "topic", on_type);
    }
    refused(&with(""), "union Order { a: u8 }", "union", "a union is no topic; derive `Topic` on a struct");
}

#[test]
fn several_attributes_are_one() {
    let attributes = format!(r#"#[topic(subject = "order.{{region}}")] #[topic({EVENT_TYPE})]"#);
    assert_eq!(errors(expand(&attributes, "struct Order { region: u8 }")), []);
}
