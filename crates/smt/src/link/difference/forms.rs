//! Constraints as differences of integers.
//!
//! *Idea*: a term has two readings as an integer, signed and unsigned; what is compared is a sum `a − b + c` of at most
//! two such readings (*atoms*) if nothing in it can wrap around. What may wrap is an atom of its own, tied to what it
//! is made of modulo 2^w: one equation for each number of turns. The two readings of one term are tied likewise.
//! *Invariant*: a form follows from its constraint; without `Open` in it, the other way round too, given the ties.

use crate::evidence;
use pleach_expr::{Key, Op, TermId, Terms};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Wider terms are not read as integers; sums of their readings fit in 128 bits with room to spare.
const MAX_WIDTH: u16 = 100;
/// Nesting of sums and of Boolean operators that is looked into.
const MAX_DEPTH: u32 = 24;
/// Alternatives of one form.
const MAX_PARTS: usize = 64;
/// Boolean operators of one constraint that are looked into.
const MAX_WORK: u32 = 256;
/// Turns modulo 2^w that are distinguished.
const MAX_TURNS: i128 = 3;
/// Remembered constraints; beyond that everything starts anew.
const MAX_FORMS: usize = 1 << 18;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct AtomId(pub u32);

/// The constant 0 as an atom.
pub(super) const ZERO: AtomId = AtomId(0);

pub(super) struct Atom {
    pub term: TermId,
    pub width: u16,
    pub low: i128,
    pub high: i128,
    /// the symbolic variable it is, if it is one
    pub key: Option<Key>,
    /// ≡ base + offset modulo 2^width
    base: Option<(AtomId, i128)>,
    /// the base is the reading of a wider term of which this is the lower part
    truncated: bool,
    /// the other reading
    twin: Option<AtomId>,
}

#[derive(Clone, Debug)]
pub(super) enum Form {
    Truth(bool),
    /// says something that is not looked into
    Open,
    /// a − b ≤ c
    AtMost(AtomId, AtomId, i128),
    /// a − b = c
    Same(AtomId, AtomId, i128),
    /// a − b ≠ c
    Distinct(AtomId, AtomId, i128),
    All(Rc<[Form]>),
    Any(Rc<[Form]>),
}

/// The integer `plus − minus + offset`.
#[derive(Clone, Copy)]
struct Sum {
    plus: Option<AtomId>,
    minus: Option<AtomId>,
    offset: i128,
}

#[derive(Default)]
pub(super) struct Forms {
    pub atoms: Vec<Atom>,
    index: FxHashMap<(TermId, bool), AtomId>,
    forms: FxHashMap<TermId, Form>,
    /// operators of the present constraint that may still be looked into
    work: u32,
}

fn bounds(width: u16, signed: bool) -> (i128, i128) {
    if signed { (-(1 << (width - 1)), (1 << (width - 1)) - 1) } else { (0, (1 << width) - 1) }
}

/// The lower bits of a wider term.
fn is_lower_part(terms: &Terms, t: TermId) -> bool {
    let n = terms.node(t);
    n.op == Op::Extract && n.b == 0
}

impl Forms {
    /// What the constraint says.
    pub fn of(&mut self, terms: &Terms, constraint: TermId) -> Form {
        if let Some(known) = self.forms.get(&constraint) {
            return known.clone();
        }
        self.work = MAX_WORK;
        let made = self.form(terms, constraint, true, 0);
        self.forms.insert(constraint, made.clone());
        made
    }

    /// To be called between queries only: atoms get new numbers.
    pub fn forget_if_full(&mut self) {
        if self.forms.len() > MAX_FORMS || self.atoms.is_empty() {
            self.forms.clear();
            self.index.clear();
            self.atoms.clear();
            let zero = Atom {
                term: Terms::FALSE,
                width: 1,
                low: 0,
                high: 0,
                key: None,
                base: None,
                truncated: false,
                twin: None,
            };
            self.atoms.push(zero);
        }
    }

    pub fn atom(&self, a: AtomId) -> &Atom {
        &self.atoms[a.0 as usize]
    }

