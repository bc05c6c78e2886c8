//! The executor with the metrics that guide a search.

use pleach_exec::Seed;
use pleach_exec::{ExecutorSnapshot, Machine};
use pleach_explore::{Step, Stepper};
use pleach_ir::callgraph::CallGraph;
use pleach_ir::distance::{Distances, ToUncovered, UNREACHABLE};
use pleach_ir::{InstId, Span};
use pleach_state::State;
use pleach_state::access_path::frames;
use pleach_state::seams::{PathOracle, SearchMetrics};

/// Frames looked at for the way back to uncovered code.
const FRAMES: usize = 64;

pub struct GuidedExecutor {
    pub machine: Machine,
    guide: Option<DistanceGuide>,
    /// the state of the run before a sub-exploration
    snapshot: Option<ExecutorSnapshot>,
    /// inputs that are followed first
    pub(crate) seeds: Vec<Seed>,
    /// where the last step began
    pub place: Span,
}

/// Distances as of some coverage. They are computed anew after coverage has grown, but at most once per fixed number of
/// steps. Steps are counted and not timed, so that equal runs stay equal.
struct DistanceGuide {
    distances: Distances,
    to_uncovered: ToUncovered,
    covered: u64,
    steps: u64,
    every: u64,
}

impl GuidedExecutor {
    pub fn new(machine: Machine, needs_distances: bool) -> GuidedExecutor {
        let guide = needs_distances.then(|| {
            let calls = CallGraph::new(&machine.program);
            let distances = Distances::new(&machine.program, &calls);
            let to_uncovered = distances.to_uncovered(|f, _| !machine.coverage.counts_for_coverage[f.index()]);
            let blocks: usize = machine.program.functions.iter().map(|f| f.blocks.len()).sum();
            DistanceGuide { distances, to_uncovered, covered: 0, steps: 0, every: 16 + blocks as u64 / 64 }
        });
        GuidedExecutor { machine, guide, snapshot: None, seeds: Vec::new(), place: Span::default() }
    }
}

impl SearchMetrics for GuidedExecutor {
    fn to_uncovered(&self, state: &State) -> Option<u32> {
        let guide = self.guide.as_ref()?;
        let callers = frames(state).skip(1).take(FRAMES - 1).map(|(_, f)| (f.func, InstId(f.inst)));
        let stack: Vec<_> = std::iter::once((state.frame.func, InstId(state.inst))).chain(callers).collect();
        let distance = guide.to_uncovered.along_stack(&guide.distances, stack.into_iter().rev());
        Some(distance).filter(|d| *d != UNREACHABLE)
    }
    fn visits(&self, state: &State) -> u64 {
        let function = self.machine.coverage.blocks.get(state.frame.func.index());
        function.and_then(|f| f.get(state.block.index())).copied().unwrap_or(0)
    }
    fn seeds(&self) -> u32 {
        self.seeds.len() as u32
    }
    fn satisfied_seeds(&self, state: &State, among: &[u32], known: usize) -> Vec<u32> {
        let fits = |n: &u32| self.seeds[*n as usize].satisfies(&self.machine, state, known);
        among.iter().copied().filter(fits).collect()
    }
}

impl Stepper for GuidedExecutor {
    fn step(&mut self, state: &mut State, budget: u32) -> Step {
        self.place = self.span(state);
        self.machine.step_within_budget(state, budget)
    }
    fn stop_at(&mut self, points: Option<pleach_state::StopPoints>) {
        self.machine.stop_at(points);
    }
    fn instructions(&self) -> u64 {
        self.machine.instructions
    }
    fn span(&self, state: &State) -> Span {
        let f = self.machine.program.function(state.frame.func);
        f.spans.get(state.inst as usize).copied().unwrap_or_default()
    }
    fn logic(&mut self) -> &mut dyn PathOracle {
        &mut self.machine
    }
    fn sub_exploration(&mut self, on: bool) {
        if on {
            self.snapshot = Some(self.machine.snapshot());
        } else if let Some(before) = self.snapshot.take() {
            self.machine.restore_snapshot(before);
        }
    }
    fn blocks_covered(&self) -> u64 {
        self.machine.coverage.new_blocks
    }
    fn refresh(&mut self) {
        let Some(guide) = &mut self.guide else { return };
        guide.steps += 1;
        let coverage = &self.machine.coverage;
        if coverage.new_blocks != guide.covered && guide.steps >= guide.every {
            guide.to_uncovered = guide
                .distances
                .to_uncovered(|f, b| !coverage.counts_for_coverage[f.index()] || coverage.is_covered(f, b));
            guide.covered = coverage.new_blocks;
            guide.steps = 0;
        }
    }
}
