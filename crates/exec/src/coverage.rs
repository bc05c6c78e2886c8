//! Which blocks and branch edges have been executed.

use pleach_ir::{BlockId, FuncId, Function, Program};

#[derive(Clone)]
pub struct Coverage {
    /// times each block was entered, by function
    pub blocks: Vec<Vec<u64>>,
    /// times each edge of a branch was taken, by function: first `Function::edges`, then `Function::cases`
    pub edges: Vec<Vec<u64>>,
    /// blocks entered for the first time so far
    pub new_blocks: u64,
    /// by function: whether it belongs to the program under test, whose coverage is sought. A library without source
    /// lines does not, unless nothing has any.
    pub counts_for_coverage: Vec<bool>,
}

impl Coverage {
    pub fn new(program: &Program) -> Coverage {
        Coverage {
            counts_for_coverage: counts_for_coverage(&program.functions),
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

    /// Counts that an edge was taken and says whether it is the first time for an edge whose coverage is sought.
    #[inline]
    pub fn take(&mut self, func: FuncId, edge: usize) -> bool {
        let c = &mut self.edges[func.index()][edge];
        *c += 1;
        *c == 1 && self.counts_for_coverage[func.index()]
    }

    pub fn is_covered(&self, func: FuncId, block: BlockId) -> bool {
        self.blocks[func.index()][block.index()] > 0
    }
}

fn counts_for_coverage(functions: &[Function]) -> Vec<bool> {
    let any = functions.iter().any(|f| f.span.is_known());
    functions.iter().map(|f| !any || f.span.is_known()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_ir::Span;

    #[test]
    fn a_library_without_lines_is_not_sought() {
        let own = Function { span: Span { file: 0, line: 3, column: 1 }, ..Function::default() };
        assert_eq!(counts_for_coverage(&[own, Function::default()]), [true, false]);
        assert_eq!(counts_for_coverage(&[Function::default(), Function::default()]), [true, true]);
    }

    #[test]
    fn an_edge_is_new_once_and_only_where_it_is_sought() {
        let edges = vec![vec![0; 2]; 2];
        let mut c = Coverage { blocks: vec![], edges, new_blocks: 0, counts_for_coverage: vec![true, false] };
        let mut take = |f: usize, e| c.take(FuncId::new(f), e);
        assert_eq!([take(0, 1), take(0, 1), take(0, 0), take(1, 0)], [true, false, true, false]);
    }
}
