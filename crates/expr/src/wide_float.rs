//! Float operators on the formats that the machine's Rust types do not have: half (16 bits), x87's extended (80) and
//! quadruple (128) precision, and conversions between all of them. `rustc_apfloat` computes them; conventions are those
//! of [`crate::float`].

use crate::float::Operands;
use crate::term::Op;
use rustc_apfloat::ieee::{Double, Half, Quad, Single, X87DoubleExtended};
use rustc_apfloat::{Float, FloatConvert, Round};

/// The one NaN of each format.
fn nan(width: u16) -> Option<u128> {
    Some(match width {
        16 => 0x7e00,
        32 => 0x7fc0_0000,
        64 => 0x7ff8_0000_0000_0000,
        80 => 0x7fff_c000_0000_0000_0000,
        128 => 0x7fff_8000_0000_0000_0000_0000_0000_0000,
        _ => return None,
    })
}

/// `None` for formats nobody has.
pub(crate) fn apply(op: Op, width: u16, x: &Operands) -> Option<u128> {
    match x.width {
        16 => on::<Half>(op, width, x),
        32 => on::<Single>(op, width, x),
        64 => on::<Double>(op, width, x),
        80 => on::<X87DoubleExtended>(op, width, x),
        128 => on::<Quad>(op, width, x),
        _ => None,
    }
}

/// An integer of `x.width` bits as a float.
pub(crate) fn from_integer(signed: bool, width: u16, x: &Operands) -> Option<u128> {
    if x.width > 128 || x.width == 0 {
        return None;
    }
    let shift = 128 - u32::from(x.width);
    let integer = ((x.a << shift) as i128) >> shift;
    match width {
        16 => Some(whole::<Half>(signed, integer, x.a)),
        80 => Some(whole::<X87DoubleExtended>(signed, integer, x.a)),
        128 => Some(whole::<Quad>(signed, integer, x.a)),
        _ => None,
    }
}

fn whole<F: Float>(signed: bool, integer: i128, plain: u128) -> u128 {
    if signed { F::from_i128(integer).value.to_bits() } else { F::from_u128(plain).value.to_bits() }
}

fn pack<F: Float>(f: F, width: u16) -> Option<u128> {
    if f.is_nan() { nan(width) } else { Some(f.to_bits()) }
}

trait Any:
    Float
    + FloatConvert<Half>
    + FloatConvert<Single>
    + FloatConvert<Double>
    + FloatConvert<X87DoubleExtended>
    + FloatConvert<Quad>
{
}
impl<F> Any for F where
    F: Float
        + FloatConvert<Half>
        + FloatConvert<Single>
        + FloatConvert<Double>
        + FloatConvert<X87DoubleExtended>
        + FloatConvert<Quad>
{
}

fn converted<F: FloatConvert<T>, T: Float>(f: F, width: u16) -> Option<u128> {
    let mut loses = false;
    let to: T = f.convert(&mut loses).value;
    pack(to, width)
}

fn on<F: Any>(op: Op, width: u16, x: &Operands) -> Option<u128> {
    let [a, b, c] = [x.a, x.b, x.c].map(F::from_bits);
    let w = x.width;
    Some(match op {
        Op::FAdd => pack((a + b).value, w)?,
        Op::FSub => pack((a - b).value, w)?,
        Op::FMul => pack((a * b).value, w)?,
        Op::FDiv => pack((a / b).value, w)?,
        Op::FRem => pack((a % b).value, w)?,
        Op::FSqrt => root(a, x)?,
        Op::FFma => pack(a.mul_add(b, c).value, w)?,
        Op::FRound => pack(a.round_to_integral(rounding(x.mode)?).value, w)?,
        Op::FEq => u128::from(a == b),
        Op::FLt => u128::from(a < b),
        Op::FLe => u128::from(a <= b),
        Op::FIsNan => u128::from(a.is_nan()),
        Op::FResize => match width {
            16 => converted::<F, Half>(a, width)?,
            32 => converted::<F, Single>(a, width)?,
            64 => converted::<F, Double>(a, width)?,
            80 => converted::<F, X87DoubleExtended>(a, width)?,
            128 => converted::<F, Quad>(a, width)?,
            _ => return None,
        },
        Op::FToSigned | Op::FToUnsigned => to_integer(a, op == Op::FToSigned, width)?,
        _ => return None,
    })
}

fn rounding(mode: u32) -> Option<Round> {
    Some(match mode {
        0 => Round::NearestTiesToEven,
        1 => Round::NearestTiesToAway,
        2 => Round::TowardPositive,
        3 => Round::TowardNegative,
        4 => Round::TowardZero,
        _ => return None,
    })
}

