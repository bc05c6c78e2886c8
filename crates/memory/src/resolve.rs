//! Structural resolution: which objects a pointer term may point into, read off the term itself.
//!
//! *Paper*: Memory §3.2.1 (relocatable addresses). *Idea*: pointers are `β + offset` or an `ite` over such terms,
//! because addresses never become numbers; the leaves name the objects, the conditions above them say when.
//! *Direction*: gives up (`None`) on terms that mix bases in another way; the caller then queries the solver. Never
//! names a wrong object.

use crate::value::ObjId;
use pleach_expr::{BaseId, Op, TermId, Terms, facts};
use rustc_hash::FxHashMap;

/// One thing a pointer may point to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Candidate {
    /// `None`: an address without a base (null, or a number)
    pub obj: Option<ObjId>,
    /// holds exactly when this candidate is the one
    pub guard: TermId,
    /// offset into the object, or the whole address when there is none
    pub offset: TermId,
}

const MAX_LEAVES: usize = 4096;

/// Resolves a pointer into candidates. Guards are mutually exclusive and complete; one candidate per object.
pub fn candidates(terms: &mut Terms, ptr: TermId) -> Option<Vec<Candidate>> {
    let mut leaves = Vec::new();
    let zero = terms.constant(terms.width(ptr), 0);
    collect(terms, ptr, zero, &mut leaves)?;
    let mut objects: Vec<Option<ObjId>> = leaves.iter().map(|l| l.0).collect();
    objects.sort_unstable();
    objects.dedup();
    if objects.len() == 1 && leaves.len() == 1 {
        return Some(vec![Candidate { obj: leaves[0].0, guard: Terms::TRUE, offset: leaves[0].1 }]);
    }
    let mut out = Vec::with_capacity(objects.len());
    for obj in objects {
        let guard = guard_of(terms, ptr, obj)?;
        let offset = offset_of(terms, ptr, obj, &leaves)?;
        out.push(Candidate { obj, guard, offset });
    }
    Some(out)
}

/// Every leaf as (object, offset term).
fn collect(terms: &mut Terms, t: TermId, plus: TermId, out: &mut Vec<(Option<ObjId>, TermId)>) -> Option<()> {
    let n = terms.node(t);
    if !terms.has(t, facts::HAS_BASE) && n.op != Op::Ite {
        let offset = terms.add(t, plus);
        out.push((None, offset));
    } else {
        match n.op {
            Op::Base => out.push((Some(BaseId(n.a)), plus)),
            Op::Ite => {
                if terms.has(n.arg_a(), facts::HAS_BASE) {
                    return None;
                }
                collect(terms, n.arg_b(), plus, out)?;
                collect(terms, n.arg_c(), plus, out)?;
            }
            Op::Add => {
                let (x, y) = based_and_rest(terms, t)?;
                let plus = terms.add(plus, y);
                collect(terms, x, plus, out)?;
            }
            _ => return None,
        }
    }
    (out.len() <= MAX_LEAVES).then_some(())
}

/// Splits a sum into the one summand with bases and the other.
fn based_and_rest(terms: &Terms, t: TermId) -> Option<(TermId, TermId)> {
    let n = terms.node(t);
    let (x, y) = (n.arg_a(), n.arg_b());
    match (terms.has(x, facts::HAS_BASE), terms.has(y, facts::HAS_BASE)) {
        (true, false) => Some((x, y)),
        (false, true) => Some((y, x)),
        _ => None,
    }
}

/// The condition under which the pointer is into `obj`.
fn guard_of(terms: &mut Terms, t: TermId, obj: Option<ObjId>) -> Option<TermId> {
    let n = terms.node(t);
    Some(match n.op {
        Op::Ite => {
            let a = guard_of(terms, n.arg_b(), obj)?;
            let b = guard_of(terms, n.arg_c(), obj)?;
            terms.ite(n.arg_a(), a, b)
        }
        _ if !terms.has(t, facts::HAS_BASE) => terms.constant(1, u64::from(obj.is_none())),
        Op::Base => terms.constant(1, u64::from(obj == Some(BaseId(n.a)))),
        Op::Add => {
            let (x, _) = based_and_rest(terms, t)?;
            guard_of(terms, x, obj)?
        }
        _ => return None,
    })
}

