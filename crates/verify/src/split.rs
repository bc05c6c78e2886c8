//! Making given instructions the first of their blocks.
//!
//! Coverage and pruning speak of blocks: a block is reached when it is entered. A call in its middle may not return, so that the
//! rest of the block need not be. *Invariant*: the new program does what the old one does; every given instruction begins a block.

use pleach_ir::{Block, BlockId, Edge, FuncId, Function, Inst, InstId, Program, Range};
use std::collections::{BTreeMap, BTreeSet};

/// Where an instruction went: its block, which it begins.
pub type Moved = BTreeMap<(FuncId, InstId), BlockId>;

/// The program with its blocks split before the given instructions.
pub fn split(program: &Program, at: &BTreeSet<(FuncId, InstId)>) -> (Program, Moved) {
    let mut out = program.clone();
    let mut moved = Moved::new();
    for (i, f) in out.functions.iter_mut().enumerate() {
        let id = FuncId::new(i);
        let here: BTreeSet<usize> = at.iter().filter(|(f, _)| *f == id).map(|(_, inst)| inst.index()).collect();
        if !here.is_empty() {
            for (inst, block) in split_function(f, &here) {
                moved.insert((id, InstId::new(inst)), block);
            }
        }
    }
    (out, moved)
}

/// Blocks keep their numbers; what is split off follows behind them, in order.
fn split_function(f: &mut Function, at: &BTreeSet<usize>) -> Vec<(usize, BlockId)> {
    let mut heads: Vec<(Vec<Inst>, Vec<pleach_ir::Span>)> = Vec::new();
    let mut tails = Vec::new();
    let mut moved = Vec::new();
    // For each block split off: where it came from.
    let mut origins: Vec<usize> = Vec::new();
    let next = f.blocks.len();
    for (b, block) in f.blocks.iter().enumerate() {
        let (first, end) = (block.first.index(), block.first.index() + block.len as usize);
        let mut cuts: Vec<usize> = at.range(first + 1..end).copied().collect();
        if at.contains(&first) {
            moved.push((first, BlockId::new(b)));
        }
        cuts.push(end);
        let mut from = first;
        for (n, &to) in cuts.iter().enumerate() {
            let (mut insts, mut spans) = (f.insts[from..to].to_vec(), f.spans[from..to].to_vec());
            if to != end {
                let target = BlockId::new(next + tails.len() + usize::from(n > 0));
                insts.push(Inst::Jump { edge: Edge { target, copies: Range::default() } });
                spans.push(f.spans[to - 1]);
                moved.push((to, target));
            }
            if n == 0 {
                heads.push((insts, spans));
            } else {
                tails.push((insts, spans));
                origins.push(b);
            }
            from = to;
        }
    }
    let spans_of_blocks = f.block_spans.len() == f.blocks.len();
    (f.blocks, f.insts, f.spans) = (Vec::new(), Vec::new(), Vec::new());
    for (insts, spans) in heads.into_iter().chain(tails) {
        f.blocks.push(Block { first: InstId::new(f.insts.len()), len: insts.len() as u32 });
        f.insts.extend(insts);
        f.spans.extend(spans);
    }
    // What a block covers is told by its spans: each part covers its own.
    if spans_of_blocks && !origins.is_empty() {
        let parted: BTreeSet<usize> = origins.iter().copied().collect();
        f.block_spans.resize(f.blocks.len(), Vec::new());
        for b in parted.into_iter().chain(next..f.blocks.len()) {
            let block = f.blocks[b];
            let range = block.first.index()..block.first.index() + block.len as usize;
            let mut own: Vec<_> = f.spans[range].to_vec();
            own.sort_unstable_by_key(|s| (s.file, s.line, s.column));
            own.dedup();
            f.block_spans[b] = own;
        }
    }
    if !f.block_weight.is_empty() {
        // Weight counts instructions of the source; the part split off takes none with it.
        f.block_weight.resize(f.blocks.len(), 0);
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_begin_blocks_and_the_program_stays_whole() {
        let program = crate::tests::program();
        let main = program.function_named("main").unwrap();
        let f = program.function(main);
        let all: BTreeSet<_> = (0..f.insts.len()).map(|i| (main, InstId::new(i))).collect();
        for at in [all.clone(), all.iter().copied().skip(1).step_by(2).collect()] {
            let (new, moved) = split(&program, &at);
            assert!(pleach_ir::verify::verify(&new).is_ok());
            assert_eq!(moved.len(), at.len());
            let g = new.function(main);
            for ((_, inst), block) in moved {
                assert_eq!(g.insts[g.blocks[block.index()].first.index()], f.insts[inst.index()]);
            }
        }
    }
}
