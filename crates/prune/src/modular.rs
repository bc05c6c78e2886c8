//! Linear forms modulo 2ʷ, and the arcs their values lie in.
//!
//! *Idea*: a comparison of a sum with a constant says in which arc the sum lies. Nothing has to be assumed about
//! wrapping, and two such literals on one form are one: the arc they have in common. A sum of N summands stays one
//! form, however often it is substituted. *Invariant*: reading, merging and writing are equivalences.

use pleach_expr::arc::{Arc, Meet};
use pleach_expr::{Op, TermId, Terms, mask, sign_extend};
use pleach_wp::{Condition, Locs, Sum};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Σ coefficient · atom modulo 2ʷ: at least one atom, no coefficient 0, the first at most 2ʷ⁻¹.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Form {
    pub width: u16,
    pub parts: Vec<(TermId, u64)>,
}

/// What a literal says.
#[derive(Clone)]
pub enum Reading {
    InRange(Rc<Form>, Arc),
    Always,
    Never,
}

/// Reads a comparison with a constant.
pub fn read(terms: &Terms, literal: TermId) -> Option<Reading> {
    let (mut x, mut arc) = Arc::of(terms, literal)?;
    loop {
        let w = terms.width(x);
        if w < 2 {
            return None;
        }
        let (mut parts, constant) = terms.linear(x)?;
        arc = arc.moved(constant.wrapping_neg(), w);
        if parts.is_empty() {
            return Some(if arc.contains(0, w) { Reading::Always } else { Reading::Never });
        }
        if let [(atom, k)] = parts[..] {
            match single(terms, atom, k, arc, w) {
                Narrowed::To(y, narrower) => {
                    (x, arc) = (y, narrower);
                    continue;
                }
                Narrowed::Always => return Some(Reading::Always),
                Narrowed::Never => return Some(Reading::Never),
                Narrowed::Not => {}
            }
        }
        if arc.is_full(w) {
            return Some(Reading::Always);
        }
        if parts[0].1 > 1 << (w - 1) {
            parts.iter_mut().for_each(|(_, k)| *k = k.wrapping_neg() & mask(w));
            arc = arc.mirrored(w);
        }
        return Some(Reading::InRange(Rc::new(Form { width: w, parts }), arc));
    }
}

enum Narrowed {
    To(TermId, Arc),
    Always,
    Never,
    Not,
}

/// `k · atom ∈ arc` where the product cannot wrap, as a condition on the atom, or on what it extends.
fn single(terms: &Terms, atom: TermId, k: u64, arc: Arc, w: u16) -> Narrowed {
    let n = terms.node(atom);
    let (inner, signed) = match n.op {
        Op::SExt => (n.arg_a(), true),
        Op::ZExt => (n.arg_a(), false),
        _ => return Narrowed::Not,
    };
    let iw = terms.width(inner);
    let (a, b) = if signed { (-(1i128 << (iw - 1)), (1i128 << (iw - 1)) - 1) } else { (0, (1i128 << iw) - 1) };
    let k = i128::from(sign_extend(k, w));
    let (least, most) = ((a * k).min(b * k), (a * k).max(b * k));
    // The product as an integer, in the order in which it does not wrap.
    let half = 1i128 << (w - 1);
    let low = if least >= -half && most < half {
        -half
    } else if least >= 0 && most < 2 * half {
        0
    } else {
        return Narrowed::Not;
    };
    let first = i128::from(arc.first.wrapping_sub(low as u64) & mask(w)) + low;
    let last = first + i128::from(arc.more);
    let pieces = [(first, last), (first - 2 * half, last - 2 * half)];
    let mut found = None;
    for (lo, hi) in pieces {
        let (lo, hi) = (lo.max(least), hi.min(most));
        if lo > hi {
            continue;
        }
        // lo ≤ k·x ≤ hi
        let (lo, hi) = if k > 0 { (lo, hi) } else { (-hi, -lo) };
        let d = k.abs();
        let (lo, hi) = (-((-lo).div_euclid(d)), hi.div_euclid(d));
        if lo > hi {
            continue;
        }
        if found.is_some() {
            return Narrowed::Not;
        }
        found = Some((lo, hi));
    }
    match found {
        None => Narrowed::Never,
        Some((lo, hi)) if lo <= a && hi >= b => Narrowed::Always,
        Some((lo, hi)) => Narrowed::To(inner, Arc { first: lo as u64 & mask(iw), more: (hi - lo) as u64 }),
    }
}

/// What was read and written once: most literals of a node are those of the node below.
#[derive(Default)]
pub struct Readings {
    of: FxHashMap<TermId, Option<Reading>>,
    /// the arc of a literal, as literals
    written: FxHashMap<TermId, Rc<[TermId]>>,
}

const MAX_READINGS: usize = 1 << 15;

impl Readings {
    pub fn read(&mut self, terms: &Terms, literal: TermId) -> Option<Reading> {
        if self.of.len() >= MAX_READINGS {
            self.of.clear();
        }
        self.of.entry(literal).or_insert_with(|| read(terms, literal)).clone()
    }

    /// The values of `x` in the arc, which `literal` says if it is given.
    fn write(&mut self, terms: &mut Terms, form: &Form, arc: Arc, literal: Option<TermId>) -> Rc<[TermId]> {
        let mut write = || {
            let x = form.term(terms);
            arc.write(terms, x).into()
        };
        let Some(l) = literal else { return write() };
        if self.written.len() >= MAX_READINGS {
            self.written.clear();
        }
        self.written.entry(l).or_insert_with(write).clone()
    }
}

