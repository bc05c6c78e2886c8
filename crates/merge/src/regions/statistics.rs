//! What was merged, in figures.

use crate::check::Checked;
use crate::config::MergeConfig;
use crate::fields::Refusal;
use crate::guard::MergeMethod;
use crate::measure::MergedSizes;
use crate::pattern::NoPattern;
use std::collections::BTreeMap;

/// What was merged so far.
#[derive(Clone, Default, Debug)]
pub(super) struct MergeStatistics {
    pub regions: u64,
    pub rounds: u64,
    pub groups: u64,
    pub states: u64,
    pub largest_group: u64,
    pub refused: BTreeMap<Refusal, u64>,
    pub refused_states: u64,
    pub checked: Checked,
    pub sizes: MergedSizes,
    pub patterns: PatternStatistics,
    /// merges inside loops
    pub held_merges: u64,
}

/// Of merges by patterns.
#[derive(Clone, Default, Debug)]
pub(super) struct PatternStatistics {
    pub groups: u64,
    pub states: u64,
    pub most_rounds: u64,
    pub linear_values: u64,
    pub chosen_values: u64,
    pub refused: BTreeMap<NoPattern, u64>,
}

impl MergeStatistics {
    /// Names and figures, for the summary.
    pub fn lines(&self, config: &MergeConfig) -> Vec<(String, u64)> {
        let s = self;
        let mut all: Vec<(String, u64)> = [
            ("regions", s.regions),
            ("rounds", s.rounds),
            ("groups", s.groups),
            ("states_in", s.states),
            ("states_out", s.groups),
            ("largest_group", s.largest_group),
            ("refused_states", s.refused_states),
            ("conditions_before", s.sizes.conditions_before),
            ("conditions_after", s.sizes.conditions_after),
            ("values_before", s.sizes.values_before),
            ("values_after", s.sizes.values_after),
            ("largest_value", s.sizes.largest_value),
        ]
        .map(|(name, n)| (name.to_owned(), n))
        .to_vec();
        if config.incremental {
            all.push(("held_merges".to_owned(), s.held_merges));
        }
        if config.method == MergeMethod::Pattern {
            let p = &s.patterns;
            let more = [
                ("patterns", p.groups),
                ("pattern_states", p.states),
                ("pattern_rounds", p.most_rounds),
                ("pattern_values", p.linear_values),
                ("pattern_choices", p.chosen_values),
            ];
            all.extend(more.map(|(name, n)| (name.to_owned(), n)));
            all.extend(p.refused.iter().map(|(why, n)| (format!("no pattern: {}", why.describe()), *n)));
        }
        if config.check {
            let c = s.checked;
            let checks = [("checked_right", c.right), ("checked_unknown", c.unknown), ("checked_wrong", c.wrong)];
            all.extend(checks.map(|(name, n)| (name.to_owned(), n)));
        }
        all.extend(s.refused.iter().map(|(why, n)| (format!("refused: {}", why.describe()), *n)));
        all
    }
}
