//! The rows of the table: which work, and who is asked for it.

use crate::{
    contestant::Contestant,
    job::{Job, Load, Shape},
    requests::{SEVERAL, Way},
};

/// One kind of work, done by several.
pub struct Row {
    /// What `--only` names.
    pub key: &'static str,
    /// What a reader calls it.
    pub title: &'static str,
    /// How many messages a round has.
    pub messages: u64,
    /// Whether it is in the chart.
    pub charted: bool,
    /// Who does it.
    pub entries: Vec<Entry>,
    /// Who does not, and why.
    pub cannot: Vec<(&'static str, &'static str)>,
}

/// Who does the work of a row.
pub struct Entry {
    /// As the table calls it.
    pub name: String,
    /// What runs.
    pub runs: Runs,
    /// The entry of the same row that is compared with this one, as a ratio.
    pub compared: Option<usize>,
}

/// What runs.
#[derive(Clone, Copy)]
pub enum Runs {
    /// Messages that are published and handled.
    Publishes(Contestant, Job),
    /// Requests, of so many requesters at the same time.
    Asks(Way, u64),
}

const SMALL: usize = 28;

/// All rows.
pub fn all() -> Vec<Row> {
    let decoded = |shape| Job { shape, load: Load::Decoded(SMALL) };
    let one = |load| Job { shape: Shape::FanOut(1), load };
    vec![
        Row::new("one", "1 to 1, 28 B", 200_000, one(Load::Decoded(SMALL))).charted(),
        Row::new("one-bare", "1 to 1, 28 B, nothing decoded", 400_000, one(Load::Bare(SMALL))),
        Row::new("one-value", "1 to 1, a value encoded by the publisher", 100_000, one(Load::Value)),
        Row::new("one-1k", "1 to 1, 1 KiB", 50_000, one(Load::Decoded(1 << 10))),
        Row::new("one-64k", "1 to 1, 64 KiB", 2_000, one(Load::Decoded(64 << 10))),
        Row::new("fan-8", "fan-out to 8, 28 B", 30_000, decoded(Shape::FanOut(8))).charted(),
        Row::new(
            "fan-8-bare",
            "fan-out to 8, 28 B, nothing decoded",
            50_000,
            Job { shape: Shape::FanOut(8), load: Load::Bare(SMALL) },
        ),
        Row::new("fan-64", "fan-out to 64, 28 B", 4_000, decoded(Shape::FanOut(64))),
        Row::new("group-4", "a group of 4 that competes, 28 B", 100_000, decoded(Shape::Competing(4))).charted(),
        Row::new("patterns", "1,000 patterns, 10,000 subjects, 28 B", 20_000, decoded(Shape::Patterns)).charted(),
        among(),
        Row::new("acked", "at least once, acknowledged, 28 B", 150_000, decoded(Shape::Acked)).charted(),
        Row::new("declined", "at least once, each declined once, 28 B", 60_000, decoded(Shape::DeclinedOnce)),
        requests("request-1", "request and reply, 1 at a time", 1),
        requests("request-32", "request and reply, 32 at a time", SEVERAL).charted(),
    ]
}

impl Row {
    fn new(key: &'static str, title: &'static str, messages: u64, job: Job) -> Self {
        let can: Vec<_> = Contestant::ALL.into_iter().filter(|contestant| contestant.cannot(job).is_none()).collect();
        // Everybody is compared with the most that tramline does.
        let ours = can.len() - 1;
        let entry = |(index, contestant): (usize, Contestant)| Entry {
            name: contestant.name().to_owned(),
            runs: Runs::Publishes(contestant, job),
            compared: (index != ours).then_some(ours),
        };
        let entries = can.into_iter().enumerate().map(entry).collect();
        Self { key, title, messages, charted: false, entries, cannot: cannot(job) }
    }

    fn charted(self) -> Self {
        Self { charted: true, ..self }
    }

    /// The index of an entry.
    pub fn entry(&self, name: &str) -> Option<usize> {
        self.entries.iter().position(|entry| entry.name == name)
    }
}

/// The same subscription alone and in a crowd.
fn among() -> Row {
    let job = |others| Job { shape: Shape::Among(others), load: Load::Decoded(SMALL) };
    let contestants = Contestant::ALL.into_iter().filter(|contestant| contestant.cannot(job(0)).is_none());
    let pair = |(index, contestant): (usize, Contestant)| {
        let entry = |others, name, compared| Entry {
            name: format!("{}, {name}", contestant.name()),
            runs: Runs::Publishes(contestant, job(others)),
            compared,
        };
        [entry(0, "alone", Some(2 * index + 1)), entry(999, "among 1,000", None)]
    };
    Row {
        key: "among",
        title: "1 subject among 1,000 subscriptions, 28 B",
        messages: 100_000,
        charted: false,
        entries: contestants.enumerate().flat_map(pair).collect(),
        cannot: cannot(job(0)),
    }
}

fn requests(key: &'static str, title: &'static str, requesters: u64) -> Row {
    let entry = |way: Way| Entry {
        name: way.name().to_owned(),
        runs: Runs::Asks(way, requesters),
        compared: way.compared().and_then(|with| Way::ALL.into_iter().position(|way| way == with)),
    };
    Row {
        key,
        title,
        messages: 12_800,
        charted: false,
        entries: Way::ALL.into_iter().map(entry).collect(),
        cannot: vec![(Contestant::Broadcast.name(), "has no way back")],
    }
}

fn cannot(job: Job) -> Vec<(&'static str, &'static str)> {
    let why = |contestant: Contestant| Some((contestant.name(), contestant.cannot(job)?));
    Contestant::ALL.into_iter().filter_map(why).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_contestant_is_in_a_row_or_the_row_says_why_not() {
        for row in all().iter().filter(|row| matches!(row.entries[0].runs, Runs::Publishes(..))) {
            for contestant in Contestant::ALL.map(Contestant::name) {
                let runs = row.entries.iter().any(|entry| entry.name.starts_with(contestant));
                let cannot = row.cannot.iter().any(|(name, _)| *name == contestant);
                assert!(runs || cannot, "{contestant} in {}", row.key);
            }
        }
    }

    #[test]
    fn a_comparison_is_with_another_entry_of_the_row() {
        for row in all() {
            for (index, entry) in row.entries.iter().enumerate() {
                assert!(entry.compared.is_none_or(|with| with != index && with < row.entries.len()), "{}", row.key);
            }
        }
    }
}
