//! How much memory this process takes, as Linux says it.

use std::fs;

/// The most that it ever had, in MiB. `None` where there is no `/proc`.
pub fn peak() -> Option<f64> {
    status("VmHWM:")
}

/// What it has now, in MiB. `None` where there is no `/proc`.
pub fn now() -> Option<f64> {
    status("VmRSS:")
}

fn status(field: &str) -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let kib: f64 = status.lines().find_map(|line| line.strip_prefix(field))?.trim().split(' ').next()?.parse().ok()?;
    Some(kib / 1024.0)
}
