//! Arithmetic of the test interpreter: integers up to 128 bits, float and double.

use pleach_ir::*;

pub fn mask(width: u16, v: u128) -> u128 {
    if width >= 128 { v } else { v & ((1 << width) - 1) }
}

pub fn signed(width: u16, v: u128) -> i128 {
    let shift = 128 - u32::from(width);
    ((v << shift) as i128) >> shift
}

pub fn bin(op: BinOp, w: u16, a: u128, b: u128) -> u128 {
    let (sa, sb) = (signed(w, a), signed(w, b));
    // Optimised code shifts too far where the result is not used.
    if matches!(op, BinOp::Shl | BinOp::LShr | BinOp::AShr) && b >= w.into() {
        return 0;
    }
    let v = match op {
        BinOp::Add => a.wrapping_add(b),
        BinOp::Sub => a.wrapping_sub(b),
        BinOp::Mul => a.wrapping_mul(b),
        BinOp::UDiv => a / b,
        BinOp::SDiv => sa.wrapping_div(sb) as u128,
        BinOp::URem => a % b,
        BinOp::SRem => sa.wrapping_rem(sb) as u128,
        BinOp::Shl => a << b,
        BinOp::LShr => a >> b,
        BinOp::AShr => (sa >> b) as u128,
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::Xor => a ^ b,
    };
    mask(w, v)
}

pub fn cmp(op: CmpOp, w: u16, a: u128, b: u128) -> bool {
    let (sa, sb) = (signed(w, a), signed(w, b));
    match op {
        CmpOp::Eq => a == b,
        CmpOp::Ne => a != b,
        CmpOp::Ult => a < b,
        CmpOp::Ule => a <= b,
        CmpOp::Ugt => a > b,
        CmpOp::Uge => a >= b,
        CmpOp::Slt => sa < sb,
        CmpOp::Sle => sa <= sb,
        CmpOp::Sgt => sa > sb,
        CmpOp::Sge => sa >= sb,
    }
}

pub fn cast(op: CastOp, from: u16, to: u16, a: u128) -> u128 {
    match op {
        CastOp::SExt => mask(to, signed(from, a) as u128),
        _ => mask(to, a),
    }
}

pub fn scalar(op: ScalarFn, w: u16, x: &[u128]) -> Vec<u128> {
    let s: Vec<i128> = x.iter().map(|v| signed(w, *v)).collect();
    let overflow = |exact: i128| {
        let low = mask(w, exact as u128);
        vec![low, (signed(w, low) != exact).into()]
    };
    let unsigned_overflow =
        |exact: i128| vec![mask(w, exact as u128), (exact != mask(w, exact as u128) as i128).into()];
    let f = |v: f64| vec![from_f64(w, v)];
    match op {
        ScalarFn::SAddOverflow => overflow(s[0] + s[1]),
        ScalarFn::SSubOverflow => overflow(s[0] - s[1]),
        ScalarFn::SMulOverflow => overflow(s[0] * s[1]),
        ScalarFn::UAddOverflow => unsigned_overflow(x[0] as i128 + x[1] as i128),
        ScalarFn::USubOverflow => unsigned_overflow(x[0] as i128 - x[1] as i128),
        ScalarFn::UMulOverflow => {
            let exact = x[0] * x[1];
            vec![mask(w, exact), (mask(w, exact) != exact).into()]
        }
        ScalarFn::SMin => vec![mask(w, s[0].min(s[1]) as u128)],
        ScalarFn::SMax => vec![mask(w, s[0].max(s[1]) as u128)],
        ScalarFn::UMin => vec![x[0].min(x[1])],
        ScalarFn::UMax => vec![x[0].max(x[1])],
        ScalarFn::Abs => vec![mask(w, s[0].wrapping_abs() as u128)],
        ScalarFn::Ctpop => vec![x[0].count_ones().into()],
        ScalarFn::Ctlz => vec![u128::from(x[0].leading_zeros()) - (128 - u128::from(w))],
        ScalarFn::Cttz => vec![u128::from(x[0].trailing_zeros()).min(w.into())],
        ScalarFn::Bswap => vec![x[0].swap_bytes() >> (128 - w)],
        ScalarFn::Bitreverse => vec![x[0].reverse_bits() >> (128 - w)],
        ScalarFn::Fshl => {
            let n = x[2] % u128::from(w);
            vec![if n == 0 { x[0] } else { mask(w, x[0] << n | x[1] >> (u128::from(w) - n)) }]
        }
        ScalarFn::FAbs => f(to_f64(w, x[0]).abs()),
        ScalarFn::FSqrt => f(to_f64(w, x[0]).sqrt()),
        ScalarFn::FFloor => f(to_f64(w, x[0]).floor()),
        other => panic!("scalar function {other:?}"),
    }
}

fn to_f64(w: u16, v: u128) -> f64 {
    match w {
        32 => f64::from(f32::from_bits(v as u32)),
        64 => f64::from_bits(v as u64),
        _ => panic!("float of {w} bits"),
    }
}

fn from_f64(w: u16, v: f64) -> u128 {
    match w {
        32 => (v as f32).to_bits().into(),
        64 => v.to_bits().into(),
        _ => panic!("float of {w} bits"),
    }
}

pub fn fbin(op: FBinOp, ty: FloatTy, a: u128, b: u128) -> u128 {
    let w = ty.bits();
    let (a, b) = (to_f64(w, a), to_f64(w, b));
    // A double holds enough of two floats for the rounding to come out the same.
    let v = match op {
        FBinOp::Add => a + b,
        FBinOp::Sub => a - b,
        FBinOp::Mul => a * b,
        FBinOp::Div => a / b,
        FBinOp::Rem => a % b,
    };
    from_f64(w, v)
}

pub fn fcmp(op: FCmpOp, ty: FloatTy, a: u128, b: u128) -> bool {
    let (a, b) = (to_f64(ty.bits(), a), to_f64(ty.bits(), b));
    let uno = a.is_nan() || b.is_nan();
    match op {
        FCmpOp::False => false,
        FCmpOp::Oeq => a == b,
        FCmpOp::Ogt => a > b,
        FCmpOp::Oge => a >= b,
        FCmpOp::Olt => a < b,
        FCmpOp::Ole => a <= b,
        FCmpOp::One => !uno && a != b,
        FCmpOp::Ord => !uno,
        FCmpOp::Ueq => uno || a == b,
        FCmpOp::Ugt => uno || a > b,
        FCmpOp::Uge => uno || a >= b,
        FCmpOp::Ult => uno || a < b,
        FCmpOp::Ule => uno || a <= b,
        FCmpOp::Une => a != b,
        FCmpOp::Uno => uno,
        FCmpOp::True => true,
    }
}

pub fn fcast(op: FCastOp, from: Ty, to: Ty, a: u128) -> u128 {
    let bits = |ty: Ty| match ty {
        Ty::Int(w) => w,
        Ty::Float(f) => f.bits(),
        Ty::Ptr => panic!("pointer in a float conversion"),
    };
    let (f, t) = (bits(from), bits(to));
    match op {
        FCastOp::Resize => from_f64(t, to_f64(f, a)),
        FCastOp::ToSigned => mask(t, to_f64(f, a) as i128 as u128),
        FCastOp::ToUnsigned => mask(t, to_f64(f, a) as u128),
        FCastOp::FromSigned => from_f64(t, signed(f, a) as f64),
        FCastOp::FromUnsigned => from_f64(t, a as f64),
    }
}
