//! `tramline-public-api JSON LIST [--bless]`: compares the public items in rustdoc's JSON with a list, one item a line.
//!
//! A line that is gone or reads differently breaks who uses the crate; one that came does not.

use std::{collections::BTreeSet, env, error::Error, fs, path::Path, process::ExitCode};

use public_api::Builder;

/// What an implementation of a trait brings by itself: that the trait is there is a line already.
const BROUGHT_BY_A_TRAIT: [&str; 9] = [
    "::fmt(&self",
    "::clone(&self)",
    "::eq(&self",
    "::cmp(&self",
    "::partial_cmp(&self",
    "::hash<",
    "::source(&self)",
    "::drop(&mut self)",
    "::default()",
];

/// The chapters of the guide are modules for rustdoc only: nobody can name them.
const ONLY_DOCUMENTATION: &str = "pub mod tramline::guide";

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let (json, list, bless) = match &*arguments {
        [json, list] => (json, list, false),
        [json, list, bless] if bless == "--bless" => (json, list, true),
        _ => return Err("usage: tramline-public-api JSON LIST [--bless]".into()),
    };
    let found = items(Path::new(json))?;
    if bless {
        fs::write(list, found.iter().map(|item| format!("{item}\n")).collect::<String>())?;
        return Ok(ExitCode::SUCCESS);
    }
    let listed = fs::read_to_string(list).map_err(|error| format!("{list}: {error}"))?;
    let listed: BTreeSet<_> = listed.lines().map(str::to_owned).collect();
    let gone: Vec<_> = listed.difference(&found).collect();
    let new: Vec<_> = found.difference(&listed).collect();
    if gone.is_empty() && new.is_empty() {
        println!("the {} public items are those of the list", found.len());
        return Ok(ExitCode::SUCCESS);
    }
    gone.iter().for_each(|item| println!("- {item}"));
    new.iter().for_each(|item| println!("+ {item}"));
    println!();
    if !gone.is_empty() {
        println!("{} public items are gone or changed: that BREAKS users, and needs a new minor version (0.x) with a", gone.len());
        println!("line in CHANGELOG.md that says what to write instead.");
    }
    println!("{} public items are new. If all of it is meant: tests/public_api/run --bless", new.len());
    Ok(ExitCode::FAILURE)
}

fn items(json: &Path) -> Result<BTreeSet<String>, Box<dyn Error>> {
    let api = Builder::from_rustdoc_json(json).omit_blanket_impls(true).omit_auto_trait_impls(true).build()?;
    let items = api.items().map(ToString::to_string);
    let items = items.filter(|item| !item.starts_with(ONLY_DOCUMENTATION));
    Ok(items.filter(|item| !BROUGHT_BY_A_TRAIT.iter().any(|brought| item.contains(brought))).collect())
}
