//! Subjects, patterns and names: sections S, C5, C6, C20 and I1 of the contract.

#[path = "subject/names.rs"]
mod names;
#[path = "subject/overlap.rs"]
mod overlap;
#[path = "subject/properties.rs"]
mod properties;
#[path = "subject/rules.rs"]
mod rules;
#[path = "subject/truth_table.rs"]
mod truth_table;
