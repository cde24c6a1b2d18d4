//! What is behind a feature is asked for without it: in a package of its own, since the tests have every feature.

use std::{env, fs, path::Path, process::Command};

use serde_json::Value;

use crate::cases::{Case, features};

/// The errors of each case, as somebody sees them whose application has only the features that the case names.
pub(crate) fn check(cases: &[Case]) -> Vec<String> {
    assert!(cases.iter().all(|case| features(&case.source()).is_empty()), "all are compiled at once, with the default");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let package = Path::new(env!("CARGO_TARGET_TMPDIR")).join("application");
    let _ = fs::remove_dir_all(&package);
    let binaries = package.join("src/bin");
    fs::create_dir_all(&binaries).expect("the package can be written");
    let manifest = format!("{PACKAGE}tramline = {{ path = {root:?} }}\n");
    fs::write(package.join("Cargo.toml"), manifest).expect("the package can be written");
    fs::copy(root.join("Cargo.lock"), package.join("Cargo.lock")).expect("the lockfile is there");
    for case in cases {
        fs::write(binaries.join(format!("{}.rs", case.name)), case.source()).expect("the package can be written");
    }

    let ran = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["check", "--offline", "--keep-going", "--message-format=json"])
        // What the tests themselves were built with is there already, as far as it is the same.
        .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it is in the target folder"))
        .current_dir(&package)
        .output()
        .expect("cargo can be run");
    assert!(!ran.status.success(), "what is behind a feature compiles without it");
    let printed = String::from_utf8(ran.stdout).expect("cargo prints text");
    let messages: Vec<Value> = printed.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let errors = cases.iter().map(|case| {
        let of_case = messages.iter().filter(|message| message["target"]["name"] == *case.name);
        let placed = of_case.map(|message| &message["message"]).filter(|error| error["spans"][0].is_object());
        let rendered: String = placed.filter_map(|error| error["rendered"].as_str()).collect();
        assert!(!rendered.is_empty(), "{case} has no error: {}", String::from_utf8_lossy(&ran.stderr));
        tidy(&rendered, case, root)
    });
    errors.collect()
}

const PACKAGE: &str = "\
[package]
name = \"application\"
edition = \"2024\"
publish = false

[workspace]

[profile.dev]
debug = \"line-tables-only\"

[profile.dev.package.\"*\"]
debug = false

[dependencies]
";

/// As in the other cases: paths from the root, and no line numbers of the library, which change with every edit.
fn tidy(rendered: &str, case: &Case, root: &Path) -> String {
    let here = format!("src/bin/{}.rs", case.name);
    let library = format!("--> {}/", root.display());
    let mut in_library = false;
    let lines = rendered.trim_end().lines().map(|line| {
        if let Some((before, place)) = line.split_once(&library) {
            in_library = true;
            return format!("{before}--> {}", place.split(':').next().unwrap_or(place));
        }
        let gutter = line.split('|').next().unwrap_or_default();
        in_library &= line.contains('|') && gutter.chars().all(|c| c == ' ' || c.is_ascii_digit());
        if in_library {
            return " ".repeat(gutter.len()) + &line[gutter.len()..];
        }
        line.replace(&here, &format!("ui-tests/{}/{}.rs", case.folder, case.name))
    });
    lines.collect::<Vec<_>>().join("\n").trim_end().to_owned() + "\n"
}
