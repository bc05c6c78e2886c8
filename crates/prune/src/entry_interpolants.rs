//! Interpolants of the first function, for who does not know states.
//!
//! *Idea*: an entry of the table whose point has one frame, and whose condition speaks of numbers in registers of that
//! frame and in globals only, is a statement about the program: no execution that is at the point and satisfies the
//! condition reaches what the exploration did not. *Direction*: every other entry is left out, and so are those that
//! rest on an assumption about a loop.

use crate::pruner::Interpolation;
use pleach_expr::{Op, TermId, Terms};
use pleach_ir::{FuncId, GlobalId, InstId, Program};
use pleach_wp::{Condition, Loc};
use rustc_hash::FxHashMap;

/// What a variable of a condition is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EntryPlace {
    Register(u32),
    /// bytes of a global
    Global {
        global: GlobalId,
        offset: u64,
        bytes: u32,
    },
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EntryInterpolant {
    pub func: FuncId,
    pub inst: InstId,
    /// all of them hold
    pub literals: Vec<TermId>,
}

/// Conditions with terms of their own.
pub struct EntryInterpolants {
    pub terms: Terms,
    pub places: FxHashMap<TermId, EntryPlace>,
    pub all: Vec<EntryInterpolant>,
}

/// More are not kept.
const MAX_KEPT: usize = 1000;

impl Interpolation {
    /// Those of the entries that are known by now. Their order is that of their nodes.
    pub fn entry_interpolants(&self, terms: &mut Terms, program: &Program) -> EntryInterpolants {
        let mut found = Vec::new();
        for (point, entry) in self.table.entries() {
            if let Some((func, inst)) = point.alone()
                && !self.loops.is_provisional(entry.node)
                && let Some(literals) = plain(&entry.condition, terms)
            {
                found.push((entry.node, EntryInterpolant { func, inst, literals }));
            }
        }
        found.sort_by_key(|(node, _)| *node);
        found.truncate(MAX_KEPT);
        let mut made =
            EntryInterpolants { terms: Terms::new(terms.pointer_bits), places: FxHashMap::default(), all: Vec::new() };
        let mut done = FxHashMap::default();
        for (_, mut one) in found {
            let copied = one.literals.iter().map(|&l| self.copy(l, terms, program, &mut made, &mut done));
            if let Some(literals) = copied.collect::<Option<Vec<TermId>>>() {
                one.literals = literals;
                made.all.push(one);
            }
        }
        made
    }

    /// A term in the other table; `None` if it has something that is no number of a register or a global.
    fn copy(
        &self,
        t: TermId,
        from: &Terms,
        program: &Program,
        to: &mut EntryInterpolants,
        done: &mut FxHashMap<TermId, TermId>,
    ) -> Option<TermId> {
        let mut stack = vec![t];
        while let Some(&at) = stack.last() {
            if done.contains_key(&at) {
                stack.pop();
                continue;
            }
            let args = from.args(at);
            let missing: Vec<TermId> = args.iter().copied().filter(|a| !done.contains_key(a)).collect();
            if !missing.is_empty() {
                stack.extend(missing);
                continue;
            }
            let n = from.node(at);
            let made = match n.op {
                Op::Const => to.terms.constant(n.width, n.value()),
                Op::Var => {
                    let symbol = pleach_expr::SymbolId(n.a);
                    let place = place(program, self.locs().get(symbol)?)?;
                    let kind = pleach_expr::SymbolKind::Bits(n.width);
                    let copy = to.terms.symbols.named(&format!("{place:?}"), kind);
                    let copy = to.terms.var(copy);
                    to.places.insert(copy, place);
                    copy
                }
                Op::Wide | Op::Base | Op::ArrayVar | Op::ArrayConst | Op::Read | Op::Store => return None,
                _ if n.width > 64 || from.has(at, pleach_expr::facts::HAS_FORALL) => return None,
                _ => {
                    let args: Vec<TermId> = args.iter().map(|a| done[a]).collect();
                    to.terms.rebuild(n, &args)
                }
            };
            done.insert(at, made);
            stack.pop();
        }
        done.get(&t).copied()
    }
}

fn place(program: &Program, loc: Loc) -> Option<EntryPlace> {
    match loc {
        Loc::Reg { depth: 0, slot } => Some(EntryPlace::Register(slot)),
        Loc::Cell { obj, off, bytes } if (obj.0 as usize) < program.globals.len() => {
            Some(EntryPlace::Global { global: GlobalId(obj.0), offset: off, bytes })
        }
        _ => None,
    }
}

/// The literals, if the condition has nothing else.
fn plain(c: &Condition, terms: &mut Terms) -> Option<Vec<TermId>> {
    let mut c = c.clone();
    c.write_sums(terms, |_| true);
    let literals = std::mem::take(&mut c.literals);
    c.is_true().then_some(literals)
}
