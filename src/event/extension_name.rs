//! What an extension attribute may be called (contract Q3).

use super::error::{EventError, Excerpt};

/// The names that an event's own members have. `data_base64` is refused already for its underscore.
const TAKEN: [&str; 9] =
    ["id", "source", "type", "specversion", "subject", "time", "datacontenttype", "dataschema", "data"];

/// Whether an extension may have this name.
pub(super) fn check(name: &str) -> Result<(), EventError> {
    match broken_rule(name) {
        None => Ok(()),
        Some(rule) => Err(EventError::ExtensionName { name: Excerpt::of(name), rule }),
    }
}

/// The rule that `name` breaks, if it breaks one.
fn broken_rule(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        return Some("it must not be empty");
    }
    if !name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()) {
        return Some("it may hold only `a` to `z` and `0` to `9`");
    }
    if TAKEN.contains(&name) {
        return Some("it belongs to the event itself: set it with its own method, or take another name");
    }
    None
}
