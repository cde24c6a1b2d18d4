//! The tables.

use std::fmt::Write as _;

use super::{Flood, Measurement, rate};
use crate::{budgets, flood, loads::Loaded, rows::Row, spread::Spread, threads::Threads};

/// What stands above everything: how it was measured.
pub fn title(rounds: usize, quick: bool) -> String {
    let quick = if quick { " **A quick run: indicative only.**" } else { "" };
    format!(
        "# Figures\n\nWritten by `cargo run --release --manifest-path benches/peers/Cargo.toml`; what is compared, and how, is in \
         [README.md](README.md).{quick}\n\nMessages a second, however many get each, over {rounds} interleaved rounds: median \
         (worst to best). Memory is the most that the process ever had, the program and its runtime included. A ratio is \
         the median over rounds, with the middle half of them; where that half has 1 in it, the two are indistinguishable.\n",
    )
}

/// One row, on one runtime.
pub fn row(row: &Row, measurement: &Measurement) -> String {
    let mut text = format!(
        "\n### {}, {}\n\n| | messages/s | memory | lost | ratio |\n| --- | --- | --- | --- | --- |\n",
        row.title,
        measurement.threads.name(),
    );
    for (entry, measured) in row.entries.iter().zip(&measurement.entries) {
        let Spread { worst, median, best, .. } = measured.spread();
        let peak = measured.peak.map_or_else(|| "unknown".to_owned(), |peak| format!("{peak:.1} MiB"));
        let lost = if measured.lost > 0.0 { format!("{:.1} %", measured.lost * 100.0) } else { "–".to_owned() };
        let compared = entry.compared.map_or_else(String::new, |with| {
            let ratio = Spread::of_ratios(&measurement.entries[with].rates, &measured.rates);
            format!("{}: {}", row.entries[with].name, said(&ratio))
        });
        let _ = writeln!(
            text,
            "| {} | {} ({} to {}) | {peak} | {lost} | {compared} |",
            entry.name,
            rate(median),
            rate(worst),
            rate(best),
        );
    }
    for (name, why) in &row.cannot {
        let _ = writeln!(text, "| {name} | – {why} | | | |");
    }
    text
}

/// The budgets whose rows were measured.
pub fn budgets(rows: &[Row], measurements: &[Measurement]) -> String {
    let mut lines = String::new();
    for budget in &budgets::ALL {
        for measurement in measurements {
            let Some(ratio) = budget.ratio(&rows[measurement.row], &measurement.entries) else { continue };
            let at_least = budget.at_least(measurement.threads);
            let verdict = match ratio {
                Spread { middle: [low, _], .. } if low >= at_least => "met",
                Spread { median, .. } if median >= at_least => "met, inside the spread",
                Spread { middle: [_, high], .. } if high >= at_least => "missed, inside the spread",
                _ => "missed",
            };
            let _ = writeln!(
                lines,
                "| {}, {} | ≥ {at_least:.1} × | {:.2} × ({:.2} to {:.2}) | {verdict} |",
                budget.title,
                measurement.threads.name(),
                ratio.median,
                ratio.middle[0],
                ratio.middle[1],
            );
        }
    }
    if lines.is_empty() {
        return lines;
    }
    format!("\n## Budgets\n\n| what | budget | figure | |\n| --- | --- | --- | --- |\n{lines}")
}

/// Latencies at the loads.
pub fn latencies(loads: &[Loaded]) -> String {
    let mut text = String::from(
        "\n## Latency\n\n1 to 1, 28 B, decoded; from when a message was due until its handler had it, in microseconds. A load is a \
         share of what the same one does when it is sent as much as it takes. Medians of the runs.\n",
    );
    for threads in Threads::ALL {
        let _ = writeln!(text, "\n### {}\n\n| | load | messages/s | p50 | p99 | p99.9 |", threads.name());
        let _ = writeln!(text, "| --- | --- | --- | --- | --- | --- |");
        for Loaded { contestant, load, offered, latency, .. } in loads.iter().filter(|load| load.threads == threads) {
            let short = latency.rate < offered * 0.98;
            let behind = if short { format!(", handled {}", rate(latency.rate)) } else { String::new() };
            let _ = writeln!(
                text,
                "| {} | {load} | {}{behind} | {:.1} | {:.1} | {:.1} |",
                contestant.name(),
                rate(*offered),
                latency.p50,
                latency.p99,
                latency.p999,
            );
        }
    }
    text
}

/// What floods cost.
pub fn floods(floods: &[Flood]) -> String {
    let mut text = format!(
        "\n## A flooded subscription whose handler never returns\n\nMessages of {} B, each allocated anew; the queue's bound is {}. \
         ruststream's queues have no bound.\n\n| | messages | memory grew by |\n| --- | --- | --- |\n",
        flood::BYTES,
        crate::job::BOUND,
    );
    for Flood { name, messages, grown } in floods {
        let grown = grown.map_or_else(|| "unknown".to_owned(), |grown| format!("{grown:.1} MiB"));
        let _ = writeln!(text, "| {name} | {messages} | {grown} |");
    }
    text
}

fn said(ratio: &Spread) -> String {
    let [low, high] = ratio.middle;
    let verdict = if ratio.is_indistinguishable() { ", indistinguishable" } else { "" };
    format!("{:.2} × ({low:.2} to {high:.2}){verdict}", ratio.median)
}
