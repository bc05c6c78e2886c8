//! Conversions of floating-point values that the integer type does not have: an error, or any value behind an
//! optimiser.

use super::emit::{Lowered, Lowering};
use super::float::float_type;
use pleach_ir::{self as ir, BinOp, CheckKind, Const, FCmpOp, FloatTy, Opnd, Ty};

impl Lowering<'_, '_> {
    /// `to` has the value, rounded towards zero.
    fn fits(&mut self, a: Opnd, from: Ty, to: Ty, signed: bool) -> Lowered<Opnd> {
        let (float, width) = (float_type(from)?, u32::from(self.bits(to)));
        let (least, op) = match signed {
            // −2^(w−1) − 1 where the type has it; what lies above is rounded towards zero
            true if width <= precision(float) => (bits_of(float, true, width - 1, true), FCmpOp::Ogt),
            true => (bits_of(float, true, width - 1, false), FCmpOp::Oge),
            false => (bits_of(float, true, 0, false), FCmpOp::Ogt),
        };
        let beyond = bits_of(float, false, if signed { width - 1 } else { width }, false);
        let (least, beyond) = (self.float_constant(float, least), self.float_constant(float, beyond));
        let (above, below) = (self.fcmp(op, from, a, least)?, self.fcmp(FCmpOp::Olt, from, a, beyond)?);
        Ok(self.bin(BinOp::And, 1, above, below))
    }

    fn float_constant(&mut self, float: FloatTy, bits: u128) -> Opnd {
        let width = float.bits();
        self.constant(match width {
            ..=64 => Const::Int { width, value: bits as u64 },
            _ => Const::Wide { width, limbs: vec![bits as u64, (bits >> 64) as u64] },
        })
    }

    /// A conversion to an integer.
    pub fn float_to_int(&mut self, op: ir::FCastOp, from: Ty, to: Ty, a: Opnd) -> Lowered<Opnd> {
        let fits = self.fits(a, from, to, op == ir::FCastOp::ToSigned)?;
        if !self.optimised {
            self.push(ir::Inst::Check { kind: CheckKind::FloatCast, cond: fits });
            return Ok(self.fcast(op, from, to, a));
        }
        let (value, any) = (self.fcast(op, from, to, a), self.undef(to));
        Ok(self.select(to, fits, value, any))
    }
}

/// Bits of the significand, the leading one included.
fn precision(float: FloatTy) -> u32 {
    match float {
        FloatTy::Half => 11,
        FloatTy::Single => 24,
        FloatTy::Double => 53,
        FloatTy::X87 => 64,
        FloatTy::Quad => 113,
    }
}

/// ±2^k, or ±(2^k + 1); infinity where that is too large.
fn bits_of(float: FloatTy, negative: bool, k: u32, plus_one: bool) -> u128 {
    // 2^0 + 1 is the next power.
    let (k, plus_one) = if k == 0 && plus_one { (1, false) } else { (k, plus_one) };
    let stored = precision(float) - u32::from(float != FloatTy::X87);
    let exponent_bits = u32::from(float.bits()) - 1 - stored;
    let (largest, bias) = ((1u128 << exponent_bits) - 1, (1u128 << (exponent_bits - 1)) - 1);
    let exponent = (bias + u128::from(k)).min(largest);
    let whole = u128::from(float == FloatTy::X87) << 63;
    let one = if plus_one && exponent < largest { 1u128 << (precision(float) - 1 - k) } else { 0 };
    u128::from(negative) << (float.bits() - 1) | exponent << stored | whole | one
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two() {
        for k in 0..64 {
            let power = 2f64.powi(k as i32);
            assert_eq!(bits_of(FloatTy::Double, false, k, false), power.to_bits().into());
            assert_eq!(bits_of(FloatTy::Single, true, k, false), (-power as f32).to_bits().into());
            if k < 52 {
                assert_eq!(bits_of(FloatTy::Double, true, k, true), (-power - 1.0).to_bits().into());
            }
        }
        assert_eq!(bits_of(FloatTy::Half, false, 31, false), 0x7c00);
        assert_eq!(bits_of(FloatTy::X87, false, 0, false), 0x3fff_8000_0000_0000_0000);
        assert_eq!(bits_of(FloatTy::X87, true, 63, true), 0xc03e_8000_0000_0000_0001);
    }
}
