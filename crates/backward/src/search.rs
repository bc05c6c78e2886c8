//! What both styles share: the aim, conditions on the input, the solver.
//!
//! *Paper*: Backward, GETCONDITION: the arrays at the entry are those of the input, its references are null or negative.

use crate::clock::{Clock, OUT_OF_TIME};
use crate::cut::CutReason;
use crate::graph::{Context, FrameId};
use crate::heap::InputHeap;
use crate::layout::AtomKind;
use crate::pointers::{Group, GroupId, Offset};
use crate::transfer::{Transfer, Translator};
use crate::types;
use crate::variables::{Var, VarId};
use pleach_expr::{INDEX_BITS, SymbolKind, TermId, Terms};
use pleach_ir::types::{DebugType, Encoding};
use pleach_ir::{Init, Symbol, Ty};
use pleach_smt::{Satisfiability, Session, UnknownReason};

/// What is looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Aim {
    /// the goals
    Goals,
    /// executions that are not followed, for any reason
    Cuts,
    /// … for another reason than a bound
    Unsupported,
}

pub enum Found {
    Yes(InputHeap),
    No,
    Unknown(String),
}

pub struct Search<'a> {
    pub translator: Translator<'a>,
    pub session: Session,
    pub clock: Clock,
    /// conditions have equations between arrays
    pub equates_arrays: bool,
}

