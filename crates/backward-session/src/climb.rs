//! From a target through the callers of its function to a root, usually `main`.
//!
//! *Idea*: an execution that reaches the target has a stack of calls from the root to the target's function. A function
//! from whose start no execution reaches the target, whatever globals and arguments are there, ends every stack that it
//! is on. *Invariant*: if each stack has such a function, or if none begins at the root, the target is not reached.
//! *Direction*: reached is only what is reached from the root itself, with the globals' initial values.

use crate::TargetQuery;
use pleach_backward::{Answer, Config, Confirmation, Context, Effort, Exactness, InputHeap, decide};
use pleach_ir::callgraph::CallGraph;
use pleach_ir::{FuncId, Program};
use std::collections::{BTreeSet, VecDeque};

/// What is known of the calls of a program.
pub struct Climber<'a> {
    program: &'a Program,
    calls: CallGraph,
    root: FuncId,
    /// calls between the root and the target's function, at most
    depth: u32,
    /// a function without a body gets pointers, and may call what they refer to
    calls_back: bool,
}

impl<'a> Climber<'a> {
    pub fn new(program: &'a Program, root: FuncId, depth: u32) -> Climber<'a> {
        let calls = CallGraph::new(program);
        let calls_back = program.functions.iter().any(pleach_backward::may_call_back);
        Climber { program, calls, root, depth, calls_back }
    }

    /// The answer from the root, and where the target was refuted on the way.
    pub fn decide(
        &self,
        query: &TargetQuery,
        functions: &BTreeSet<FuncId>,
        config: &Config,
        confirm: &mut dyn FnMut(&InputHeap, Exactness) -> Confirmation,
    ) -> (Answer, Effort, String) {
        let mut effort = Effort::default();
        let (mut refuted, mut seen, mut open) = (Vec::new(), functions.clone(), Vec::new());
        let mut todo: VecDeque<(FuncId, u32)> = functions.iter().map(|f| (*f, 0)).collect();
        let mut from_root = None;
        while let Some((f, height)) = todo.pop_front() {
            if f == self.root {
                from_root = Some(height);
                continue;
            }
            if self.is_refuted(f, height, query, config, &mut effort) {
                refuted.push(self.program.function(f).name.clone());
                continue;
            }
            if let Some(why) = self.outside_caller(f) {
                open.push(why);
            }
            for &caller in self.calls.callers(f) {
                if height == self.depth {
                    let name = &self.program.function(f).name;
                    open.push(format!("callers of {name} are more than {height} calls away (--climb)"));
                } else if seen.insert(caller) {
                    todo.push_back((caller, height + 1));
                }
            }
        }
        let note = match refuted.len() {
            0 => String::new(),
            _ => format!("refuted from {}", refuted.join(", ")),
        };
        let answer = match from_root {
            None if open.is_empty() => Answer::Unreachable { unbounded: true },
            None => Answer::Unknown(open.swap_remove(0)),
            Some(_) => {
                let climb = self.depth + 1;
                let config = Config { climb, context: Context::Start, ..config.clone() };
                let (answer, spent) = decide(self.program, self.root, &query.goals, &config, confirm);
                add(&mut effort, &spent);
                match (answer, open.pop()) {
                    // SOUND: the root's answer says nothing of stacks that do not begin there, or that are longer.
                    (Answer::Unreachable { .. } | Answer::UnreachableWithin(_), Some(why)) => Answer::Unknown(why),
                    (answer, _) => answer,
                }
            }
        };
        (answer, effort, note)
    }

    /// No execution from the start of `f` reaches the target, whatever was before.
    fn is_refuted(&self, f: FuncId, climb: u32, query: &TargetQuery, config: &Config, effort: &mut Effort) -> bool {
        let config = Config { climb, context: Context::Anywhere, ..config.clone() };
        let mut never = |_: &InputHeap, _| Confirmation::Refuted("a caller decides".into());
        let (answer, spent) = decide(self.program, f, &query.goals, &config, &mut never);
        add(effort, &spent);
        matches!(answer, Answer::Unreachable { .. })
    }

    /// Why `f` may be called without a call that the program has.
    fn outside_caller(&self, f: FuncId) -> Option<String> {
        let name = &self.program.function(f).name;
        if self.program.constructors.contains(&f) || self.program.destructors.contains(&f) {
            return Some(format!("{name} runs before or after {}", self.program.function(self.root).name));
        }
        let taken = self.calls.address_taken().contains(&f);
        (taken && self.calls_back).then(|| format!("{name} may be called by a function without a body"))
    }
}

fn add(effort: &mut Effort, spent: &Effort) {
    effort.nodes = effort.nodes.max(spent.nodes);
    effort.checks += spent.checks;
    effort.solver += spent.solver;
    effort.goals += spent.goals;
    effort.time += spent.time;
    effort.cpu += spent.cpu;
}
