//! Within a block: read promoted locals in place, fold extensions and constant offsets into address computations,
//! then drop what nobody reads any more.
//!
//! *Invariant*: a temporary is replaced by what it was computed from only while none of that has been written since.
//! Only instructions that cannot fail are dropped.

use super::emit::Lowering;
use super::uses::{each_def, each_use, map_uses};
use pleach_ir::{CastOp, Function, Inst, Opnd, Range, Scaled, Slot};

/// How a temporary was computed, and when.
#[derive(Clone, Copy)]
enum Fact {
    Unknown,
    Copy(Slot),
    SignExtended { a: Opnd, from: u16 },
    Address { base: Opnd, offset: i64, parts: Range },
}

struct Facts {
    known: Vec<(Fact, u32)>,
    written: Vec<u32>,
    /// slots of promoted locals; phi nodes are not among them, since copies on edges change those one by one
    local: Vec<bool>,
    uses: Vec<u32>,
    now: u32,
    block_start: u32,
}

pub(crate) fn forward(l: &mut Lowering<'_, '_>) {
    let mut facts = Facts::new(l);
    for block in 0..l.code.len() {
        facts.block_start = facts.now + 1;
        let mut insts = std::mem::take(&mut l.code[block].insts);
        for inst in &mut insts {
            facts.visit(inst, &mut l.out, &l.mutable);
        }
        l.code[block].insts = insts;
    }
    sweep(l, &mut facts.uses);
}

impl Facts {
    fn new(l: &mut Lowering<'_, '_>) -> Facts {
        let n = l.out.slots.len();
        let mut local = vec![false; n];
        l.promoted.values().for_each(|s| local[s.index()] = true);
        let uses = count_uses(l);
        Facts { known: vec![(Fact::Unknown, 0); n], written: vec![0; n], local, uses, now: 0, block_start: 1 }
    }

    fn visit(&mut self, inst: &mut Inst, f: &mut Function, mutable: &[bool]) {
        self.now += 1;
        map_uses(inst, f, &mut |o| self.in_place(o));
        if let Inst::Gep { base, offset, parts, .. } = inst {
            self.fold(base, offset, parts, f);
        }
        each_def(inst, f, &mut |s| self.written[s.index()] = self.now);
        let fact = match *inst {
            Inst::Mov { dst, a } => a.as_slot().filter(|a| self.local[a.index()]).map(|a| (dst, Fact::Copy(a))),
            Inst::Cast { op: CastOp::SExt, from, dst, a, .. } => Some((dst, Fact::SignExtended { a, from })),
            Inst::Gep { dst, base, offset, parts } => Some((dst, Fact::Address { base, offset, parts })),
            _ => None,
        };
        if let Some((dst, fact)) = fact.filter(|(dst, _)| !mutable[dst.index()]) {
            self.known[dst.index()] = (fact, self.now);
        }
    }

    /// What is known of a temporary that was computed in this block.
    fn fact(&self, o: Opnd) -> (Fact, u32) {
        match o.as_slot().map(|s| self.known[s.index()]) {
            Some((fact, when)) if when >= self.block_start => (fact, when),
            _ => (Fact::Unknown, 0),
        }
    }

    fn unchanged_since(&self, o: Opnd, when: u32) -> bool {
        o.as_slot().is_none_or(|s| self.written[s.index()] <= when)
    }

    fn replace(&mut self, old: Opnd, new: Opnd) {
        if let Some(s) = old.as_slot() {
            self.uses[s.index()] -= 1;
        }
        if let Some(s) = new.as_slot() {
            self.uses[s.index()] += 1;
        }
    }

    fn in_place(&mut self, o: Opnd) -> Opnd {
        match self.fact(o) {
            (Fact::Copy(of), when) if self.unchanged_since(Opnd::slot(of), when) => {
                self.replace(o, Opnd::slot(of));
                Opnd::slot(of)
            }
            _ => o,
        }
    }

