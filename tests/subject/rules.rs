//! S1 to S11, C6: what is a subject, what is a pattern, and how a refusal reads.

use tramline::{
    pattern, subject,
    subject::{Pattern, PatternFlaw, Subject, SubjectFlaw, Token},
};

fn subject_flaw(text: &str) -> SubjectFlaw {
    Subject::new(text).expect_err(text).flaw()
}

fn pattern_flaw(text: &str) -> PatternFlaw {
    Pattern::new(text).expect_err(text).flaw()
}

#[test]
fn s1_a_subject_is_tokens_separated_by_dots() {
    let subject = subject!("invoice.raised.eu-1");
    assert_eq!(subject.tokens().collect::<Vec<_>>(), ["invoice", "raised", "eu-1"]);
    assert_eq!(subject!("alone").tokens().collect::<Vec<_>>(), ["alone"]);
}

#[test]
fn s2_a_subject_has_no_empty_token() {
    for text in [".", "a.", ".a", "a..b", "..", "a.b."] {
        assert_eq!(subject_flaw(text), SubjectFlaw::EmptyToken, "{text}");
    }
    assert_eq!(subject_flaw(""), SubjectFlaw::Empty);
}

#[test]
fn s2_and_s10_a_subject_has_no_wildcard() {
    for text in ["*", ">", "a.*", "a.>", "a.*.c", "a*", "b>", "a.>>", "a.**"] {
        assert_eq!(subject_flaw(text), SubjectFlaw::Wildcard, "{text}");
    }
}

#[test]
fn s3_a_pattern_may_have_a_star_for_any_token_and_a_tail_as_the_last() {
    for text in ["*", ">", "a", "a.b", "a.*", "*.b", "*.*", "a.>", "*.>", "a.*.>", "a.*.c"] {
        assert_eq!(Pattern::new(text).expect(text).as_str(), text);
    }
    let tokens: Vec<_> = pattern!("a.*.>").tokens().collect::<Vec<_>>().into_iter().map(kind).collect();
    assert_eq!(tokens, ["word", "one", "rest"]);
}

