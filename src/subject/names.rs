//! The names that a subscription goes by: its own, its group's, and the one under which a broker keeps its place.

use super::{
    flaw::{DurableNameFlaw, GroupFlaw, NameFlaw},
    grammar,
    parsed::parsed,
};

parsed! {
    /// A subscription's name in logs, counters and errors: not empty, no control character, at most 255 bytes (C5).
    ///
    /// A broker never sees it, so renaming a subscription loses nothing (I2). Write a literal as
    /// [`name!`](crate::name!).
    Name, NameError, NameFlaw, grammar::check_name, "name"
}

parsed! {
    /// The group whose members share messages, each going to one of them: same characters as a [`DurableName`] (I1).
    ///
    /// Write a literal as [`group!`](crate::group!).
    Group, GroupError, GroupFlaw, grammar::check_group, "group"
}

parsed! {
    /// The name under which a backend keeps what is owed to a subscription (I1, C20).
    ///
    /// No whitespace, dot, `*`, `>`, `/`, `\` or non-printable character, at most 255 bytes; a broker may be narrower
    /// and refuses when it opens. Every process under one name competes (I3). Write a literal as
    /// [`durable!`](crate::durable!).
    DurableName, DurableNameError, DurableNameFlaw, grammar::check_durable_name, "durable name"
}

impl From<DurableName> for Group {
    /// Under competing delivery the durable name is the group (I3).
    fn from(name: DurableName) -> Self {
        Self(name.0)
    }
}

impl From<Group> for DurableName {
    /// Under competing delivery the durable name is the group (I3).
    fn from(group: Group) -> Self {
        Self(group.0)
    }
}