/// A form with at least this many summands is kept as a [`Sum`].
pub const MIN_SUMMANDS: usize = 6;

/// Arcs by form, with the literal that says it where there is one.
#[derive(Default)]
pub struct Arcs {
    of: BTreeMap<Rc<Form>, Vec<(Arc, Option<TermId>)>>,
    never: bool,
}

impl Arcs {
    /// Takes a literal in; false if it is no comparison with a constant, or of a sum of extended terms: those are for
    /// the integers.
    pub fn literal(&mut self, terms: &Terms, readings: &mut Readings, l: TermId) -> bool {
        match readings.read(terms, l) {
            Some(Reading::InRange(form, _))
                if form.parts.len() > 1
                    && form.parts.iter().any(|(t, _)| matches!(terms.op(*t), Op::SExt | Op::ZExt)) =>
            {
                return false;
            }
            Some(Reading::InRange(form, arc)) => self.within(form, arc, l),
            Some(Reading::Always) => {}
            Some(Reading::Never) => self.never = true,
            None => return false,
        }
        true
    }

    fn within(&mut self, form: Rc<Form>, mut arc: Arc, l: TermId) {
        let w = form.width;
        let list = self.of.entry(form).or_default();
        let mut said = Some(l);
        // An arc that met another may now meet a third.
        let mut i = 0;
        while i < list.len() {
            match arc.meet(list[i].0, w) {
                Meet::Nothing => {
                    self.never = true;
                    return;
                }
                Meet::Arc(a) => {
                    let other = list.remove(i);
                    said = if a == arc { said } else { other.1.filter(|_| a == other.0) };
                    arc = a;
                    i = 0;
                }
                Meet::Disjoint => i += 1,
            }
        }
        list.push((arc, said));
    }

    /// All that was taken in: as literals, or as sums of the condition where there are many summands.
    pub fn write(
        self,
        terms: &mut Terms,
        readings: &mut Readings,
        locs: &Locs,
        condition: &mut Condition,
    ) -> Vec<TermId> {
        if self.never {
            return vec![Terms::FALSE];
        }
        let mut out = Vec::new();
        for (form, arcs) in self.of {
            if form.parts.len() >= MIN_SUMMANDS
                && let Some(sum) = Sum::new(terms, locs, form.width, &form.parts, Arc { first: 0, more: 0 })
            {
                arcs.into_iter().for_each(|(arc, _)| condition.require_sum(Sum { arc, ..sum.clone() }));
                continue;
            }
            for (arc, said) in arcs {
                out.extend(readings.write(terms, &form, arc, said).iter());
            }
        }
        out
    }
}

impl Form {
    pub fn term(&self, terms: &mut Terms) -> TermId {
        let mut total: Option<TermId> = None;
        for &(t, k) in &self.parts {
            let part = if k == 1 {
                t
            } else {
                let k = terms.constant(self.width, k);
                terms.mul(t, k)
            };
            total = Some(match total {
                None => part,
                Some(s) => terms.add(s, part),
            });
        }
        total.unwrap_or_else(|| terms.constant(self.width, 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_expr::{Key, Model, SymbolKind};

    /// Conjunctions of two comparisons over two symbolic variables are equivalent before and after.
    #[test]
    fn written_arcs_mean_what_was_read() {
        let mut t = Terms::new(64);
        let (sx, sy) = (t.symbols.named("x", SymbolKind::Bits(3)), t.symbols.named("y", SymbolKind::Bits(5)));
        let (x, y) = (t.var(sx), t.var(sy));
        let (wide, zide) = (t.sext(x, 5), t.zext(x, 5));
        let mut sums = vec![y, wide, zide];
        for k in [2u64, 3, 5, 7, 29, 30] {
            let c = t.constant(5, k);
            let d = t.constant(5, k * 3);
            for v in [wide, zide, y] {
                let p = t.mul(v, c);
                sums.push(t.add(p, d));
            }
            let q = t.mul(wide, c);
            sums.push(t.sub(y, q));
        }
        let mut literals = Vec::new();
        for &s in &sums {
            for k in [0u64, 3, 14, 17, 31] {
                let c = t.constant(5, k);
                literals.extend([t.eq(s, c), t.ne(s, c), t.slt(s, c), t.sle(c, s), t.ult(s, c), t.ule(c, s)]);
            }
        }
        let mut readings = Readings::default();
        for (i, &a) in literals.iter().enumerate() {
            let b = literals[(i * 7 + 3) % literals.len()];
            let mut arcs = Arcs::default();
            let (ra, rb) = (arcs.literal(&t, &mut readings, a), arcs.literal(&t, &mut readings, b));
            let written = arcs.write(&mut t, &mut readings, &Locs::default(), &mut Condition::default());
            for v in 0..8u64 {
                for u in 0..32u64 {
                    let mut m = Model::new();
                    m.set(Key::new(sx, 0), v);
                    m.set(Key::new(sy, 0), u);
                    let want = (!ra || t.eval(a, &m) == 1) && (!rb || t.eval(b, &m) == 1);
                    let got = written.iter().all(|l| t.eval(*l, &m) == 1);
                    assert_eq!(want, got, "{} / {} at {v} {u}", t.show(a), t.show(b));
                }
            }
        }
    }
}
