//! Linear forms over the integers, read off bit-vector comparisons.
//!
//! *Idea*: `x + 1 <s 9` says `x ≤ 7` over the integers provided that `x + 1` does not wrap. The provisos are bounds
//! themselves, so that a conjunction of such literals is a set of bounds on forms, of which only the tightest matter.
//! *Invariant*: for every literal read, `bounds of the form ∧ provisos ⟹ literal`.

use pleach_expr::{Op, TermId, Terms, sign_extend};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A term read as an integer, signed or unsigned.
pub type Atom = (TermId, bool);

/// Σ coefficient · atom; at least one atom, the first coefficient positive.
pub type Form = Vec<(Atom, i128)>;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Bounds {
    pub lo: Option<i128>,
    pub hi: Option<i128>,
}

impl Bounds {
    pub const NONE: Bounds = Bounds { lo: None, hi: None };

    pub fn tighten(&mut self, other: Bounds) {
        self.lo = self.lo.max(other.lo);
        self.hi = match (self.hi, other.hi) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }
}

#[derive(Clone, Default)]
struct Sum {
    atoms: BTreeMap<Atom, i128>,
    constant: i128,
}

impl Sum {
    fn add(&mut self, other: &Sum, factor: i128) {
        for (a, k) in &other.atoms {
            let e = self.atoms.entry(*a).or_insert(0);
            *e += k * factor;
            if *e == 0 {
                self.atoms.remove(a);
            }
        }
        self.constant += other.constant * factor;
    }
}

/// Bounds collected per form.
#[derive(Default)]
pub struct Reading {
    pub bounds: BTreeMap<Form, Bounds>,
}

const MAX_ATOMS: usize = 4096;

fn range(width: u16, signed: bool) -> (i128, i128) {
    if signed { (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1) } else { (0, (1i128 << width) - 1) }
}

impl Reading {
    /// Reads a comparison; false if it is none.
    pub fn literal(&mut self, terms: &Terms, t: TermId) -> bool {
        let n = terms.node(t);
        let (signed, strict) = match n.op {
            Op::Slt => (true, 1),
            Op::Sle => (true, 0),
            Op::Ult => (false, 1),
            Op::Ule => (false, 0),
            _ => return false,
        };
        if terms.width(n.arg_a()) > 100 {
            return false;
        }
        let mut provisos = Vec::new();
        let (Some(a), Some(b)) =
            (self.sum(terms, n.arg_a(), signed, &mut provisos), self.sum(terms, n.arg_b(), signed, &mut provisos))
        else {
            return false;
        };
        // a + strict ≤ b
        let mut d = a;
        d.add(&b, -1);
        let hi = -(d.constant + strict);
        if d.atoms.is_empty() || d.atoms.len() > MAX_ATOMS {
            return false;
        }
        for (sum, lo, hi) in provisos {
            self.bound(sum, Some(lo), Some(hi));
        }
        self.bound(Sum { atoms: d.atoms, constant: 0 }, None, Some(hi));
        true
    }

    fn bound(&mut self, sum: Sum, lo: Option<i128>, hi: Option<i128>) {
        let Some(&first) = sum.atoms.values().next() else { return };
        let (mut lo, mut hi) = (lo.map(|x| x - sum.constant), hi.map(|x| x - sum.constant));
        let mut form: Form = sum.atoms.into_iter().collect();
        if first < 0 {
            form.iter_mut().for_each(|(_, k)| *k = -*k);
            (lo, hi) = (hi.map(|x| -x), lo.map(|x| -x));
        }
        self.bounds.entry(form).or_insert(Bounds::NONE).tighten(Bounds { lo, hi });
    }

