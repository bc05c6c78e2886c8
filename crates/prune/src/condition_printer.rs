//! Conditions as text: infix, constants as signed numbers, both bounds of a form on one line.

use pleach_expr::{Op, TermId, Terms, sign_extend};
use rustc_hash::FxHashMap;

/// Deeper than this a term is not worth reading.
const DEPTH: u32 = 24;

/// Prints conditions with the names that variables have.
pub struct ConditionPrinter<'a> {
    pub terms: &'a Terms,
    /// what variables are called
    pub names: &'a FxHashMap<TermId, String>,
}

/// The bounds of one form, both included.
#[derive(Default)]
struct Range {
    low: Option<i128>,
    high: Option<i128>,
}

impl ConditionPrinter<'_> {
    /// One line per literal; the bounds of one form are one line.
    pub fn lines(&self, literals: &[TermId]) -> Vec<String> {
        let mut out: Vec<Result<String, TermId>> = Vec::new();
        let mut ranges: FxHashMap<TermId, Range> = FxHashMap::default();
        for &l in literals {
            let Some((form, from_below, bound)) = self.bound(l) else {
                out.push(Ok(self.truth(l, DEPTH)));
                continue;
            };
            let range = ranges.entry(form).or_insert_with(|| {
                out.push(Err(form));
                Range::default()
            });
            let side = if from_below { &mut range.low } else { &mut range.high };
            match side {
                Some(_) => out.push(Ok(self.truth(l, DEPTH))),
                None => *side = Some(bound),
            }
        }
        let line = |item: Result<String, TermId>| item.unwrap_or_else(|form| self.range(form, &ranges[&form]));
        out.into_iter().map(line).collect()
    }

    fn range(&self, form: TermId, range: &Range) -> String {
        let x = self.value(form, DEPTH);
        match (range.low, range.high) {
            (Some(lo), Some(hi)) if lo == hi => format!("{x} == {lo}"),
            (Some(lo), Some(hi)) => format!("{lo} <= {x} <= {hi}"),
            (Some(lo), None) => format!("{x} >= {lo}"),
            (None, Some(hi)) => format!("{x} <= {hi}"),
            (None, None) => x,
        }
    }

    /// A signed bound: its form, whether from below, and the number.
    fn bound(&self, l: TermId) -> Option<(TermId, bool, i128)> {
        let (n, negated) = match self.terms.node(l) {
            n if n.op == Op::Not => (self.terms.node(n.arg_a()), true),
            n => (n, false),
        };
        let strict = match (n.op, negated) {
            (Op::Slt, false) | (Op::Sle, true) => 1,
            (Op::Sle, false) | (Op::Slt, true) => 0,
            _ => return None,
        };
        // ¬(a < b) is b ≤ a
        let (a, b) = if negated { (n.arg_b(), n.arg_a()) } else { (n.arg_a(), n.arg_b()) };
        let number = |t: TermId| Some(i128::from(sign_extend(self.terms.as_const(t)?, self.terms.width(t))));
        match (number(a), number(b)) {
            (Some(k), None) => Some((b, true, k + strict)),
            (None, Some(k)) => Some((a, false, k - strict)),
            _ => None,
        }
    }

    fn number(&self, t: TermId) -> Option<String> {
        let v = self.terms.as_const(t)?;
        let w = self.terms.width(t);
        Some(if w == 1 { v.to_string() } else { sign_extend(v, w).to_string() })
    }

    /// A term of one bit as a condition.
    pub fn truth(&self, t: TermId, depth: u32) -> String {
        if depth == 0 {
            return "…".into();
        }
        let n = self.terms.node(t);
        let d = depth - 1;
        let infix = |sign: &str| format!("{} {sign} {}", self.value(n.arg_a(), d), self.value(n.arg_b(), d));
        match n.op {
            Op::Const => if n.b == 0 { "false" } else { "true" }.into(),
            Op::Slt => infix("<"),
            Op::Sle => infix("<="),
            Op::Ult => infix("<u"),
            Op::Ule => infix("<=u"),
            Op::Eq if self.terms.width(n.arg_a()) == 1 => {
                format!("({}) == ({})", self.truth(n.arg_a(), d), self.truth(n.arg_b(), d))
            }
            Op::Eq => {
                // The constant to the right.
                let (a, b) = (n.arg_a(), n.arg_b());
                let (a, b) = if self.terms.as_const(a).is_some() { (b, a) } else { (a, b) };
                format!("{} == {}", self.value(a, d), self.value(b, d))
            }
            Op::And if n.width == 1 => format!("({} && {})", self.truth(n.arg_a(), d), self.truth(n.arg_b(), d)),
            Op::Or if n.width == 1 => format!("({} || {})", self.truth(n.arg_a(), d), self.truth(n.arg_b(), d)),
            Op::Not if n.width == 1 => self.negated(n.arg_a(), d),
            _ => self.value(t, depth),
        }
    }

    fn negated(&self, t: TermId, depth: u32) -> String {
        let n = self.terms.node(t);
        let infix =
            |sign: &str, a: TermId, b: TermId| format!("{} {sign} {}", self.value(a, depth), self.value(b, depth));
        match n.op {
            Op::Slt => infix("<=", n.arg_b(), n.arg_a()),
            Op::Sle => infix("<", n.arg_b(), n.arg_a()),
            Op::Ult => infix("<=u", n.arg_b(), n.arg_a()),
            Op::Ule => infix("<u", n.arg_b(), n.arg_a()),
            Op::Eq if self.terms.as_const(n.arg_a()).is_some() => infix("!=", n.arg_b(), n.arg_a()),
            Op::Eq => infix("!=", n.arg_a(), n.arg_b()),
            _ => format!("!({})", self.truth(t, depth)),
        }
    }

    /// A number. Sign extensions are left out: sums are read over the integers.
    pub fn value(&self, t: TermId, depth: u32) -> String {
        if let Some(name) = self.names.get(&t) {
            return name.clone();
        }
        if let Some(k) = self.number(t) {
            return k;
        }
        if depth == 0 {
            return "…".into();
        }
        let n = self.terms.node(t);
        let d = depth - 1;
        let infix = |sign: &str| format!("{} {sign} {}", self.factor(n.arg_a(), d), self.factor(n.arg_b(), d));
        match n.op {
            Op::SExt => self.value(n.arg_a(), d),
            Op::ZExt if self.terms.width(n.arg_a()) == 1 => format!("({})", self.truth(n.arg_a(), d)),
            Op::ZExt => format!("u({})", self.value(n.arg_a(), d)),
            Op::Add => match self.terms.as_const(n.arg_b()).map(|k| sign_extend(k, n.width)) {
                Some(k) if k < 0 => format!("{} - {}", self.value(n.arg_a(), d), k.unsigned_abs()),
                _ => format!("{} + {}", self.value(n.arg_a(), d), self.factor(n.arg_b(), d)),
            },
            Op::Sub => format!("{} - {}", self.value(n.arg_a(), d), self.factor(n.arg_b(), d)),
            Op::Mul => infix("*"),
            Op::UDiv => infix("/u"),
            Op::SDiv => infix("/"),
            Op::URem => infix("%u"),
            Op::SRem => infix("%"),
            Op::Shl => infix("<<"),
            Op::LShr => infix(">>u"),
            Op::AShr => infix(">>"),
            Op::And if n.width > 1 => infix("&"),
            Op::Or if n.width > 1 => infix("|"),
            Op::Xor => infix("^"),
            Op::Not if n.width > 1 => format!("~{}", self.factor(n.arg_a(), d)),
            Op::Neg => format!("-{}", self.factor(n.arg_a(), d)),
            Op::Extract => {
                let low = n.b;
                format!("{}[{}:{low}]", self.factor(n.arg_a(), d), u32::from(n.width) + low - 1)
            }
            Op::Ite => {
                let (a, b) = (n.arg_b(), n.arg_c());
                format!("({} ? {} : {})", self.truth(n.arg_a(), d), self.value(a, d), self.value(b, d))
            }
            Op::Slt | Op::Sle | Op::Ult | Op::Ule | Op::Eq | Op::Not | Op::And | Op::Or => {
                format!("({})", self.truth(t, depth))
            }
            // The low bits are zero: a multiple.
            Op::Concat if self.terms.as_const(n.arg_b()) == Some(0) && self.terms.width(n.arg_b()) < 63 => {
                let times = 1u64 << self.terms.width(n.arg_b());
                format!("{} * {times}", self.factor(n.arg_a(), d))
            }
            _ => self.terms.show(t),
        }
    }

    fn factor(&self, t: TermId, depth: u32) -> String {
        let text = self.value(t, depth);
        if text.contains(' ') && !text.starts_with('(') { format!("({text})") } else { text }
    }
}
