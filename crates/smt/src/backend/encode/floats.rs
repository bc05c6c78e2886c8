//! Floats: carried as bit patterns by our terms, as floats by the library.
//!
//! A float operator is translated to a float; its bit pattern, where one is needed, is a fresh variable p with
//! `to_fp(p) = f`, and the one quiet NaN for NaN, as in the evaluator.

use super::super::{Format, Round};
use super::{Encoder, Engine, Forms, Fun, Made, Sort};
use crate::error::SmtError;
use pleach_expr::{Node, Op, TermId, Terms};

const NEAREST: Round = Round::NearestEven;

fn format(width: u16) -> Result<Format, SmtError> {
    match width {
        16 => Ok(Format { exponent: 5, significand: 11 }),
        32 => Ok(Format { exponent: 8, significand: 24 }),
        64 => Ok(Format { exponent: 11, significand: 53 }),
        80 => Ok(Format { exponent: 15, significand: 64 }),
        128 => Ok(Format { exponent: 15, significand: 113 }),
        w => Err(SmtError::Unsupported(format!("float of {w} bits"))),
    }
}

/// In the interchange format; see [`INTEGER_BIT`].
fn quiet_nan(width: u16) -> [u64; 2] {
    match width {
        16 => [0x7e00, 0],
        32 => [0x7fc0_0000, 0],
        64 => [0x7ff8_0000_0000_0000, 0],
        80 => [0x4000_0000_0000_0000, 0x3fff],
        _ => [0, 0x7fff_8000_0000_0000],
    }
}

/// x87's format of 80 bits has the integer part of the significand, which the others imply, as a bit of its own; the
/// library's float has 79 bits. Patterns in which that bit is not what the exponent says are taken for those in which
/// it is.
const INTEGER_BIT: u16 = 63;

fn rounding(mode: u32) -> Result<Round, SmtError> {
    Ok(match mode {
        0 => Round::NearestEven,
        1 => Round::NearestAway,
        2 => Round::Up,
        3 => Round::Down,
        4 => Round::ToZero,
        m => return Err(SmtError::Unsupported(format!("rounding mode {m}"))),
    })
}

impl<E: Engine> Encoder<E> {
    /// The bit pattern of a float.
    pub(super) fn pattern(&mut self, width: u16, float: E::Term) -> Made<E::Term> {
        if self.quantified {
            return Err(SmtError::Unsupported("float arithmetic under a quantifier".into()));
        }
        let stored = if width == 80 { 79 } else { width };
        let bits = self.engine.fresh(Sort::Bits(stored))?;
        let back = self.engine.apply(Fun::FpFromBits(format(width)?), &[bits])?;
        let same = self.engine.apply(Fun::Equal, &[back, float])?;
        self.engine.assert(same)?;
        let nan = self.engine.apply(Fun::FpIsNan, &[float])?;
        let number = self.engine.apply(Fun::Not, &[nan])?;
        let limbs = usize::from(stored.div_ceil(64));
        let quiet = self.engine.bits(stored, &quiet_nan(width)[..limbs])?;
        let is_quiet = self.engine.apply(Fun::Equal, &[bits, quiet])?;
        let fact = self.engine.apply(Fun::Or, &[number, is_quiet])?;
        self.engine.assert(fact)?;
        if width != 80 {
            return Ok(bits);
        }
        let head = self.engine.apply(Fun::Extract { high: 78, low: INTEGER_BIT }, &[bits])?;
        let exponent = self.engine.apply(Fun::Extract { high: 77, low: INTEGER_BIT }, &[bits])?;
        let fraction = self.engine.apply(Fun::Extract { high: INTEGER_BIT - 1, low: 0 }, &[bits])?;
        let (none, zero, one) = (self.engine.bits(15, &[0])?, self.engine.bits(1, &[0])?, self.engine.bits(1, &[1])?);
        let small = self.engine.apply(Fun::Equal, &[exponent, none])?;
        let integer = self.engine.apply(Fun::Ite, &[small, zero, one])?;
        let head = self.engine.apply(Fun::Concat, &[head, integer])?;
        self.engine.apply(Fun::Concat, &[head, fraction])
    }

    fn float(&mut self, terms: &Terms, t: TermId) -> Made<E::Term> {
        if let Some(done) = self.forms(t)?.float {
            return Ok(done);
        }
        let format = format(terms.width(t))?;
        let mut bits = self.bits(terms, t)?;
        if terms.width(t) == 80 {
            let head = self.engine.apply(Fun::Extract { high: 79, low: INTEGER_BIT + 1 }, &[bits])?;
            let fraction = self.engine.apply(Fun::Extract { high: INTEGER_BIT - 1, low: 0 }, &[bits])?;
            bits = self.engine.apply(Fun::Concat, &[head, fraction])?;
        }
        let made = self.engine.apply(Fun::FpFromBits(format), &[bits])?;
        self.forms.entry(t).or_default().float = Some(made);
        Ok(made)
    }

