//! Which objects' addresses a condition depends on.
//!
//! *Paper*: Memory §3.2.2 and §4 (address-agnostic). *Idea*: whether two pointers are equal, or one is null, does not
//! depend on where objects lie; their order, their distance, bits of an address do. *Direction*: names too many objects
//! rather than too few.

use crate::value::ObjId;
use pleach_expr::{Op, TermId, Terms, facts};
use rustc_hash::FxHashSet;

/// Numbers that are never an object's address: near zero from either side.
const NEVER: u64 = 4096;

/// Objects whose address matters for the truth of `condition`, sorted.
pub fn observed(terms: &Terms, condition: TermId) -> Vec<ObjId> {
    let mut out = Vec::new();
    let mut seen = FxHashSet::default();
    let mut todo = vec![condition];
    while let Some(t) = todo.pop() {
        if !terms.has(t, facts::HAS_BASE) || !seen.insert(t) {
            continue;
        }
        let n = terms.node(t);
        match n.op {
            Op::Not | Op::And | Op::Or | Op::Xor | Op::Ite if n.width == 1 => todo.extend(terms.args(t)),
            Op::Eq if is_pointer(terms, n.arg_a(), &mut todo) && is_pointer(terms, n.arg_b(), &mut todo) => {}
            _ => out.extend(terms.bases(t)),
        }
    }
    out.sort_unstable();
    out.dedup();
    out
}

/// Whether a term is an address as the program was given it, at a constant distance, or none at all (null). Conditions
/// in it are left in `conditions`.
fn is_pointer(terms: &Terms, t: TermId, conditions: &mut Vec<TermId>) -> bool {
    let mut seen = FxHashSet::default();
    let mut todo = vec![t];
    while let Some(t) = todo.pop() {
        if !seen.insert(t) {
            continue;
        }
        let n = terms.node(t);
        match n.op {
            Op::Base => {}
            Op::Const => {
                let max = pleach_expr::mask(n.width);
                if n.value() >= NEVER && n.value() < max - max.min(NEVER) {
                    return false;
                }
            }
            Op::Ite => {
                conditions.push(n.arg_a());
                todo.extend([n.arg_b(), n.arg_c()]);
            }
            Op::Add if terms.as_const(n.arg_b()).is_some() => todo.push(n.arg_a()),
            Op::Add if terms.as_const(n.arg_a()).is_some() => todo.push(n.arg_b()),
            _ => return false,
        }
    }
    true
}
