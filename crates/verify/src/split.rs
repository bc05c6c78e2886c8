//! Making given instructions the first of their blocks.
//!
//! Coverage and pruning speak of blocks: a block is reached when it is entered. A call in its middle may not return, so
//! that the rest of the block need not be. *Invariant*: the new program does what the old one does; every given
//! instruction begins a block.

use pleach_ir::{Block, BlockId, Edge, FuncId, Function, Inst, InstId, Program, Range, Span};
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
    let mut heads: Vec<(Vec<Inst>, Vec<Span>)> = Vec::new();
    let mut tails = Vec::new();
    let mut moved = Vec::new();
    let (mut own, mut split_off) = (Vec::new(), Vec::new());
    let has_spans = f.block_spans.len() == f.blocks.len();
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
            let covers = spans_within(f, BlockId::new(b), from..to);
            if n == 0 {
                heads.push((insts, spans));
                own.push(covers);
            } else {
                tails.push((insts, spans));
                split_off.push(covers);
            }
            from = to;
        }
    }
    (f.blocks, f.insts, f.spans) = (Vec::new(), Vec::new(), Vec::new());
    for (insts, spans) in heads.into_iter().chain(tails) {
        f.blocks.push(Block { first: InstId::new(f.insts.len()), len: insts.len() as u32 });
        f.insts.extend(insts);
        f.spans.extend(spans);
    }
    if has_spans {
        f.block_spans = own.into_iter().chain(split_off).collect();
    }
    if !f.block_weight.is_empty() {
        // Weight counts instructions of the source; the part split off takes none with it.
        f.block_weight.resize(f.blocks.len(), 0);
    }
    moved
}

/// What a part of a block has code of.
fn spans_within(f: &Function, b: BlockId, part: std::ops::Range<usize>) -> Vec<Span> {
    let here = |s: &&Span| match f.spans[f.block_range(b)].contains(s) {
        true => f.spans[part.clone()].contains(s),
        false => part.contains(&f.line_start(b, s.file, s.line)),
    };
    f.spans_of(b).iter().filter(here).copied().collect()
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
