//! Which state next: one file per strategy, and the names they go by.

mod batching;
mod bfs;
mod dfs;
mod interleaved;
mod pdf;
mod random_path;
mod random_state;
mod seeds_first;
mod subtree;
mod weighted;

pub use batching::Batching;
pub use bfs::Bfs;
pub use dfs::Dfs;
pub use interleaved::Interleaved;
pub use pdf::Pdf;
pub use random_path::RandomPath;
pub use random_state::RandomState;
pub use seeds_first::SeedsFirst;
pub use subtree::Subtree;
pub use weighted::{Weight, Weighted};

use crate::rng::Rng;
use pleach_state::seams::Searcher;

/// KLEE's names, and `subtree`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Strategy {
    Dfs,
    Bfs,
    RandomState,
    RandomPath,
    Nurs(Weight),
    Subtree,
}

const NAMES: [(&str, Strategy); 12] = [
    ("dfs", Strategy::Dfs),
    ("bfs", Strategy::Bfs),
    ("random-state", Strategy::RandomState),
    ("random-path", Strategy::RandomPath),
    ("nurs:covnew", Strategy::Nurs(Weight::CoveringNew)),
    ("nurs:md2u", Strategy::Nurs(Weight::MinDistToUncovered)),
    ("nurs:depth", Strategy::Nurs(Weight::Depth)),
    ("nurs:rp", Strategy::Nurs(Weight::RandomPath)),
    ("nurs:icnt", Strategy::Nurs(Weight::InstCount)),
    ("nurs:cpicnt", Strategy::Nurs(Weight::CallPathInstCount)),
    ("nurs:qc", Strategy::Nurs(Weight::QueryCost)),
    ("subtree", Strategy::Subtree),
];

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SearchError {
    #[error("unknown search strategy `{0}`; valid are {names}", names = NAMES.map(|(n, _)| n).join(", "))]
    Unknown(String),
    #[error("no search strategy given")]
    Empty,
}

impl Strategy {
    pub fn as_str(self) -> &'static str {
        NAMES.iter().find(|(_, s)| *s == self).map_or("?", |(n, _)| n)
    }

    /// One name or several with commas between.
    pub fn parse_list(text: &str) -> Result<Vec<Strategy>, SearchError> {
        let one = |name: &str| {
            let found = NAMES.iter().find(|(n, _)| *n == name).map(|(_, s)| *s);
            found.ok_or_else(|| SearchError::Unknown(name.to_string()))
        };
        text.split(',').map(|n| one(n.trim())).collect()
    }

    fn build(self, rng: Rng, last_sibling_first: bool) -> Box<dyn Searcher> {
        match self {
            Strategy::Dfs => Box::new(Dfs::new(last_sibling_first)),
            Strategy::Bfs => Box::new(Bfs::default()),
            Strategy::RandomState => Box::new(RandomState::new(rng)),
            Strategy::RandomPath => Box::new(RandomPath::new(rng)),
            Strategy::Nurs(weight) => Box::new(Weighted::new(weight, rng)),
            Strategy::Subtree => Box::new(Subtree::new(rng)),
        }
    }
}

#[derive(Clone, Debug)]
pub struct SearchConfig {
    /// Used in turn. Default, as in KLEE: random-path and nurs:covnew.
    pub strategies: Vec<Strategy>,
    /// Stay with a chosen state for this many instructions. Default: none, choose after every step.
    pub batch_instructions: Option<u64>,
    /// Seed of the random choices. Default: 0.
    pub seed: u64,
    /// Depth first goes into the last sibling first, as KLEE does. Default: the first.
    pub last_sibling_first: bool,
}

impl Default for SearchConfig {
    fn default() -> SearchConfig {
        SearchConfig {
            strategies: vec![Strategy::RandomPath, Strategy::Nurs(Weight::CoveringNew)],
            batch_instructions: None,
            seed: 0,
            last_sibling_first: false,
        }
    }
}

impl SearchConfig {
    pub fn build(&self) -> Result<Box<dyn Searcher>, SearchError> {
        let each = |(i, s): (usize, &Strategy)| s.build(Rng::new(self.seed, 1 + i as u64), self.last_sibling_first);
        let mut all: Vec<Box<dyn Searcher>> = self.strategies.iter().enumerate().map(each).collect();
        let searcher = match all.len() {
            0 => return Err(SearchError::Empty),
            1 => all.remove(0),
            _ => Box::new(Interleaved::new(all)),
        };
        Ok(match self.batch_instructions {
            Some(n) => Box::new(Batching::new(searcher, n)),
            None => searcher,
        })
    }
    /// Whether [`pleach_state::seams::SearchMetrics::to_uncovered`] will be needed.
    pub fn needs_distances(&self) -> bool {
        let needs = |w| matches!(w, Weight::CoveringNew | Weight::MinDistToUncovered);
        self.strategies.iter().any(|s| matches!(s, Strategy::Nurs(w) if needs(*w)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parsed_and_wrong_ones_explained() {
        for (name, strategy) in NAMES {
            assert_eq!(Strategy::parse_list(name), Ok(vec![strategy]));
            assert_eq!(strategy.as_str(), name);
        }
        let two = Strategy::parse_list("dfs, nurs:qc").unwrap();
        assert_eq!(two, [Strategy::Dfs, Strategy::Nurs(Weight::QueryCost)]);
        let why = Strategy::parse_list("dfs,best").unwrap_err().to_string();
        assert!(why.contains("`best`") && why.contains("random-path, nurs:covnew"), "{why}");
        assert!(Strategy::parse_list("").is_err());
        assert!(SearchConfig { strategies: vec![], ..SearchConfig::default() }.build().is_err());
    }
}
