//! What a further subscription costs to compile: crates with so many of them are generated and built.
//!
//! `cargo bench --bench compile_time [-- 50 200 400]`. The payload's type is one for all, so its derive is not counted; the
//! builds are not incremental.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    time::{Duration, Instant},
};

/// A service with so many subscriptions, of the kinds that services have.
fn service(subscriptions: usize) -> String {
    let mut text = String::from(
        "use tramline::{Bus, Memory, Payload, State, Subject, source, subscription};\n\
         #[derive(serde::Deserialize)]\npub struct Order { pub number: u64 }\n\
         #[derive(Clone)]\npub struct Db;\n",
    );
    for index in 0..subscriptions {
        let settings = match index % 3 {
            0 => format!("subject = \"order.s{index}\", bound = 64"),
            1 => format!("pattern = \"order.*.s{index}\", overflow = ShedOldest, restart"),
            _ => format!("pattern = \"order.s{index}.>\", group = \"g{index}\", concurrency = 2"),
        };
        let _ = writeln!(
            text,
            "#[subscription({settings})]\nasync fn handler_{index}(subject: &Subject, order: Payload<Order>, \
             State(_db): State<Db>) -> Result<(), std::fmt::Error> {{\n    let _ = (subject, order.number);\n    Ok(())\n}}",
        );
    }
    text.push_str("fn main() {\n    let _ = Bus::builder(Memory::new(), source!(\"urn:example\")).state(Db)\n");
    for index in 0..subscriptions {
        let _ = writeln!(text, "        .subscribe(handler_{index})");
    }
    text.push_str("        .build();\n}\n");
    text
}

struct Crate(PathBuf);

impl Crate {
    fn write(root: &Path, target: &Path, subscriptions: usize) -> std::io::Result<Self> {
        let folder = target.join(format!("subscriptions-{subscriptions}"));
        fs::create_dir_all(folder.join("src"))?;
        fs::write(folder.join("src/main.rs"), service(subscriptions))?;
        let manifest = format!(
            "[package]\nname = \"subscriptions-{subscriptions}\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
             tramline = {{ path = {root:?} }}\nserde = {{ version = \"1\", features = [\"derive\"] }}\n",
        );
        fs::write(folder.join("Cargo.toml"), manifest)?;
        fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock"))?;
        Ok(Self(folder))
    }

    /// How long cargo takes for this crate alone, the best of three.
    fn time(&self, command: &str, shared: &Path) -> Result<Duration, String> {
        let once = || {
            let source = self.0.join("src/main.rs");
            let touched = fs::File::options()
                .append(true)
                .open(&source)
                .and_then(|file| file.set_modified(std::time::SystemTime::now()));
            touched.map_err(|error| error.to_string())?;
            let begun = Instant::now();
            let status = Command::new(env!("CARGO"))
                .args([command, "--offline", "--quiet"])
                .current_dir(&self.0)
                .env("CARGO_TARGET_DIR", shared)
                .env("CARGO_INCREMENTAL", "0")
                .env_remove("RUSTFLAGS")
                .status()
                .map_err(|error| error.to_string())?;
            if status.success() { Ok(begun.elapsed()) } else { Err(format!("cargo {command} failed")) }
        };
        // The first also builds what the crate depends on.
        once()?;
        (0..3)
            .map(|_| once())
            .min_by(|a, b| match (a, b) {
                (Ok(a), Ok(b)) => a.cmp(b),
                (Err(_), _) => std::cmp::Ordering::Less,
                _ => std::cmp::Ordering::Greater,
            })
            .unwrap_or_else(|| Err("no run".to_owned()))
    }
}

fn measure(counts: &[usize]) -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("compile_time");
    for command in ["check", "build"] {
        let mut last: Option<(usize, Duration)> = None;
        for &count in counts {
            let generated = Crate::write(root, &target, count).map_err(|error| error.to_string())?;
            let took = generated.time(command, &target.join("target"))?;
            print!("cargo {command:<5} {count:>4} subscriptions {:>6.2} s", took.as_secs_f64());
            if let Some((fewer, before)) = last {
                let further = (took.as_secs_f64() - before.as_secs_f64()) * 1e3 / (count - fewer) as f64;
                print!("   {further:>6.1} ms for each further one");
            }
            println!();
            last = Some((count, took));
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    let mut counts: Vec<usize> = std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    if counts.is_empty() {
        counts = vec![50, 200];
    }
    counts.sort_unstable();
    counts.dedup();
    match measure(&counts) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
