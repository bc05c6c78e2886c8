//! Within a block: what is computed into a temporary and then copied to a local is computed into the local.
//!
//! *Invariant*: between the computation and the copy the local is neither read nor written, and every read of the
//! temporary comes before the local changes again.

use super::emit::Lowering;
use super::forward::{count_uses, remove_gone};
use super::uses::{each_def, each_use, map_defs, map_uses};
use pleach_ir::{Function, Inst, Opnd, Slot};
use rustc_hash::FxHashMap;

/// The largest distance between computation and last use.
const REACH: usize = 128;

pub(crate) fn retarget(l: &mut Lowering<'_, '_>) {
    let uses = count_uses(l);
    for block in 0..l.code.len() {
        let mut insts = std::mem::take(&mut l.code[block].insts);
        let mut defined: FxHashMap<Slot, usize> = FxHashMap::default();
        for at in 0..insts.len() {
            if let Inst::Mov { dst, a } = insts[at]
                && let Some(temp) = a.as_slot().filter(|t| !l.mutable[t.index()] && l.mutable[dst.index()])
                && let Some(&start) = defined.get(&temp)
                && l.out.slots[temp.index()].ty == l.out.slots[dst.index()].ty
                && let Some(end) = reach(&mut insts, &mut l.out, start, at, temp, dst, uses[temp.index()])
            {
                rename(&mut insts[start..=end], &mut l.out, temp, dst);
            }
            note_def(&mut insts[at], &mut l.out, at, &mut defined);
        }
        l.code[block].insts = insts;
    }
    remove_gone(l);
}

/// Remembers where the one result of an instruction was computed.
fn note_def(inst: &mut Inst, f: &mut Function, at: usize, defined: &mut FxHashMap<Slot, usize>) {
    if matches!(inst, Inst::Alloca { .. }) {
        return;
    }
    let mut slots = Vec::new();
    each_def(inst, f, &mut |s| slots.push(s));
    if let [only] = slots[..] {
        defined.insert(only, at);
    }
}

/// The last read of `temp`, if `dst` can stand for it from `start` on; `copy` is where it is copied to `dst`.
fn reach(
    insts: &mut [Inst],
    f: &mut Function,
    start: usize,
    copy: usize,
    temp: Slot,
    dst: Slot,
    uses: u32,
) -> Option<usize> {
    let mut found = 0;
    for (at, inst) in insts.iter_mut().enumerate().skip(start + 1).take(REACH) {
        let (mut reads_dst, mut writes_dst) = (false, false);
        each_use(inst, f, &mut |o| {
            found += u32::from(o == Opnd::slot(temp));
            reads_dst |= o == Opnd::slot(dst);
        });
        each_def(inst, f, &mut |s| writes_dst |= s == dst);
        if at < copy && (reads_dst || writes_dst) {
            return None;
        }
        if found == uses && at >= copy {
            return Some(at);
        }
        if at > copy && writes_dst {
            return None;
        }
    }
    None
}

fn rename(insts: &mut [Inst], f: &mut Function, temp: Slot, dst: Slot) {
    let (old, new) = (Opnd::slot(temp), Opnd::slot(dst));
    map_defs(&mut insts[0], f, &mut |s| if s == temp { dst } else { s });
    for inst in &mut insts[1..] {
        map_uses(inst, f, &mut |o| if o == old { new } else { o });
    }
}
