//! The budgets that are ratios between contestants: what is promised, and which rows show it.

use crate::{rounds::Measured, rows::Row, spread::Spread, threads::Threads};

/// A ratio that must not be smaller.
pub struct Budget {
    /// What is compared.
    pub title: &'static str,
    /// The row that shows it.
    pub row: &'static str,
    /// The entry that the budget is for.
    pub ours: &'static str,
    /// The entry that it is compared with.
    pub theirs: &'static str,
    /// The least that the ratio may be, on one thread and on two workers.
    pub at_least: [f64; 2],
}

/// All of them.
pub const ALL: [Budget; 7] = [
    Budget {
        title: "the whole way, decoded, against a bounded mpsc",
        row: "one",
        ours: "tramline",
        theirs: "tokio mpsc",
        at_least: [0.8, 0.6],
    },
    Budget {
        title: "the session alone against that mpsc, nothing decoded",
        row: "one-bare",
        ours: "tramline, session alone",
        theirs: "tokio mpsc",
        at_least: [0.5, 0.5],
    },
    Budget {
        title: "the whole way against the closest peer",
        row: "one",
        ours: "tramline",
        theirs: "ruststream",
        at_least: [1.5, 1.5],
    },
    Budget {
        title: "the same, encoding a value too",
        row: "one-value",
        ours: "tramline",
        theirs: "ruststream",
        at_least: [1.5, 1.5],
    },
    Budget {
        title: "lossless fan-out to 8 against 8 mpsc",
        row: "fan-8-bare",
        ours: "tramline, session alone",
        theirs: "tokio mpsc",
        at_least: [0.7, 0.7],
    },
    Budget {
        title: "1 subject among 1,000 subscriptions against 1 alone, session",
        row: "among",
        ours: "tramline, session alone, among 1,000",
        theirs: "tramline, session alone, alone",
        at_least: [0.8, 0.8],
    },
    Budget {
        title: "the same, the whole bus",
        row: "among",
        ours: "tramline, closures, among 1,000",
        theirs: "tramline, closures, alone",
        at_least: [0.8, 0.8],
    },
];

impl Budget {
    /// The ratio, round by round, where this is its row.
    pub fn ratio(&self, row: &Row, measured: &[Measured]) -> Option<Spread> {
        let of = |name| measured.get(row.entry(name)?);
        let (ours, theirs) = (of(self.ours)?, of(self.theirs)?);
        (row.key == self.row).then(|| Spread::of_ratios(&ours.rates, &theirs.rates))
    }

    /// The least that it may be there.
    pub fn at_least(&self, threads: Threads) -> f64 {
        match threads {
            Threads::One => self.at_least[0],
            Threads::Two => self.at_least[1],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows;

    #[test]
    fn a_budget_names_entries_of_a_row() {
        let rows = rows::all();
        for budget in &ALL {
            let row = rows.iter().find(|row| row.key == budget.row).expect("a row");
            assert!(row.entry(budget.ours).is_some() && row.entry(budget.theirs).is_some(), "{}", budget.title);
        }
    }
}
