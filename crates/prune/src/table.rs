//! The subsumption table: interpolants by point, then by the registers they fix to constants, so that a look-up does
//! not scan.
//!
//! *Direction*: an entry may be dropped at any time; that costs pruning, never soundness.

use crate::budget::Cost;
use crate::matching::register;
use crate::point::Point;
use pleach_expr::{Op, SymbolId, TermId, Terms};
use pleach_memory::Value;
use pleach_state::{NodeId, State};
use pleach_wp::{Condition, Dereferenceable, Loc, Locs, PointsTo, Rounds};
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::cell::Cell;
use std::hash::BuildHasher;
use std::rc::Rc;

pub struct TableEntry {
    pub node: NodeId,
    pub condition: Condition,
    /// what the subtree cost
    pub work: Cost,
    pub hits: Cell<u32>,
    /// the literal that failed when a state was last compared with it
    pub last_failed_literal: Cell<u32>,
    bytes: usize,
    /// of all literals, in any order
    fingerprint: u64,
}

impl TableEntry {
    pub fn new(node: NodeId, condition: Condition, work: Cost) -> TableEntry {
        let bytes = ENTRY_BYTES
            + condition.literals.len() * size_of::<TermId>()
            + condition.points_to.len() * size_of::<PointsTo>()
            + condition.dereferenceable.len() * size_of::<Dereferenceable>()
            + condition.satisfiable.iter().map(|p| p.len() * size_of::<TermId>()).sum::<usize>()
            + condition.sums.len() * SUM_BYTES;
        let fingerprint = condition.literals.iter().fold(0, |sum: u64, l| sum.wrapping_add(FxBuildHasher.hash_one(l)));
        let (hits, last_failed_literal) = (Cell::new(0), Cell::new(u32::MAX));
        TableEntry { node, condition, work, hits, last_failed_literal, bytes, fingerprint }
    }

    /// Subsumes every state that the other one does: they differ in the rounds that bounded loops made, if at all.
    fn makes_needless(&self, other: &TableEntry) -> bool {
        let (a, b) = (&self.condition, &other.condition);
        let made = |r: &Rounds| b.rounds.iter().find(|o| (o.depth, o.header) == (r.depth, r.header));
        self.fingerprint == other.fingerprint
            && a.literals.len() == b.literals.len()
            && a.rounds.iter().all(|r| made(r).is_some_and(|o| o.at_least >= r.at_least))
            && a.literals.iter().all(|l| b.literals.contains(l))
            && a.same_but_literals(b)
    }
}

/// A register that a condition fixes to a constant: to a number, or to an offset in some object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Pinned {
    depth: u32,
    slot: u32,
    pointer: bool,
}

impl Pinned {
    fn value(self, state: &State) -> Option<u64> {
        match (register(state, self.depth, self.slot)?, self.pointer) {
            (Value::Int(v), false) => Some(v),
            (Value::Ptr { off, .. }, true) => Some(off as u64),
            _ => None,
        }
    }
}

/// Entries that fix the same registers, by the values they fix them to.
struct PinnedRegisterIndex {
    registers: Vec<Pinned>,
    by_values: FxHashMap<Vec<u64>, Vec<Rc<TableEntry>>>,
}

pub struct SubsumptionTable {
    points: FxHashMap<Point, Vec<PinnedRegisterIndex>>,
    entries: usize,
    /// about what the entries take, and may take: beyond it, entries that never subsumed anything make room
    bytes: usize,
    pub max_bytes: usize,
    /// the node below which entries without hits go when room is needed
    young: u32,
    pub evicted: u64,
}

/// Entries kept under one key; the oldest make room.
const PER_KEY: usize = 1024;
/// Different sets of pinned registers kept per point.
const SHELVES: usize = 48;
/// The table with its vectors and keys, per entry, about.
const ENTRY_BYTES: usize = 320;
/// What a sum does not share with its neighbours, about.
const SUM_BYTES: usize = 4096;

impl Default for SubsumptionTable {
    fn default() -> Self {
        SubsumptionTable {
            points: FxHashMap::default(),
            entries: 0,
            bytes: 0,
            max_bytes: usize::MAX,
            young: 0,
            evicted: 0,
        }
    }
}

impl SubsumptionTable {
    pub fn len(&self) -> usize {
        self.entries
    }
    pub fn is_empty(&self) -> bool {
        self.entries == 0
    }

