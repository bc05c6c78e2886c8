//! Candidates: what may hold whenever a loop's header is reached, relative to the state that entered the loop.

use super::elements::{self, Elements};
use super::places::{LoopLocation, Values};
use super::polynomial;
use super::{AtHeader, LoopEntry};
use pleach_expr::{TermId, Terms, sign_extend};
use pleach_ir::{Const, FuncId, Inst, OpndKind, Program};
use std::collections::BTreeSet;

/// Places and constants that are looked at.
const PLACES: usize = 14;
const CONSTANTS: usize = 12;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Candidate {
    /// signed or not: not below, not above what it was on entry
    AtLeastEntry(LoopLocation, bool),
    AtMostEntry(LoopLocation, bool),
    /// this many low bits are as on entry
    LowBits(LoopLocation, u16),
    /// a constant that the function compares with
    AtLeast(LoopLocation, i64, bool),
    AtMost(LoopLocation, i64, bool),
    /// the second is not below the first, or by this much at most
    NotAbove(LoopLocation, LoopLocation, u64, bool),
    /// the same, or the first is not above what it was on entry
    NotAboveOrEntry(LoopLocation, LoopLocation, u64),
    /// of the elements that an index went by, or of the others
    Elements(Elements),
    /// this combination of products is as on entry
    Equation(Vec<(Vec<LoopLocation>, i64)>),
}

impl Candidate {
    /// Places whose values on entry it speaks of.
    pub fn on_entry(&self) -> Vec<LoopLocation> {
        match self {
            Candidate::AtLeastEntry(p, _) | Candidate::AtMostEntry(p, _) | Candidate::LowBits(p, _) => vec![*p],
            Candidate::NotAboveOrEntry(p, ..) => vec![*p],
            Candidate::Elements(e) => e.on_entry(),
            Candidate::Equation(parts) => parts.iter().flat_map(|(m, _)| m.iter().copied()).collect(),
            Candidate::AtLeast(..) | Candidate::AtMost(..) | Candidate::NotAbove(..) => Vec::new(),
        }
    }

    /// Whether it can be evaluated in a state of the program.
    pub fn is_sampled(&self) -> bool {
        !matches!(self, Candidate::Elements(e) if e.is_about_others())
    }

    /// What it says now follows from what it says of the general state, by computing with polynomials alone.
    pub fn is_kept(&self, now: &Values, general: &Values, terms: &mut Terms) -> bool {
        let Candidate::Equation(parts) = self else { return false };
        let (Some(a), Some(b)) = (sum(parts, now, terms), sum(parts, general, terms)) else { return false };
        polynomial::are_equal(a, b, terms)
    }

    /// The candidate over values of now and on entry; `None` if a place has none.
    pub fn term(&self, now: &Values, entry: &Values, terms: &mut Terms) -> Option<TermId> {
        let le = |terms: &mut Terms, a, b, signed: bool| if signed { terms.sle(a, b) } else { terms.ule(a, b) };
        Some(match self {
            Candidate::AtLeastEntry(p, s) => le(terms, *entry.get(p)?, *now.get(p)?, *s),
            Candidate::AtMostEntry(p, s) => le(terms, *now.get(p)?, *entry.get(p)?, *s),
            Candidate::LowBits(p, n) => {
                let (a, b) = (terms.extract(*now.get(p)?, 0, *n), terms.extract(*entry.get(p)?, 0, *n));
                terms.eq(a, b)
            }
            Candidate::AtLeast(p, k, s) => {
                let x = *now.get(p)?;
                let k = terms.constant(terms.width(x), *k as u64);
                le(terms, k, x, *s)
            }
            Candidate::AtMost(p, k, s) => {
                let x = *now.get(p)?;
                let k = terms.constant(terms.width(x), *k as u64);
                le(terms, x, k, *s)
            }
            Candidate::NotAbove(p, q, by, s) => not_above(*now.get(p)?, *now.get(q)?, *by, *s, terms),
            Candidate::NotAboveOrEntry(p, q, by) => {
                let x = *now.get(p)?;
                let below = not_above(x, *now.get(q)?, *by, true, terms);
                let first = terms.sle(x, *entry.get(p)?);
                terms.or(below, first)
            }
            Candidate::Elements(e) => e.term(now, entry, terms)?,
            Candidate::Equation(parts) => {
                let (a, b) = (sum(parts, now, terms)?, sum(parts, entry, terms)?);
                terms.eq(a, b)
            }
        })
    }
}

