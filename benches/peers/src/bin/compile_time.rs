//! What a further subscription costs to compile: crates with so many of them are generated and built, ours beside the peer's.
//!
//! `cargo run --release --bin compile_time [-- [--quick] 1 50 200 400]` prints Markdown, and writes `COMPILE_TIME.md` unless it
//! is quick. The payload's type is one for all, so its derive is not counted; builds are not incremental, and what the crates
//! depend on is built before.

use std::{
    error::Error,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Instant, SystemTime},
};

use nix::sys::resource::{UsageWho, getrusage};
use peers::services::Service;

const COUNTS: [usize; 4] = [1, 50, 200, 400];
/// A build counts with its shortest time: what else the machine does only ever adds to it.
const RUNS: usize = 3;
const QUICK: usize = 1;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [once, command, folder, target] = &arguments[..]
        && once == "once"
    {
        print!("{}", Built::now(command, Path::new(folder), Path::new(target))?.written());
        return Ok(());
    }
    let quick = arguments.iter().any(|argument| argument == "--quick");
    arguments.retain(|argument| argument != "--quick");
    let mut counts = arguments.iter().map(|argument| argument.parse()).collect::<Result<Vec<usize>, _>>()?;
    if counts.is_empty() {
        counts = COUNTS.to_vec();
    }
    counts.sort_unstable();
    counts.dedup();
    let text = compared(&counts, if quick { QUICK } else { RUNS })?;
    print!("{text}");
    if !quick {
        fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("COMPILE_TIME.md"), text)?;
    }
    Ok(())
}

fn compared(counts: &[usize], runs: usize) -> Result<String, Box<dyn Error>> {
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/compile_time");
    let mut text = String::from(
        "# Compile time\n\nWritten by `cargo run --release --manifest-path benches/peers/Cargo.toml --bin compile_time`: crates \
         with so many handlers, not incremental, their dependencies built before. A slope is what each handler more than in the \
         line above costs. Memory is what the largest process of the build had, which is rustc or the linker.\n",
    );
    for command in ["check", "build"] {
        let _ = writeln!(
            text,
            "\n## `cargo {command}`\n\n| | handlers | seconds | slope | memory | binary |\n| --- | --- | --- | --- | --- | --- |",
        );
        for service in Service::ALL {
            if let Some(&fewest) = counts.first() {
                // Builds what the crates depend on.
                Generated::write(service, fewest, &target)?.once(command)?;
            }
            let mut last: Option<(usize, f64)> = None;
            for &count in counts {
                let generated = Generated::write(service, count, &target)?;
                let built = generated.built(command, runs)?;
                let slope = last.map_or_else(String::new, |(fewer, seconds)| {
                    format!("{:.1} ms", (built.seconds - seconds) * 1e3 / (count - fewer) as f64)
                });
                let binary = generated.binary(command)?;
                let _ = writeln!(
                    text,
                    "| {} | {count} | {:.2} | {slope} | {:.0} MiB | {binary} |",
                    service.name(),
                    built.seconds,
                    built.mebibytes,
                );
                last = Some((count, built.seconds));
            }
        }
    }
    Ok(text)
}

/// A crate that was generated.
struct Generated {
    name: String,
    folder: PathBuf,
    target: PathBuf,
}

impl Generated {
    fn write(service: Service, handlers: usize, target: &Path) -> std::io::Result<Self> {
        let name = format!("{}-{handlers}", service.name());
        let folder = target.join(&name);
        fs::create_dir_all(folder.join("src"))?;
        fs::write(folder.join("src/main.rs"), service.source(handlers))?;
        fs::write(folder.join("Cargo.toml"), service.manifest(&name))?;
        // The versions that the rest of this workspace has; cargo leaves out what is not needed.
        fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.lock"), folder.join("Cargo.lock"))?;
        Ok(Self { name, folder, target: target.join("target") })
    }

    /// The shortest of several builds of this crate alone.
    fn built(&self, command: &str, runs: usize) -> Result<Built, Box<dyn Error>> {
        let mut best = self.once(command)?;
        for _ in 1..runs {
            let next = self.once(command)?;
            best = if next.seconds < best.seconds { next } else { best };
        }
        Ok(best)
    }

    /// In a process of its own, as the most memory that children ever had is kept for each process.
    fn once(&self, command: &str) -> Result<Built, Box<dyn Error>> {
        fs::File::options().append(true).open(self.folder.join("src/main.rs"))?.set_modified(SystemTime::now())?;
        let output = Command::new(std::env::current_exe()?)
            .args(["once", command])
            .args([&self.folder, &self.target])
            .output()?;
        let said = String::from_utf8_lossy(&output.stdout);
        Built::read(&said).ok_or_else(|| format!("{}: {}", self.name, String::from_utf8_lossy(&output.stderr)).into())
    }

    fn binary(&self, command: &str) -> std::io::Result<String> {
        if command == "check" {
            return Ok(String::new());
        }
        let bytes = fs::metadata(self.target.join("debug").join(&self.name))?.len();
        Ok(format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20)))
    }
}

/// What a build took.
struct Built {
    seconds: f64,
    mebibytes: f64,
}

impl Built {
    fn now(command: &str, folder: &Path, target: &Path) -> Result<Self, Box<dyn Error>> {
        let begun = Instant::now();
        let status = Command::new(env!("CARGO"))
            .args([command, "--offline", "--quiet"])
            .current_dir(folder)
            .env("CARGO_TARGET_DIR", target)
            .env("CARGO_INCREMENTAL", "0")
            .env_remove("RUSTFLAGS")
            .status()?;
        let seconds = begun.elapsed().as_secs_f64();
        if !status.success() {
            return Err(format!("cargo {command} failed").into());
        }
        // In KiB on Linux, in bytes on macOS.
        let unit = if cfg!(target_os = "macos") { f64::from(1 << 20) } else { 1024.0 };
        Ok(Self { seconds, mebibytes: getrusage(UsageWho::RUSAGE_CHILDREN)?.max_rss() as f64 / unit })
    }

    fn written(&self) -> String {
        format!("{} {}", self.seconds, self.mebibytes)
    }

    fn read(said: &str) -> Option<Self> {
        let (seconds, mebibytes) = said.trim().split_once(' ')?;
        Some(Self { seconds: seconds.parse().ok()?, mebibytes: mebibytes.parse().ok()? })
    }
}
