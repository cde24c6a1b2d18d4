//! Several figures for one thing: the median, how far they are apart, and whether a gap is more than that.

/// Figures, the larger the better.
#[derive(Clone, Copy, Debug)]
pub struct Spread {
    /// The smallest.
    pub worst: f64,
    /// The one in the middle.
    pub median: f64,
    /// The largest.
    pub best: f64,
    /// Where the middle half of them lies.
    pub middle: [f64; 2],
}

impl Spread {
    /// Of more than none.
    pub fn new(figures: impl IntoIterator<Item = f64>) -> Self {
        let mut figures: Vec<_> = figures.into_iter().collect();
        figures.sort_by(f64::total_cmp);
        let at = |part: usize| figures[(figures.len() - 1) * part / 4];
        Self { worst: at(0), median: at(2), best: at(4), middle: [at(1), at(3)] }
    }

    /// Of ratios, round by round.
    pub fn of_ratios(ours: &[f64], theirs: &[f64]) -> Self {
        Self::new(ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs))
    }

    /// Whether ratios like these are no difference: the middle half of them lies on both sides of 1.
    pub fn is_indistinguishable(&self) -> bool {
        self.middle[0] <= 1.0 && 1.0 <= self.middle[1]
    }
}
