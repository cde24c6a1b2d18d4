//! Reads an attribute's tokens into entries, without knowing what the words mean.
//!
//! What cannot be read is one error, and reading goes on after the next comma. The word before it still counts as given,
//! so that it is not reported missing, too.

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::{
    Ident, Lit, LitStr, Token,
    ext::IdentExt,
    parse::{ParseStream, Parser},
    token,
};

use crate::errors::Errors;

/// One setting as written: `word`, `word = value` or `word(entries)`.
pub(crate) struct Entry {
    pub(crate) word: Ident,
    pub(crate) value: Value,
}

pub(crate) enum Value {
    /// `word`
    Flag,
    /// `word = literal`
    Literal(Lit),
    /// `word = Word`
    Word(Ident),
    /// `word = word(Word)`
    Call { function: Ident, argument: Option<Ident> },
    /// `word(entries)`
    List(Vec<Entry>),
    /// An error has been reported.
    Broken,
}

impl Value {
    /// The value's own token, or the word's where it has none.
    pub(crate) fn span(&self, word: &Ident) -> Span {
        match self {
            Self::Literal(literal) => literal.span(),
            Self::Word(value) | Self::Call { function: value, .. } => value.span(),
            Self::Flag | Self::List(_) | Self::Broken => word.span(),
        }
    }
}

/// All entries of an attribute.
pub(crate) fn attribute(tokens: TokenStream, errors: &mut Errors) -> Vec<Entry> {
    read(tokens, Some(selection), errors)
}

fn read(tokens: TokenStream, nameless: Option<fn(&LitStr) -> Ident>, errors: &mut Errors) -> Vec<Entry> {
    let parser = |input: ParseStream<'_>| Ok(entries(input, nameless, errors));
    Parser::parse2(parser, tokens).unwrap_or_default()
}

/// What a text without a word is most likely to be.
fn selection(text: &LitStr) -> Ident {
    let word = if text.value().contains(['*', '>']) { "pattern" } else { "subject" };
    Ident::new(word, text.span())
}

/// Entry by entry. `nameless` says which word a text may lack, where there is one.
fn entries(input: ParseStream<'_>, nameless: Option<fn(&LitStr) -> Ident>, errors: &mut Errors) -> Vec<Entry> {
    let mut entries = Vec::new();
    while !input.is_empty() {
        let text = nameless.and_then(|word| input.fork().parse().ok().map(|text| (word(&text), text)));
        let nameless = text.filter(|(word, _)| !entries.iter().any(|entry: &Entry| entry.word == *word));
        if let Some((word, text)) = nameless {
            errors.at(text.span(), format!("a setting has a name; write `{word} = {}`", text.token()));
            entries.push(Entry { word, value: Value::Broken });
            skip_entry(input);
        } else if let Ok(word) = input.call(Ident::parse_any) {
            let value = value(&word, input, errors);
            entries.push(Entry { word, value });
        } else {
            let text = "a setting begins with a word: `word`, `word = value` or `word(..)`";
            errors.at(input.span(), text);
            skip_entry(input);
        }
        let _ = input.parse::<Option<Token![,]>>();
    }
    entries
}

fn value(word: &Ident, input: ParseStream<'_>, errors: &mut Errors) -> Value {
    let value = if input.peek(Token![=]) {
        let _ = input.parse::<Token![=]>();
        scalar(word, input, errors)
    } else if input.peek(token::Paren) {
        parenthesised(input, errors)
    } else {
        Value::Flag
    };
    if !input.is_empty() && !input.peek(Token![,]) && !matches!(value, Value::Broken) {
        errors.at(
            input.span(),
            format!("expected `,` before this: `{word}` takes one literal or word, not an expression"),
        );
        skip_entry(input);
        return Value::Broken;
    }
    if matches!(value, Value::Broken) {
        skip_entry(input);
    }
    value
}

fn scalar(word: &Ident, input: ParseStream<'_>, errors: &mut Errors) -> Value {
    if input.is_empty() || input.peek(Token![,]) {
        errors.at(word.span(), format!("`{word} =` has no value: write it after the `=`"));
        return Value::Broken;
    }
    if let Ok(literal) = input.parse::<Lit>() {
        return Value::Literal(literal);
    }
    let Ok(value) = input.call(Ident::parse_any) else {
        let text =
            format!("`{word}` takes a literal; for a value known only at run time use the builders of `Bus::builder`");
        errors.at(input.span(), text);
        return Value::Broken;
    };
    if !input.peek(token::Paren) {
        return Value::Word(value);
    }
    let argument = call_argument(input);
    Value::Call { function: value, argument }
}

/// The one word between parentheses, or none where there is something else.
fn call_argument(input: ParseStream<'_>) -> Option<Ident> {
    let content = group(input)?;
    let parser = |content: ParseStream<'_>| {
        let word = content.call(Ident::parse_any)?;
        let _ = content.parse::<Option<Token![,]>>()?;
        Ok(word)
    };
    Parser::parse2(parser, content).ok()
}

fn parenthesised(input: ParseStream<'_>, errors: &mut Errors) -> Value {
    match group(input) {
        Some(content) => Value::List(read(content, None, errors)),
        None => Value::Broken,
    }
}

fn group(input: ParseStream<'_>) -> Option<TokenStream> {
    match input.parse::<TokenTree>() {
        Ok(TokenTree::Group(group)) => Some(group.stream()),
        _ => None,
    }
}

fn skip_entry(input: ParseStream<'_>) {
    while !input.is_empty() && !input.peek(Token![,]) {
        let _ = input.parse::<TokenTree>();
    }
}
