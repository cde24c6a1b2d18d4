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

/// As in the other cases: paths from the root, and no line numbers of the library, which change with every edit; nor the
/// width of the margin, which depends on them.
fn tidy(rendered: &str, case: &Case, root: &Path) -> String {
    let here = format!("src/bin/{}.rs", case.name);
    let there = format!("ui-tests/{}/{}.rs", case.folder, case.name);
    let library = format!("{}/", root.display());
    let width = case.source().lines().count().to_string().len();
    let mut in_library = false;
    let lines = rendered.trim_end().lines().map(|line| {
        let bare = line.trim_start();
        if let Some(place) = bare.strip_prefix("--> ") {
            let of_library = place.strip_prefix(&library).and_then(|place| place.split(':').next());
            in_library = of_library.is_some();
            return format!("{:width$}--> {}", "", of_library.map_or(place.replace(&here, &there), str::to_owned));
        }
        let code = bare.split_once('|').filter(|(number, _)| number.trim().bytes().all(|byte| byte.is_ascii_digit()));
        match code {
            Some((_, code)) if in_library => format!("{:width$} |{code}", ""),
            Some((number, code)) => format!("{:>width$} |{code}", number.trim()),
            None if bare.starts_with("= ") => format!("{:width$} {bare}", ""),
            None => line.to_owned(),
        }
    });
    lines.collect::<Vec<_>>().join("\n") + "\n"
}
