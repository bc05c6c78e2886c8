//! Conditions as expressions of C: exactly what a literal says, over variables of the source, or nothing.
//!
//! *Idea*: a term is a number read with or without sign. An operator whose result cannot wrap is C's own, in a type that
//! holds the result; one that may wrap is done in an unsigned type of its width, if C has one. *Direction*: a literal
//! for which there is no such expression is left out; the conjunction is weaker then.

use pleach_expr::{Op, TermId, Terms, sign_extend};
use rustc_hash::FxHashMap;

/// Longer texts help nobody.
const LENGTH: usize = 300;
const DEPTH: u32 = 16;

/// A variable as C has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CVariable {
    pub name: String,
    pub signed: bool,
}

/// An expression, the least and the largest value it may have, and whether its type is unsigned.
#[derive(Clone)]
struct Number {
    text: String,
    low: i128,
    high: i128,
    unsigned: bool,
    /// needs no parentheses
    atom: bool,
}

pub(crate) struct CPrinter<'a> {
    pub terms: &'a Terms,
    pub variables: &'a FxHashMap<TermId, CVariable>,
}

impl Number {
    fn operand(&self) -> String {
        if self.atom { self.text.clone() } else { format!("({})", self.text) }
    }

    fn cast(&self, ty: &str) -> String {
        format!("({ty}){}", self.operand())
    }

    fn fits_int(&self) -> bool {
        self.low >= i128::from(i32::MIN) && self.high <= i128::from(i32::MAX)
    }

    /// The same value in a signed type.
    fn in_signed(&self) -> Option<Number> {
        match self.unsigned {
            false => Some(self.clone()),
            true if self.high <= i128::from(i64::MAX) => {
                Some(Number { text: self.cast("long long"), unsigned: false, atom: false, ..self.clone() })
            }
            true => None,
        }
    }
}

fn range(width: u16, signed: bool) -> (i128, i128) {
    match signed {
        true => (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1),
        false => (0, (1i128 << width) - 1),
    }
}

fn type_of(width: u16, signed: bool) -> Option<&'static str> {
    Some(match (width, signed) {
        (8, true) => "signed char",
        (8, false) => "unsigned char",
        (16, true) => "short",
        (16, false) => "unsigned short",
        (32, true) => "int",
        (32, false) => "unsigned int",
        (64, true) => "long long",
        (64, false) => "unsigned long long",
        _ => return None,
    })
}

fn constant(value: i128) -> Number {
    let text = match value {
        v if v == i128::from(i64::MIN) => "(-9223372036854775807LL - 1)".to_owned(),
        v if v == i128::from(i32::MIN) => "(-2147483647 - 1)".to_owned(),
        v if v > i128::from(i64::MAX) => format!("{v}ULL"),
        v if v < i128::from(i32::MIN) || v > i128::from(i32::MAX) => format!("{v}LL"),
        v => v.to_string(),
    };
    let unsigned = value > i128::from(i64::MAX);
    Number { atom: value >= 0 || text.starts_with('('), text, low: value, high: value, unsigned }
}

