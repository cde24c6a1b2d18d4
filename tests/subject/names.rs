//! C5, C20, I1: the names of subscriptions, groups and durable identities.

use std::collections::{BTreeSet, HashMap};

use tramline::{
    durable, group, name, subject as subject_literal,
    subject::{DurableName, DurableNameFlaw, Group, GroupFlaw, Name, NameFlaw, Subject},
};

#[test]
fn c5_a_name_is_not_empty() {
    let error = Name::new("").expect_err("empty");
    assert_eq!(error.flaw(), NameFlaw::Empty);
    assert_eq!(
        error.to_string(),
        r#"name "": a subscription's name is not empty (C5): name what the subscription does"#
    );
}

#[test]
fn c5_a_name_has_no_control_character_and_at_most_255_bytes() {
    assert_eq!(Name::new("a\nb").expect_err("a line break").flaw(), NameFlaw::Control);
    assert_eq!(Name::new("a\u{9f}").expect_err("a control character").flaw(), NameFlaw::Control);
    assert_eq!(Name::new("a".repeat(256)).expect_err("too long").flaw(), NameFlaw::TooLong);
    for name in ["invoices", "billing: invoices (eu)", "große Rechnung", "a.b/c>*"] {
        assert_eq!(Name::new(name).expect(name).as_str(), name);
    }
}

#[test]
fn c20_and_i1_a_malformed_durable_name_is_refused() {
    for (text, flaw) in [
        ("", DurableNameFlaw::Empty),
        ("a b", DurableNameFlaw::Whitespace),
        ("a\tb", DurableNameFlaw::Whitespace),
        ("a\u{2003}", DurableNameFlaw::Whitespace),
        ("a.b", DurableNameFlaw::Dot),
        ("a*", DurableNameFlaw::Wildcard),
        (">", DurableNameFlaw::Wildcard),
        ("a/b", DurableNameFlaw::Slash),
        ("a\\b", DurableNameFlaw::Slash),
        ("a\0", DurableNameFlaw::NonPrintable),
        ("a\u{7f}", DurableNameFlaw::NonPrintable),
        ("a\u{200b}", DurableNameFlaw::NonPrintable),
        ("\u{feff}a", DurableNameFlaw::NonPrintable),
        ("a\u{202e}", DurableNameFlaw::NonPrintable),
        ("a\u{e000}", DurableNameFlaw::NonPrintable),
        ("a\u{1ffff}", DurableNameFlaw::NonPrintable),
        ("a\u{10fffd}", DurableNameFlaw::NonPrintable),
    ] {
        assert_eq!(DurableName::new(text).expect_err(text).flaw(), flaw, "{text:?}");
        assert!(Group::new(text).is_err(), "a group has the same characters: {text:?}");
    }
    assert_eq!(DurableName::new("a".repeat(256)).expect_err("too long").flaw(), DurableNameFlaw::TooLong);
    for text in ["invoices", "billing-invoices_2", "Größe", "日本", "$a", "a,b|c", "🚋"] {
        assert_eq!(DurableName::new(text).expect(text).as_str(), text);
        assert_eq!(Group::new(text).expect(text).as_str(), text);
    }
    assert_eq!(DurableName::new("a".repeat(255)).expect("255 bytes").as_str().len(), 255);
}

#[test]
fn i1_an_error_says_whether_a_durable_name_or_a_group_was_meant() {
    let durable = DurableName::new("a.b").expect_err("a dot").to_string();
    assert_eq!(durable, r#"durable name "a.b": a durable name has no dot (I1): join words with `-` or `_`"#);
    let group = Group::new("a.b").expect_err("a dot");
    assert_eq!(group.flaw(), GroupFlaw::Dot);
    assert_eq!(group.to_string(), r#"group "a.b": a group has no dot (I1): join words with `-` or `_`"#);
}

#[test]
fn i3_under_competing_the_durable_name_is_the_group() {
    assert_eq!(Group::from(durable!("invoices")), group!("invoices"));
    assert_eq!(DurableName::from(group!("invoices")), durable!("invoices"));
}

#[test]
fn a_name_can_be_looked_up_by_its_text() {
    let by_name = HashMap::from([(name!("invoices"), 1), (Name::new("greeter").expect("valid"), 2)]);
    assert_eq!(by_name.get("invoices"), Some(&1));
    assert_eq!(by_name.get("greeter"), Some(&2));
    let ordered: BTreeSet<Subject> = [subject_literal!("b"), subject_literal!("a.b"), subject_literal!("a")].into();
    assert_eq!(ordered.iter().map(Subject::as_str).collect::<Vec<_>>(), ["a", "a.b", "b"]);
    assert!(ordered.contains("a.b"));
    assert!(name!("invoices") == *"invoices" && name!("invoices") == "invoices");
}

#[test]
fn a_name_formats_as_its_text() {
    assert_eq!(format!("{:>10}|{:?}", name!("greeter"), name!("greeter")), r#"   greeter|Name("greeter")"#);
}

#[test]
fn serde_reads_and_writes_text_and_refuses_what_new_refuses() {
    let subject: Subject = serde_json::from_str(r#""a.b""#).expect("valid");
    assert_eq!(serde_json::to_string(&subject).expect("text"), r#""a.b""#);
    let error = serde_json::from_str::<Subject>(r#""a..b""#).expect_err("an empty token").to_string();
    assert!(error.contains("a subject has no empty token (S2)"), "{error}");
    assert!(serde_json::from_str::<DurableName>(r#""a.b""#).is_err());
    assert!(serde_json::from_str::<Name>("4").is_err());
}
