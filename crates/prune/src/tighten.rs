//! Keeping interpolants small: of all bounds on one linear form only the tightest stay.
//!
//! *Paper*: TracerX §5; techniques "Tightening". *Invariant*: the result implies the condition given, and the state at hand satisfies every
//! bound that replaces literals; where it does not, the literals stay as they were.

use crate::linear::{Reading, write};
use pleach_expr::{Op, TermId, Terms};
use pleach_memory::{ObjId, Value};
use pleach_state::State;
use pleach_state::seams::Logic;
use pleach_wp::{Condition, Pin};
use rustc_hash::FxHashMap;

/// Beyond so many literals an interpolant is not worth its cost.
pub const MAX_LITERALS: usize = 256;

pub struct Context<'a> {
    pub logic: &'a mut dyn Logic,
    pub state: &'a State,
    /// objects with ids below this are the same in every state
    pub fixed: u32,
    /// a literal over locations holds in `state`
    pub holds: &'a mut dyn FnMut(&mut dyn Logic, &State, TermId) -> bool,
}

/// `x = c` as a signed number.
fn pinned(terms: &pleach_expr::Terms, l: TermId) -> Option<(TermId, i128)> {
    let n = terms.node(l);
    if n.op != pleach_expr::Op::Eq {
        return None;
    }
    let (x, c) = match (terms.as_const(n.arg_a()), terms.as_const(n.arg_b())) {
        (Some(c), None) => (n.arg_b(), c),
        (None, Some(c)) => (n.arg_a(), c),
        _ => return None,
    };
    Some((x, i128::from(pleach_expr::sign_extend(c, terms.width(x)))))
}

/// Replaces locations that an equation fixes by their constants in everything else the condition says.
///
/// SOUND: under the equation both forms mean the same, and the equation stays.
fn propagate(terms: &mut Terms, fixed: u32, condition: &mut Condition) {
    for _ in 0..3 {
        let mut known: FxHashMap<TermId, TermId> = FxHashMap::default();
        for &l in &condition.literals {
            if let Some((x, _)) = pinned(terms, l)
                && terms.op(x) == Op::Var
            {
                let n = terms.node(l);
                known.insert(x, if n.arg_a() == x { n.arg_b() } else { n.arg_a() });
            }
        }
        if known.is_empty() {
            return;
        }
        let (equations, mut rest): (Vec<TermId>, Vec<TermId>) = std::mem::take(&mut condition.literals)
            .into_iter()
            .partition(|&l| pinned(terms, l).is_some_and(|(x, _)| known.contains_key(&x)));
        let mut changed = false;
        for l in &mut rest {
            let new = terms.substitute(*l, &known);
            changed |= new != *l;
            *l = new;
        }
        for p in &mut condition.pins {
            p.ptr = terms.substitute(p.ptr, &known);
        }
        for v in &mut condition.valids {
            v.ptr = terms.substitute(v.ptr, &known);
        }
        equations.into_iter().chain(rest).for_each(|l| condition.require(l));
        if !changed {
            break;
        }
    }
    // What points to a constant place in a global says nothing about the state: the access there succeeded.
    let evident = |ptr: TermId, obj: ObjId, off: Option<u64>| match Value::from_term(terms, ptr) {
        Value::Ptr { obj: o, off: k } => o == obj && o.0 < fixed && off.is_none_or(|w| k >= 0 && w == k as u64),
        _ => false,
    };
    condition.pins.retain(|p| p.size.is_some() || !evident(p.ptr, p.obj, p.off));
    condition.valids.retain(|v| !evident(v.ptr, v.obj, v.off));
    normalise_pins(terms, condition);
}

/// `x + 8 points to o + 24` is `x points to o + 16`; pins of one pointer to one place become one, with room for all.
fn normalise_pins(terms: &Terms, condition: &mut Condition) {
    let mut out: Vec<Pin> = Vec::new();
    for mut p in std::mem::take(&mut condition.pins) {
        let n = terms.node(p.ptr);
        if n.op == Op::Add
            && let (Some(k), Some(off)) = (terms.as_const(n.arg_b()), p.off)
            && p.size.is_none()
            && k <= off
        {
            p.ptr = n.arg_a();
            p.off = Some(off - k);
            p.bytes += k;
        }
        match out.iter_mut().find(|q| q.ptr == p.ptr && q.obj == p.obj && q.off == p.off && q.size == p.size) {
            Some(q) => {
                q.bytes = q.bytes.max(p.bytes);
                q.write |= p.write;
                q.heap |= p.heap;
            }
            None => out.push(p),
        }
    }
    condition.pins = out;
    // A pinned pointer has room and is live: obligations that follow from pins are dropped.
    let pins = &condition.pins;
    condition.valids.retain(|v| {
        let n = terms.node(v.ptr);
        let (base, k) = match (n.op, terms.as_const(n.arg_b())) {
            (Op::Add, Some(k)) => (n.arg_a(), k),
            _ => (v.ptr, 0),
        };
        !pins.iter().any(|p| p.ptr == base && p.off.is_some() && k + v.bytes <= p.bytes && (p.write || !v.write))
    });
}

pub fn tighten(cx: &mut Context, condition: &mut Condition) {
    propagate(cx.logic.terms(), cx.fixed, condition);
    let literals = std::mem::take(&mut condition.literals);
    let mut reading = Reading::default();
    let mut comparisons = Vec::new();
    for l in literals {
        if reading.literal(cx.logic.terms(), l) {
            comparisons.push(l);
        } else {
            condition.require(l);
        }
    }
    if comparisons.is_empty() {
        return;
    }
    let equal: rustc_hash::FxHashMap<TermId, i128> =
        condition.literals.iter().filter_map(|&l| pinned(cx.logic.terms(), l)).collect();
    let mut tight = Vec::new();
    for (form, bounds) in &reading.bounds {
        // What an equation already says need not be said again.
        if let [((t, true), 1)] = form[..]
            && let Some(&v) = equal.get(&t)
            && bounds.lo.is_none_or(|lo| lo <= v)
            && bounds.hi.is_none_or(|hi| v <= hi)
        {
            continue;
        }
        match write(cx.logic.terms(), form, *bounds) {
            Some(ls) => tight.extend(ls),
            None => {
                comparisons.into_iter().for_each(|l| condition.require(l));
                return;
            }
        }
    }
    let all_hold = tight.iter().all(|&l| (cx.holds)(cx.logic, cx.state, l));
    if all_hold {
        // SOUND: bounds with their provisos imply the comparisons they were read from.
        tight.into_iter().for_each(|l| condition.require(l));
    } else {
        comparisons.into_iter().for_each(|l| condition.require(l));
    }
}