impl Search<'_> {
    pub fn out_of_time(&self) -> Option<String> {
        self.clock.is_over().then(|| OUT_OF_TIME.to_owned())
    }

    /// The solver's answer within the time that is left.
    pub fn check(&mut self, query: &[TermId]) -> Satisfiability {
        let left = self.clock.left();
        if left.is_some_and(|t| t.is_zero()) {
            return Satisfiability::Unknown(UnknownReason::Timeout);
        }
        self.session.set_timeout(left);
        self.session.check(self.translator.terms, query)
    }

    /// The condition under which a node itself is what is looked for.
    pub fn own_condition(&mut self, transfer: &Transfer, aim: Aim) -> TermId {
        match aim {
            Aim::Goals => transfer.goal.unwrap_or(Terms::FALSE),
            Aim::Cuts | Aim::Unsupported => {
                let wanted = |c: &&(TermId, CutReason)| aim == Aim::Cuts || !c.1.is_bound();
                let all: Vec<TermId> = transfer.cuts.iter().filter(wanted).map(|c| c.0).collect();
                self.translator.terms.or_all(&all)
            }
        }
    }

    /// The variables that a term over a node's beginning mentions.
    pub fn variables_of(&mut self, t: TermId) -> Vec<VarId> {
        let support = self.translator.terms.support(t);
        let mut all: Vec<VarId> =
            support.iter().filter_map(|k| self.translator.variables.by_symbol(k.symbol())).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    fn at_entry(&mut self, var: Var, kind: SymbolKind) -> TermId {
        let id = self.translator.variables.id(var, kind);
        self.translator.variables.input(self.translator.terms, id)
    }

    /// What holds of the input.
    pub fn input_conditions(&mut self) -> Vec<TermId> {
        let mut all = Vec::new();
        let program = self.translator.program;
        let f = self.translator.graph.function(program, FrameId::ENTRY);
        let ref_bits = self.translator.layout.ref_bits;
        for p in &f.params {
            let ty = p.debug_type.map(|t| types::resolve(program, t));
            if p.ty == Ty::Ptr && self.translator.graph.context == Context::Anywhere {
                continue;
            }
            if p.ty == Ty::Ptr {
                let r = self.at_entry(Var::Ref(FrameId::ENTRY, p.slot), SymbolKind::Bits(ref_bits));
                let pool = self.translator.pointers.pool(ty.and_then(|t| types::pointee(program, t)).flatten());
                let null = self.translator.terms.constant(ref_bits, 0);
                let is_null = self.translator.terms.eq(r, null);
                let there = self.translator.in_range(r, self.translator.layout.ranges[pool.index()]);
                all.push(self.translator.terms.or(is_null, there));
            } else if let Some(DebugType::Base { encoding: Encoding::Bool, .. }) =
                ty.and_then(|t| program.types.get(t.index()))
            {
                let width = program.target.bits(p.ty);
                if width > 1 {
                    let v = self.at_entry(Var::Slot(FrameId::ENTRY, p.slot), SymbolKind::Bits(width));
                    let one = self.translator.terms.constant(width, 1);
                    all.push(self.translator.terms.ule(v, one));
                }
            }
        }
        self.initial_globals(&mut all);
        all.retain(|t| *t != Terms::TRUE);
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Globals have their initial values at the entry, as in forward execution.
    fn initial_globals(&mut self, all: &mut Vec<TermId>) {
        for g in (0..self.translator.pointers.groups.len()).map(|i| GroupId(i as u32)) {
            let Group::Global(id) = self.translator.pointers.groups[g.index()] else { continue };
            let program = self.translator.program;
            let global = program.global(id);
            if self.translator.graph.context == Context::Anywhere && !global.constant {
                continue;
            }
            let (bytes, relocs): (&[u8], &[pleach_ir::Reloc]) = match &global.init {
                Init::Zero => (&[], &[]),
                Init::Bytes { bytes, relocs } => (bytes, relocs),
                // Contents that are not known are any.
                Init::External | Init::Unsupported { .. } => continue,
            };
            let region = self.translator.layout.regions[self.translator.layout.region(g)].clone();
            let Some(atoms) = self.translator.atoms_between(&region, 0, global.size) else { continue };
            for (atom, at) in atoms {
                let i = self.translator.cell_index(&region, g, at as u64);
                let reloc = relocs.iter().find(|r| r.offset == at as u64);
                let raw = (0..atom.bytes as usize)
                    .map(|k| u64::from(bytes.get(at as usize + k).copied().unwrap_or(0)) << (8 * k))
                    .fold(0, |a, b| a | b);
                let (array, value, offset) = match (atom.kind, reloc) {
                    (AtomKind::Bits { array }, None) => {
                        (array, self.translator.terms.constant((atom.bytes * 8) as u16, raw), None)
                    }
                    (AtomKind::Pointer { array, offsets }, reloc) => {
                        let group = match reloc.map(|r| r.symbol) {
                            Some(Symbol::Global(g)) => self.translator.pointers.find(Group::Global(g)),
                            Some(Symbol::Function(f)) => self.translator.pointers.find(Group::Function(f)),
                            Some(Symbol::Block(..)) => None,
                            None if raw == 0 => {
                                let null = self.translator.terms.constant(self.translator.layout.ref_bits, 0);
                                let input = self.translator.input_array(array);
                                let v = self.translator.terms.read(input, i);
                                all.push(self.translator.terms.eq(v, null));
                                continue;
                            }
                            None => None,
                        };
                        let Some(group) = group else { continue };
                        let value = self.translator.reference(group);
                        let addend = reloc.map_or(0, |r| r.addend);
                        (array, value, offsets.map(|o| (o, addend)))
                    }
                    // A pointer in memory that is accessed as numbers: any.
                    _ => continue,
                };
                let input = self.translator.input_array(array);
                let v = self.translator.terms.read(input, i);
                all.push(self.translator.terms.eq(v, value));
                if let Some((offsets, addend)) = offset {
                    let input = self.translator.input_array(offsets);
                    let v = self.translator.terms.read(input, i);
                    let addend = self.translator.terms.constant(64, addend as u64);
                    all.push(self.translator.terms.eq(v, addend));
                }
            }
        }
    }

    pub fn solve(&mut self, query: &[TermId]) -> Found {
        if query.contains(&Terms::FALSE) {
            return Found::No;
        }
        if let Some(why) = self.out_of_time() {
            return Found::Unknown(why);
        }
        match self.check(query) {
            Satisfiability::Unsat => Found::No,
            Satisfiability::Unknown(UnknownReason::Timeout) => Found::Unknown(OUT_OF_TIME.into()),
            Satisfiability::Unknown(why) => Found::Unknown(why.to_string()),
            Satisfiability::Sat => match InputHeap::read(self, query) {
                Ok(heap) => Found::Yes(heap),
                Err(why) => Found::Unknown(self.out_of_time().unwrap_or_else(|| why.to_string())),
            },
        }
    }
}

impl Translator<'_> {
    /// The index of a cell of a group's first object.
    pub fn cell_index(&mut self, region: &crate::layout::Region, g: GroupId, at: u64) -> TermId {
        let (first, _) = self.layout.ranges[g.index()];
        self.cell_of(region, first, at)
    }

    pub fn cell_of(&mut self, region: &crate::layout::Region, reference: i64, at: u64) -> TermId {
        let r = self.terms.constant(self.layout.ref_bits, reference as u64);
        if region.modulus == 0 {
            return self.terms.sext(r, INDEX_BITS);
        }
        let low = self.terms.constant(INDEX_BITS - self.layout.ref_bits, at);
        self.terms.concat(r, low)
    }

    /// The atoms that make up `bytes` at a known offset.
    pub fn cover_known(region: &crate::layout::Region, at: u64, bytes: u64) -> Option<Vec<(crate::layout::Atom, u64)>> {
        let found = region.cover(Offset::known(at as i64), bytes)?;
        Some(found.into_iter().map(|(a, by)| (a.clone(), by)).collect())
    }
}