/// What does not fit gives `1 << (width - 1)`.
fn to_integer<F: Float>(a: F, signed: bool, width: u16) -> Option<u128> {
    if width == 0 || width > 128 {
        return None;
    }
    let mut exact = false;
    let mask = if width == 128 { u128::MAX } else { (1 << width) - 1 };
    let (value, status) = if signed {
        let r = a.to_i128_r(width.into(), Round::TowardZero, &mut exact);
        (r.value as u128, r.status)
    } else {
        let r = a.to_u128_r(width.into(), Round::TowardZero, &mut exact);
        (r.value, r.status)
    };
    let fits = !status.contains(rustc_apfloat::Status::INVALID_OP);
    Some(if fits { value & mask } else { 1 << (width - 1) })
}

/// The square root. Half precision through `f64`, which is wide enough to round twice; 80 bits by integers; no others.
fn root<F: Any>(a: F, x: &Operands) -> Option<u128> {
    if a.is_nan() || (a.is_negative() && !a.is_zero()) {
        return nan(x.width);
    }
    if a.is_zero() || a.is_infinite() {
        return Some(x.a);
    }
    match x.width {
        16 => {
            let mut loses = false;
            let wide: Double = a.convert(&mut loses).value;
            let root = f64::from_bits(wide.to_bits() as u64).sqrt();
            converted::<Double, Half>(Double::from_bits(root.to_bits().into()), 16)
        }
        80 => Some(root80(x.a)),
        _ => None,
    }
}

/// Of a positive finite number: value = m · 2^(e − 63) with m of 64 bits.
fn root80(bits: u128) -> u128 {
    const BIAS: i32 = 16383;
    let m = bits as u64;
    let stored = (bits >> 64) as i32 & 0x7fff;
    let zeros = m.leading_zeros() as i32;
    let m = u128::from(m) << zeros;
    let mut e = stored.max(1) - BIAS - zeros;
    // An even exponent halves; the odd bit goes into the number under the root.
    let n = if e & 1 == 0 { m << 63 } else { m << 64 };
    e = e.div_euclid(2);
    let r = n.isqrt();
    // The root of a number of 64 bits never lies in the middle between two.
    let (mut r, up) = (r, n - r * r > r);
    if up {
        r += 1;
    }
    if r >> 64 != 0 {
        r >>= 1;
        e += 1;
    }
    ((e + BIAS) as u128) << 64 | r
}

#[cfg(test)]
mod tests {
    use super::*;

    fn x87(d: f64) -> u128 {
        converted::<Double, X87DoubleExtended>(Double::from_bits(d.to_bits().into()), 80).unwrap()
    }
    fn back(bits: u128) -> f64 {
        let mut loses = false;
        let d: Double = X87DoubleExtended::from_bits(bits).convert(&mut loses).value;
        f64::from_bits(d.to_bits() as u64)
    }

    #[test]
    fn roots_are_the_nearest() {
        for d in [1.0, 2.0, 3.0, 4.0, 0.25, 1e-300, 7e300, 0.1, 1e100, 5e-324, 16.0, 15.999999] {
            let r = root80(x87(d));
            assert_eq!(back(r), d.sqrt(), "{d}");
        }
        for n in 1..2000u32 {
            assert_eq!(back(root80(x87(f64::from(n) * f64::from(n)))), f64::from(n));
        }
    }

    #[test]
    fn extended_precision_keeps_what_double_loses() {
        let x = |op, a, b| apply(op, 80, &Operands { width: 80, a, b, c: 0, mode: 0 }).unwrap();
        let (one, tiny) = (x87(1.0), x87(2f64.powi(-60)));
        let sum = x(Op::FAdd, one, tiny);
        assert_ne!(sum, one);
        assert_eq!(x(Op::FSub, sum, one), tiny);
        let third = x(Op::FDiv, one, x87(3.0));
        assert_eq!(third, 0x3ffd_aaaa_aaaa_aaaa_aaab);
    }

    #[test]
    fn conversions_to_integers() {
        let to = |d: f64, signed, w| to_integer(X87DoubleExtended::from_bits(x87(d)), signed, w).unwrap();
        assert_eq!(to(-3.9, true, 32), 0xffff_fffd);
        assert_eq!(to(1e18, true, 64), 1_000_000_000_000_000_000);
        assert_eq!(to(1e30, true, 64), 1 << 63);
        assert_eq!(to(-1.0, false, 64), 1 << 63);
        assert_eq!(to(18446744073709549568.0, false, 64), 18446744073709549568);
        assert_eq!(
            back(
                from_integer(true, 80, &Operands { width: 64, a: u128::from(u64::MAX), b: 0, c: 0, mode: 0 }).unwrap()
            ),
            -1.0
        );
    }
}
