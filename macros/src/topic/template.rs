//! A topic's subject as it is written: tokens, of which some are places.

use syn::LitStr;

use crate::errors::Errors;

/// One token of the subject.
pub(crate) enum Token {
    /// As it stands.
    Word(String),
    /// `{field}`
    Place(String),
}

/// Takes a literal apart. Whether its words are tokens is for the library to say.
pub(crate) fn read(literal: &LitStr, errors: &mut Errors) -> Option<Vec<Token>> {
    let text = literal.value();
    let mut tokens = Vec::new();
    for token in split(&text) {
        if !token.contains(['{', '}']) {
            tokens.push(Token::Word(token.to_owned()));
            continue;
        }
        let inner = token.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        match inner.filter(|inner| !inner.contains(['{', '}', '.'])) {
            Some("") => {
                errors.at(literal.span(), "`{}` names no field; write the field's name between the braces");
                return None;
            }
            Some(field) => tokens.push(Token::Place(field.trim().to_owned())),
            None => {
                let text = format!(
                    "`{token}` is no place: a place is one whole token and names one field; write it as in `order.{{region}}.placed`"
                );
                errors.at(literal.span(), text);
                return None;
            }
        }
    }
    Some(tokens)
}

/// At the dots that stand in no braces.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    text.split(move |c| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == '.' && depth == 0
    })
}