    pub fn insert(&mut self, terms: &Terms, locs: &Locs, point: Point, entry: TableEntry) {
        let c = &entry.condition;
        let numbers = c.literals.iter().filter_map(|&l| pinned_number(terms, locs, l));
        let pointers = c.points_to.iter().filter_map(|p| pinned_pointer(terms, locs, p));
        let mut pinned: Vec<(Pinned, u64)> = numbers.chain(pointers).collect();
        pinned.sort_unstable();
        pinned.dedup_by_key(|p| p.0);
        let (registers, values): (Vec<Pinned>, Vec<u64>) = pinned.into_iter().unzip();
        let indices = self.points.entry(point).or_default();
        let index = match indices.iter_mut().position(|s| s.registers == registers) {
            Some(i) => &mut indices[i],
            None if indices.len() >= SHELVES => return,
            None => {
                indices.push(PinnedRegisterIndex { registers, by_values: FxHashMap::default() });
                match indices.last_mut() {
                    Some(s) => s,
                    None => return,
                }
            }
        };
        let slot = index.by_values.entry(values).or_default();
        if !entry.condition.rounds.is_empty() {
            if slot.iter().any(|e| e.makes_needless(&entry)) {
                return;
            }
            let (bytes, entries) = (&mut self.bytes, &mut self.entries);
            slot.retain(|e| {
                let needed = !entry.makes_needless(e);
                *bytes -= if needed { 0 } else { e.bytes };
                *entries -= usize::from(!needed);
                needed
            });
        }
        if slot.len() >= PER_KEY {
            // The oldest of those that helped least.
            let least = slot.iter().enumerate().min_by_key(|(_, e)| e.hits.get()).map_or(0, |(i, _)| i);
            self.bytes -= slot.remove(least).bytes;
            self.entries -= 1;
            self.evicted += 1;
        }
        self.bytes += entry.bytes;
        let newest = entry.node;
        slot.push(Rc::new(entry));
        self.entries += 1;
        if self.bytes > self.max_bytes {
            self.make_room(newest);
        }
    }

    /// Drops what has not subsumed anything and is not new; if that is too little, all that is not new.
    fn make_room(&mut self, newest: NodeId) {
        let old = NodeId(self.young + newest.0.saturating_sub(self.young) / 2);
        self.keep(|e| e.hits.get() > 0 || e.node >= old);
        if self.bytes > self.max_bytes / 4 * 3 {
            self.keep(|e| e.node >= old);
        }
        if self.bytes > self.max_bytes / 4 * 3 {
            self.keep(|_| false);
        }
        self.young = old.0;
    }

    fn keep(&mut self, wanted: impl Fn(&TableEntry) -> bool) {
        let (mut entries, mut bytes) = (0, 0);
        for index in self.points.values_mut().flatten() {
            for slot in index.by_values.values_mut() {
                slot.retain(|e| wanted(e));
                entries += slot.len();
                bytes += slot.iter().map(|e| e.bytes).sum::<usize>();
            }
            index.by_values.retain(|_, slot| !slot.is_empty());
        }
        self.evicted += (self.entries - entries) as u64;
        (self.entries, self.bytes) = (entries, bytes);
    }

    /// All entries, in any order.
    pub fn entries(&self) -> impl Iterator<Item = (&Point, &TableEntry)> {
        let of_point = |(point, indices)| {
            let indices: &Vec<PinnedRegisterIndex> = indices;
            indices.iter().flat_map(|i| i.by_values.values().flatten()).map(move |e| (point, &**e))
        };
        self.points.iter().flat_map(of_point)
    }

    /// Drops the entry of a node.
    pub fn remove(&mut self, point: &Point, node: NodeId) {
        for index in self.points.get_mut(point).into_iter().flatten() {
            for slot in index.by_values.values_mut() {
                let Some(at) = slot.iter().position(|e| e.node == node) else { continue };
                self.bytes -= slot.remove(at).bytes;
                self.entries -= 1;
                return;
            }
        }
    }

    /// The entries at a point, in any order.
    pub fn at_point(&self, point: &Point) -> impl Iterator<Item = &Rc<TableEntry>> {
        self.points.get(point).into_iter().flatten().flat_map(|i| i.by_values.values().flatten())
    }

    #[cfg(test)]
    fn at(&self, point: &Point) -> usize {
        self.points.get(point).into_iter().flatten().flat_map(|s| s.by_values.values()).map(Vec::len).sum()
    }

