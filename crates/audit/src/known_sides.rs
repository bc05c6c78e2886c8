//! Interpolants at the starts of blocks to which a loop test may go that the path of a node decided.
//!
//! The pruner may take the other side of such a test as known from another node. A general state that goes there has to
//! satisfy the interpolant of some node at that point, whose own way is checked as that of every node.

use crate::satisfaction::holds;
use pleach_exec::Machine;
use pleach_expr::TermId;
use pleach_ir::Program;
use pleach_ir::bitset::BitSet;
use pleach_ir::cfg::block_of;
use pleach_ir::{BlockId, FuncId, InstId};
use pleach_prune::{AuditRecord, Interpolation};
use pleach_state::seams::PathOracle;
use pleach_state::{Child, State, StopPoints};
use pleach_wp::{Condition, Loc, Locs};
use std::collections::BTreeMap;
use std::rc::Rc;

type Point = Vec<(u32, u32)>;

pub(crate) struct KnownSides<'a> {
    records: BTreeMap<Point, Vec<&'a AuditRecord>>,
    blocks: Vec<(FuncId, BlockId)>,
    /// objects with ids below this are the same in every state
    fixed: u32,
}

impl<'a> KnownSides<'a> {
    pub fn new(log: &'a [AuditRecord], pruner: &Interpolation, program: &Program) -> KnownSides<'a> {
        let used = pruner.used_sides();
        let mut records: BTreeMap<Point, Vec<&AuditRecord>> = BTreeMap::new();
        for a in log.iter().filter(|a| used.contains(&(a.state.frame.func.0, a.state.inst)) && !a.by_edge()) {
            records.entry(crate::hoare_triple::point(&a.state)).or_default().push(a);
        }
        let block = |(func, inst): &(u32, u32)| {
            let f = program.function(FuncId(*func));
            block_of(f, InstId(*inst)).map(|b| (FuncId(*func), b))
        };
        KnownSides {
            records,
            blocks: used.iter().filter_map(block).collect(),
            fixed: pleach_wp::fixed_objects(program),
        }
    }

    /// Where a step has to stop so that such a place is seen, in the function of this state.
    pub fn stop_points(&self, state: &State, program: &Program) -> Option<StopPoints> {
        let func = state.frame.func;
        let mut blocks = BitSet::new(program.function(func).blocks.len());
        let here = self.blocks.iter().filter(|(f, _)| *f == func);
        here.clone().for_each(|(_, b)| {
            blocks.insert(b.index());
        });
        (here.count() > 0).then(|| StopPoints { func, depth: state.call_depth(), blocks: Rc::new(blocks) })
    }

    /// Some side goes to such a place.
    pub fn any(&self, next: &[Child]) -> bool {
        next.iter().any(|c| self.records.contains_key(&crate::hoare_triple::point(&c.state)))
    }

    /// Each of the states that this one stands for satisfies an interpolant of a node at its point.
    pub fn has(&self, machine: &mut Machine, locs: &Locs, st: &State) -> bool {
        let Some(records) = self.records.get(&crate::hoare_triple::point(st)) else { return false };
        let plain: Vec<&&AuditRecord> = records.iter().filter(|a| self.is_plain(machine, locs, &a.psi)).collect();
        let each: Vec<TermId> = plain.into_iter().map(|a| machine.terms().and_all(&a.psi.literals)).collect();
        let any = machine.terms().or_all(&each);
        let one = Condition { literals: vec![any], ..Condition::default() };
        holds(machine, locs, st, &one).is_ok()
    }

    /// Speaks of registers and of objects that every state has.
    fn is_plain(&self, machine: &mut Machine, locs: &Locs, c: &Condition) -> bool {
        let only_literals = Condition { literals: c.literals.clone(), ..Condition::default() };
        let known = |l: &TermId, machine: &mut Machine| {
            machine.terms().support(*l).iter().all(|k| match locs.get(k.symbol()) {
                Some(Loc::Reg { .. }) => true,
                Some(Loc::Cell { obj, .. } | Loc::Size { obj }) => obj.0 < self.fixed,
                None => false,
            })
        };
        *c == only_literals && c.literals.iter().all(|l| known(l, machine))
    }
}
