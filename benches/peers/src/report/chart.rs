//! The chart.

use super::Measurement;
use crate::rows::Row;

/// Rates.
pub fn chart(_rows: &[Row], _measurements: &[Measurement]) -> String {
    String::new()
}
