//! Renumbers slots: unused ones go, and temporaries that live within one block share.
//!
//! A frame is copied when a state forks, so its size counts.

use super::uses::{copies_of, each_def, each_use, map_defs, map_uses};
use pleach_ir::{Function, Inst, Opnd, Slot, SlotInfo, Ty};
use rustc_hash::FxHashMap;

/// Where a slot is mentioned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SlotScope {
    Nowhere,
    Block(u32),
    Everywhere,
}

pub(crate) fn compact(f: &mut Function) {
    let mut insts = std::mem::take(&mut f.insts);
    let scopes = scopes(f, &mut insts);
    let mut names = Names { slots: Vec::new(), new: vec![None; f.slots.len()] };
    for (i, (scope, info)) in scopes.iter().zip(&f.slots).enumerate() {
        if *scope == SlotScope::Everywhere {
            names.give_own(i, info.clone());
        }
    }
    let mut shared = Shared::default();
    let blocks = f.blocks.clone();
    for block in blocks {
        let range = block.first.index()..block.first.index() + block.len as usize;
        share(f, &mut insts[range], &scopes, &mut names, &mut shared);
    }
    for param in &mut f.params {
        param.slot = names.of(param.slot);
    }
    f.unwound = f.unwound.map(|s| names.of(s));
    f.slots = names.slots;
    drop_unused_parts(f, &mut insts);
    f.insts = insts;
}

/// Address computations that were folded away leave their parts behind.
fn drop_unused_parts(f: &mut Function, insts: &mut [Inst]) {
    let mut scaled = Vec::with_capacity(f.scaled.len());
    for inst in insts {
        if let Inst::Gep { parts, .. } = inst {
            let start = scaled.len() as u32;
            scaled.extend_from_slice(&f.scaled[parts.as_range()]);
            parts.start = start;
        }
    }
    f.scaled = scaled;
}

fn scopes(f: &mut Function, insts: &mut [Inst]) -> Vec<SlotScope> {
    let mut scopes = vec![SlotScope::Nowhere; f.slots.len()];
    let mention = |scopes: &mut Vec<SlotScope>, s: Slot, block: u32| {
        let scope = &mut scopes[s.index()];
        *scope = match *scope {
            SlotScope::Nowhere => SlotScope::Block(block),
            SlotScope::Block(b) if b == block => *scope,
            _ => SlotScope::Everywhere,
        };
    };
    let blocks = f.blocks.clone();
    for (block, index) in blocks.iter().zip(0..) {
        let mut written: rustc_hash::FxHashSet<Slot> = Default::default();
        for inst in &mut insts[block.first.index()..block.first.index() + block.len as usize] {
            each_use(inst, f, &mut |o| {
                if let Some(s) = o.as_slot() {
                    mention(&mut scopes, s, index);
                    // Read before it is written here: the value comes from elsewhere.
                    if !written.contains(&s) {
                        scopes[s.index()] = SlotScope::Everywhere;
                    }
                }
            });
            each_def(inst, f, &mut |s| {
                mention(&mut scopes, s, index);
                written.insert(s);
            });
        }
    }
    for copy in &f.copies {
        scopes[copy.dst.index()] = SlotScope::Everywhere;
    }
    for param in &f.params {
        scopes[param.slot.index()] = SlotScope::Everywhere;
    }
    for (scope, info) in scopes.iter_mut().zip(&f.slots) {
        if info.name.is_some() && *scope != SlotScope::Nowhere {
            *scope = SlotScope::Everywhere;
        }
    }
    scopes
}

/// The new slots.
struct Names {
    slots: Vec<SlotInfo>,
    new: Vec<Option<Slot>>,
}

impl Names {
    fn give_own(&mut self, old: usize, info: SlotInfo) {
        self.new[old] = Some(Slot::new(self.slots.len()));
        self.slots.push(info);
    }

    fn of(&self, old: Slot) -> Slot {
        self.new[old.index()].unwrap_or(old)
    }

    fn opnd(&self, o: Opnd) -> Opnd {
        o.as_slot().map_or(o, |s| Opnd::slot(self.of(s)))
    }
}

/// New slots that temporaries of one type take turns in.
#[derive(Default)]
struct Shared {
    all: FxHashMap<Ty, Vec<Slot>>,
}

/// Numbers the temporaries of one block and rewrites it.
fn share(f: &mut Function, insts: &mut [Inst], scopes: &[SlotScope], names: &mut Names, shared: &mut Shared) {
    let is_local = |s: Slot| matches!(scopes[s.index()], SlotScope::Block(_));
    let mut last_read: FxHashMap<Slot, usize> = FxHashMap::default();
    for (at, inst) in insts.iter_mut().enumerate() {
        each_use(inst, f, &mut |o| {
            if let Some(s) = o.as_slot().filter(|s| is_local(*s)) {
                last_read.insert(s, at);
            }
        });
        each_def(inst, f, &mut |s| {
            if is_local(s) {
                last_read.insert(s, at);
            }
        });
    }
    let mut free: FxHashMap<Ty, Vec<Slot>> = shared.all.clone();
    for (at, inst) in insts.iter_mut().enumerate() {
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        each_use(inst, f, &mut |o| reads.extend(o.as_slot().filter(|s| is_local(*s))));
        each_def(inst, f, &mut |s| writes.extend(Some(s).filter(|s| is_local(*s))));
        map_uses(inst, f, &mut |o| names.opnd(o));
        for copies in copies_of(inst, f) {
            for copy in &mut f.copies[copies.as_range()] {
                copy.dst = names.of(copy.dst);
            }
        }
        reads.sort_unstable();
        reads.dedup();
        let release = |names: &Names, slots: &[Slot], free: &mut FxHashMap<Ty, Vec<Slot>>| {
            for s in slots.iter().filter(|s| last_read.get(s) == Some(&at)) {
                free.entry(f.slots[s.index()].ty).or_default().push(names.of(*s));
            }
        };
        // Operands are read before the one result is written, so it may take the place of an operand. With several
        // results it may not.
        let early = writes.len() <= 1;
        if early {
            release(names, &reads, &mut free);
        }
        for s in &writes {
            let info = &f.slots[s.index()];
            let taken = free.entry(info.ty).or_default().pop();
            let slot = taken.unwrap_or_else(|| {
                let new = Slot::new(names.slots.len());
                names.slots.push(info.clone());
                shared.all.entry(info.ty).or_default().push(new);
                new
            });
            names.new[s.index()] = Some(slot);
        }
        if !early {
            release(names, &reads, &mut free);
        }
        release(names, &writes, &mut free);
        map_defs(inst, f, &mut |s| names.of(s));
    }
}
