//! `summary.json`: the deterministic account of a run; `timing.json`: everything the clock touched.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::{ErrorRecord, TestId};

/// How paths ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paths {
    /// Ended normally.
    pub completed: u64,
    /// Ended in an error.
    pub errored: u64,
    /// Given up before their end; every reason is in [`Summary::cut`].
    pub cut: u64,
    /// Proved redundant.
    pub pruned: u64,
    /// Went on as part of a merged path: each merged path stands for several of these.
    #[serde(default)]
    pub merged: u64,
}

impl Paths {
    /// All paths.
    pub fn total(&self) -> u64 {
        self.completed + self.errored + self.cut + self.pruned
    }
}

/// A reason why exploration was not exhaustive.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cut {
    /// Short name, for instance `unsupported` or `max-time`.
    pub reason: String,
    /// How many paths it cut.
    pub count: u64,
    /// What exactly, for instance the instruction.
    pub detail: String,
}

/// An assumption of a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Assumption {
    /// Short name, for instance `arguments` or `environment`.
    pub kind: String,
    /// A clause that completes "assuming that".
    pub clause: String,
}

/// What was found out about one target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetResult {
    /// As it was given.
    pub target: String,
    /// Where it is, `file:line`.
    pub at: String,
    /// `reachable`, `unreachable` or `unknown`.
    pub result: String,
    /// Why, in a sentence.
    pub reason: String,
    /// A test that reaches it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<TestId>,
    /// What the native run of the test showed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub replay: String,
}

/// What could be covered, and how much was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Lines with code.
    pub lines: u64,
    /// Lines executed.
    pub lines_covered: u64,
    /// Branch directions.
    pub branches: u64,
    /// Branch directions taken.
    pub branches_covered: u64,
}

/// A loop whose states were subsumed by one at its header, or should have been.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Default, Debug)]
pub struct LoopRecord {
    /// Where its header is.
    pub file: String,
    pub line: u32,
    pub function: String,
    /// States that came back and were explored once more.
    pub unrolled: u64,
    /// Different states at its header, if one came there again. All of them were explored where the answer is safe.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub states: u64,
    /// The most rounds on one path.
    pub rounds: u64,
    /// States that came back and are neither subsumed nor explored.
    #[serde(default)]
    pub waiting: u64,
    /// Conditions on states at the header that one round keeps and that are enough for all that follows; one for each
    /// state of the header that was not subsumed by another, each a list of conjuncts.
    pub invariants: Vec<Vec<String>>,
}

impl LoopRecord {
    /// Something is known of it for any number of iterations.
    pub fn is_proved(&self) -> bool {
        !self.invariants.is_empty() || self.states > 0
    }
}

/// What holds of every call of a recursive function.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Default, Debug)]
pub struct ContractRecord {
    /// Where the function is.
    pub file: String,
    pub line: u32,
    pub function: String,
    /// Of its arguments.
    pub requires: Vec<String>,
    /// Of its result, and of the global variables that it changes.
    pub ensures: Vec<String>,
}

/// Explorations that took turns with the run.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Default, Debug)]
pub struct PortfolioRecord {
    /// How often one of them had its turn.
    pub turns: u64,
    /// The flags of the one that has decided; `None` if the run was decided without them, or not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
}

/// States that left a loop after different numbers of rounds and became one.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Default, Debug)]
pub struct PatternRecord {
    /// Where they left the loop.
    pub file: String,
    pub line: u32,
    pub function: String,
    /// What their paths have in common: before the rounds, in each round, behind them; a letter for each kind of
    /// branch.
    pub words: [String; 3],
    /// The conditions of these branches; x is the number of the round, or of rounds.
    pub formulas: [Vec<String>; 3],
    /// The number of rounds in the merged condition.
    pub counter: String,
    /// The values that it may have, fewest first.
    pub rounds: Vec<u64>,
    /// The merged condition.
    pub condition: Vec<String>,
}

/// The result of a run. Equal bytes on a second run with the same input, flags and seed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Whether every feasible path was followed to its end.
    pub complete: bool,
    /// How paths ended.
    pub paths: Paths,
    /// Errors, in the order found.
    pub errors: Vec<ErrorRecord>,
    /// Executed lines by file.
    pub covered: BTreeMap<String, Vec<u32>>,
    /// Coverage in numbers.
    pub totals: Totals,
    /// Why exploration was not exhaustive.
    pub cut: Vec<Cut>,
    /// The assumptions of the run about the program's environment: `complete` and `verdict` hold under it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<Assumption>,
    /// One word: `safe`, `safe-assuming`, `unsafe`, `unknown`, or the command's own.
    pub verdict: String,
    /// What was verified, by name; only of `verify`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub property: String,
    /// The verdict in SV-COMP's words; only of `verify`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub svcomp: String,
    /// Why the verdict is `unknown`, or under which assumptions it is safe, in sentences; only of `verify`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// What the native run of the counterexample showed; only of `verify`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub replay: String,
    /// What was found out about each target; only of `reach`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<TargetResult>,
    /// The flags in effect.
    pub flags: Vec<String>,
    /// Seed of the random choices.
    pub seed: u64,
    /// Version of the tool.
    pub version: String,
    /// Function where execution starts.
    pub entry: String,
    /// Program files.
    pub sources: Vec<String>,
    /// Tests written.
    pub tests: u64,
    /// Instructions executed.
    pub instructions: u64,
    /// Forks.
    pub forks: u64,
    /// Pruning statistics by name; empty when it is off.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pruning: BTreeMap<String, u64>,
    /// Loops that states came back to; empty where loops are unrolled to their end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loops: Vec<LoopRecord>,
    /// Recursive functions whose calls were proved by a contract.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contracts: Vec<ContractRecord>,
    /// Explorations that took turns with the run; absent without a turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub portfolio: Option<PortfolioRecord>,
    /// Figures of merging; empty when it is off.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub merging: BTreeMap<String, u64>,
    /// The first merges of states that differ in how often they went through a loop.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patterns: Vec<PatternRecord>,
    /// Memory statistics by name: how pointers with multiple targets were resolved.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub memory: BTreeMap<String, u64>,
    /// Times a state was evicted because the memory limit was reached, to be re-executed later.
    #[serde(default, alias = "parked", skip_serializing_if = "is_zero")]
    pub evicted: u64,
    /// Times a state was deferred because a query ran out of its budget.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub deferred: u64,
    /// Most states alive at a time.
    pub states_peak: u64,
    /// Solver counters (no times).
    pub solver: BTreeMap<String, u64>,
    /// Warnings worth keeping.
    pub warnings: Vec<String>,
}

/// Wall-clock facts, separate from the summary because they differ between runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Start, seconds since 1970.
    pub started: u64,
    /// Wall-clock duration.
    pub elapsed_us: u64,
    /// Processor time of the process.
    pub cpu_us: u64,
    /// Largest resident set.
    pub memory_peak_bytes: u64,
    /// What the exploration added to the resident set, per state when most were alive.
    #[serde(default)]
    pub memory_per_state_bytes: u64,
    /// Time per component, for instance the solver's.
    pub components_us: BTreeMap<String, u64>,
    /// The lines of the program whose queries took the most time in a solver.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub costly_lines: Vec<CostlyLine>,
}

/// A line of the program, and what its queries took in a solver.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CostlyLine {
    pub function: String,
    pub file: String,
    pub line: u32,
    /// Queries that no link before the solver answered.
    pub queries: u64,
    pub time_us: u64,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}
