//! One path under exploration: registers per frame, address space, path constraint, inputs.

use crate::frame::{CallStack, Frame, JumpPoint};
use crate::history::History;
use crate::inputs::Inputs;
use crate::map::HashMap;
use crate::outcome::StackLine;
use crate::path::PathConstraint;
use crate::tree::NodeId;
use pleach_expr::TermId;
use pleach_ir::{BlockId, FuncId, InstId, Program};
use pleach_memory::{AddressSpace, ObjId, Value};
use std::collections::BTreeSet;
use std::rc::Rc;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StateId(pub u64);

/// A function to run when the program exits.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AtExit {
    pub handler: Value,
    pub argument: Value,
    /// the end of a thread's own object, which comes before what `atexit` was told
    pub thread: bool,
    /// told by `at_quick_exit`: runs at `quick_exit`, and only there
    pub quick: bool,
    /// told by `on_exit`: gets the exit status too, which is known when the program ends
    pub status: Option<Value>,
}

/// What a path's inputs use a name for.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct NameUse {
    /// how many inputs the program called so
    pub requested: u32,
    /// one is shown under it
    pub shown: bool,
}

#[derive(Clone)]
pub struct State {
    pub id: StateId,
    /// this state's leaf in the execution tree
    pub node: NodeId,
    pub frame: Frame,
    pub callers: Option<Rc<CallStack>>,
    /// the block being executed and the instruction to execute next (index into `Function::insts`)
    pub block: BlockId,
    pub inst: u32,
    pub memory: AddressSpace,
    pub path: PathConstraint,
    pub inputs: Inputs,
    /// what each name was used for by inputs
    pub names: HashMap<String, NameUse>,
    /// functions without a body after whose call the path is one of several that could follow
    pub left_out: Rc<BTreeSet<String>>,
    /// numbers given to values nobody wrote
    pub fresh: u32,
    /// pointers with multiple targets that this path has decided: pointer term → object and offset
    pub decided: HashMap<TermId, (ObjId, TermId)>,
    /// the same for pointers that turned out to be plain numbers (null)
    pub decided_numbers: HashMap<TermId, u64>,
    /// LLVM instructions executed on this path
    pub instructions: u64,
    /// instructions since this path last covered something new
    pub since_new_coverage: u64,
    pub covered_new: bool,
    /// forks above this state
    pub depth: u32,
    /// the side of a fork that fails, before anything else is executed
    pub failing: bool,
    /// a branch of this path would go otherwise if objects lay elsewhere
    pub address_dependent: bool,
    /// targets that the path was among the first to enter
    pub passed: Rc<BTreeSet<(FuncId, BlockId)>>,
    /// `klee_set_forking(0)`
    pub forking: bool,
    /// what the values of a test should satisfy if they can (`klee_prefer_cex`)
    pub preferences: Rc<Vec<TermId>>,
    /// functions to run at exit, the last one first
    pub at_exit: Rc<Vec<AtExit>>,
    /// where `setjmp` was called, in the order of the calls
    pub jump_points: Rc<Vec<Rc<JumpPoint>>>,
    /// as it was when the last exception was thrown
    pub thrown: Option<Rc<State>>,
    pub phase: Phase,
    /// what it did since its node
    pub history: History,
    /// only where it is enabled
    pub record: Option<Rc<crate::branch_log::BranchLog>>,
    /// time spent solving for this path, in microseconds
    pub query_cost: u64,
    /// how often a query of the current instruction ran out of its budget
    pub deferred: Option<Deferred>,
    /// the side of a fork that this state stands for, when it is not known yet whether the side is feasible
    pub pending: Option<TermId>,
}

/// A state whose query ran out of budget, and where that was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Deferred {
    /// how often
    pub level: u32,
    /// [`State::position`] then: the budget is larger there only
    pub position: (u64, u32),
}

/// Constructors run before the entry, destructors and exit handlers after it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    Constructor(u32),
    Main,
    /// leaving with this status: what is left of the handlers, then destructors from the given number on; `quick`: by
    /// `quick_exit`
    Exiting {
        status: Option<i32>,
        next: u32,
        quick: bool,
    },
}