/// The offset when the pointer is into `obj`; other leaves take an offset that occurs, so that equal ones collapse.
fn offset_of(terms: &mut Terms, t: TermId, obj: Option<ObjId>, leaves: &[(Option<ObjId>, TermId)]) -> Option<TermId> {
    let mut of_obj = leaves.iter().filter(|l| l.0 == obj).map(|l| l.1);
    let first = of_obj.next()?;
    if of_obj.all(|o| o == first) {
        return Some(first);
    }
    fn go(terms: &mut Terms, t: TermId, plus: TermId, obj: Option<ObjId>, other: TermId) -> Option<TermId> {
        let n = terms.node(t);
        Some(match n.op {
            Op::Ite => {
                let a = go(terms, n.arg_b(), plus, obj, other)?;
                let b = go(terms, n.arg_c(), plus, obj, other)?;
                terms.ite(n.arg_a(), a, b)
            }
            _ if !terms.has(t, facts::HAS_BASE) => {
                if obj.is_none() {
                    terms.add(t, plus)
                } else {
                    other
                }
            }
            Op::Base => {
                if obj == Some(BaseId(n.a)) {
                    plus
                } else {
                    other
                }
            }
            Op::Add => {
                let (x, y) = based_and_rest(terms, t)?;
                let plus = terms.add(plus, y);
                go(terms, x, plus, obj, other)?
            }
            _ => return None,
        })
    }
    let zero = terms.constant(terms.width(t), 0);
    go(terms, t, zero, obj, first)
}

/// What a leaf of a pointer (object and offset, or an address without a base) is replaced by.
type Leaf<'a> = dyn FnMut(&mut Terms, Option<ObjId>, TermId) -> Option<TermId> + 'a;

/// What a read through each leaf gives, put together as the pointer is: `ite(c, p, q)` reads as `ite(c, *p, *q)`. The
/// result is no bigger than the pointer. A leaf that cannot be (`None` of `leaf`) takes the value of its neighbour;
/// `None` if all are such.
pub fn mirror(terms: &mut Terms, ptr: TermId, leaf: &mut Leaf) -> Option<TermId> {
    let zero = terms.constant(terms.width(ptr), 0);
    Mirror { leaf, memo: FxHashMap::default() }.go(terms, ptr, zero)
}

struct Mirror<'a, 'b> {
    leaf: &'a mut Leaf<'b>,
    /// by pointer and what is added to it
    memo: FxHashMap<(TermId, TermId), Option<TermId>>,
}

impl Mirror<'_, '_> {
    fn go(&mut self, terms: &mut Terms, t: TermId, plus: TermId) -> Option<TermId> {
        if let Some(&known) = self.memo.get(&(t, plus)) {
            return known;
        }
        let n = terms.node(t);
        let made = match n.op {
            Op::Ite => match (self.go(terms, n.arg_b(), plus), self.go(terms, n.arg_c(), plus)) {
                (Some(a), Some(b)) => Some(terms.ite(n.arg_a(), a, b)),
                (a, b) => a.or(b),
            },
            Op::Base => (self.leaf)(terms, Some(BaseId(n.a)), plus),
            _ if !terms.has(t, facts::HAS_BASE) => {
                let offset = terms.add(t, plus);
                (self.leaf)(terms, None, offset)
            }
            Op::Add => match based_and_rest(terms, t) {
                Some((x, y)) => {
                    let plus = terms.add(plus, y);
                    self.go(terms, x, plus)
                }
                None => None,
            },
            _ => None,
        };
        self.memo.insert((t, plus), made);
        made
    }
}
