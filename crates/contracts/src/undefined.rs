//! Values that were never written: a call is replaced by a contract only where none goes in or out.
//!
//! *Idea*: each use of such a value may see another number, and a contract is about numbers that stay. *Direction*: a
//! value counts as never written if it is so on one path of the graph, feasible or not.

use pleach_ir::bitset::BitSet;
use pleach_ir::cfg::Cfg;
use pleach_ir::defs::{edge_copies, for_each_edge, for_each_result};
use pleach_ir::{BlockId, Callee, Const, Edge, FuncId, Function, Inst, Opnd, OpndKind, Program};

/// Refuses a function that gives such a value to a recursive one, or returns one and is recursive.
pub(crate) fn refuse(program: &Program, f: &Function, recursive: &[FuncId]) -> Result<(), String> {
    if f.is_declaration() {
        return Ok(());
    }
    let returns = recursive.iter().any(|r| std::ptr::eq(program.function(*r), f));
    let cfg = Cfg::new(f);
    let unwritten = unwritten_in(f, &cfg);
    for &b in cfg.reverse_post_order() {
        let mut set = unwritten[b.index()].clone();
        for inst in f.block_insts(b) {
            match inst {
                Inst::Call { callee: Callee::Direct(g), args, .. } if recursive.contains(g) => {
                    let given = &f.args[args.as_range()];
                    let all_written = given.iter().all(|a| !is_unwritten(f, &set, a.value));
                    if !all_written || given.len() < program.function(*g).params.len() {
                        return Err(format!(
                            "`{}` calls `{}` with a value that was never written",
                            f.name,
                            program.function(*g).name
                        ));
                    }
                }
                Inst::Return { values }
                    if returns && f.args[values.as_range()].iter().any(|a| is_unwritten(f, &set, a.value)) =>
                {
                    return Err(format!("`{}` may end without a result", f.name));
                }
                _ => {}
            }
            step(f, inst, &mut set);
        }
    }
    Ok(())
}

fn unwritten_in(f: &Function, cfg: &Cfg) -> Vec<BitSet> {
    let mut all = vec![BitSet::new(f.slots.len()); cfg.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for &b in cfg.reverse_post_order() {
            let mut out = all[b.index()].clone();
            f.block_insts(b).iter().for_each(|inst| step(f, inst, &mut out));
            let terminator = f.terminator(b);
            for_each_edge(f, terminator, |e| changed |= join(f, &mut all, &out, e));
        }
    }
    all
}

fn join(f: &Function, all: &mut [BitSet], out: &BitSet, e: Edge) -> bool {
    let mut set = out.clone();
    for c in edge_copies(f, e) {
        let unwritten = is_unwritten(f, out, c.src) || is_unwritten(f, &set, c.src);
        put(&mut set, c.dst.index(), unwritten);
    }
    let target: BlockId = e.target;
    let mut new = false;
    for s in 0..f.slots.len() {
        if set.contains(s) {
            new |= all[target.index()].insert(s);
        }
    }
    new
}

fn step(f: &Function, inst: &Inst, set: &mut BitSet) {
    match *inst {
        Inst::Undef { dst } => put(set, dst.index(), true),
        Inst::Mov { dst, a } => put(set, dst.index(), is_unwritten(f, set, a)),
        Inst::Select { dst, a, b, .. } => {
            put(set, dst.index(), is_unwritten(f, set, a) || is_unwritten(f, set, b));
        }
        _ => for_each_result(f, inst, |s| put(set, s.index(), false)),
    }
}

fn put(set: &mut BitSet, slot: usize, on: bool) {
    if on {
        set.insert(slot);
    } else {
        set.remove(slot);
    }
}

fn is_unwritten(f: &Function, set: &BitSet, o: Opnd) -> bool {
    match o.kind() {
        OpndKind::Slot(s) => set.contains(s.index()),
        OpndKind::Const(c) => matches!(f.consts[c as usize], Const::Undef { .. }),
    }
}