    fn fold(&mut self, base: &mut Opnd, offset: &mut i64, parts: &mut Range, f: &mut Function) {
        for part in &mut f.scaled[parts.as_range()] {
            if let (Fact::SignExtended { a, from }, when) = self.fact(part.index)
                && self.unchanged_since(a, when)
            {
                self.replace(part.index, a);
                part.index = a;
                part.width = from;
            }
        }
        let (Fact::Address { base: inner, offset: more, parts: inner_parts }, when) = self.fact(*base) else { return };
        let only_use = base.as_slot().is_some_and(|s| self.uses[s.index()] == 1);
        let steady = self.unchanged_since(inner, when)
            && f.scaled[inner_parts.as_range()].iter().all(|p| self.unchanged_since(p.index, when));
        if !steady || (inner_parts.len > 0 && !only_use) {
            return;
        }
        self.replace(*base, inner);
        *base = inner;
        *offset = offset.wrapping_add(more);
        if inner_parts.len > 0 {
            let mut all: Vec<Scaled> = f.scaled[inner_parts.as_range()].to_vec();
            all.extend_from_slice(&f.scaled[parts.as_range()]);
            for part in &f.scaled[inner_parts.as_range()] {
                // Read twice until the inner computation is dropped.
                if let Some(s) = part.index.as_slot() {
                    self.uses[s.index()] += 1;
                }
            }
            *parts = Range { start: f.scaled.len() as u32, len: all.len() as u32 };
            f.scaled.extend(all);
        }
    }
}

/// How often each slot is read.
pub(crate) fn count_uses(l: &mut Lowering<'_, '_>) -> Vec<u32> {
    let mut uses = vec![0; l.out.slots.len()];
    for code in &mut l.code {
        for inst in &mut code.insts {
            each_use(inst, &mut l.out, &mut |o| {
                if let Some(s) = o.as_slot() {
                    uses[s.index()] += 1;
                }
            });
        }
    }
    uses
}

/// Drops what cannot fail and is not read, until nothing more falls.
fn sweep(l: &mut Lowering<'_, '_>, uses: &mut [u32]) {
    loop {
        let mut changed = false;
        for code in &mut l.code {
            for at in (0..code.insts.len()).rev() {
                let dst = match &code.insts[at] {
                    gone if is_gone(gone) => continue,
                    Inst::Mov { dst, .. } | Inst::Gep { dst, .. } | Inst::Undef { dst } => *dst,
                    Inst::Cast { op: CastOp::SExt | CastOp::ZExt | CastOp::Trunc, dst, .. } => *dst,
                    _ => continue,
                };
                if uses[dst.index()] > 0 {
                    continue;
                }
                each_use(&mut code.insts[at], &mut l.out, &mut |o| {
                    if let Some(s) = o.as_slot() {
                        uses[s.index()] -= 1;
                    }
                });
                // Marked now, removed below in one go.
                code.insts[at] = Inst::Mov { dst, a: Opnd::slot(dst) };
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    drop_overwritten_undefs(l);
    remove_gone(l);
}

/// A copy of a slot onto itself marks what is to be removed.
fn is_gone(inst: &Inst) -> bool {
    matches!(inst, Inst::Mov { dst, a } if *a == Opnd::slot(*dst))
}

/// Removes what is marked, with its spans.
pub(crate) fn remove_gone(l: &mut Lowering<'_, '_>) {
    for code in &mut l.code {
        let keep: Vec<bool> = code.insts.iter().map(|i| !is_gone(i)).collect();
        let mut kept = keep.iter();
        code.insts.retain(|_| *kept.next().unwrap_or(&true));
        let mut kept = keep.iter();
        code.spans.retain(|_| *kept.next().unwrap_or(&true));
    }
}

/// A local that its block writes before reading it need not be made uninitialised.
fn drop_overwritten_undefs(l: &mut Lowering<'_, '_>) {
    let mut overwritten = vec![false; l.out.slots.len()];
    for code in l.code.iter_mut().filter(|c| c.insts.iter().any(|i| matches!(i, Inst::Undef { .. }))) {
        overwritten.fill(false);
        for inst in code.insts.iter_mut().rev() {
            match *inst {
                Inst::Undef { dst } if overwritten[dst.index()] => *inst = Inst::Mov { dst, a: Opnd::slot(dst) },
                _ => {
                    each_def(inst, &mut l.out, &mut |s| overwritten[s.index()] = true);
                    each_use(inst, &mut l.out, &mut |o| {
                        if let Some(s) = o.as_slot() {
                            overwritten[s.index()] = false;
                        }
                    });
                }
            }
        }
    }
}
