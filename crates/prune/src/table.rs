//! The subsumption table: interpolants by point, then by the registers they pin to constants, so that a look-up does not scan.
//!
//! *Direction*: an entry may be dropped at any time; that costs pruning, never soundness.

use crate::point::Point;
use pleach_expr::{Op, SymbolId, TermId, Terms};
use pleach_memory::Value;
use pleach_state::{NodeId, State};
use pleach_wp::{Condition, Loc, Locs};
use rustc_hash::FxHashMap;
use std::rc::Rc;

pub struct Entry {
    pub node: NodeId,
    pub condition: Condition,
}

/// Entries that pin the same registers, by the values they pin them to.
struct Shelf {
    registers: Vec<u32>,
    by_values: FxHashMap<Vec<u64>, Vec<Rc<Entry>>>,
}

#[derive(Default)]
pub struct SubsumptionTable {
    points: FxHashMap<Point, Vec<Shelf>>,
    entries: usize,
}

/// Entries kept under one key; the oldest make room.
const PER_KEY: usize = 12;
/// Different sets of pinned registers kept per point.
const SHELVES: usize = 24;

impl SubsumptionTable {
    pub fn len(&self) -> usize {
        self.entries
    }
    pub fn is_empty(&self) -> bool {
        self.entries == 0
    }

    pub fn insert(&mut self, terms: &Terms, locs: &Locs, point: Point, depth: u32, entry: Entry) {
        let mut pinned: Vec<(u32, u64)> =
            entry.condition.literals.iter().filter_map(|&l| pinned_register(terms, locs, l, depth)).collect();
        pinned.sort_unstable();
        pinned.dedup_by_key(|p| p.0);
        let (registers, values): (Vec<u32>, Vec<u64>) = pinned.into_iter().unzip();
        let shelves = self.points.entry(point).or_default();
        let shelf = match shelves.iter_mut().position(|s| s.registers == registers) {
            Some(i) => &mut shelves[i],
            None if shelves.len() >= SHELVES => return,
            None => {
                shelves.push(Shelf { registers, by_values: FxHashMap::default() });
                match shelves.last_mut() {
                    Some(s) => s,
                    None => return,
                }
            }
        };
        let slot = shelf.by_values.entry(values).or_default();
        if slot.len() >= PER_KEY {
            slot.remove(0);
            self.entries -= 1;
        }
        slot.push(Rc::new(entry));
        self.entries += 1;
    }

    /// Entries whose pinned registers agree with the state, newest first.
    pub fn candidates(&self, point: &Point, state: &State) -> Vec<Rc<Entry>> {
        let mut out = Vec::new();
        let Some(shelves) = self.points.get(point) else { return out };
        for s in shelves {
            let values: Option<Vec<u64>> = s
                .registers
                .iter()
                .map(|&r| match state.frame.regs.get(r as usize) {
                    Some(Value::Int(v)) => Some(*v),
                    _ => None,
                })
                .collect();
            if let Some(found) = values.and_then(|v| s.by_values.get(&v)) {
                out.extend(found.iter().rev().cloned());
            }
        }
        out
    }
}

/// A literal `register = constant` of the top frame.
fn pinned_register(terms: &Terms, locs: &Locs, l: TermId, top: u32) -> Option<(u32, u64)> {
    let n = terms.node(l);
    let (var, value) = match n.op {
        Op::Eq => match (terms.as_const(n.arg_a()), terms.as_const(n.arg_b())) {
            (Some(v), None) => (n.arg_b(), v),
            (None, Some(v)) => (n.arg_a(), v),
            _ => return None,
        },
        _ => return None,
    };
    let v = terms.node(var);
    match (v.op, locs.get(SymbolId(v.a))) {
        (Op::Var, Some(Loc::Reg { depth, slot })) if depth == top => Some((slot, value)),
        _ => None,
    }
}
