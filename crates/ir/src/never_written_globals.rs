//! Globals that no instruction can write: their addresses go nowhere but into reads.
//!
//! *Direction*: may miss some; names none that can change. Addresses are followed through registers of one function;
//! one that is stored, passed to a call, returned or computed with counts as gone.

use crate::defs::{edge_copies, for_each_edge, for_each_operand};
use crate::ids::Slot;
use crate::inst::{Inst, Opnd, OpndKind};
use crate::program::{Const, Function, Init, Program, Symbol};

/// By global: its contents are those it begins with, for ever.
pub fn unwritten(program: &Program) -> Vec<bool> {
    let mut out: Vec<bool> = program.globals.iter().map(|_| true).collect();
    for g in &program.globals {
        if let Init::Bytes { relocs, .. } = &g.init {
            relocs.iter().for_each(|r| escape(&mut out, global(r.symbol)));
        }
    }
    for f in &program.functions {
        Addresses::of(f).visit(f, &mut out);
    }
    out
}

fn escape(out: &mut [bool], g: Option<u32>) {
    if let Some(g) = g {
        out[g as usize] = false;
    }
}

fn global(s: Symbol) -> Option<u32> {
    match s {
        Symbol::Global(g) => Some(g.0),
        _ => None,
    }
}

/// By slot: the globals whose addresses it may hold, sorted.
struct Addresses(Vec<Vec<u32>>);

impl Addresses {
    fn of(f: &Function) -> Addresses {
        let mut a = Addresses(vec![Vec::new(); f.slots.len()]);
        let any = f.consts.iter().any(|c| matches!(c, Const::Addr { symbol, .. } if global(*symbol).is_some()));
        let mut changed = any;
        while changed {
            changed = false;
            for inst in &f.insts {
                match *inst {
                    Inst::Mov { dst, a: x } | Inst::Freeze { dst, a: x, .. } => changed |= a.flow(f, dst, x),
                    Inst::Gep { dst, base, .. } => changed |= a.flow(f, dst, base),
                    Inst::Select { dst, a: x, b: y, .. } => changed |= a.flow(f, dst, x) | a.flow(f, dst, y),
                    _ => {}
                }
                for_each_edge(f, inst, |e| {
                    for c in edge_copies(f, e) {
                        changed |= a.flow(f, c.dst, c.src);
                    }
                });
            }
        }
        a
    }

    fn held(&self, f: &Function, o: Opnd) -> Vec<u32> {
        match o.kind() {
            OpndKind::Slot(s) => self.0[s.index()].clone(),
            OpndKind::Const(c) => match &f.consts[c as usize] {
                Const::Addr { symbol, .. } => global(*symbol).into_iter().collect(),
                _ => Vec::new(),
            },
        }
    }

    fn flow(&mut self, f: &Function, dst: Slot, src: Opnd) -> bool {
        let mut changed = false;
        for g in self.held(f, src) {
            let at = &mut self.0[dst.index()];
            if let Err(i) = at.binary_search(&g) {
                at.insert(i, g);
                changed = true;
            }
        }
        changed
    }

    fn visit(&self, f: &Function, out: &mut [bool]) {
        for inst in &f.insts {
            // Operands through which an address only travels on, or is only read from.
            let harmless: &[Opnd] = match inst {
                Inst::Load { ptr, volatile: false, .. } => &[*ptr],
                Inst::MemCopy { src, .. } => &[*src],
                Inst::Mov { a, .. } | Inst::Freeze { a, .. } => &[*a],
                Inst::Gep { base, .. } => &[*base],
                Inst::Select { a, b, .. } | Inst::Cmp { a, b, .. } => &[*a, *b],
                _ => &[],
            };
            for_each_operand(f, inst, |o| {
                if !harmless.contains(&o) {
                    self.held(f, o).into_iter().for_each(|g| escape(out, Some(g)));
                }
            });
            // A copy of a global onto itself names it on both sides.
            if let Inst::MemCopy { dst, .. } = inst {
                self.held(f, *dst).into_iter().for_each(|g| escape(out, Some(g)));
            }
        }
    }
}
