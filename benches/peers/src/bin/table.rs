//! All rows, the latencies and the flood: prints the tables, and writes `FIGURES.md` and the chart `figures.svg`.

use std::{error::Error, fs, path::Path};

use peers::{
    flood, latency, loads,
    report::{self, Flood, Measurement},
    rounds,
    rows::{self, Row},
    threads::Threads,
};

const USAGE: &str = "table [--quick] [--only ROW]...\n\nROW is part of a row's key, `latency`, or `flood`; files are written \
                     only without --only. The keys:";

/// How much is measured.
struct Extent {
    rounds: usize,
    /// Of the messages of a row's round, one in so many is sent.
    part: u64,
    runs: usize,
    /// How long a run of the generator takes, in milliseconds.
    run: u64,
    flood: u64,
}

const WHOLE: Extent = Extent { rounds: 21, part: 1, runs: 3, run: 1_000, flood: 1_000_000 };
const QUICK: Extent = Extent { rounds: 5, part: 2, runs: 1, run: 300, flood: 100_000 };

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // With the first three it is called by itself: for an entry of a row, for one latency, and for one flood.
    match &*arguments.iter().map(String::as_str).collect::<Vec<_>>() {
        ["serve", row, entry, threads] => serve(row, entry.parse()?, threads),
        ["latency", threads, contestant, rate, messages] => {
            let (contestant, rate, messages) = (contestant.parse()?, rate.parse()?, messages.parse()?);
            Ok(runtime(threads)?.run(latency::serve(contestant, rate, messages))?)
        }
        ["flood", contestant, messages] => Ok(Threads::One.run(flood::serve(contestant.parse()?, messages.parse()?))?),
        asked => all(asked),
    }
}

fn runtime(key: &str) -> Result<Threads, Box<dyn Error>> {
    Threads::of_key(key).ok_or_else(|| "no such runtime".into())
}

fn serve(row: &str, entry: usize, threads: &str) -> Result<(), Box<dyn Error>> {
    let mut row = rows::all().into_iter().find(|known| known.key == row).ok_or("no such row")?;
    let entry = row.entries.swap_remove(entry);
    Ok(runtime(threads)?.run(async move { rounds::serve(&entry).await })?)
}

fn all(mut asked: &[&str]) -> Result<(), Box<dyn Error>> {
    let rows = rows::all();
    let (mut extent, mut only) = (&WHOLE, Vec::new());
    loop {
        asked = match asked {
            [] => break,
            ["--quick", rest @ ..] => {
                extent = &QUICK;
                rest
            }
            ["--only", row, rest @ ..] => {
                only.push(*row);
                rest
            }
            _ => {
                let keys: Vec<_> = rows.iter().map(|row| row.key).collect();
                return Err(format!("{USAGE} {}", keys.join(" ")).into());
            }
        };
    }
    let wanted = |key: &str| only.is_empty() || only.iter().any(|part| key.contains(part));
    let mut text = report::title(extent.rounds, extent.part > 1);
    print!("{text}");
    let mut say = |part: String| {
        print!("{part}");
        text.push_str(&part);
    };
    let mut measurements = Vec::new();
    for (index, row) in rows.iter().enumerate().filter(|(_, row)| wanted(row.key)) {
        for threads in Threads::ALL {
            let entries = rounds::measure(row, threads, extent.rounds, row.messages / extent.part)?;
            let measurement = Measurement { row: index, threads, entries };
            say(report::row(row, &measurement));
            measurements.push(measurement);
        }
    }
    if wanted("latency") {
        say(report::latencies(&loads::measure(extent.runs, extent.run)?));
    }
    if wanted("flood") {
        say(report::floods(&floods(extent)?));
    }
    say(report::budgets(&rows, &measurements));
    if only.is_empty() {
        write(&text, &rows, &measurements)?;
    }
    Ok(())
}

fn write(text: &str, rows: &[Row], measurements: &[Measurement]) -> Result<(), Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    fs::write(folder.join("FIGURES.md"), text)?;
    fs::write(folder.join("figures.svg"), report::chart(rows, measurements))?;
    Ok(())
}

fn floods(extent: &Extent) -> Result<Vec<Flood>, Box<dyn Error>> {
    let mut floods = Vec::new();
    for contestant in flood::CONTESTANTS {
        let grown = flood::measure(contestant, extent.flood)?;
        floods.push(Flood { name: contestant.name(), messages: extent.flood, grown });
    }
    Ok(floods)
}
