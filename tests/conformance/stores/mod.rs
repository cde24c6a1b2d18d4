//! Small stores that have what memory has not: contents that survive, leases, a link that can be cut.

pub(crate) mod archive;
pub(crate) mod depot;
pub(crate) mod lessor;
