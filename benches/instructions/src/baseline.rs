//! The committed baseline, and what is said where it does not hold.

use std::{fmt::Write, fs};

use crate::shapes::Shape;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/baseline.txt");

/// How far instructions may be from the baseline, either way, in percent.
const TOLERANCE: f64 = 3.0;

const HEADING: &str = "\
# What one message costs: instructions, allocations, shape. Written by
#   cargo run --profile instructions -p instructions -- --write
# and held by `-- --check`: instructions within 3 %, allocations exactly. A commit that changes it says why.
# Counted on x86_64 with the toolchain that ui-tests/TOOLCHAIN names.
";

/// Of one message.
#[derive(Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) instructions: f64,
    pub(crate) allocations: f64,
}

/// One line: a shape and its cost.
fn line(name: &str, cost: Cost) -> String {
    format!("{:>8.0} {:>7.2}  {name}", cost.instructions, cost.allocations)
}

/// What was committed.
pub(crate) struct Baseline(Vec<(String, Cost)>);

impl Baseline {
    pub(crate) fn read() -> Result<Self, String> {
        let text = fs::read_to_string(FILE).map_err(|error| format!("{FILE}: {error}"))?;
        let rows = text.lines().filter(|line| !line.starts_with('#')).map(|line| {
            let mut words = line.split_whitespace();
            let mut number = || words.next()?.parse().ok();
            let cost = Cost { instructions: number()?, allocations: number()? };
            Some((words.next()?.to_owned(), cost))
        });
        let rows: Option<_> = rows.collect();
        rows.map(Self).ok_or_else(|| format!("{FILE}: each line has instructions, allocations, and the shape's name"))
    }

    pub(crate) fn write(costs: &[(&Shape, Cost)]) -> Result<(), String> {
        let rows: String = costs.iter().map(|(shape, cost)| line(shape.name, *cost) + "\n").collect();
        fs::write(FILE, HEADING.to_owned() + &rows).map_err(|error| format!("{FILE}: {error}"))?;
        print!("{rows}");
        Ok(())
    }

    /// Prints both side by side; the rows that do not hold, each in words.
    pub(crate) fn compare(&self, costs: &[(&Shape, Cost)]) -> Result<Vec<String>, String> {
        println!("instructions: before     now  change   allocations: before     now");
        let mut wrong = Vec::new();
        for (shape, now) in costs {
            let Some((_, before)) = self.0.iter().find(|(name, _)| name == shape.name) else {
                println!(
                    "              {:>6} {:>7.0}                        {:>6} {:>7.2}   {}: {}",
                    "-", now.instructions, "-", now.allocations, shape.name, shape.what
                );
                wrong.push(format!("`{}` is not in the baseline", shape.name));
                continue;
            };
            let percent = 100.0 * (now.instructions / before.instructions - 1.0);
            println!(
                "              {:>6.0} {:>7.0} {percent:>+6.1} %                {:>6.2} {:>7.2}   {}: {}",
                before.instructions, now.instructions, before.allocations, now.allocations, shape.name, shape.what
            );
            if percent.abs() > TOLERANCE {
                let direction = if percent > 0.0 { "more" } else { "fewer" };
                wrong.push(format!("`{}` takes {:.1} % {direction} instructions", shape.name, percent.abs()));
            }
            if format!("{:.2}", now.allocations) != format!("{:.2}", before.allocations) {
                wrong.push(format!(
                    "`{}` allocates {:.2} times and not {:.2} times",
                    shape.name, now.allocations, before.allocations
                ));
            }
        }
        for (name, _) in &self.0 {
            if !costs.iter().any(|(shape, _)| shape.name == name) {
                wrong.push(format!("`{name}` is in the baseline and is not measured"));
            }
        }
        Ok(wrong)
    }

    /// Fails where the baseline does not hold. What is better fails too: kept as it was, the baseline would let it slip
    /// away unseen.
    pub(crate) fn check(&self, costs: &[(&Shape, Cost)]) -> Result<(), String> {
        let wrong = self.compare(costs)?;
        if wrong.is_empty() {
            return Ok(());
        }
        let mut report =
            format!("\nthe baseline does not hold ({TOLERANCE} % for instructions, allocations exactly):\n");
        for row in wrong {
            let _ = writeln!(report, "  {row}");
        }
        report += "it is one of x86_64 with the toolchain that ui-tests/TOOLCHAIN names\n\
                   if that is meant, write a new one, commit it, and say why in the commit message:\n  \
                   cargo run --profile instructions -p instructions -- --write";
        Err(report)
    }
}