fn kind(token: Token<'_>) -> &'static str {
    match token {
        Token::Word(_) => "word",
        Token::One => "one",
        Token::Rest => "rest",
    }
}

#[test]
fn s3_a_tail_that_is_not_last_is_refused() {
    for text in ["a.>.c", ">.a", "a.>.>", ">.*"] {
        assert_eq!(pattern_flaw(text), PatternFlaw::TailNotLast, "{text}");
    }
}

#[test]
fn s3_a_pattern_has_no_empty_token() {
    for text in [".", "a.", ".a", "a..b", "*.", ".>", "a..>"] {
        assert_eq!(pattern_flaw(text), PatternFlaw::EmptyToken, "{text}");
    }
    assert_eq!(pattern_flaw(""), PatternFlaw::Empty);
}

#[test]
fn s4_and_s5_a_wildcard_beside_another_character_is_refused() {
    for text in ["a.**", "a.>>", "a*", "b>", "*a", ">a", "a.b*.c", "a.*>", "é*", "a.*é"] {
        assert_eq!(pattern_flaw(text), PatternFlaw::WildcardInToken, "{text}");
    }
}

#[test]
fn s6_no_whitespace_in_a_token() {
    for space in [" ", "\t", "\n", "\r", "\u{85}", "\u{a0}", "\u{1680}", "\u{2003}", "\u{2028}", "\u{3000}"] {
        for text in [format!("a{space}b"), format!("{space}a"), format!("a.{space}"), format!("a{space}")] {
            assert_eq!(subject_flaw(&text), SubjectFlaw::Whitespace, "{text:?}");
            assert_eq!(pattern_flaw(&text), PatternFlaw::Whitespace, "{text:?}");
        }
    }
}

#[test]
fn s6_no_control_character_in_a_token() {
    for control in ["\0", "\u{1b}", "\u{7f}", "\u{80}", "\u{9f}"] {
        let text = format!("a.b{control}");
        assert_eq!(subject_flaw(&text), SubjectFlaw::Control, "{text:?}");
        assert_eq!(pattern_flaw(&text), PatternFlaw::Control, "{text:?}");
    }
}

#[test]
fn s6_whitespace_and_control_characters_are_those_of_unicode() {
    for c in '\0'..=char::MAX {
        let text = format!("a{c}b");
        let expected = match c {
            '*' | '>' => Err(SubjectFlaw::Wildcard),
            _ if c.is_whitespace() => Err(SubjectFlaw::Whitespace),
            _ if c.is_control() => Err(SubjectFlaw::Control),
            _ => Ok(text.clone()),
        };
        let parsed = Subject::new(&text).map(|subject| subject.to_string()).map_err(|error| error.flaw());
        assert_eq!(parsed, expected, "{c:?}");
    }
}

#[test]
fn s6_case_matters() {
    assert_ne!(subject!("A"), subject!("a"));
    assert!(!pattern!("A").matches(&subject!("a")));
}

#[test]
fn s6_at_most_255_bytes() {
    for longest in ["a".repeat(255), format!("{}a", "é".repeat(127))] {
        assert_eq!(Subject::new(&longest).expect("255 bytes").as_str(), longest);
        assert_eq!(Pattern::new(&longest).expect("255 bytes").as_str(), longest);
        let longer = longest + "a";
        assert_eq!(subject_flaw(&longer), SubjectFlaw::TooLong);
        assert_eq!(pattern_flaw(&longer), PatternFlaw::TooLong);
    }
}

#[test]
fn s6_a_first_token_that_begins_with_a_dollar_is_reserved() {
    for text in ["$", "$SYS.a", "$JS.API.b"] {
        assert_eq!(subject_flaw(text), SubjectFlaw::Reserved, "{text}");
        assert_eq!(pattern_flaw(text), PatternFlaw::Reserved, "{text}");
    }
    assert!(Subject::new("a.$b").is_ok() && Subject::new("a$").is_ok());
}

#[test]
fn s7_an_invalid_subject_is_matched_by_nothing() {
    for text in ["", "a..c", "a.", "a.*", ">", "a b", "$a"] {
        for pattern in [pattern!(">"), pattern!("*"), pattern!("a.*.c"), pattern!("a.>"), pattern!("*.*")] {
            assert!(!pattern.matches_str(text), "{pattern} against {text:?}");
        }
    }
}

#[test]
fn s7_an_invalid_pattern_matches_nothing() {}

#[test]
fn s10_a_publish_takes_a_subject_which_a_literal_pattern_gives_back() {
    assert_eq!(pattern!("a.b").as_subject(), Some(subject!("a.b")));
    assert_eq!(pattern!("a.*").as_subject(), None);
    assert_eq!(pattern!("a.>").as_subject(), None);
    assert!(pattern!("a.b").is_literal() && !pattern!("*").is_literal());
}

#[test]
fn s11_a_subject_as_a_pattern_selects_itself_only() {
    let only = Pattern::from(subject!("a.b"));
    assert_eq!(only, Pattern::from(&subject!("a.b")));
    assert!(only.matches(&subject!("a.b")));
    assert!(!only.matches(&subject!("a.b.c")) && !only.matches(&subject!("a")));
}

#[test]
fn c6_a_literal_is_parsed_by_the_compiler() {
    const RAISED: Subject = subject!("invoice.raised");
    const ALL: Pattern = pattern!("invoice.>");
    assert!(ALL.matches(&RAISED));
    assert_eq!(RAISED, Subject::new("invoice.raised").expect("valid"));
}

#[test]
#[should_panic(expected = "a subject has no empty token (S2)")]
fn c6_a_bad_literal_is_refused_in_words() {
    tramline::__private::check_subject_literal("a..b");
}

#[test]
fn c6_an_error_names_the_text_the_rule_and_the_fix() {
    assert_eq!(
        Subject::new("a..b").expect_err("an empty token").to_string(),
        r#"subject "a..b": a subject has no empty token (S2): put a name on both sides of every dot"#
    );
    assert_eq!(
        Pattern::new("a.>.c").expect_err("a tail in the middle").to_string(),
        r#"pattern "a.>.c": a pattern has `>` only as its last token (S3): write `*` for one token in the middle"#
    );
    let error = Subject::new("a\n".repeat(200)).expect_err("too long");
    assert_eq!((error.text().len(), error.flaw()), (400, SubjectFlaw::TooLong));
    let message = error.to_string();
    assert!(!message.contains('\n') && message.len() < 250 && message.contains("… (400 bytes)"), "{message}");
}