impl CPrinter<'_> {
    /// One expression per literal that has one.
    pub fn conjuncts(&self, literals: &[TermId]) -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        for text in literals.iter().filter_map(|l| self.truth(*l, DEPTH)) {
            if text.len() <= LENGTH && !out.contains(&text) {
                out.push(text);
            }
        }
        out
    }

    fn truth(&self, t: TermId, depth: u32) -> Option<String> {
        let d = depth.checked_sub(1)?;
        let n = self.terms.node(t);
        let (a, b) = (n.arg_a(), n.arg_b());
        let compared = |sign: &str, signed: bool| self.compared(a, sign, b, signed, d);
        Some(match n.op {
            Op::Const => (if n.value() == 0 { "0" } else { "1" }).into(),
            Op::Slt => compared("<", true)?,
            Op::Sle => compared("<=", true)?,
            Op::Ult => compared("<", false)?,
            Op::Ule => compared("<=", false)?,
            Op::Eq if self.terms.width(a) == 1 => format!("!({}) == !({})", self.truth(a, d)?, self.truth(b, d)?),
            Op::Eq => self.equal(a, "==", b, d)?,
            Op::And => format!("({}) && ({})", self.truth(a, d)?, self.truth(b, d)?),
            Op::Or => format!("({}) || ({})", self.truth(a, d)?, self.truth(b, d)?),
            Op::Not => self.negated(a, d)?,
            Op::Xor => format!("!({}) != !({})", self.truth(a, d)?, self.truth(b, d)?),
            Op::Ite => {
                let (c, a, b) = (self.truth(a, d)?, self.truth(b, d)?, self.truth(n.arg_c(), d)?);
                format!("({c}) ? ({a}) : ({b})")
            }
            _ => format!("{} != 0", self.bits(t, d)?.operand()),
        })
    }

    fn negated(&self, t: TermId, d: u32) -> Option<String> {
        let n = self.terms.node(t);
        let (a, b) = (n.arg_a(), n.arg_b());
        match n.op {
            Op::Slt => self.compared(b, "<=", a, true, d),
            Op::Sle => self.compared(b, "<", a, true, d),
            Op::Ult => self.compared(b, "<=", a, false, d),
            Op::Ule => self.compared(b, "<", a, false, d),
            Op::Eq if self.terms.width(a) > 1 => self.equal(a, "!=", b, d),
            _ => Some(format!("!({})", self.truth(t, d)?)),
        }
    }

    fn compared(&self, a: TermId, sign: &str, b: TermId, signed: bool, d: u32) -> Option<String> {
        let (mut a, mut b) = (self.number(a, signed, d)?, self.number(b, signed, d)?);
        // Two types, one of them unsigned: a negative number would become another.
        if a.low < 0 || b.low < 0 {
            (a, b) = (a.in_signed()?, b.in_signed()?);
        }
        if a.low == a.high && (sign == "<" || sign == "<=") {
            let least = a.low + i128::from(sign == "<");
            return Some(format!("{} >= {}", b.operand(), constant(least).operand()));
        }
        Some(format!("{} {sign} {}", a.operand(), b.operand()))
    }

    fn equal(&self, a: TermId, sign: &str, b: TermId, d: u32) -> Option<String> {
        // The constant to the right.
        let (a, b) = if self.terms.as_const(a).is_some() { (b, a) } else { (a, b) };
        let signed = self.reads_signed(a);
        self.compared(a, sign, b, signed, d).or_else(|| self.compared(a, sign, b, !signed, d))
    }

    /// The sign with which the term is read most simply.
    fn reads_signed(&self, t: TermId) -> bool {
        let n = self.terms.node(t);
        match n.op {
            Op::Var => self.variables.get(&t).is_some_and(|v| v.signed),
            Op::ZExt | Op::Extract | Op::Concat | Op::And | Op::Or | Op::Xor | Op::LShr => false,
            Op::Add | Op::Sub | Op::Mul | Op::Neg => self.reads_signed(n.arg_a()),
            _ => true,
        }
    }

    /// The value of a term of at most 64 bits, read with or without sign.
    fn number(&self, t: TermId, signed: bool, depth: u32) -> Option<Number> {
        let d = depth.checked_sub(1)?;
        let n = self.terms.node(t);
        let width = n.width;
        if width > 64 {
            return None;
        }
        let value = match n.op {
            Op::Const if signed && width > 1 => constant(sign_extend(n.value(), width).into()),
            Op::Const => constant(n.value().into()),
            Op::Var => self.variable(t, width, signed)?,
            Op::SExt if signed => self.number(n.arg_a(), true, d)?,
            Op::ZExt => self.number(n.arg_a(), false, d)?,
            Op::Add | Op::Sub | Op::Mul => self.arithmetic(n.op, n.arg_a(), n.arg_b(), width, signed, d)?,
            Op::Ite => {
                let c = self.truth(n.arg_a(), d)?;
                let (a, b) = (self.number(n.arg_b(), signed, d)?, self.number(n.arg_c(), signed, d)?);
                let (a, b) = if a.low < 0 || b.low < 0 { (a.in_signed()?, b.in_signed()?) } else { (a, b) };
                let text = format!("(({c}) ? {} : {})", a.operand(), b.operand());
                Number {
                    text,
                    low: a.low.min(b.low),
                    high: a.high.max(b.high),
                    unsigned: a.unsigned || b.unsigned,
                    atom: true,
                }
            }
            _ if width == 1 => {
                Number { text: format!("({})", self.truth(t, d)?), low: 0, high: 1, unsigned: false, atom: true }
            }
            // All others are numbers without sign; a cast reads them with one.
            _ if signed => self.reinterpreted(self.number(t, false, d)?, width, true)?,
            _ => self.bits(t, d)?,
        };
        (value.text.len() <= LENGTH).then_some(value)
    }

    fn variable(&self, t: TermId, width: u16, signed: bool) -> Option<Number> {
        let v = self.variables.get(&t)?;
        let (low, high) = range(width, v.signed);
        // Narrow types become `int` in every expression.
        let own = Number { text: v.name.clone(), low, high, unsigned: !v.signed && width >= 32, atom: true };
        if v.signed == signed { Some(own) } else { self.reinterpreted(own, width, signed) }
    }

    /// The bits of a value, read with the other sign, by a cast to the type of that width.
    fn reinterpreted(&self, value: Number, width: u16, signed: bool) -> Option<Number> {
        let (low, high) = range(width, signed);
        if value.low >= low && value.high <= high {
            return Some(value);
        }
        let text = value.cast(type_of(width, signed)?);
        Some(Number { text, low, high, unsigned: !signed && width >= 32, atom: false })
    }

    fn arithmetic(&self, op: Op, a: TermId, b: TermId, width: u16, signed: bool, d: u32) -> Option<Number> {
        let (x, y) = (self.number(a, signed, d)?, self.number(b, signed, d)?);
        let corners = |f: fn(i128, i128) -> Option<i128>| {
            let all = [f(x.low, y.low), f(x.low, y.high), f(x.high, y.low), f(x.high, y.high)];
            let all: Option<Vec<i128>> = all.into_iter().collect();
            all.and_then(|all| Some((*all.iter().min()?, *all.iter().max()?)))
        };
        let (sign, (low, high)) = match op {
            Op::Add => ("+", corners(i128::checked_add)?),
            Op::Sub => ("-", corners(i128::checked_sub)?),
            _ => ("*", corners(i128::checked_mul)?),
        };
        let (least, most) = range(width, signed);
        let wide = (i128::from(i64::MIN), i128::from(i64::MAX));
        if low >= least && high <= most && low >= wide.0 && high <= wide.1 {
            let (x, y) = (x.in_signed()?, y.in_signed()?);
            let narrow = x.fits_int() && y.fits_int() && low >= i128::from(i32::MIN) && high <= i128::from(i32::MAX);
            let first = if narrow { x.operand() } else { x.cast("long long") };
            let text = format!("{first} {sign} {}", y.operand());
            return Some(Number { text, low, high, unsigned: false, atom: false });
        }
        // It may wrap: done without sign. Narrow types would be done in `int`.
        let unsigned = type_of(width.max(32), false)?;
        let text = format!("{} {sign} {}", x.cast(unsigned), y.cast(unsigned));
        let whole = Number { text, low: 0, high: range(width.max(32), false).1, unsigned: true, atom: false };
        let (low, high) = range(width, signed);
        match signed || width < 32 {
            false => Some(whole),
            true => {
                let text = whole.cast(type_of(width, signed)?);
                Some(Number { text, low, high, unsigned: false, atom: false })
            }
        }
    }

    /// An operator on bits, read without sign.
    fn bits(&self, t: TermId, d: u32) -> Option<Number> {
        let n = self.terms.node(t);
        let (low, high) = range(n.width, false);
        let wide = "unsigned long long";
        let operand = |t: TermId| Some(self.number(t, false, d)?.cast(wide));
        let amount = |t: TermId| self.terms.as_const(t).filter(|k| *k < 64);
        let text = match n.op {
            Op::And => format!("{} & {}", operand(n.arg_a())?, operand(n.arg_b())?),
            Op::Or => format!("{} | {}", operand(n.arg_a())?, operand(n.arg_b())?),
            Op::Xor => format!("{} ^ {}", operand(n.arg_a())?, operand(n.arg_b())?),
            Op::Not => format!("{}ULL - {}", high, operand(n.arg_a())?),
            Op::LShr => format!("{} >> {}", operand(n.arg_a())?, amount(n.arg_b())?),
            Op::UDiv if self.terms.as_const(n.arg_b()).is_some_and(|k| k != 0) => {
                format!("{} / {}", operand(n.arg_a())?, operand(n.arg_b())?)
            }
            Op::URem if self.terms.as_const(n.arg_b()).is_some_and(|k| k != 0) => {
                format!("{} % {}", operand(n.arg_a())?, operand(n.arg_b())?)
            }
            Op::Extract if n.b == 0 => format!("{} & {high}ULL", operand(n.arg_a())?),
            Op::Extract => format!("{} >> {} & {high}ULL", operand(n.arg_a())?, n.b),
            Op::Concat => {
                let shift = self.terms.width(n.arg_b());
                format!("{} << {shift} | {}", operand(n.arg_a())?, operand(n.arg_b())?)
            }
            Op::SExt => {
                let value = self.number(n.arg_a(), true, d)?;
                return self.reinterpreted(value, n.width, false);
            }
            _ => return None,
        };
        Some(Number { text, low, high, unsigned: true, atom: false })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_expr::{SymbolKind, SymbolOrigin};

    #[test]
    fn exactly_what_a_literal_says() {
        let mut terms = Terms::new(64);
        let mut variables = FxHashMap::default();
        let mut variable = |terms: &mut Terms, name: &str, width: u16, signed: bool| {
            let at = variables.len() as u32;
            let s = terms.symbols.intern(SymbolOrigin::Any(at), SymbolKind::Bits(width), || name.to_owned());
            let t = terms.var(s);
            variables.insert(t, CVariable { name: name.to_owned(), signed });
            t
        };
        let (x, y) = (variable(&mut terms, "x", 32, true), variable(&mut terms, "y", 32, true));
        let (u, c) = (variable(&mut terms, "u", 32, false), variable(&mut terms, "c", 8, true));
        let t = &mut terms;
        let (zero, five) = (t.constant(32, 0), t.constant(32, 5));
        let (sum, wide_x, wide_y) = (t.add(x, y), t.sext(x, 33), t.sext(y, 33));
        let difference = t.sub(wide_x, wide_y);
        let (k33, seven) = (t.constant(33, 5), t.constant(8, 7));
        let bit = t.extract(u, 0, 1);
        let literals = [
            t.sle(zero, x),
            t.ult(x, five),
            t.slt(sum, five),
            t.eq(difference, k33),
            t.slt(u, zero),
            t.eq(u, five),
            t.not(bit),
            t.ult(c, seven),
            t.eq(x, u),
        ];
        let printer = CPrinter { terms: &terms, variables: &variables };
        let want = [
            "x >= 0",
            "((unsigned int)x) < 5",
            "((int)((unsigned int)x + (unsigned int)y)) < 5",
            "((long long)x - y) == 5",
            "((int)u) < 0",
            "u == 5",
            "!(((unsigned long long)u & 1ULL) != 0)",
            "((unsigned char)c) < 7",
            "x == ((int)u)",
        ];
        assert_eq!(printer.conjuncts(&literals), want);
        let unknown = CPrinter { terms: &terms, variables: &FxHashMap::default() };
        assert!(unknown.conjuncts(&literals).is_empty());
    }
}
