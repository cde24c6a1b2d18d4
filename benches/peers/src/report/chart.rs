//! The chart: bars beside each other for what the rows measured, as SVG that reads on light and on dark paper.
//!
//! Every group of bars has a scale of its own, as the rates of different work have nothing to do with each other.

use std::fmt::Write as _;

use super::{Measurement, rate};
use crate::{rounds::Measured, rows::Row, threads::Threads};

/// In pixels: the names at the left, one column of bars with the figures at their ends, and a line.
const NAMES: f64 = 190.0;
const BARS: f64 = 215.0;
const FIGURES: f64 = 130.0;
const LINE: f64 = 19.0;
const BAR: f64 = 11.0;
const HEADING: f64 = 40.0;

/// What tramline does is blue, its parts are pale, and all others are grey; the thin line is the range from worst to best.
const STYLE: &str = "\
text { font: 12px system-ui, sans-serif; fill: #1f2328 }
.title { font-weight: 600; font-size: 13px }
.note { fill: #59636e }
.peer { fill: #9aa4ae } .part { fill: #8fb6f5 } .ours { fill: #2f6fe0 }
.range { stroke: #59636e; stroke-width: 1 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .note { fill: #9198a1 }
  .peer { fill: #6e7781 } .part { fill: #3b5f99 } .ours { fill: #5b96f7 }
  .range { stroke: #d1d7de }
}";

/// Bars for the rows that are to be in it, as far as they were measured.
pub fn chart(rows: &[Row], measurements: &[Measurement]) -> String {
    let mut marks = String::new();
    let mut y = 20.0;
    for (column, threads) in Threads::ALL.into_iter().enumerate() {
        let _ = writeln!(marks, r#"<text class="title" x="{}" y="{y}">{}</text>"#, left(column), threads.name());
    }
    for (index, row) in rows.iter().enumerate().filter(|(_, row)| row.charted) {
        y += HEADING;
        let _ = writeln!(marks, r#"<text class="title" x="0" y="{}">{}</text>"#, y - 10.0, escaped(row.title));
        for (line, entry) in row.entries.iter().enumerate() {
            let base = y + line as f64 * LINE + BAR;
            let _ = writeln!(marks, r#"<text x="{}" y="{base}" text-anchor="end">{}</text>"#, NAMES - 8.0, entry.name);
        }
        for measurement in measurements.iter().filter(|measurement| measurement.row == index) {
            let column = usize::from(measurement.threads == Threads::Two);
            bars(&mut marks, row, &measurement.entries, left(column), y);
        }
        y += row.entries.len() as f64 * LINE;
    }
    let note = "Messages a second: the median, and in a thin line from worst to best. Each group has its own scale.";
    let _ = writeln!(marks, r#"<text class="note" x="0" y="{}">{note}</text>"#, y + 24.0);
    let (width, height) = (left(2), y + 34.0);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         role=\"img\" aria-label=\"Messages a second, by contestant\">\n<style>\n{STYLE}\n</style>\n{marks}</svg>\n",
    )
}

/// Where a column begins.
fn left(column: usize) -> f64 {
    NAMES + column as f64 * (BARS + FIGURES)
}

fn bars(marks: &mut String, row: &Row, measured: &[Measured], left: f64, top: f64) {
    let most = measured.iter().map(|measured| measured.spread().best).fold(0.0, f64::max);
    let x = |rate: f64| left + rate / most * BARS;
    for (line, (entry, measured)) in row.entries.iter().zip(measured).enumerate() {
        let (spread, top) = (measured.spread(), top + line as f64 * LINE);
        let middle = top + BAR / 2.0;
        let class = match entry.name.strip_prefix("tramline") {
            Some("") => "ours",
            Some(_) => "part",
            None => "peer",
        };
        let _ = writeln!(
            marks,
            r#"<rect class="{class}" x="{left}" y="{top}" width="{:.1}" height="{BAR}" rx="1.5"/>"#,
            x(spread.median) - left,
        );
        let _ = writeln!(
            marks,
            r#"<line class="range" x1="{:.1}" x2="{:.1}" y1="{middle}" y2="{middle}"/>"#,
            x(spread.worst),
            x(spread.best),
        );
        let lost = if measured.lost > 0.0 { format!(", {:.0} % lost", measured.lost * 100.0) } else { String::new() };
        let _ = writeln!(
            marks,
            r#"<text x="{:.1}" y="{:.1}">{}{lost}</text>"#,
            x(spread.best) + 6.0,
            top + BAR - 1.0,
            rate(spread.median),
        );
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