    /// The integer value of a term; `provisos` say when that is its value.
    fn sum(&self, terms: &Terms, t: TermId, signed: bool, provisos: &mut Vec<(Sum, i128, i128)>) -> Option<Sum> {
        let n = terms.node(t);
        let w = n.width;
        if w > 100 {
            return None;
        }
        let both = |provisos: &mut Vec<(Sum, i128, i128)>, factor: i128| -> Option<Sum> {
            let mut a = self.sum(terms, n.arg_a(), signed, provisos)?;
            let b = self.sum(terms, n.arg_b(), signed, provisos)?;
            a.add(&b, factor);
            Some(a)
        };
        let result = match n.op {
            Op::Const => {
                let v = n.value();
                let c = if signed { i128::from(sign_extend(v, w)) } else { i128::from(v) };
                return Some(Sum { atoms: BTreeMap::new(), constant: c });
            }
            Op::Wide => {
                let l = terms.limbs(t);
                let v = u128::from(l[0]) | u128::from(l[1]) << 64;
                let s = 128 - u32::from(w);
                let c = if signed { ((v << s) as i128) >> s } else { i128::try_from(v).ok()? };
                return Some(Sum { atoms: BTreeMap::new(), constant: c });
            }
            Op::SExt if signed => return self.sum(terms, n.arg_a(), true, provisos),
            Op::ZExt => return self.sum(terms, n.arg_a(), false, provisos),
            Op::Add => {
                // A constant added to an unsigned value may stand for a subtraction.
                match terms.as_const(n.arg_b()) {
                    Some(k) if !signed && w <= 64 => {
                        let mut a = self.sum(terms, n.arg_a(), signed, provisos)?;
                        a.constant += i128::from(sign_extend(k, w));
                        a
                    }
                    _ => both(provisos, 1)?,
                }
            }
            Op::Sub => both(provisos, -1)?,
            Op::Neg if signed => {
                let a = self.sum(terms, n.arg_a(), signed, provisos)?;
                let mut r = Sum::default();
                r.add(&a, -1);
                r
            }
            Op::Mul if terms.as_const(n.arg_b()).is_some() && w <= 64 => {
                let k = terms
                    .as_const(n.arg_b())
                    .map(|v| if signed { i128::from(sign_extend(v, w)) } else { i128::from(v) })?;
                let a = self.sum(terms, n.arg_a(), signed, provisos)?;
                let mut r = Sum::default();
                r.add(&a, k);
                r
            }
            _ => {
                let mut s = Sum::default();
                s.atoms.insert((t, signed), 1);
                return Some(s);
            }
        };
        if result.atoms.len() > MAX_ATOMS {
            return None;
        }
        let (lo, hi) = range(w, signed);
        let (least, most) = extent(terms, &result)?;
        if least < lo || most > hi {
            provisos.push((result.clone(), lo, hi));
        }
        Some(result)
    }
}

/// The range a sum can have at all.
fn extent(terms: &Terms, s: &Sum) -> Option<(i128, i128)> {
    let (mut lo, mut hi) = (s.constant, s.constant);
    for ((t, signed), k) in &s.atoms {
        let (a, b) = range(terms.width(*t), *signed);
        let (x, y) = (a.checked_mul(*k)?, b.checked_mul(*k)?);
        lo = lo.checked_add(x.min(y))?;
        hi = hi.checked_add(x.max(y))?;
    }
    Some((lo, hi))
}

/// What was written once: most bounds of a node are those of the node below.
#[derive(Default)]
pub struct Written {
    of: FxHashMap<(Form, Bounds), Option<Vec<TermId>>>,
}

const MAX_WRITTEN: usize = 1 << 14;

impl Written {
    pub fn write(&mut self, terms: &mut Terms, form: &Form, b: Bounds) -> Option<Vec<TermId>> {
        if self.of.len() >= MAX_WRITTEN {
            self.of.clear();
        }
        self.of.entry((form.clone(), b)).or_insert_with(|| write(terms, form, b)).clone()
    }
}

/// The bounds of a form as literals; `None` if they cannot be written.
fn write(terms: &mut Terms, form: &Form, b: Bounds) -> Option<Vec<TermId>> {
    let mut out = Vec::new();
    let sum = Sum { atoms: form.iter().copied().collect(), constant: 0 };
    let (least, most) = extent(terms, &sum)?;
    let lo = b.lo.filter(|lo| *lo > least);
    let hi = b.hi.filter(|hi| *hi < most);
    if b.lo.is_some_and(|lo| lo > most) || b.hi.is_some_and(|hi| hi < least) {
        return Some(vec![Terms::FALSE]);
    }
    if let [((t, signed), 1)] = form[..] {
        let w = terms.width(t);
        if lo.is_some() && lo == hi {
            let k = constant(terms, w, lo?);
            return Some(vec![terms.eq(t, k)]);
        }
        if let Some(lo) = lo {
            let k = constant(terms, w, lo);
            out.push(if signed { terms.sle(k, t) } else { terms.ule(k, t) });
        }
        if let Some(hi) = hi {
            let k = constant(terms, w, hi);
            out.push(if signed { terms.sle(t, k) } else { terms.ule(t, k) });
        }
        return Some(out);
    }
    // Wide enough for the whole sum: bits of the extent plus a sign.
    let bits = (128 - least.unsigned_abs().max(most.unsigned_abs()).leading_zeros()) as u16 + 2;
    if bits > 100 {
        return None;
    }
    let widest = form.iter().map(|((t, _), _)| terms.width(*t)).max().unwrap_or(1);
    let w = bits.max(widest + 1);
    let mut total: Option<TermId> = None;
    for &((t, signed), k) in form {
        let x = if signed { terms.sext(t, w) } else { terms.zext(t, w) };
        let part = match k {
            1 => x,
            k => {
                let c = constant(terms, w, k);
                terms.mul(x, c)
            }
        };
        total = Some(match total {
            None => part,
            Some(s) => terms.add(s, part),
        });
    }
    let total = total?;
    if let Some(lo) = lo {
        let k = constant(terms, w, lo);
        out.push(terms.sle(k, total));
    }
    if let Some(hi) = hi {
        let k = constant(terms, w, hi);
        out.push(terms.sle(total, k));
    }
    Some(out)
}

fn constant(terms: &mut Terms, w: u16, v: i128) -> TermId {
    terms.wide_constant(w, &[v as u64, (v >> 64) as u64])
}