    pub(super) fn float_node(&mut self, terms: &Terms, n: &Node) -> Made<Forms<E::Term>> {
        let unary = |fun| (fun, 1);
        let (fun, arguments) = match n.op {
            Op::FAdd => (Fun::FpAdd(NEAREST), 2),
            Op::FSub => (Fun::FpSub(NEAREST), 2),
            Op::FMul => (Fun::FpMul(NEAREST), 2),
            Op::FDiv => (Fun::FpDiv(NEAREST), 2),
            Op::FFma => (Fun::FpFma(NEAREST), 3),
            Op::FEq => (Fun::FpEq, 2),
            Op::FLt => (Fun::FpLt, 2),
            Op::FLe => (Fun::FpLe, 2),
            Op::FIsNan => unary(Fun::FpIsNan),
            Op::FSqrt => unary(Fun::FpSqrt(NEAREST)),
            Op::FRound => unary(Fun::FpToIntegral(rounding(n.b)?)),
            Op::FResize => unary(Fun::FpFromFp(NEAREST, format(n.width)?)),
            Op::FFromSigned | Op::FFromUnsigned => return self.integer_to_float(terms, n),
            Op::FToSigned | Op::FToUnsigned => return self.float_to_integer(terms, n),
            // SMT-LIB's fp.rem rounds the quotient to nearest, C's fmod cuts it.
            op => return Err(SmtError::Unsupported(format!("float operator {op:?}"))),
        };
        let mut args = Vec::with_capacity(3);
        for x in [n.arg_a(), n.arg_b(), n.arg_c()].into_iter().take(arguments) {
            args.push(self.float(terms, x)?);
        }
        let made = self.engine.apply(fun, &args)?;
        Ok(match n.op {
            Op::FEq | Op::FLt | Op::FLe | Op::FIsNan => Forms { truth: Some(made), ..Forms::default() },
            _ => Forms { float: Some(made), ..Forms::default() },
        })
    }

    fn integer_to_float(&mut self, terms: &Terms, n: &Node) -> Made<Forms<E::Term>> {
        let format = format(n.width)?;
        let signed = n.op == Op::FFromSigned;
        let fun = if signed { Fun::FpFromSigned(NEAREST, format) } else { Fun::FpFromUnsigned(NEAREST, format) };
        let a = self.bits(terms, n.arg_a())?;
        Ok(Forms { float: Some(self.engine.apply(fun, &[a])?), ..Forms::default() })
    }

    /// Cut towards zero; what does not fit gives `1 << (w - 1)`, as in the evaluator.
    fn float_to_integer(&mut self, terms: &Terms, n: &Node) -> Made<Forms<E::Term>> {
        let w = n.width;
        if w == 0 || w > 128 {
            return Err(SmtError::Unsupported(format!("float to integer of {w} bits")));
        }
        let signed = n.op == Op::FToSigned;
        let format = format(terms.width(n.arg_a()))?;
        let x = self.float(terms, n.arg_a())?;
        let cut = self.engine.apply(Fun::FpToIntegral(Round::ToZero), &[x])?;
        let power = |bit: u16| {
            let mut limbs = [0u64; 3];
            limbs[usize::from(bit / 64)] = 1 << (bit % 64);
            limbs
        };
        // 2^(w-1) or 2^w, and its negative or 0, as floats: powers of two are exact
        let top = self.engine.bits(w + 2, &power(if signed { w - 1 } else { w }))?;
        let upper = self.engine.apply(Fun::FpFromSigned(NEAREST, format), &[top])?;
        let bottom = if signed { self.engine.apply(Fun::BvNeg, &[top])? } else { self.engine.bits(w + 2, &[0; 3])? };
        let lower = self.engine.apply(Fun::FpFromSigned(NEAREST, format), &[bottom])?;
        let above = self.engine.apply(Fun::FpLe, &[lower, cut])?;
        let below = self.engine.apply(Fun::FpLt, &[cut, upper])?;
        let fits = self.engine.apply(Fun::And, &[above, below])?;
        let fun = if signed { Fun::FpToSigned(Round::ToZero, w) } else { Fun::FpToUnsigned(Round::ToZero, w) };
        let value = self.engine.apply(fun, &[x])?;
        let other = self.engine.bits(w, &power(w - 1))?;
        let bits = self.engine.apply(Fun::Ite, &[fits, value, other])?;
        Ok(Forms { bits: Some(bits), ..Forms::default() })
    }
}
