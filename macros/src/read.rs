//! Reads one value of a known kind, or says what was expected.

use std::{fmt::Display, str::FromStr, time::Duration};

use syn::{Lit, LitStr, ext::IdentExt};

use crate::{
    errors::Errors,
    parse::{Entry, Value},
    suggest::{listed, nearest},
};

/// `word = ".."`
pub(crate) fn text(entry: Entry, errors: &mut Errors) -> Option<LitStr> {
    let Entry { word, value } = entry;
    if let Value::Literal(Lit::Str(text)) = value {
        return Some(text);
    }
    errors.at(value.span(&word), format!("`{word}` takes a text; write `{word} = \"..\"`"));
    None
}

/// `word`
pub(crate) fn flag(entry: Entry, errors: &mut Errors) -> Option<()> {
    let Entry { word, value } = entry;
    if let Value::Flag = value {
        return Some(());
    }
    errors.at(value.span(&word), format!("`{word}` takes no value; write `{word}` alone, or leave it out"));
    None
}

/// `word = N`, at least 1.
pub(crate) fn count<N: FromStr<Err: Display> + Default + PartialEq>(entry: Entry, errors: &mut Errors) -> Option<N> {
    let Entry { word, value } = entry;
    match integer(&value) {
        Some(number) if number != N::default() => Some(number),
        _ => {
            let fix = match word.to_string().as_str() {
                "bound" => "; unbounded is not a policy, and without it the bound is 256",
                "max_deliver" => "; it counts all attempts, the first one too",
                _ => "",
            };
            errors
                .at(value.span(&word), format!("`{word}` takes a whole number of at least 1, as in `{word} = 8`{fix}"));
            None
        }
    }
}

/// `word = N`
pub(crate) fn count_from_zero<N: FromStr<Err: Display>>(entry: Entry, errors: &mut Errors) -> Option<N> {
    let Entry { word, value } = entry;
    let number = integer(&value);
    if number.is_none() {
        errors.at(value.span(&word), format!("`{word}` takes a whole number, as in `{word} = 5`"));
    }
    number
}

fn integer<N: FromStr<Err: Display>>(value: &Value) -> Option<N> {
    match value {
        Value::Literal(Lit::Int(number)) => number.base10_parse().ok(),
        _ => None,
    }
}

/// `word = 2.0`, at least 1 (contract C28).
pub(crate) fn factor(entry: Entry, errors: &mut Errors) -> Option<f64> {
    let Entry { word, value } = entry;
    let number = match &value {
        Value::Literal(Lit::Float(number)) => number.base10_parse().ok(),
        Value::Literal(Lit::Int(number)) => number.base10_parse().ok(),
        _ => None,
    };
    let number = number.filter(|number: &f64| number.is_finite() && *number >= 1.0);
    if number.is_none() {
        errors.at(value.span(&word), format!("`{word}` takes a finite number of at least 1, as in `{word} = 2.0`"));
    }
    number
}

/// `word = "30s"`, above zero.
pub(crate) fn duration(entry: Entry, errors: &mut Errors) -> Option<Duration> {
    let Entry { word, value } = entry;
    let as_in = format!("write it as in `{word} = \"30s\"` or `{word} = \"1m 30s\"`");
    let text = match &value {
        Value::Literal(Lit::Str(text)) => match humantime::parse_duration(&text.value()) {
            Ok(Duration::ZERO) => format!("`{word}` is above zero; {as_in}"),
            Ok(duration) => return Some(duration),
            Err(error) => format!("`{word}` takes a duration: {error}; {as_in}"),
        },
        Value::Literal(Lit::Int(number)) if number.suffix().is_empty() => {
            format!("`{word}` takes a duration with its unit; write `{word} = \"{number}s\"` for seconds")
        }
        _ => format!("`{word}` takes a duration in quotes; {as_in}"),
    };
    errors.at(value.span(&word), text);
    None
}

/// `word = Word`, one of these.
pub(crate) fn choice<T: Copy>(entry: Entry, words: &[(&str, T)], errors: &mut Errors) -> Option<T> {
    let Entry { word, value } = entry;
    let names: Vec<_> = words.iter().map(|(name, _)| *name).collect();
    let Value::Word(given) = &value else {
        let unquoted = if matches!(value, Value::Literal(Lit::Str(_))) { ", without quotes" } else { "" };
        errors.at(value.span(&word), format!("`{word}` takes {}{unquoted}", listed(&names, "or")));
        return None;
    };
    let given_name = given.unraw().to_string();
    let found = words.iter().find(|(name, _)| *name == given_name).map(|(_, choice)| *choice);
    if found.is_none() {
        let near = nearest(&given_name, &names);
        let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        errors.at(given.span(), format!("`{word}` takes {}, not `{given_name}`{hint}", listed(&names, "or")));
    }
    found
}
