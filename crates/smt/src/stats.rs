//! Statistics of a run, by name and in the order of the names.

use std::collections::BTreeMap;
use std::time::Duration;

/// Collected from all links by [`crate::Solver::stats`]. Names are `link.figure`.
#[derive(Clone, Default, Debug, PartialEq, Eq)]
pub struct Stats {
    counts: BTreeMap<&'static str, u64>,
    times: BTreeMap<&'static str, Duration>,
}

impl Stats {
    pub fn new() -> Stats {
        Stats::default()
    }
    pub fn add(&mut self, name: &'static str, n: u64) {
        *self.counts.entry(name).or_default() += n;
    }
    /// For a figure that several links share.
    pub fn set(&mut self, name: &'static str, n: u64) {
        self.counts.insert(name, n);
    }
    pub fn add_time(&mut self, name: &'static str, time: Duration) {
        *self.times.entry(name).or_default() += time;
    }
    pub fn get(&self, name: &str) -> u64 {
        self.counts.get(name).copied().unwrap_or(0)
    }
    pub fn time(&self, name: &str) -> Duration {
        self.times.get(name).copied().unwrap_or_default()
    }
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        self.counts.iter().map(|(k, v)| (*k, *v))
    }
    pub fn times(&self) -> impl Iterator<Item = (&'static str, Duration)> + '_ {
        self.times.iter().map(|(k, v)| (*k, *v))
    }
}
