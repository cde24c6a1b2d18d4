//! The crate's files, parsed, and what its root gives names to.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use syn::{Attribute, Item, ItemUse, Meta, UseTree, Visibility};

/// One file.
pub(crate) struct Source {
    /// As in `src/bus/mod.rs`.
    pub(crate) file: String,
    /// As in `["bus"]`; empty for the root.
    pub(crate) module: Vec<String>,
    pub(crate) syntax: syn::File,
}

impl Source {
    pub(crate) fn new(file: &str, text: &str) -> Self {
        let syntax = syn::parse_file(text).unwrap_or_else(|error| panic!("{file}: {error}"));
        let path = file.split_once("src/").map_or(file, |(_, path)| path).trim_end_matches(".rs");
        let module = path.split('/').filter(|part| !matches!(*part, "mod" | "lib")).map(str::to_owned).collect();
        Self { file: file.to_owned(), module, syntax }
    }
}

/// All files of a crate.
pub(crate) struct Tree {
    sources: Vec<Source>,
    /// What the root gives a name to besides its modules: items by `use`, macros by `#[macro_export]`; and where from.
    exports: BTreeMap<String, Vec<String>>,
}

impl Tree {
    /// Reads a folder of the package.
    pub(crate) fn read(folder: &str) -> Self {
        let mut sources = Vec::new();
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        collect(&root.join(folder), root, &mut sources);
        assert!(!sources.is_empty(), "there is no source in {folder}");
        Self::new(sources)
    }

    pub(crate) fn new(sources: Vec<Source>) -> Self {
        let mut exports = BTreeMap::new();
        for source in &sources {
            for item in &source.syntax.items {
                match item {
                    Item::Use(item) if source.module.is_empty() => {
                        for path in leaves(item) {
                            let name = path.last().expect("a path has a name").clone();
                            exports.insert(name, path.into_iter().skip_while(|part| part == "crate").collect());
                        }
                    }
                    Item::Macro(item)
                        if item.attrs.iter().any(|attribute| attribute.path().is_ident("macro_export")) =>
                    {
                        let name = item.ident.as_ref().expect("it is exported").to_string();
                        exports.insert(name, source.module.clone());
                    }
                    _ => {}
                }
            }
        }
        Self { sources, exports }
    }

    pub(crate) fn sources(&self) -> &[Source] {
        &self.sources
    }

    pub(crate) fn into_sources(self) -> Vec<Source> {
        self.sources
    }

    pub(crate) fn source(&self, file: &str) -> &Source {
        self.sources.iter().find(|source| source.file == file).unwrap_or_else(|| panic!("there is no {file}"))
    }

    /// Whether the root has a module of this name.
    pub(crate) fn has_module(&self, name: &str) -> bool {
        self.sources.iter().any(|source| source.module.first().is_some_and(|first| first == name))
    }

    /// A path from the root, with the root's own names replaced by what they stand for.
    pub(crate) fn resolve(&self, path: &[String]) -> Vec<String> {
        let Some((first, rest)) = path.split_first() else { return Vec::new() };
        match self.exports.get(first) {
            // `crate::subscription` is the module, and the attribute only where the path ends.
            Some(meant) if !self.has_module(first) => meant.iter().chain(rest).cloned().collect(),
            _ => path.to_vec(),
        }
    }

    /// The public names of a module, by the file that declares it; none if it has none of its own.
    pub(crate) fn public_names(&self, module: &[String]) -> Option<BTreeSet<String>> {
        let source = self.sources.iter().find(|source| source.module == module)?;
        let mut names = BTreeSet::new();
        for item in &source.syntax.items {
            match item {
                Item::Use(item) if is_public(&item.vis) => {
                    names.extend(leaves(item).into_iter().filter_map(|path| path.last().cloned()));
                }
                Item::Mod(item) if is_public(&item.vis) && !is_hidden(&item.attrs) => {
                    names.insert(item.ident.to_string());
                }
                Item::Struct(item) if is_public(&item.vis) => {
                    names.insert(item.ident.to_string());
                }
                Item::Enum(item) if is_public(&item.vis) => {
                    names.insert(item.ident.to_string());
                }
                Item::Trait(item) if is_public(&item.vis) => {
                    names.insert(item.ident.to_string());
                }
                Item::Fn(item) if is_public(&item.vis) => {
                    names.insert(item.sig.ident.to_string());
                }
                Item::Const(item) if is_public(&item.vis) => {
                    names.insert(item.ident.to_string());
                }
                Item::Type(item) if is_public(&item.vis) => {
                    names.insert(item.ident.to_string());
                }
                _ => {}
            }
        }
        Some(names)
    }
}

/// Every path of a `use`, under the name that it is known by here; a glob ends in `*`.
pub(crate) fn leaves(item: &ItemUse) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    descend(&item.tree, &mut Vec::new(), &mut all);
    all
}

fn descend(tree: &UseTree, before: &mut Vec<String>, all: &mut Vec<Vec<String>>) {
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            descend(&path.tree, before, all);
            before.pop();
        }
        UseTree::Name(name) if name.ident == "self" => all.push(before.clone()),
        UseTree::Name(name) => all.push([&before[..], &[name.ident.to_string()]].concat()),
        UseTree::Rename(rename) if rename.ident == "self" => all.push(before.clone()),
        UseTree::Rename(rename) => all.push([&before[..], &[rename.ident.to_string()]].concat()),
        UseTree::Glob(_) => all.push([&before[..], &["*".to_owned()]].concat()),
        UseTree::Group(group) => group.items.iter().for_each(|tree| descend(tree, before, all)),
    }
}

/// Whether an item is compiled for tests only.
pub(crate) fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg") => {
            let condition = list.tokens.to_string().replace(' ', "");
            condition == "test" || (condition.starts_with("all(") && condition.contains("test"))
        }
        meta => meta.path().is_ident("test"),
    })
}

/// An item's attributes.
pub(crate) fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn is_hidden(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| matches!(&attribute.meta, Meta::List(list) if list.path.is_ident("doc") && list.tokens.to_string() == "hidden"))
}

fn collect(folder: &Path, root: &Path, sources: &mut Vec<Source>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("it can be read").path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, root, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") && !is_test_file(&path) {
            let file =
                path.strip_prefix(root).expect("it is in the package").to_str().expect("text").replace('\\', "/");
            sources.push(Source::new(&file, &fs::read_to_string(&path).expect("it can be read")));
        }
    }
}

/// A file whose `mod` line is for tests only.
fn is_test_file(path: &Path) -> bool {
    path.file_stem().and_then(|stem| stem.to_str()).is_some_and(|stem| stem == "tests" || stem.ends_with("_tests"))
}
