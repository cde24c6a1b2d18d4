//! What a first line may look like, folder by folder. `{}` stands for some text.

/// Who speaks in a first line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Voice {
    /// The line is ours, so the error says the fix too.
    Ours,
    /// The line is rustc's: there is no way to ours.
    Rustcs,
}

/// Our first lines.
const OURS: &[(&str, &[&str])] = &[
    (
        "capability",
        &[
            "error[E0277]: backend `{}` cannot {}",
            "error[E0277]: backend `{}` does not {}",
            "error[E0277]: backend `{}` keeps nothing {}",
            "error[E0277]: `{}` is not a backend",
            "error[E0277]: `{}` does not say how its storage is restarted",
            "error[E0277]: this fixture's backend survives a restart, and {}",
        ],
    ),
    (
        "cascade",
        &[
            "error: a handler {}",
            "error: `{}` {}",
            "error: unknown setting `{}`{}",
            "error: a setting has a name; {}",
            "error: expected `{}",
            "error: this subscription selects nothing; {}",
            "error: this responder answers on no subject; {}",
            "error[E0080]: evaluation panicked: a {}",
            "error[E0277]: backend `{}` cannot {}",
        ],
    ),
    (
        "handler",
        &[
            "error: a handler {}",
            "error: a handler's argument {}",
            "error: a responder {}",
            "error: `#[subscription(..)]` goes on {}",
            "error[E0277]: `{}` cannot be decoded by the bus's codec `{}`",
            "error[E0277]: `{}` cannot be encoded by the bus's codec `{}`",
            "error[E0277]: `{}` is not a subscription",
            "error[E0277]: `{}` is not an event with its subject",
            "error[E0277]: a responder {}",
            "error[E0277]: an `{}` handler cannot return `{}`",
            "error[E0277]: an `{}` handler cannot take `{}`",
            "error[E0277]: the bus's state `{}` does not hold a `{}`",
        ],
    ),
    ("lifecycle", &["error[E0277]: a request without a deadline cannot {}"]),
    (
        "names",
        &[
            "error[E0080]: evaluation panicked: a {} ({}",
            "error[E0080]: evaluation panicked: a URI {}",
            "error: `{}!` takes one string literal: {}",
        ],
    ),
    ("sealed", &["error[E0277]: `{}` cannot be made {}", "error[E0277]: an `{}` handler cannot take `&'d mut {}`"]),
    (
        "settings",
        &[
            "error: {}`{}`{}",
            "error[E0277]: `{}` cannot be had at least once: {}",
            "error[E0277]: a message that is delivered again {}",
        ],
    ),
    (
        "topic",
        &[
            "error: `{}` {}",
            "error: `#[topic(..)]` {}",
            "error: an enum has no fields that all its variants share, {}",
            "error: a union is no topic; {}",
            "error[E0080]: evaluation panicked: a subject {}",
            "error[E0080]: evaluation panicked: a URI {}",
            "error[E0080]: evaluation panicked: an event type {}",
            "error[E0080]: evaluation panicked: `{}` never selects the payload's topic (C33): {}",
            "error[E0277]: `{}` cannot be encoded by the bus's codec `{}`",
            "error[E0277]: `{}` cannot fill a place of a subject",
            "error[E0277]: `{}` is not a topic",
        ],
    ),
];

/// rustc's first lines, each for a reason.
const RUSTCS: &[(&str, &[&str])] = &[
    ("capability", &[]),
    (
        "cascade",
        &[
            // In the user's own code: the body, a type, a path.
            "error[E0308]: mismatched types",
            "error[E0425]: cannot find type `{}` in this scope",
            "error[E0603]: unit struct `{}` is private",
        ],
    ),
    // rustc finds what a feature leaves out, and names the feature itself.
    ("feature", &["error[E0432]: unresolved import `tramline::{}`"]),
    (
        "handler",
        &[
            // An auto trait: rustc names the value that is held across the await, which no message of ours could.
            "error: future cannot be sent between threads safely",
            // Whether a codec borrows is a matter of lifetimes, which rustc checks last and in its own words.
            "error: implementation of `{}` is not general enough",
            // A method that is not there: the type says why.
            "error[E0599]: no method named `nack_after` found for struct `Delivery<AtLeastOnce>` in the current scope",
            // A trait of the standard library, whose message is its own.
            "error[E0277]: `{}` doesn't implement `std::fmt::Display`",
            "error[E0277]: the trait bound `{}: Clone` is not satisfied",
            // A value that is gone.
            "error[E0382]: use of moved value: `{}`",
            "error[E0593]: closure is expected to take 1 argument, but it takes 0 arguments",
        ],
    ),
    (
        "lifecycle",
        &[
            // States and steps are types, and what a state cannot do is not there.
            "error[E0599]: no method named `{}` found for struct `{}` in the current scope",
            "error[E0382]: borrow of moved value: `{}`",
            // What a step needs is an argument.
            "error[E0061]: this {} takes {} arguments but 1 argument was supplied",
            "error[E0308]: mismatched types",
        ],
    ),
    ("names", &["error[E0308]: mismatched types"]),
    (
        "sealed",
        &[
            "error[E0117]: only traits defined in the current crate can be implemented for types defined outside of the crate",
            "error[E0423]: cannot initialize a tuple struct which contains private fields",
            "error[E0599]: no method named `{}` found for {} in the current scope",
        ],
    ),
    ("settings", &[]),
    ("topic", &[]),
];

/// Who speaks in this first line, or nobody who may.
pub(crate) fn voice(folder: &str, line: &str) -> Option<Voice> {
    let in_table = |table: &[(&str, &[&str])]| {
        table.iter().any(|(name, patterns)| *name == folder && patterns.iter().any(|pattern| fits(pattern, line)))
    };
    if in_table(OURS) {
        Some(Voice::Ours)
    } else if in_table(RUSTCS) {
        Some(Voice::Rustcs)
    } else {
        None
    }
}

/// Whether a line is a pattern with some text in place of each `{}`.
fn fits(pattern: &str, line: &str) -> bool {
    let Some((before, after)) = pattern.split_once("{}") else { return pattern == line };
    let Some(rest) = line.strip_prefix(before) else { return false };
    rest.char_indices().any(|(at, _)| fits(after, &rest[at..])) || fits(after, "")
}

#[test]
fn a_first_line_fits_its_folder_only() {
    let line = "error[E0277]: backend `Nats` cannot deliver at least once";
    assert_eq!(voice("capability", line), Some(Voice::Ours));
    assert_eq!(voice("handler", line), None);
    assert_eq!(voice("capability", "error[E0277]: the trait bound `Nats: DeliversAtLeastOnce` is not satisfied"), None);
    assert_eq!(voice("lifecycle", "error[E0308]: mismatched types"), Some(Voice::Rustcs));
    assert_eq!(voice("lifecycle", "error[E0308]: mismatched types, somehow"), None);
}
