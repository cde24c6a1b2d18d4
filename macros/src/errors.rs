//! One bag for every mistake in an attribute and its function, so that all of them are shown at once.

use std::fmt::Display;

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;

/// The mistakes found so far. Panics when it is dropped unchecked: a mistake that nobody looks at compiles.
pub(crate) struct Errors {
    found: Vec<syn::Error>,
    checked: bool,
}

impl Errors {
    pub(crate) fn new() -> Self {
        Self { found: Vec::new(), checked: false }
    }

    /// A mistake at one token.
    pub(crate) fn at(&mut self, span: Span, text: impl Display) {
        self.found.push(syn::Error::new(span, text));
    }

    /// A mistake at all of these tokens.
    pub(crate) fn over(&mut self, tokens: impl ToTokens, text: impl Display) {
        self.found.push(syn::Error::new_spanned(tokens, text));
    }

    /// Looks at what was found: one `compile_error!` for each mistake, or nothing.
    pub(crate) fn check(mut self) -> Result<(), TokenStream> {
        self.checked = true;
        if self.found.is_empty() {
            return Ok(());
        }
        Err(self.found.iter().map(syn::Error::to_compile_error).collect())
    }
}

impl Drop for Errors {
    fn drop(&mut self) {
        if !self.checked && !std::thread::panicking() {
            panic!("errors were dropped unchecked");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "unchecked")]
    fn a_bag_dropped_unchecked_panics() {
        drop(Errors::new());
    }
}
