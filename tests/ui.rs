//! The errors as a product: every refusal is one error with its fix, and stays so. See `ui-tests/README.md`.

#[path = "ui/budget.rs"]
mod budget;
#[path = "ui/cases.rs"]
mod cases;
#[path = "ui/features.rs"]
mod features;
#[path = "ui/grammar.rs"]
mod grammar;
#[path = "ui/guide.rs"]
mod guide;

use std::{env, fs, path::Path, process::Command};

use cases::{Case, FEATURE, FOLDERS, bless, root};

/// Where the cases are that a test process shall run, if they are not the pinned ones.
const ELSEWHERE: &str = "TRAMLINE_UI_CASES";

/// Set to treat the toolchain as another than the pinned one.
const UNPINNED: &str = "TRAMLINE_UI_UNPINNED";

#[test]
fn every_case_fails_with_its_error() {
    if let Some(elsewhere) = env::var_os(ELSEWHERE) {
        run(Path::new(&elsewhere));
    } else if bless() || is_pinned() {
        // A relative path: beside an absolute one no line numbers would be pinned.
        run(Path::new("ui-tests"));
    } else {
        compare_what_holds_on_any_toolchain();
    }
}

#[test]
fn every_error_is_within_its_budget() {
    let cases = cases::all(&root());
    assert!(cases.len() > 150, "only {} cases were found", cases.len());
    let complaints: Vec<_> = cases.iter().flat_map(|case| complaints(case, &case.stderr())).collect();
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

#[test]
fn every_case_is_small_and_has_a_mended_twin() {
    for case in cases::all(&root()) {
        let (code, mended) = (case.code(), case.mended(&root()));
        assert_ne!(code, mended, "{case}: the twin has the same mistake");
        assert!(code.lines().count() <= 28, "{case}: make it smaller, one mistake does not need so much");
        let cause = case.cause().unwrap_or_else(|| panic!("{case}: say why it is one, in `// Cause: ..` at its foot"));
        assert!(cause.ends_with('.') && cause.len() < 320, "{case}: its cause is one sentence or two");
    }
}

#[test]
fn what_is_behind_a_feature_says_so() {
    let pinned: Vec<_> = cases::all(&root()).into_iter().filter(|case| case.folder == FEATURE).collect();
    let said = features::check(&pinned);
    let mut wrong = Vec::new();
    for (case, found) in pinned.iter().zip(&said) {
        if bless() {
            fs::write(case.beside("stderr"), found).expect("the error can be written");
        } else if is_pinned() {
            assert_eq!(*found, case.stderr(), "{case}");
        } else {
            wrong.extend(complaints(case, found));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn the_guide_explains_every_error_as_it_is_printed() {
    guide::hold(&cases::all(&root()), &root());
}

#[test]
fn every_twin_is_in_the_crate_that_checks_them() {
    let path = root().join("pass/main.rs");
    let listed = cases::pass_crate(&root());
    if bless() {
        fs::write(&path, &listed).expect("the list can be written");
    }
    let found = fs::read_to_string(&path).expect("the crate is there");
    assert!(found == listed, "`pass/main.rs` does not list the files below it: TRYBUILD=overwrite mends it");
}

/// Compiles the cases of all folders below a directory, and compares the errors to the files beside them.
fn run(root: &Path) {
    let tests = trybuild::TestCases::new();
    for folder in FOLDERS.into_iter().filter(|folder| *folder != FEATURE) {
        tests.compile_fail(root.join(folder).join("*.rs"));
    }
}

fn complaints(case: &Case, stderr: &str) -> Vec<String> {
    let (folder, errors) = (case.folder, case.declared_errors());
    budget::check(folder, errors, stderr).into_iter().map(|complaint| format!("{case}: {complaint}")).collect()
}

/// Compiles a copy of the cases, in a process of its own that writes the errors down, and compares first lines, numbers
/// of errors and fixes to the pinned ones: what is ours in an error, whatever rustc's own words around it are.
fn compare_what_holds_on_any_toolchain() {
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ui-tests");
    let _ = fs::remove_dir_all(&copy);
    fs::create_dir_all(copy.join(FEATURE)).expect("the copy can be written");
    let mut pinned = cases::all(&root());
    pinned.retain(|case| case.folder != FEATURE);
    for case in &pinned {
        let to = copy.join(case.folder);
        fs::create_dir_all(&to).expect("the copy can be written");
        fs::write(to.join(format!("{}.rs", case.name)), case.source()).expect("the copy can be written");
    }
    let this = env::current_exe().expect("a test knows where it is");
    let ran = Command::new(this)
        .args(["--exact", "every_case_fails_with_its_error"])
        .env(ELSEWHERE, &copy)
        .env("TRYBUILD", "overwrite")
        .output()
        .expect("a test can run itself");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));

    let (mut wrong, written) = (Vec::new(), cases::all(&copy));
    for (pinned, written) in pinned.iter().zip(&written) {
        let (expected, found) = (pinned.stderr(), written.stderr());
        wrong.extend(
            budget::compare(pinned.folder, &expected, &found).map(|complaint| format!("{pinned}: {complaint}")),
        );
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

fn is_pinned() -> bool {
    let pinned = fs::read_to_string(root().join("TOOLCHAIN")).expect("the toolchain is named");
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let running = Command::new(rustc).arg("--version").output().expect("rustc says its version");
    env::var_os(UNPINNED).is_none() && String::from_utf8_lossy(&running.stdout).trim() == pinned.trim()
}
