//! Claims of a contract: comparisons of sums, some only under a condition.

use crate::interpret::Sample;
use pleach_ir::{CmpOp, FuncId, GlobalId, Program};
use std::fmt::Write;

/// A number that a contract speaks of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Variable {
    /// an argument, by number
    Argument(usize),
    /// a global variable before the call
    Before(GlobalId),
    Result,
    /// a global variable after the call
    After(GlobalId),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operand {
    Whole(Variable),
    /// its lowest bit
    Low(Variable),
}

/// Sums wrap, as the program's do.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sum {
    pub parts: Vec<(i64, Operand)>,
    pub constant: i64,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Atom {
    pub width: u16,
    pub op: CmpOp,
    pub left: Sum,
    pub right: Sum,
}

/// `then`, where `when` holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Claim {
    pub when: Option<Atom>,
    pub then: Atom,
}

impl Sum {
    pub fn of(v: Variable) -> Sum {
        Sum { parts: vec![(1, Operand::Whole(v))], constant: 0 }
    }

    pub fn number(constant: i64) -> Sum {
        Sum { parts: Vec::new(), constant }
    }

    fn value(&self, s: &Sample, width: u16) -> Option<u64> {
        let mut sum = self.constant as u64;
        for (k, o) in &self.parts {
            let v = match o {
                Operand::Whole(v) => s.value(*v)?,
                Operand::Low(v) => s.value(*v)? & 1,
            };
            sum = sum.wrapping_add((*k as u64).wrapping_mul(v));
        }
        Some(sum & mask(width))
    }

    fn text(&self, name: &dyn Fn(Variable) -> String) -> String {
        let mut out = String::new();
        for (k, o) in &self.parts {
            let v = match o {
                Operand::Whole(v) => name(*v),
                Operand::Low(v) => format!("({} & 1)", name(*v)),
            };
            let sign = match (out.is_empty(), *k < 0) {
                (true, false) => "",
                (true, true) => "-",
                (false, false) => " + ",
                (false, true) => " - ",
            };
            let times = if k.unsigned_abs() == 1 { String::new() } else { format!("{} * ", k.unsigned_abs()) };
            let _ = write!(out, "{sign}{times}{v}");
        }
        match (out.is_empty(), self.constant) {
            (true, k) => k.to_string(),
            (false, 0) => out,
            (false, k) if k < 0 => format!("{out} - {}", k.unsigned_abs()),
            (false, k) => format!("{out} + {k}"),
        }
    }
}

impl Atom {
    /// In a sample that has all its variables.
    pub fn holds(&self, s: &Sample) -> Option<bool> {
        let (a, b) = (self.left.value(s, self.width)?, self.right.value(s, self.width)?);
        Some(compare(self.op, self.width, a, b))
    }

    fn text(&self, name: &dyn Fn(Variable) -> String) -> String {
        let op = match self.op {
            CmpOp::Eq => "==",
            CmpOp::Ne => "!=",
            CmpOp::Ult | CmpOp::Slt => "<",
            CmpOp::Ule | CmpOp::Sle => "<=",
            CmpOp::Ugt | CmpOp::Sgt => ">",
            CmpOp::Uge | CmpOp::Sge => ">=",
        };
        format!("{} {op} {}", self.left.text(name), self.right.text(name))
    }
}

impl Claim {
    pub fn always(then: Atom) -> Claim {
        Claim { when: None, then }
    }

    /// True of the sample, or about something that it does not have.
    pub fn holds(&self, s: &Sample) -> bool {
        self.when.as_ref().is_some_and(|w| w.holds(s) == Some(false)) || self.then.holds(s) != Some(false)
    }

    /// A bound that is at least as strict as that other one.
    pub fn is_stricter(&self, other: &Claim) -> bool {
        let (a, b) = (&self.then, &other.then);
        let same = (a.width, a.op, &a.left, &a.right.parts) == (b.width, b.op, &b.left, &b.right.parts);
        // SOUND: sums wrap, so only constants are compared.
        let constant = a.right.parts.is_empty() && self.when == other.when;
        let closer = match a.op {
            CmpOp::Sge => a.right.constant > b.right.constant,
            CmpOp::Sle => a.right.constant < b.right.constant,
            _ => false,
        };
        same && constant && closer
    }

    /// In C; `result` is what the call returns.
    pub fn text(&self, program: &Program, of: FuncId) -> String {
        let f = program.function(of);
        let global = |g: GlobalId| program.global(g).name.clone();
        let name = |v: Variable| match v {
            Variable::Argument(i) => {
                f.params.get(i).and_then(|p| p.name.clone()).unwrap_or_else(|| format!("argument {}", i + 1))
            }
            Variable::Before(g) => format!("old {}", global(g)),
            Variable::Result => "result".into(),
            Variable::After(g) => global(g),
        };
        let then = self.then.text(&name);
        self.when.as_ref().map_or_else(|| then.clone(), |w| format!("!({}) || {then}", w.text(&name)))
    }
}

pub(crate) fn mask(width: u16) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

/// The number that the bits of this width mean.
pub(crate) fn signed(v: u64, width: u16) -> i64 {
    let shift = 64 - u32::from(width);
    ((v << shift) as i64) >> shift
}

pub(crate) fn compare(op: CmpOp, width: u16, a: u64, b: u64) -> bool {
    let (x, y) = (signed(a, width), signed(b, width));
    match op {
        CmpOp::Eq => a == b,
        CmpOp::Ne => a != b,
        CmpOp::Ult => a < b,
        CmpOp::Ule => a <= b,
        CmpOp::Ugt => a > b,
        CmpOp::Uge => a >= b,
        CmpOp::Slt => x < y,
        CmpOp::Sle => x <= y,
        CmpOp::Sgt => x > y,
        CmpOp::Sge => x >= y,
    }
}
