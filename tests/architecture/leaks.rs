//! What belongs to somebody's machine and not into a repository: paths, and the hosts of registries.

use std::{fs, path::Path, process::Command};

/// How paths of one machine begin. In two halves, so that this file does not have them.
const PATHS: &[&str] = &[
    concat!("/wo", "rk/"),
    concat!("/ro", "ot/"),
    concat!("/ho", "me/"),
    concat!("/Us", "ers/"),
    concat!("/t", "mp/"),
    concat!("C:", "\\"),
];

/// How a registry, or what stands in for it, is named.
const REGISTRIES: &[&str] = &[
    concat!("sparse", "+http"),
    concat!("regis", "try+"),
    concat!("replace", "-with"),
    concat!("[sou", "rce."),
    concat!("index", ".crates.io"),
];

/// What every lock file names: the public registry.
const PUBLIC: &str = concat!("regis", "try+https://github.com/rust-lang/crates.io-index");

/// What the files of the repository give away; nothing where there is no repository, as in a package.
pub(crate) fn tracked() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let Ok(listed) = Command::new("git").args(["ls-files", "-z"]).current_dir(root).output() else { return Vec::new() };
    let files = String::from_utf8(listed.stdout).expect("names are text");
    let mut found = Vec::new();
    for file in files.split('\0').filter(|file| !file.is_empty()) {
        let Ok(bytes) = fs::read(root.join(file)) else { continue };
        found.extend(in_text(file, &String::from_utf8_lossy(&bytes)));
    }
    found
}

fn in_text(file: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let path = PATHS.iter().find(|path| begins_in(line, path));
        let registry = REGISTRIES.iter().find(|name| line.replace(PUBLIC, "").contains(*name));
        if let Some(leak) = path.or(registry) {
            found.push(format!("{file}:{}: holds `{leak}`", index + 1));
        }
    }
    found
}

/// Whether a path begins so somewhere in a line, and does not only go on so, as `https://example.com/home/` does.
fn begins_in(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        !line[..at]
            .ends_with(|before: char| before.is_alphanumeric() || matches!(before, '.' | '_' | '-' | '/' | '}' | '*'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_hosts_are_found_and_what_only_looks_like_one_is_not() {
        for path in PATHS {
            assert_eq!(in_text("f", &format!("see `{path}somewhere`")).len(), 1, "{path}");
        }
        for name in REGISTRIES {
            assert_eq!(in_text("f", &format!("x = \"{name}s://example.com/index/\"")).len(), 1, "{name}");
        }
        let url = format!("https://example.com{}somebody", PATHS[2]);
        assert_eq!(in_text("f", &url), <[String; 0]>::default());
        assert_eq!(in_text("Cargo.lock", &format!("source = \"{PUBLIC}\"")), <[String; 0]>::default());
    }
}
