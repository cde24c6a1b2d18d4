//! What may depend on what, and how the source is laid out: ARCHITECTURE.md, held by parsing the crate.

#[path = "architecture/dependencies.rs"]
mod dependencies;
#[path = "architecture/layout.rs"]
mod layout;
#[path = "architecture/leaks.rs"]
mod leaks;
#[path = "architecture/paths.rs"]
mod paths;
#[path = "architecture/tree.rs"]
mod tree;

use tree::{Source, Tree};

/// Fails with everything that is wrong, one line each.
#[track_caller]
fn none(what_is_wrong: &[String]) {
    assert!(what_is_wrong.is_empty(), "\n  {}\n", what_is_wrong.join("\n  "));
}

#[test]
fn no_module_depends_on_what_it_must_not_know() {
    let tree = Tree::read("src");
    let wrong: Vec<String> = tree.sources().iter().flat_map(|source| dependencies::wrong(source, &tree)).collect();
    none(&wrong);
}

#[test]
fn the_conformance_suite_uses_the_public_api_only() {
    let tree = Tree::read("src");
    none(&tree.sources().iter().flat_map(|source| dependencies::not_public(source, &tree)).collect::<Vec<_>>());
}

#[test]
fn feature_gates_stand_on_mod_lines_each_feature_in_one_file() {
    none(&layout::gates(Tree::read("src").sources()));
}

#[test]
fn no_file_has_more_than_four_hundred_lines_of_code() {
    none(&every_source().iter().filter_map(layout::too_long).collect::<Vec<_>>());
}

#[test]
fn every_file_opens_with_a_sentence_that_says_what_it_is_for() {
    none(&every_source().iter().filter_map(layout::without_opening).collect::<Vec<_>>());
}

#[test]
fn the_hidden_module_holds_re_exports_only_and_the_backends_module_gates_only() {
    let tree = Tree::read("src");
    let of = |file| tree.source(file);
    none(&[layout::re_exports_only(of("src/__private.rs")), layout::mod_lines_only(of("src/backend/mod.rs"))].concat());
}

#[test]
fn no_tracked_file_names_a_registry_host_or_a_path_of_some_machine() {
    none(&leaks::tracked());
}

fn every_source() -> Vec<Source> {
    [Tree::read("src"), Tree::read("macros/src")].into_iter().flat_map(Tree::into_sources).collect()
}