    pub fn base(&self, a: AtomId) -> Option<AtomId> {
        self.atom(a).base.map(|(b, _)| b)
    }

    /// The equations between an atom and its base, one for each number of turns.
    pub fn definition(&self, a: AtomId) -> Option<Form> {
        let atom = self.atom(a);
        let (base, offset) = atom.base?;
        let b = self.atom(base);
        let turn = 1i128 << atom.width;
        if atom.truncated {
            // Equal where the wider one fits; what it is elsewhere is left open.
            let fits = Form::Same(a, base, offset);
            let below = Form::AtMost(base, ZERO, -1 - offset);
            let above = Form::AtMost(ZERO, base, offset - turn);
            return Some(Form::Any(Rc::new([fits, below, above])));
        }
        let least = (atom.low - b.high - offset).div_euclid(turn);
        let most = (atom.high - b.low - offset).div_euclid(turn);
        if most - least > MAX_TURNS {
            return None;
        }
        let possible = |k: &i128| {
            let d = offset + k * turn;
            b.low + d <= atom.high && b.high + d >= atom.low
        };
        let mut turns: Vec<i128> = (least..=most).filter(possible).collect();
        turns.sort_by_key(|k| k.abs());
        Some(Form::Any(turns.into_iter().map(|k| Form::Same(a, base, offset + k * turn)).collect()))
    }

    /// The equations between the two readings of a term: unsigned − signed is 0 or 2^w.
    pub fn readings(&self, a: AtomId) -> Option<(AtomId, Form)> {
        let atom = self.atom(a);
        let twin = atom.twin?;
        let (signed, unsigned) = if self.index.get(&(atom.term, true)) == Some(&a) { (a, twin) } else { (twin, a) };
        let parts = [0, 1i128 << atom.width].map(|d| Form::Same(unsigned, signed, d));
        Some((twin, Form::Any(Rc::new(parts))))
    }

    fn form(&mut self, terms: &Terms, t: TermId, positive: bool, depth: u32) -> Form {
        let n = terms.node(t);
        if depth > MAX_DEPTH || self.work == 0 {
            return Form::Open;
        }
        self.work -= 1;
        match n.op {
            Op::Const => Form::Truth((n.value() == 1) == positive),
            Op::Not => self.form(terms, n.arg_a(), !positive, depth + 1),
            Op::And | Op::Or => self.junction(terms, t, positive, depth),
            Op::Ite => {
                let (c, a, b) = (n.arg_a(), n.arg_b(), n.arg_c());
                self.cases(terms, [(c, true, a, positive), (c, false, b, positive)], depth)
            }
            Op::Xor => {
                let (a, b) = (n.arg_a(), n.arg_b());
                self.cases(terms, [(a, true, b, !positive), (a, false, b, positive)], depth)
            }
            Op::Eq if terms.width(n.arg_a()) == 1 => {
                let (a, b) = (n.arg_a(), n.arg_b());
                self.cases(terms, [(a, true, b, positive), (a, false, b, !positive)], depth)
            }
            Op::Eq | Op::Ult | Op::Ule | Op::Slt | Op::Sle => {
                self.comparison(terms, n.op, (n.arg_a(), n.arg_b()), positive, depth)
            }
            _ => Form::Same(self.make_atom(terms, t, false, None), ZERO, i128::from(positive)),
        }
    }

