//! What the loop tells a pruner, on made-up trees.

use super::*;

/// Subsumes the first child of the root, gives every other state a node of its own at its first check, and keeps a
/// diary.
#[derive(Default)]
struct RecordingPruner {
    open: Vec<NodeId>,
    leaves: Vec<NodeId>,
    closed: Vec<NodeId>,
    gave_node: Vec<u32>,
    /// how many forks of a subsumed state it wants to see, and what it saw
    curiosity: u64,
    seen: Option<(u64, bool)>,
}

impl Subsumption for RecordingPruner {
    fn check_subsumed(&mut self, state: &mut State, _: &Tree, _: &mut dyn PathOracle) -> PruneDecision {
        match state.fresh {
            2 => PruneDecision::Subsumed(NodeId::ROOT),
            place if place > 2 && !self.gave_node.contains(&place) => {
                self.gave_node.push(place);
                PruneDecision::NewNode
            }
            _ => PruneDecision::Continue,
        }
    }
}

impl Interpolator for RecordingPruner {
    fn open(&mut self, node: NodeId, state: &mut State, _: &Tree) {
        assert_eq!(node, state.node);
        self.open.push(node);
    }
    fn ended(&mut self, state: &mut State, _: &End, _: &mut dyn PathOracle) {
        self.leaves.push(state.node);
    }
    fn on_subsumed(&mut self, state: &mut State, _: NodeId, _: &mut dyn PathOracle) {
        self.leaves.push(state.node);
    }
    fn close(&mut self, node: NodeId, tree: &Tree, _: &mut dyn PathOracle) {
        assert!(self.open.contains(&node));
        assert!(tree.children(node).all(|c| self.closed.contains(&c)), "children close before their parent");
        assert!(tree.node(node).status == Status::Inner || self.leaves.contains(&node));
        self.closed.push(node);
    }
}

impl CostSampler for RecordingPruner {
    fn wants_sample(&mut self, _: Effort, forks: u64) -> bool {
        forks < self.curiosity
    }
    fn sampled(&mut self, _: Effort, forks: u64, ended: bool) {
        self.seen = Some((forks, ended));
    }
}

impl Pruner for RecordingPruner {
    fn cost_sampler(&mut self) -> Option<&mut dyn CostSampler> {
        Some(self)
    }
}

#[test]
fn a_pruner_hears_of_every_node_in_order() {
    for names in ["dfs", "bfs", "random-path", "random-path,nurs:covnew"] {
        let mut machine = Synthetic::new(2, 4);
        let (mut run, mut sink) = (Run::new(RunConfig::default(), Halt::new()), Recorder::default());
        let mut searcher = CheckedSearcher::new(search(names, 0).build().unwrap());
        let mut pruner = RecordingPruner::default();
        run.explore(
            vec![machine.initial()],
            &mut machine,
            &mut sink,
            Seams { searcher: &mut searcher, pruner: &mut pruner, merger: &mut NoMerger },
        );
        assert_eq!((run.counters.pruned, run.counters.completed), (1, machine.leaves() / 2), "{names}");
        assert_eq!(pruner.open.len(), run.tree.len());
        assert_eq!(pruner.closed, sink.closed);
        assert_eq!(run.tree.node(NodeId(1)).status, Status::Pruned);
        assert!((run.counters.progress_share - 1.0).abs() < 1e-9);
    }
}

#[test]
fn a_cost_sample_sees_the_subtree_and_changes_nothing() {
    let explored = |curiosity| {
        let mut machine = Synthetic::new(2, 4);
        let (mut run, mut sink) = (Run::new(RunConfig::default(), Halt::new()), Recorder::default());
        let mut searcher = CheckedSearcher::new(search("dfs", 0).build().unwrap());
        let mut pruner = RecordingPruner { curiosity, ..RecordingPruner::default() };
        run.explore(
            vec![machine.initial()],
            &mut machine,
            &mut sink,
            Seams { searcher: &mut searcher, pruner: &mut pruner, merger: &mut NoMerger },
        );
        (pruner.seen, (run.counters.pruned, run.counters.completed, run.tree.len(), sink.closed))
    };
    let (seen, run) = explored(0);
    assert_eq!(seen, None);
    // Below the subsumed child of the root there are three levels of two children each, and a failing third on every
    // other.
    assert_eq!(explored(1000), (Some((3 + 2 * 2 + 4 * 3, true)), run.clone()));
    assert_eq!(explored(5), (Some((3 + 2, false)), run));
}

/// Knows rounds, or does not.
struct RoundsPruner(bool);

impl Subsumption for RoundsPruner {
    fn check_subsumed(&mut self, _: &mut State, _: &Tree, _: &mut dyn PathOracle) -> PruneDecision {
        PruneDecision::Continue
    }
}

impl Interpolator for RoundsPruner {
    fn open(&mut self, _: NodeId, _: &mut State, _: &Tree) {}
    fn close(&mut self, _: NodeId, _: &Tree, _: &mut dyn PathOracle) {}
}

impl Pruner for RoundsPruner {
    fn knows_rounds(&self) -> bool {
        self.0
    }
}

#[test]
fn a_cut_by_the_bound_on_rounds_taints_unless_the_pruner_knows_rounds() {
    let ends = [End::Cut(Cut::Unwind(3)), End::Cut(Cut::Depth), End::Exit(None)];
    let statuses = |knows: bool| ends.each_ref().map(|e| bounded(e, &RoundsPruner(knows)));
    assert_eq!(statuses(false), [None, None, None]);
    assert_eq!(statuses(true), [Some(Status::Bounded), None, None]);
    for (status, taints) in [(Status::Cut, true), (Status::Bounded, false)] {
        let mut tree = Tree::new();
        let leaf = tree.grow(NodeId::ROOT, Terms::TRUE, Span::default());
        assert_eq!(tree.end(leaf, status, 0), [leaf, NodeId::ROOT]);
        assert_eq!(tree.node(NodeId::ROOT).tainted, taints);
    }
}
