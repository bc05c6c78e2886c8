//! Copies and fills of whole ranges of memory.

use crate::layout::{Atom, AtomKind, Region};
use crate::pointers::{GroupId, Offset, Pointer, constant};
use crate::transfer::{Here, Translator};
use pleach_expr::{TermId, Terms};
use pleach_ir::Opnd;

/// Atoms that one copy, fill or initialiser may touch.
const MAX_PIECES: usize = 512;

impl Translator<'_> {
    /// The atoms of a region between two offsets, each with its offset.
    pub fn atoms_between(&self, region: &Region, from: i64, len: u64) -> Option<Vec<(Atom, i64)>> {
        let mut out = Vec::new();
        let end = from.checked_add(i64::try_from(len).ok()?)?;
        if region.modulus == 0 {
            for a in &region.atoms {
                let at = a.at as i64;
                if at < end && at + a.bytes as i64 > from {
                    if at < from || at + a.bytes as i64 > end {
                        return None;
                    }
                    out.push((a.clone(), at));
                }
            }
            return (out.len() <= MAX_PIECES).then_some(out);
        }
        let mut at = from;
        while at < end {
            let residue = i128::from(at).rem_euclid(i128::from(region.modulus)) as u64;
            match region.atoms.iter().find(|a| a.at <= residue && residue < a.at + a.bytes) {
                Some(a) if a.at == residue && at + a.bytes as i64 <= end => {
                    out.push((a.clone(), at));
                    at += a.bytes as i64;
                }
                Some(_) => return None,
                None => at += 1,
            }
            if out.len() > MAX_PIECES {
                return None;
            }
        }
        Some(out)
    }

    pub fn copy_memory(&mut self, here: &mut Here, dst: Opnd, src: Opnd, len: Opnd) {
        let (frame, f) = (here.frame, here.f);
        let to = self.pointers.operand(frame, f, dst, &here.state);
        let from = self.pointers.operand(frame, f, src, &here.state);
        let ((r, o), (s, p)) = (self.pointer(here, dst), self.pointer(here, src));
        let known = (self.terms.as_const(o), self.terms.as_const(p), constant(f, len));
        if self.covers() && (self.is_unmodelled(&to) || self.is_unmodelled(&from) || to.groups.is_empty()) {
            return self.forget_written(here, &to);
        }
        let (Some(t), Some(start), Some(len)) = known else {
            return self.not_copied(here, &to, "a copy whose ends are not known");
        };
        if len == 0 {
            return;
        }
        let ok = self.valid(here, &from, s, p, len, false);
        self.assume(here, ok);
        let ok = self.valid(here, &to, r, o, len, true);
        self.assume(here, ok);
        let Some(region) = self.region(here, &from) else { return };
        let Some(atoms) = self.atoms_between(&region, start as i64, len) else {
            return self.not_copied(here, &to, "a copy of a part of a value");
        };
        let mut moved = Vec::new();
        for (atom, at) in atoms {
            let by = (at - start as i64) as u64;
            let target = Offset::known(t as i64 + by as i64);
            let kind = region.cover(target, atom.bytes).filter(|c| c.len() == 1).map(|c| c[0].0.kind);
            let i = self.index(&region, s, p, by);
            let j = self.index(&region, r, o, by);
            let pairs: Vec<(usize, usize)> = match (atom.kind, kind) {
                (AtomKind::Bits { array }, Some(AtomKind::Bits { array: new })) => vec![(array, new)],
                (
                    AtomKind::Pointer { array, offsets },
                    Some(AtomKind::Pointer { array: new, offsets: new_offsets }),
                ) => {
                    // The condition on references of the input is that of a load.
                    let place = self.terms.constant(64, start.wrapping_add(by));
                    self.load_pointer(here, &shift(&from, by as i64), &region, &atom, s, place);
                    let mut all = vec![(array, new)];
                    all.extend(offsets.zip(new_offsets));
                    all
                }
                _ => {
                    return self.not_copied(here, &to, "a copy between different shapes");
                }
            };
            for (array, new) in pairs {
                let memory = self.array(here, array);
                moved.push((new, j, self.terms.read(memory, i)));
            }
        }
        for (array, i, v) in moved {
            self.put(here, array, i, v);
        }
    }

    pub fn fill_memory(&mut self, here: &mut Here, dst: Opnd, byte: Opnd, len: Opnd) {
        let at = self.pointers.operand(here.frame, here.f, dst, &here.state);
        let (r, o) = self.pointer(here, dst);
        if self.is_unmodelled(&at) {
            return self.forget_written(here, &at);
        }
        let (Some(start), Some(len)) = (self.terms.as_const(o), constant(here.f, len)) else {
            return self.not_copied(here, &at, "a fill whose ends are not known");
        };
        let byte = self.bits(here, byte, 8);
        if len == 0 {
            return;
        }
        let ok = self.valid(here, &at, r, o, len, true);
        self.assume(here, ok);
        if self.region(here, &at).is_some()
            && let Some(&g) = at.groups.iter().next()
        {
            self.fill(here, g, r, start as i64, len, byte);
        }
    }

    pub fn fill(&mut self, here: &mut Here, g: GroupId, r: TermId, start: i64, len: u64, byte: TermId) {
        let region = self.layout.regions[self.layout.region(g)].clone();
        let Some(atoms) = self.atoms_between(&region, start, len) else {
            let at = Pointer { groups: std::collections::BTreeSet::from([g]), ..Pointer::null() };
            return self.not_copied(here, &at, "a fill of a part of a value");
        };
        for (atom, at) in atoms {
            let o = self.terms.constant(64, at as u64);
            let i = self.index(&region, r, o, 0);
            match atom.kind {
                AtomKind::Bits { array } => {
                    let mut v = byte;
                    for _ in 1..atom.bytes {
                        v = self.terms.concat(byte, v);
                    }
                    self.put(here, array, i, v);
                }
                AtomKind::Pointer { array, offsets } if self.terms.as_const(byte) == Some(0) => {
                    let null = self.terms.constant(self.layout.ref_bits, 0);
                    self.put(here, array, i, null);
                    if let Some(offsets) = offsets {
                        let zero = self.terms.constant(64, 0);
                        self.put(here, offsets, i, zero);
                    }
                }
                AtomKind::Pointer { .. } => {
                    let at = Pointer { groups: std::collections::BTreeSet::from([g]), ..Pointer::null() };
                    self.not_copied(here, &at, "a pointer filled with bytes");
                }
            }
        }
    }
}

impl Translator<'_> {
    /// What is written there is any, or the path is cut.
    fn not_copied(&mut self, here: &mut Here, to: &Pointer, why: &str) {
        if self.covers() {
            return self.forget_written(here, to);
        }
        self.unsupported(here, why);
        here.assume = Terms::FALSE;
    }
}

fn shift(at: &Pointer, by: i64) -> Pointer {
    let mut at = at.clone();
    at.offset = at.offset.map(|o| Offset { m: o.m, r: o.r + by });
    at
}