    /// `x op y`, or its negation. Of a choice between terms there is a case for each.
    fn comparison(&mut self, terms: &Terms, op: Op, (x, y): (TermId, TermId), positive: bool, depth: u32) -> Form {
        if depth > MAX_DEPTH || self.work == 0 {
            return Form::Open;
        }
        self.work -= 1;
        for (choice, left) in [(x, true), (y, false)] {
            let n = terms.node(choice);
            if n.op != Op::Ite {
                continue;
            }
            let parts = [(n.arg_b(), true), (n.arg_c(), false)].map(|(arm, condition)| {
                let sides = if left { (arm, y) } else { (x, arm) };
                let condition = self.form(terms, n.arg_a(), condition, depth + 4);
                both(condition, self.comparison(terms, op, sides, positive, depth + 4))
            });
            return either(parts);
        }
        if op == Op::Eq {
            let signed = self.reading(terms, x, y);
            let Some((a, b, c)) = self.difference(terms, x, y, signed) else { return Form::Open };
            return match (a == b, positive) {
                (true, _) => Form::Truth((c == 0) == positive),
                (false, true) => Form::Same(a, b, -c),
                (false, false) => Form::Distinct(a, b, -c),
            };
        }
        let signed = matches!(op, Op::Slt | Op::Sle);
        let strict = matches!(op, Op::Ult | Op::Slt);
        // ¬(x < y) is y ≤ x
        let (x, y, strict) = if positive { (x, y, strict) } else { (y, x, !strict) };
        let Some((a, b, c)) = self.difference(terms, x, y, signed) else { return Form::Open };
        let bound = -c - i128::from(strict);
        if a == b { Form::Truth(bound >= 0) } else { Form::AtMost(a, b, bound) }
    }

    /// `a` as said and `b` as said, in one of two ways.
    fn cases(&mut self, terms: &Terms, ways: [(TermId, bool, TermId, bool); 2], depth: u32) -> Form {
        let parts = ways.map(|(a, p, b, q)| {
            let first = self.form(terms, a, p, depth + 8);
            both(first, self.form(terms, b, q, depth + 8))
        });
        either(parts)
    }

    fn junction(&mut self, terms: &Terms, t: TermId, positive: bool, depth: u32) -> Form {
        let op = terms.op(t);
        let mut parts = Vec::new();
        let mut todo = vec![t];
        while let Some(x) = todo.pop() {
            let n = terms.node(x);
            if n.op == op {
                todo.extend([n.arg_b(), n.arg_a()]);
            } else if parts.len() < MAX_PARTS {
                parts.push(self.form(terms, x, positive, depth + 1));
            } else {
                return Form::Open;
            }
        }
        if (op == Op::And) == positive { Form::All(parts.into()) } else { Form::Any(parts.into()) }
    }

    /// Equality is the same in both readings: take the one in use.
    fn reading(&self, terms: &Terms, a: TermId, b: TermId) -> bool {
        let unsigned = |t: TermId| {
            terms.op(t) == Op::ZExt
                || is_lower_part(terms, t)
                || self.index.contains_key(&(t, false)) && !self.index.contains_key(&(t, true))
        };
        !(unsigned(a) || unsigned(b))
    }

    /// `x − y` as (a, b, c): a − b + c.
    fn difference(&mut self, terms: &Terms, x: TermId, y: TermId, signed: bool) -> Option<(AtomId, AtomId, i128)> {
        let (x, y) = (self.sum(terms, x, signed, 0)?, self.sum(terms, y, signed, 0)?);
        let d = combine(x, y, true)?;
        Some((d.plus.unwrap_or(ZERO), d.minus.unwrap_or(ZERO), d.offset))
    }

    fn sum(&mut self, terms: &Terms, t: TermId, signed: bool, depth: u32) -> Option<Sum> {
        let n = terms.node(t);
        if n.width > MAX_WIDTH {
            return None;
        }
        if let Some(limbs) = terms.constant_limbs(t) {
            let high = limbs.get(1).copied().unwrap_or(0);
            let v = (i128::from(high) << 64) | i128::from(limbs[0]);
            let wrapped = if signed && v > bounds(n.width, true).1 { v - (1 << n.width) } else { v };
            return Some(Sum { plus: None, minus: None, offset: wrapped });
        }
        if let Some(&known) = self.index.get(&(t, signed)) {
            return Some(Sum { plus: Some(known), minus: None, offset: 0 });
        }
        let modular = if depth < MAX_DEPTH { self.modular(terms, t, signed, depth) } else { None };
        if let Some(s) = modular {
            let ((low, high), (min, max)) = (self.range(&s), bounds(n.width, signed));
            // SOUND: the true sum is within the range of the reading, so it does not wrap around.
            if min <= low && high <= max {
                return Some(s);
            }
        }
        Some(Sum { plus: Some(self.make_atom(terms, t, signed, modular)), minus: None, offset: 0 })
    }

