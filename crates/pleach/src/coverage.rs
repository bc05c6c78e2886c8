//! Blocks and edges executed, as lines and branches covered.

use crate::source_paths::relative;
use pleach_exec::Coverage;
use pleach_ir::{BlockId, Function, Inst, Program, Span};
use pleach_report::{Coverage as Report, FunctionCoverage};
use std::collections::BTreeMap;
use std::path::Path;

/// Coverage of all functions whose source is known.
pub fn report(program: &Program, coverage: &Coverage, directory: &Path) -> Report {
    let mut report = Report::default();
    // Splitting a path into its parts for every line would be most of the work.
    let paths: Vec<&str> = program.files.iter().map(|f| relative(&f.path, directory)).collect();
    let path = |span: Span| paths.get(span.file as usize).map_or_else(|| "?".to_owned(), |p| (*p).to_owned());
    for (i, f) in program.functions.iter().enumerate() {
        if f.is_declaration() {
            continue;
        }
        let (blocks, edges) = (&coverage.blocks[i], &coverage.edges[i]);
        if f.span.is_known() {
            let file = report.files.entry(path(f.span)).or_default();
            let entered = FunctionCoverage { line: f.span.line, count: blocks.first().copied().unwrap_or(0) };
            file.functions.insert(f.name.clone(), entered);
        }
        // How many branches a line has had so far.
        let mut on_line: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        for (b, &count) in blocks.iter().enumerate() {
            for span in f.block_spans.get(b).into_iter().flatten().filter(|s| s.is_known()) {
                let lines = &mut report.files.entry(path(*span)).or_default().lines;
                let line = lines.entry(span.line).or_default();
                *line = (*line).max(count);
            }
            let Some((span, taken)) = branch(f, BlockId::new(b)) else { continue };
            if !span.is_known() {
                continue;
            }
            let number = on_line.entry((span.file, span.line)).or_default();
            let branches = &mut report.files.entry(path(span)).or_default().branches;
            for (direction, edge) in taken.into_iter().enumerate() {
                let times = edges.get(edge).copied().unwrap_or(0);
                *branches.entry((span.line, *number, direction as u32)).or_default() += times;
            }
            *number += 1;
        }
    }
    report
}

/// The branch a block ends with: where it is, and the places of its edges in the coverage.
fn branch(f: &Function, b: BlockId) -> Option<(Span, Vec<usize>)> {
    let block = f.blocks[b.index()];
    let last = block.first.index() + block.len as usize - 1;
    let span = f.spans.get(last).copied().unwrap_or_default();
    match f.insts.get(last)? {
        Inst::Branch { edges, .. } => Some((span, vec![*edges as usize, *edges as usize + 1])),
        Inst::Switch { default, cases, .. } => {
            let cases = cases.as_range().map(|c| f.edges.len() + c);
            Some((span, cases.chain([*default as usize]).collect()))
        }
        _ => None,
    }
}

/// Blocks that the entry may reach, for a quick measure of coverage.
pub fn reachable_blocks(program: &Program, entry: &str) -> u64 {
    let calls = pleach_ir::callgraph::CallGraph::new(program);
    let roots = program.function_named(entry).into_iter().chain(program.constructors.iter().copied());
    calls.reachable(roots).into_iter().map(|f| program.function(f).blocks.len() as u64).sum()
}
