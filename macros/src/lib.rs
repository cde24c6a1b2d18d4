//! The macros.

use proc_macro::TokenStream;

mod errors;
mod expand;
mod fallback;
mod function;
mod lifetimes;
mod lower;
mod parse;
mod paths;
mod read;
mod settings;
mod subscription;
mod suggest;
#[cfg(test)]
mod tests;
mod validate;
mod words;

/// Makes a subscription of an async function.
#[proc_macro_attribute]
pub fn subscription(attribute: TokenStream, item: TokenStream) -> TokenStream {
    subscription::subscription(attribute.into(), item.into()).into()
}
