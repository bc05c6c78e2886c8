//! Which blocks and branch edges have been executed.

use pleach_ir::{BlockId, FuncId, Program};

#[derive(Clone)]
pub struct Coverage {
    /// times each block was entered, by function
    pub blocks: Vec<Vec<u64>>,
    /// times each edge of a branch was taken, by function: first `Function::edges`, then `Function::cases`
    pub edges: Vec<Vec<u64>>,
    /// blocks entered for the first time so far
    pub new_blocks: u64,
}

impl Coverage {
    pub fn new(program: &Program) -> Coverage {
        Coverage {
            blocks: program.functions.iter().map(|f| vec![0; f.blocks.len()]).collect(),
            edges: program.functions.iter().map(|f| vec![0; f.edges.len() + f.cases.len()]).collect(),
            new_blocks: 0,
        }
    }

    /// Counts an entry and says the how manieth it is.
    #[inline]
    pub fn enter(&mut self, func: FuncId, block: BlockId) -> u64 {
        let c = &mut self.blocks[func.index()][block.index()];
        *c += 1;
        *c
    }

    pub fn is_covered(&self, func: FuncId, block: BlockId) -> bool {
        self.blocks[func.index()][block.index()] > 0
    }
}
