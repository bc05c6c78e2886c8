//! Paths of a finished run, executed again: by the decisions of a node of its tree, or by the inputs of a test.
//!
//! *Invariant*: the engine is deterministic, so the same decisions lead to the same state. Each fork must have as many
//! sides as the tree has children there; where it has not, the path is not followed further.

use pleach::Engine;
use pleach_command::CliError;
use pleach_exec::{FixedInputs, Machine};
use pleach_explore::{Step, Stepper};
use pleach_report::TreeReader;
use pleach_session::Session;
use pleach_state::{End, State};
use std::collections::BTreeMap;

/// More blocks than this are not executed for one node.
const MAX_BLOCKS: u64 = 10_000_000;

/// A step ends when the next block is entered.
const ONE_BLOCK: u32 = 0;

/// Which side was taken at a fork, and of how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    pub side: usize,
    pub of: usize,
}

/// The decisions from the root to a node. Nodes with one child are comparisons, not forks.
pub fn choices(tree: &TreeReader, children: &BTreeMap<u32, Vec<u32>>, node: u32) -> Result<Vec<Choice>, String> {
    if !tree.nodes.contains_key(&node) {
        return Err(format!("the tree has no node {node}"));
    }
    let mut out = Vec::new();
    let mut at = node;
    while let Some(parent) = tree.nodes.get(&at).and_then(|n| n.parent).filter(|p| *p < at) {
        if tree.merged.values().any(|into| *into == at) {
            return Err(format!("node {at} is a merged one: there is no single path to it"));
        }
        let siblings = children.get(&parent).map_or(&[][..], Vec::as_slice);
        if siblings.len() > 1 {
            let side = siblings.iter().position(|c| *c == at).unwrap_or(0);
            out.push(Choice { side, of: siblings.len() });
        }
        at = parent;
    }
    out.reverse();
    Ok(out)
}

/// The children of each node, in the order in which they were made.
pub fn children(tree: &TreeReader) -> BTreeMap<u32, Vec<u32>> {
    let mut all: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for node in tree.nodes.values() {
        if let Some(parent) = node.parent {
            all.entry(parent).or_default().push(node.id);
        }
    }
    all
}

/// Where a walk is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Walked {
    /// a block, or what is left of it after a call, is executed next
    Block,
    End,
}

/// Where a path was followed to.
pub struct Followed {
    pub state: State,
    /// how it ends, if it ends there
    pub end: Option<End>,
}

/// Executes paths.
pub struct Paths {
    engine: Engine<'static>,
    initial: Vec<State>,
}

impl Paths {
    pub fn new(session: &Session, inputs: Option<FixedInputs>) -> Result<Paths, CliError> {
        let engine = session.stepper(inputs)?;
        let initial = engine.initial().to_vec();
        Ok(Paths { engine, initial })
    }

    pub fn machine(&mut self) -> &mut Machine {
        &mut self.engine.executor.machine
    }

    /// After these decisions, and then to where the next is made or the path ends.
    pub fn follow(&mut self, choices: &[Choice]) -> Result<Followed, String> {
        let (mut state, mut left) = self.first(choices)?;
        for _ in 0..MAX_BLOCKS {
            let before = state.clone();
            match self.engine.executor.step(&mut state, ONE_BLOCK) {
                Step::Next | Step::Deferred => {}
                Step::End(end) if left.is_empty() => {
                    // A program that has ended has no frames; one that fails stays where it is.
                    let state = if matches!(end, End::Error(_)) { state } else { before };
                    return Ok(Followed { state, end: Some(end) });
                }
                Step::End(_) => return Err("the path ends before the node".into()),
                Step::Fork(mut children) => {
                    if children.len() == 1 && children[0].end.is_none() {
                        state = children.remove(0).state;
                        continue;
                    }
                    let [choice, rest @ ..] = left else { return Ok(Followed { state: before, end: None }) };
                    if choice.of != children.len() {
                        return Err(format!("a fork has {} sides, the tree has {}", children.len(), choice.of));
                    }
                    let child = children.swap_remove(choice.side);
                    left = rest;
                    match child.end {
                        Some(end) if left.is_empty() => return Ok(Followed { state: child.state, end: Some(end) }),
                        Some(_) => return Err("the path ends before the node".into()),
                        None => state = child.state,
                    }
                }
            }
        }
        Err(format!("it takes more than {MAX_BLOCKS} blocks to get there"))
    }

    /// The first state, and the decisions that are left.
    fn first<'a>(&self, choices: &'a [Choice]) -> Result<(State, &'a [Choice]), String> {
        let several = self.initial.len() > 1;
        let (first, left) = match choices {
            [first, rest @ ..] if several => (first.side, rest),
            _ if several => return Err("the root stands for several first states".into()),
            _ => (0, choices),
        };
        let state = self.initial.get(first).cloned().ok_or("there is no first state")?;
        Ok((state, left))
    }

    /// One path, block by block, where the inputs leave only one. `each` sees the state before each block and at the
    /// end.
    pub fn walk(&mut self, each: &mut dyn FnMut(&mut Machine, &State, Walked)) -> Result<End, String> {
        self.walk_while(&mut |machine, state, at| {
            each(machine, state, at);
            true
        })
    }

    /// As [`walk`](Self::walk), until `each` says that it has seen enough, which is an error.
    pub fn walk_while(&mut self, each: &mut dyn FnMut(&mut Machine, &State, Walked) -> bool) -> Result<End, String> {
        let mut state = self.first(&[Choice { side: 0, of: 1 }][..usize::from(self.initial.len() > 1)])?.0;
        for _ in 0..MAX_BLOCKS {
            if !each(&mut self.engine.executor.machine, &state, Walked::Block) {
                return Err("the path is longer than wanted".into());
            }
            match self.engine.executor.step(&mut state, ONE_BLOCK) {
                Step::Next | Step::Deferred => {}
                Step::End(end) => {
                    each(&mut self.engine.executor.machine, &state, Walked::End);
                    return Ok(end);
                }
                Step::Fork(mut children) => {
                    // The inputs are fixed: other sides are about memory that nobody wrote.
                    let at = children.iter().position(|c| c.end.is_none()).unwrap_or(0);
                    let child = children.swap_remove(at);
                    state = child.state;
                    if let Some(end) = child.end {
                        each(&mut self.engine.executor.machine, &state, Walked::End);
                        return Ok(end);
                    }
                }
            }
        }
        Err(format!("the path has more than {MAX_BLOCKS} blocks"))
    }
}
