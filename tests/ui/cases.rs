//! The files below `ui-tests/`.

use std::{
    env,
    fmt::{self, Write as _},
    fs,
    path::{Path, PathBuf},
};

/// The folders, each with a grammar of its own for first lines.
pub(crate) const FOLDERS: [&str; 9] =
    ["capability", "cascade", "feature", "handler", "lifecycle", "names", "sealed", "settings", "topic"];

/// The folder whose cases are compiled with the features of an application, and not with those of the tests.
pub(crate) const FEATURE: &str = "feature";

/// Begins the comment at the foot of a case. At its head it would move the lines that the errors name.
const CAUSE: &str = "\n// Cause: ";

/// One mistake.
pub(crate) struct Case {
    pub(crate) folder: &'static str,
    pub(crate) name: String,
    path: PathBuf,
}

impl Case {
    pub(crate) fn source(&self) -> String {
        read(&self.path)
    }

    /// The mistake alone.
    pub(crate) fn code(&self) -> String {
        let source = self.source();
        source.split_once(CAUSE).map_or(&*source, |(code, _)| code).trim_end().to_owned() + "\n"
    }

    /// Why it is one, in a sentence or two: what the comment at its foot says.
    pub(crate) fn cause(&self) -> Option<String> {
        let source = self.source();
        let (_, cause) = source.split_once(CAUSE)?;
        let lines: Vec<&str> = cause.lines().map(|line| line.trim_start_matches("// ").trim()).collect();
        Some(lines.join(" "))
    }

    pub(crate) fn stderr(&self) -> String {
        read(&self.beside("stderr"))
    }

    /// The file beside it with this ending.
    pub(crate) fn beside(&self, ending: &str) -> PathBuf {
        self.path.with_extension(ending)
    }

    /// The twin, in which the mistake is mended.
    pub(crate) fn mended(&self, root: &Path) -> String {
        read(&root.join("pass").join(self.folder).join(format!("{}.rs", self.name)))
    }

    /// What the first line says, `// errors: 2`; else it is one.
    pub(crate) fn declared_errors(&self) -> usize {
        let source = self.source();
        let declared = source.lines().next().and_then(|line| line.strip_prefix("// errors: "));
        declared.map_or(1, |number| number.parse().expect("the declared number is a number"))
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.folder, self.name)
    }
}

/// What a case or a twin asks for in its first line, `// features: nats`; else nothing beyond what is there by default.
pub(crate) fn features(source: &str) -> Vec<&str> {
    let named = source.lines().next().and_then(|line| line.strip_prefix("// features: "));
    named.map_or(Vec::new(), |named| named.split(", ").collect())
}

/// Where the pinned cases are.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("ui-tests")
}

/// Whether the files are to be written instead of compared to.
pub(crate) fn bless() -> bool {
    env::var_os("TRYBUILD").is_some_and(|mode| mode == "overwrite")
}

/// Every case below a directory, sorted.
pub(crate) fn all(root: &Path) -> Vec<Case> {
    let cases = FOLDERS.into_iter().flat_map(|folder| {
        let below = root.join(folder);
        names(&below).into_iter().map(move |name| Case { folder, path: below.join(format!("{name}.rs")), name })
    });
    cases.collect()
}

/// The crate that checks all twins at once: one module for each.
pub(crate) fn pass_crate(root: &Path) -> String {
    let mut text = "//! The mended twins of all cases, one module for each. Written by `tests/ui.rs`.\n\n\
                    #![allow(dead_code, reason = \"each twin has a `main` and declares what nobody calls\")]\n\
                    #![allow(clippy::unwrap_used, reason = \"nothing of it runs\")]\n"
        .to_owned();
    for folder in FOLDERS {
        let _ = writeln!(text, "\nmod {folder} {{");
        for name in names(&root.join("pass").join(folder)) {
            let _ = writeln!(text, "    mod {name};");
        }
        text.push_str("}\n");
    }
    text
}

/// The names of the Rust files in a directory, sorted, without their ending.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let files = entries.map(|entry| entry.expect("the folder can be read").path());
    let rust = files.filter(|path| path.extension().is_some_and(|ending| ending == "rs"));
    let mut names: Vec<_> = rust.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect();
    names.sort_unstable();
    names
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