/// `x <= y + by`, if `y + by` does not wrap.
fn not_above(x: TermId, y: TermId, by: u64, signed: bool, terms: &mut Terms) -> TermId {
    if by == 0 {
        return if signed { terms.sle(x, y) } else { terms.ule(x, y) };
    }
    let k = terms.constant(terms.width(y), by);
    let more = terms.add(y, k);
    if signed { terms.sle(x, more) } else { terms.ule(x, more) }
}

fn sum(parts: &[(Vec<LoopLocation>, i64)], values: &Values, terms: &mut Terms) -> Option<TermId> {
    let mut total: Option<TermId> = None;
    for (places, k) in parts {
        let mut product = None;
        for p in places {
            let v = *values.get(p)?;
            product = Some(product.map_or(v, |m| terms.mul(m, v)));
        }
        let product = product?;
        let k = terms.constant(terms.width(product), *k as u64);
        let part = terms.mul(product, k);
        total = Some(match total {
            Some(t) if terms.width(t) != terms.width(part) => return None,
            Some(t) => terms.add(t, part),
            None => part,
        });
    }
    total
}

/// Constants that the function compares numbers of this width with.
pub(super) fn constants(func: FuncId, width: u16, program: &Program) -> BTreeSet<i64> {
    let f = program.function(func);
    let mut all: BTreeSet<i64> = [0, 1].into();
    for inst in &f.insts {
        if let Inst::Cmp { width: w, a, b, .. } = *inst
            && w == width
        {
            for o in [a, b] {
                if let OpndKind::Const(c) = o.kind()
                    && let Some(Const::Int { value, .. }) = f.consts.get(c as usize)
                {
                    all.insert(sign_extend(*value, width));
                }
            }
        }
    }
    while all.len() > CONSTANTS {
        all.pop_last();
    }
    all
}

pub(super) fn guess(at: &AtHeader, entry: &LoopEntry, program: &Program, terms: &mut Terms) -> Vec<Candidate> {
    let mut places: Vec<LoopLocation> = entry.values.keys().copied().collect();
    places.sort_unstable();
    let changes = |p: &LoopLocation| match p {
        LoopLocation::Register(r) => at.written.iter().any(|(w, _)| w == r),
        LoopLocation::Word { .. } | LoopLocation::Array(_) => true,
    };
    places.retain(|p| !matches!(p, LoopLocation::Array(_)));
    places.sort_by_key(|p| !changes(p));
    places.truncate(PLACES);
    let mut out = elements::guess(at, entry, program, terms);
    for &p in places.iter().filter(|p| changes(p)) {
        let width = terms.width(entry.values[&p]);
        for signed in [true, false] {
            out.extend([Candidate::AtLeastEntry(p, signed), Candidate::AtMostEntry(p, signed)]);
            for k in constants(FuncId(entry.header.0), width, program) {
                out.extend([Candidate::AtLeast(p, k, signed), Candidate::AtMost(p, k, signed)]);
            }
        }
        out.extend([1, 2, 3].map(|n| Candidate::LowBits(p, n)));
        for &q in places.iter().filter(|q| **q != p && terms.width(entry.values[*q]) == width) {
            for signed in [true, false] {
                out.extend([0, 1].map(|by| Candidate::NotAbove(p, q, by, signed)));
                if !changes(&q) {
                    out.extend([0, 1].map(|by| Candidate::NotAbove(q, p, by, signed)));
                }
            }
            out.extend([0, 1].map(|by| Candidate::NotAboveOrEntry(p, q, by)));
        }
    }
    out
}
