//! What was reached below a node: blocks and error places.

use crate::outcome::{End, ErrorKind};
use crate::state::State;
use pleach_ir::bitset::BitSet;
use pleach_ir::{BlockId, FuncId, InstId, Program};
use std::collections::BTreeSet;

/// Kind of an error and where it is, see [`State::error_site`].
pub type ErrorSite = (ErrorKind, FuncId, InstId);

/// The place of an error that ends a state.
pub fn place_of(program: &Program, state: &State, kind: ErrorKind) -> ErrorSite {
    let (func, inst) = state.error_site(program);
    (kind, func, inst)
}

/// Numbers for all blocks of a program.
#[derive(Clone, Default)]
pub struct Blocks {
    /// the number of each function's first block, and the total
    first: Vec<usize>,
}

impl Blocks {
    pub fn new(program: &Program) -> Blocks {
        let mut first = vec![0];
        first.extend(program.functions.iter().scan(0, |n, f| {
            *n += f.blocks.len();
            Some(*n)
        }));
        Blocks { first }
    }
    pub fn number(&self, func: FuncId, block: BlockId) -> usize {
        self.first[func.index()] + block.index()
    }
    pub fn total(&self) -> usize {
        self.first.last().copied().unwrap_or(0)
    }
    pub fn block(&self, number: usize) -> (FuncId, BlockId) {
        let func = self.first.partition_point(|f| *f <= number) - 1;
        (FuncId(func as u32), BlockId((number - self.first[func]) as u32))
    }
}

#[derive(Clone, Default)]
pub struct Reached {
    pub blocks: BitSet,
    pub errors: BTreeSet<ErrorSite>,
}

impl Reached {
    pub fn new(blocks: &Blocks) -> Reached {
        Reached { blocks: BitSet::new(blocks.total()), errors: BTreeSet::new() }
    }

    pub fn union_with(&mut self, other: &Reached) {
        self.blocks.union_with(&other.blocks);
        self.errors.extend(other.errors.iter().copied());
    }

    /// What the state's record says, with the record of the state it was split from, and where it stands.
    pub fn note(&mut self, program: &Program, blocks: &Blocks, state: &State) {
        let before = state.history.origin().map(|o| &o.history.trace().runs[..]).unwrap_or_default();
        for run in before.iter().chain(&state.history.trace().runs) {
            let f = &program.functions[run.func as usize];
            let block = f.blocks.partition_point(|b| b.first.0 <= run.from) - 1;
            self.blocks.insert(blocks.number(FuncId(run.func), BlockId(block as u32)));
        }
        self.blocks.insert(blocks.number(state.frame.func, state.block));
    }

    pub fn note_end(&mut self, program: &Program, state: &State, end: &End) {
        if let End::Error(e) = end {
            self.errors.insert(place_of(program, state, e.kind));
        }
    }
}
