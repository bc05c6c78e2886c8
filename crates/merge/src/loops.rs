//! The loops of the program, and where they are left.

use pleach_ir::bitset::BitSet;
use pleach_ir::cfg::Cfg;
use pleach_ir::dominators::Dominators;
use pleach_ir::liveness::Liveness;
use pleach_ir::loops::{LoopId, Loops};
use pleach_ir::{BlockId, Callee, FuncId, Inst, Program};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// One function, looked at when it is first needed.
pub(crate) struct FunctionFacts {
    pub loops: Loops,
    pub liveness: Liveness,
    cfg: Cfg,
    /// by loop: the blocks that it is left to
    exits: Vec<Rc<BitSet>>,
    /// by loop: those and its header
    exits_and_header: Vec<Rc<BitSet>>,
    /// by loop: those and the blocks in it that a branch leads to
    exits_and_sides: Vec<Rc<BitSet>>,
    /// no block
    none: Rc<BitSet>,
    /// what the call before an instruction says about merging
    marks: FxHashMap<u32, Mark>,
}

/// The program says where states wait for each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    Open,
    Close,
}

/// Calls that are marks.
pub const OPEN_MERGE: &str = "klee_open_merge";
pub const CLOSE_MERGE: &str = "klee_close_merge";

fn marks(program: &Program, f: &pleach_ir::Function) -> FxHashMap<u32, Mark> {
    let mark = |inst: &Inst| match inst {
        Inst::Call { callee: Callee::Direct(callee), .. } => match &program.function(*callee).name[..] {
            OPEN_MERGE => Some(Mark::Open),
            CLOSE_MERGE => Some(Mark::Close),
            _ => None,
        },
        _ => None,
    };
    f.insts.iter().enumerate().filter_map(|(i, inst)| Some((i as u32 + 1, mark(inst)?))).collect()
}

impl FunctionFacts {
    fn new(program: &Program, f: &pleach_ir::Function) -> FunctionFacts {
        let cfg = Cfg::new(f);
        let loops = Loops::new(&cfg, &Dominators::new(&cfg));
        let exits = loops.iter().map(|(_, l)| {
            let mut blocks = BitSet::new(f.blocks.len());
            l.exits.iter().for_each(|(_, to)| {
                blocks.insert(to.index());
            });
            Rc::new(blocks)
        });
        let exits: Vec<Rc<BitSet>> = exits.collect();
        let with_header = loops.iter().map(|(id, l)| {
            let mut blocks = (*exits[id.index()]).clone();
            blocks.insert(l.header.index());
            Rc::new(blocks)
        });
        let is_side = |b: BlockId| cfg.preds(b).iter().any(|p| cfg.succs(*p).len() > 1);
        let with_sides = loops.iter().map(|(id, l)| {
            let mut blocks = (*exits[id.index()]).clone();
            for b in l.body.iter().filter(|b| is_side(BlockId(*b as u32))) {
                blocks.insert(b);
            }
            Rc::new(blocks)
        });
        FunctionFacts {
            exits_and_sides: with_sides.collect(),
            exits_and_header: with_header.collect(),
            exits,
            liveness: Liveness::new(f, &cfg),
            none: Rc::new(BitSet::new(f.blocks.len())),
            marks: marks(program, f),
            loops,
            cfg,
        }
    }

    pub fn exits(&self, l: LoopId) -> Rc<BitSet> {
        self.exits[l.index()].clone()
    }

    pub fn exits_and_sides(&self, l: LoopId) -> Rc<BitSet> {
        self.exits_and_sides[l.index()].clone()
    }

    pub fn exits_and_header(&self, l: LoopId) -> Rc<BitSet> {
        self.exits_and_header[l.index()].clone()
    }

    /// The call just before the instruction is a mark.
    pub fn mark_before(&self, inst: u32) -> Option<Mark> {
        self.marks.get(&inst).copied()
    }

    pub fn no_block(&self) -> Rc<BitSet> {
        self.none.clone()
    }

    /// The blocks that can be reached from one, not over the header.
    pub fn reachable_without(&self, from: BlockId, header: BlockId) -> BitSet {
        let mut seen = BitSet::new(self.cfg.len());
        let mut todo = vec![from];
        while let Some(b) = todo.pop() {
            todo.extend(self.cfg.succs(b).iter().filter(|s| **s != header && seen.insert(s.index())));
        }
        seen
    }

    pub fn innermost(&self, b: BlockId) -> Option<LoopId> {
        self.loops.innermost(b)
    }
}

pub(crate) struct ProgramFacts {
    pub program: Rc<Program>,
    functions: FxHashMap<FuncId, Rc<FunctionFacts>>,
}

impl ProgramFacts {
    pub fn new(program: Rc<Program>) -> ProgramFacts {
        ProgramFacts { program, functions: FxHashMap::default() }
    }

    pub fn of(&mut self, f: FuncId) -> Rc<FunctionFacts> {
        let program = &self.program;
        self.functions.entry(f).or_insert_with(|| Rc::new(FunctionFacts::new(program, program.function(f)))).clone()
    }
}