    /// A sum that is equal to the reading of `t` modulo 2^w.
    fn modular(&mut self, terms: &Terms, t: TermId, signed: bool, depth: u32) -> Option<Sum> {
        let n = terms.node(t);
        match n.op {
            Op::Add | Op::Sub => {
                let a = self.sum(terms, n.arg_a(), signed, depth + 1)?;
                // the smaller of the two representatives of a constant turns around less
                let b = self.sum(terms, n.arg_b(), signed || terms.is_constant(n.arg_b()), depth + 1)?;
                combine(a, b, n.op == Op::Sub)
            }
            Op::ZExt => self.sum(terms, n.arg_a(), false, depth + 1),
            Op::SExt => self.sum(terms, n.arg_a(), true, depth + 1),
            // the lower part of a wider term: read as the wider one most often is
            Op::Extract if is_lower_part(terms, t) => self.sum(terms, n.arg_a(), true, depth + 1),
            _ => None,
        }
    }

    fn range(&self, s: &Sum) -> (i128, i128) {
        let of = |a: Option<AtomId>| a.map_or((0, 0), |a| (self.atom(a).low, self.atom(a).high));
        let (p, m) = (of(s.plus), of(s.minus));
        (p.0 - m.1 + s.offset, p.1 - m.0 + s.offset)
    }

    fn make_atom(&mut self, terms: &Terms, t: TermId, signed: bool, modular: Option<Sum>) -> AtomId {
        if let Some(&known) = self.index.get(&(t, signed)) {
            return known;
        }
        let width = terms.width(t);
        let (mut low, mut high) = bounds(width, signed);
        if width <= 64 {
            let (l, h) = terms.range(t);
            if i128::from(h) <= high {
                (low, high) = (i128::from(l), i128::from(h));
            }
        }
        let base = match modular {
            Some(Sum { plus: Some(b), minus: None, offset }) => Some((b, offset)),
            _ => None,
        };
        let twin = self.index.get(&(t, !signed)).copied();
        let id = AtomId(self.atoms.len() as u32);
        if let Some(other) = twin {
            self.atoms[other.0 as usize].twin = Some(id);
        }
        // A lower part is tied to the wider term by its unsigned reading only.
        let truncated = is_lower_part(terms, t);
        let base = base.filter(|_| !(truncated && signed));
        self.atoms.push(Atom { term: t, width, low, high, key: evidence::variable(terms, t), base, truncated, twin });
        self.index.insert((t, signed), id);
        id
    }
}

fn both(a: Form, b: Form) -> Form {
    match (a, b) {
        (Form::Truth(false), _) | (_, Form::Truth(false)) => Form::Truth(false),
        (Form::Truth(true), x) | (x, Form::Truth(true)) => x,
        (a, b) => Form::All(Rc::new([a, b])),
    }
}

/// One of two; alternatives of alternatives become alternatives.
fn either(parts: [Form; 2]) -> Form {
    let mut all = Vec::new();
    for part in parts {
        match part {
            Form::Truth(false) => {}
            Form::Any(more) => all.extend(more.iter().cloned()),
            other => all.push(other),
        }
    }
    match all.len() {
        0 => Form::Truth(false),
        1 => all.remove(0),
        _ => Form::Any(all.into()),
    }
}

/// `a + b` or `a − b`, if it has at most one atom of each sign.
fn combine(a: Sum, b: Sum, minus: bool) -> Option<Sum> {
    let b = if minus { Sum { plus: b.minus, minus: b.plus, offset: -b.offset } } else { b };
    let (mut plus, mut less) = ([a.plus, b.plus], [a.minus, b.minus]);
    for p in &mut plus {
        for m in &mut less {
            if p.is_some() && p == m {
                (*p, *m) = (None, None);
            }
        }
    }
    let one = |x: [Option<AtomId>; 2]| match x {
        [Some(_), Some(_)] => None,
        [x, y] => Some(x.or(y)),
    };
    Some(Sum { plus: one(plus)?, minus: one(less)?, offset: a.offset + b.offset })
}