impl State {
    pub fn new(memory: AddressSpace, func: FuncId, slots: usize) -> State {
        State {
            id: StateId(0),
            node: NodeId::ROOT,
            frame: Frame::new(func, slots),
            callers: None,
            block: BlockId(0),
            inst: 0,
            memory,
            path: PathConstraint::default(),
            inputs: Inputs::default(),
            names: HashMap::default(),
            left_out: Rc::default(),
            fresh: 0,
            decided: HashMap::default(),
            decided_numbers: HashMap::default(),
            instructions: 0,
            since_new_coverage: 0,
            covered_new: false,
            depth: 0,
            failing: false,
            address_dependent: false,
            passed: Rc::default(),
            forking: true,
            preferences: Rc::new(Vec::new()),
            at_exit: Rc::default(),
            jump_points: Rc::new(Vec::new()),
            thrown: None,
            phase: Phase::Main,
            history: History::default(),
            record: None,
            query_cost: 0,
            deferred: None,
            pending: None,
        }
    }

    /// Some value is an input, or a result that may be anything.
    pub fn has_symbolic_values(&self) -> bool {
        !self.inputs.is_empty() || !self.left_out.is_empty()
    }

    /// Distinguishes the instructions of one path.
    pub fn position(&self) -> (u64, u32) {
        (self.instructions, self.inst)
    }

    /// How often a query of this instruction ran out of its budget.
    pub fn budget_level(&self) -> u32 {
        self.deferred.filter(|d| d.position == self.position()).map_or(0, |d| d.level)
    }

    /// A query of this instruction ran out of its budget.
    pub fn defer(&mut self) {
        self.deferred = Some(Deferred { level: self.budget_level() + 1, position: self.position() });
    }

    pub fn func(&self) -> FuncId {
        self.frame.func
    }

    /// The state as if nothing were known about its inputs, at the root of a tree of its own.
    pub fn unconstrained(&self) -> State {
        State {
            path: PathConstraint::default(),
            decided: HashMap::default(),
            decided_numbers: HashMap::default(),
            history: if self.history.is_kept() { History::beginning(self.inst) } else { History::default() },
            ..self.clone()
        }
    }

    pub fn call_depth(&self) -> u32 {
        self.callers.as_ref().map_or(0, |c| c.depth)
    }

    /// A new input called `name`: how many inputs of this path were called so before, and a name to show that no other
    /// input of this path has: `name`, `name_1`, …
    pub fn name_input(&mut self, name: &str) -> (u32, String) {
        let nth = self.names.get(name).map_or(0, |n| n.requested);
        let free = |shown: &String| !self.names.get(shown).is_some_and(|n| n.shown);
        let numbered = (nth.max(1)..).map(|i| format!("{name}_{i}"));
        let first = (nth == 0).then(|| name.to_owned());
        let shown = first.into_iter().chain(numbered).find(free).unwrap_or_default();
        self.names.entry(name.to_owned()).or_default().requested += 1;
        self.names.entry(shown.clone()).or_default().shown = true;
        (nth, shown)
    }

    /// A number that no other symbol of this path has which is no input.
    pub fn fresh_number(&mut self) -> u32 {
        let number = self.fresh;
        self.fresh += 1;
        number
    }

    /// Where an error of this state is: the innermost place of the program's own code, which for an error inside a
    /// library is the call of it. Where no such code is active, the instruction itself.
    pub fn error_site(&self, program: &Program) -> (FuncId, InstId) {
        if program.is_own(self.frame.func) {
            return (self.frame.func, InstId(self.inst));
        }
        let callers = std::iter::successors(self.callers.as_deref(), |c| c.below.as_deref());
        let call = callers.map(|c| &c.frame).find(|f| program.is_own(f.func));
        call.map_or((self.frame.func, InstId(self.inst)), |f| (f.func, InstId(f.inst.saturating_sub(1))))
    }

    /// Where the program itself is: the innermost call with a line of its own, which the C library does not have.
    pub fn program_place(&self, program: &Program) -> StackLine {
        let stack = self.stack(program);
        *stack.iter().find(|l| l.span.line != 0).unwrap_or(&stack[0])
    }

    /// The call stack, innermost first.
    pub fn stack(&self, program: &Program) -> Vec<StackLine> {
        let line = |func: FuncId, inst: u32| {
            let f = program.function(func);
            let span = f.spans.get(inst as usize).copied().unwrap_or_default();
            StackLine { func, inst: InstId(inst), span }
        };
        let mut out = vec![line(self.frame.func, self.inst)];
        let mut at = self.callers.as_deref();
        while let Some(c) = at {
            if out.len() >= 256 {
                break;
            }
            out.push(line(c.frame.func, c.frame.inst.saturating_sub(1)));
            at = c.below.as_deref();
        }
        out
    }
}

impl State {
    /// A state with nothing in it, to leave in place of one that was moved out.
    pub fn placeholder() -> State {
        State::new(AddressSpace::new(64), FuncId(0), 0)
    }
}
