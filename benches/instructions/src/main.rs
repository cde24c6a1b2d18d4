//! Instructions and allocations for one message on its whole way, held to a baseline.
//!
//! Instructions are counted by `valgrind --tool=callgrind`, allocations by `--tool=dhat`: nearly the same on every run,
//! whatever else the machine does. It starts itself under valgrind twice for each shape, with two numbers of
//! messages; the difference is what the messages cost, without starting and stopping. Only the profile `instructions`
//! gives the figures of the baseline, since where code is placed depends on how it is split.
//!
//! ```text
//! cargo run --profile instructions -p instructions -- --check         fails where the baseline does not hold
//! cargo run --profile instructions -p instructions -- --write         writes the baseline
//! cargo run --profile instructions -p instructions -- --run SHAPE N   N messages, for a profiler
//! ```

mod baseline;
mod shapes;

use std::{
    env,
    process::{Command, ExitCode},
    thread,
};

use baseline::{Baseline, Cost};
use shapes::{SHAPES, Shape};

const FEW: u64 = 20 * 128;
const MANY: u64 = 120 * 128;

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let done = match &*arguments {
        ["--run", shape, messages] => run(shape, messages),
        [] => measured().and_then(|costs| Baseline::read()?.compare(&costs).map(|_| ())),
        ["--check"] => measured().and_then(|costs| Baseline::read()?.check(&costs)),
        ["--write"] => measured().and_then(|costs| Baseline::write(&costs)),
        _ => Err("instructions [--check | --write | --run SHAPE MESSAGES]".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Works messages off: what valgrind watches.
fn run(shape: &str, messages: &str) -> Result<(), String> {
    let shape = SHAPES.iter().find(|known| known.name == shape).ok_or_else(|| format!("no shape `{shape}`"))?;
    let messages = messages.parse().map_err(|error| format!("`{messages}`: {error}"))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    runtime.map_err(|error| error.to_string())?.block_on((shape.run)(messages));
    Ok(())
}

/// What each shape costs, in their order. Two at a time: counts do not depend on what else runs.
fn measured() -> Result<Vec<(&'static Shape, Cost)>, String> {
    let (even, odd): (Vec<_>, Vec<_>) = SHAPES.iter().enumerate().partition(|(at, _)| at % 2 == 0);
    let all = |shapes: Vec<(usize, &'static Shape)>| -> Result<Vec<_>, String> {
        shapes.into_iter().map(|(at, shape)| Ok((at, shape, cost(shape)?))).collect()
    };
    let mut costs = thread::scope(|scope| {
        let other = scope.spawn(|| all(odd));
        let mut costs = all(even)?;
        costs.extend(other.join().map_err(|_| "a measurement panicked")??);
        Ok::<_, String>(costs)
    })?;
    costs.sort_by_key(|(at, ..)| *at);
    Ok(costs.into_iter().map(|(_, shape, cost)| (shape, cost)).collect())
}

fn cost(shape: &Shape) -> Result<Cost, String> {
    let per_message = |tool, total: fn(&str) -> Option<u64>| -> Result<f64, String> {
        let (few, many) = (counted(tool, total, shape, FEW)?, counted(tool, total, shape, MANY)?);
        // Both far below 2^52.
        Ok((many as f64 - few as f64) / (MANY - FEW) as f64)
    };
    Ok(Cost {
        instructions: per_message("callgrind", |report| number(report.split("Collected :").nth(1)?))?,
        allocations: per_message("dhat", |report| number(report.split("Total:").nth(1)?.split(" in ").nth(1)?))?,
    })
}

/// What a tool of valgrind's counts in one run.
fn counted(tool: &str, total: fn(&str) -> Option<u64>, shape: &Shape, messages: u64) -> Result<u64, String> {
    let itself = env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("valgrind")
        .args([format!("--tool={tool}"), format!("--{tool}-out-file=/dev/null")])
        .arg(itself)
        .args(["--run", shape.name, &messages.to_string()])
        .env("RUST_BACKTRACE", "0")
        .output()
        .map_err(|error| format!("valgrind does not start ({error}): apt-get install valgrind"))?;
    let report = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("`{}` fails under valgrind:\n{report}", shape.name));
    }
    total(&report).ok_or_else(|| format!("valgrind's {tool} reports no count:\n{report}"))
}

/// The number at the beginning, with commas or without.
fn number(text: &str) -> Option<u64> {
    let digits = text.trim_start().split(|other: char| other != ',' && !other.is_ascii_digit()).next()?;
    digits.replace(',', "").parse().ok()
}