    /// Some subtree at this point is known.
    pub fn knows(&self, point: &Point) -> bool {
        self.points.contains_key(point)
    }

    /// Entries whose pinned registers agree with the state, newest first.
    pub fn candidates(&self, point: &Point, state: &State) -> Vec<Rc<TableEntry>> {
        let mut out = Vec::new();
        let Some(indices) = self.points.get(point) else { return out };
        for s in indices {
            let values: Option<Vec<u64>> = s.registers.iter().map(|r| r.value(state)).collect();
            if let Some(found) = values.and_then(|v| s.by_values.get(&v)) {
                out.extend(found.iter().rev().cloned());
            }
        }
        out
    }
}

/// The register a variable stands for.
fn register_of(terms: &Terms, locs: &Locs, var: TermId, pointer: bool) -> Option<Pinned> {
    let v = terms.node(var);
    match (v.op, locs.get(SymbolId(v.a))) {
        (Op::Var, Some(Loc::Reg { depth, slot })) => Some(Pinned { depth, slot, pointer }),
        _ => None,
    }
}

/// A literal `register = constant`.
fn pinned_number(terms: &Terms, locs: &Locs, l: TermId) -> Option<(Pinned, u64)> {
    let n = terms.node(l);
    if n.op != Op::Eq {
        return None;
    }
    let (var, value) = match (terms.as_const(n.arg_a()), terms.as_const(n.arg_b())) {
        (Some(v), None) => (n.arg_b(), v),
        (None, Some(v)) => (n.arg_a(), v),
        _ => return None,
    };
    Some((register_of(terms, locs, var, false)?, value))
}

/// A points-to literal of a register at a constant offset: a pointer at another one does not match it.
fn pinned_pointer(terms: &Terms, locs: &Locs, p: &PointsTo) -> Option<(Pinned, u64)> {
    Some((register_of(terms, locs, p.ptr, true)?, p.off?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_key_has_room_for_hundreds_of_entries() {
        let terms = Terms::new(64);
        let mut table = SubsumptionTable::default();
        for i in 0..700u32 {
            table.insert(
                &terms,
                &Locs::default(),
                Point::test(1),
                TableEntry::new(NodeId(i), Condition::default(), Cost::default()),
            );
        }
        assert_eq!((table.at(&Point::test(1)), table.evicted), (700, 0));
    }

    #[test]
    fn of_entries_that_differ_in_rounds_the_one_for_most_states_stays() {
        let terms = Terms::new(64);
        let mut table = SubsumptionTable::default();
        let mut insert = |node: u32, at_least: u32, literals: &[TermId]| {
            let rounds = vec![Rounds { depth: 0, header: pleach_ir::BlockId(3), at_least }];
            let condition = Condition { rounds, literals: literals.to_vec(), ..Condition::default() };
            let entry = TableEntry::new(NodeId(node), condition, Cost::default());
            table.insert(&terms, &Locs::default(), Point::test(1), entry);
            table.len()
        };
        assert_eq!(insert(1, 9, &[Terms::FALSE]), 1);
        assert_eq!(insert(2, 7, &[Terms::FALSE]), 1, "it replaces the first");
        assert_eq!(insert(3, 8, &[Terms::FALSE]), 1, "the second subsumes more");
        assert_eq!(insert(4, 5, &[Terms::TRUE]), 2, "another condition");
        let slots = table.points.values().flatten().flat_map(|s| s.by_values.values()).flatten();
        let mut kept: Vec<u32> = slots.map(|e| e.node.0).collect();
        kept.sort_unstable();
        assert_eq!(kept, [2, 4]);
    }

    #[test]
    fn a_full_table_keeps_what_helped() {
        let terms = Terms::new(64);
        let mut table = SubsumptionTable { max_bytes: 200 * ENTRY_BYTES, ..SubsumptionTable::default() };
        for i in 0..1000u32 {
            let entry = TableEntry::new(NodeId(i), Condition::default(), Cost::default());
            entry.hits.set(u32::from(i == 7));
            let point = Point::test(i);
            table.insert(&terms, &Locs::default(), point, entry);
            assert!(table.bytes <= table.max_bytes);
        }
        assert!(table.at(&Point::test(999)) == 1 && table.evicted > 0 && table.len() <= 200);
        assert_eq!(table.at(&Point::test(7)), 1);
        assert_eq!(table.at(&Point::test(8)), 0);
    }
}
