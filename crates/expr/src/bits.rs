//! Arithmetic on bit-vectors of any width as little-endian limbs: the slow path for constants wider than 64 bits.
//!
//! *Invariant*: a value of width `w` has `⌈w/64⌉` limbs and no bit at or above `w` is set.

use crate::term::mask;
use smallvec::SmallVec;
use std::cmp::Ordering;

pub type Limbs = SmallVec<[u64; 4]>;

#[inline]
pub fn limb_count(width: u16) -> usize {
    usize::from(width).div_ceil(64).max(1)
}

/// `from`, cut or zero-extended to `width`.
pub fn resize(from: &[u64], width: u16) -> Limbs {
    let n = limb_count(width);
    let mut v: Limbs = (0..n).map(|i| from.get(i).copied().unwrap_or(0)).collect();
    let top = width % 64;
    if top != 0 {
        v[n - 1] &= mask(top);
    }
    v
}

pub fn from_u64(value: u64, width: u16) -> Limbs {
    resize(&[value], width)
}

pub fn zero(width: u16) -> Limbs {
    resize(&[], width)
}

pub fn ones(width: u16) -> Limbs {
    not(&zero(width), width)
}

pub fn bit(a: &[u64], i: usize) -> bool {
    a.get(i / 64).is_some_and(|l| l >> (i % 64) & 1 == 1)
}

pub fn set_bit(a: &mut [u64], i: usize) {
    a[i / 64] |= 1 << (i % 64);
}

pub fn is_zero(a: &[u64]) -> bool {
    a.iter().all(|&l| l == 0)
}

pub fn is_negative(a: &[u64], width: u16) -> bool {
    width > 0 && bit(a, usize::from(width) - 1)
}

/// The value as a `u64` if it fits.
pub fn to_u64(a: &[u64]) -> Option<u64> {
    if a.iter().skip(1).all(|&l| l == 0) { Some(a.first().copied().unwrap_or(0)) } else { None }
}

/// How many bits the value needs: the index of the highest set bit plus one.
pub fn length(a: &[u64]) -> u32 {
    for (i, &l) in a.iter().enumerate().rev() {
        if l != 0 {
            return i as u32 * 64 + 64 - l.leading_zeros();
        }
    }
    0
}

/// How many low bits are 0; the number of limb bits if all are.
pub fn trailing_zeros(a: &[u64]) -> u32 {
    let mut n = 0;
    for &l in a {
        if l != 0 {
            return n + l.trailing_zeros();
        }
        n += 64;
    }
    n
}

pub fn not(a: &[u64], width: u16) -> Limbs {
    let inverted: Limbs = a.iter().map(|l| !l).collect();
    resize(&inverted, width)
}

pub fn zip(a: &[u64], b: &[u64], f: impl Fn(u64, u64) -> u64) -> Limbs {
    a.iter().zip(b).map(|(x, y)| f(*x, *y)).collect()
}

pub fn add(a: &[u64], b: &[u64], width: u16) -> Limbs {
    let mut carry = false;
    let mut v = Limbs::new();
    for (x, y) in a.iter().zip(b) {
        let (s, c1) = x.overflowing_add(*y);
        let (s, c2) = s.overflowing_add(u64::from(carry));
        carry = c1 || c2;
        v.push(s);
    }
    resize(&v, width)
}

pub fn neg(a: &[u64], width: u16) -> Limbs {
    add(&not(a, width), &from_u64(1, width), width)
}

pub fn sub(a: &[u64], b: &[u64], width: u16) -> Limbs {
    add(a, &neg(b, width), width)
}

pub fn mul(a: &[u64], b: &[u64], width: u16) -> Limbs {
    let n = limb_count(width);
    let mut v: Limbs = zero(width);
    for i in 0..n {
        let mut carry = 0u128;
        for j in 0..n - i {
            let s = u128::from(v[i + j]) + u128::from(a[i]) * u128::from(b[j]) + carry;
            v[i + j] = s as u64;
            carry = s >> 64;
        }
    }
    resize(&v, width)
}

/// Quotient and remainder as SMT-LIB has them: `x / 0` is all ones, `x % 0` is `x`.
pub fn udivrem(a: &[u64], b: &[u64], width: u16) -> (Limbs, Limbs) {
    if is_zero(b) {
        return (ones(width), resize(a, width));
    }
    let mut quotient = zero(width);
    let mut rest = zero(width);
    for i in (0..length(a) as usize).rev() {
        // `rest` stays below b, so the bit shifted out of the top is what makes it larger than any b.
        let out = is_negative(&rest, width);
        rest = shl(&rest, 1, width);
        if bit(a, i) {
            rest[0] |= 1;
        }
        if out || compare(&rest, b) != Ordering::Less {
            rest = sub(&rest, b, width);
            set_bit(&mut quotient, i);
        }
    }
    (quotient, rest)
}

/// Signed quotient and remainder, both as SMT-LIB defines them through the unsigned ones.
pub fn sdivrem(a: &[u64], b: &[u64], width: u16) -> (Limbs, Limbs) {
    let (na, nb) = (is_negative(a, width), is_negative(b, width));
    let x = if na { neg(a, width) } else { resize(a, width) };
    let y = if nb { neg(b, width) } else { resize(b, width) };
    let (q, r) = udivrem(&x, &y, width);
    (if na != nb { neg(&q, width) } else { q }, if na { neg(&r, width) } else { r })
}

pub fn shl(a: &[u64], n: u32, width: u16) -> Limbs {
    let mut v = zero(width);
    if n >= u32::from(width) {
        return v;
    }
    let (limbs, bits) = ((n / 64) as usize, n % 64);
    for i in limbs..v.len() {
        let low = if bits > 0 && i > limbs { a[i - limbs - 1] >> (64 - bits) } else { 0 };
        v[i] = a[i - limbs] << bits | low;
    }
    resize(&v, width)
}

pub fn lshr(a: &[u64], n: u32, width: u16) -> Limbs {
    if n >= u32::from(width) {
        return zero(width);
    }
    extract(a, n, width)
}

pub fn ashr(a: &[u64], n: u32, width: u16) -> Limbs {
    let n = n.min(u32::from(width) - 1);
    sext(&extract(a, n, width - n as u16), width - n as u16, width)
}

/// Bits `lo .. lo + width`; bits beyond the limbs are 0.
pub fn extract(a: &[u64], lo: u32, width: u16) -> Limbs {
    let (limbs, bits) = ((lo / 64) as usize, lo % 64);
    let at = |i: usize| a.get(i).copied().unwrap_or(0);
    let v: Limbs = (0..limb_count(width))
        .map(|i| {
            let high = if bits > 0 { at(i + limbs + 1) << (64 - bits) } else { 0 };
            at(i + limbs) >> bits | high
        })
        .collect();
    resize(&v, width)
}

pub fn sext(a: &[u64], from: u16, width: u16) -> Limbs {
    let v = resize(a, width);
    if !is_negative(a, from) {
        return v;
    }
    let high = shl(&ones(width), u32::from(from), width);
    zip(&v, &high, |x, y| x | y)
}

/// `hi` above the `low_width` bits of `lo`.
pub fn concat(hi: &[u64], lo: &[u64], low_width: u16, width: u16) -> Limbs {
    let high = shl(&resize(hi, width), u32::from(low_width), width);
    zip(&high, &resize(lo, width), |x, y| x | y)
}

pub fn compare(a: &[u64], b: &[u64]) -> Ordering {
    for (x, y) in a.iter().zip(b).rev() {
        if x != y {
            return x.cmp(y);
        }
    }
    Ordering::Equal
}

pub fn compare_signed(a: &[u64], b: &[u64], width: u16) -> Ordering {
    match (is_negative(a, width), is_negative(b, width)) {
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        _ => compare(a, b),
    }
}

pub fn to_u128(a: &[u64]) -> u128 {
    u128::from(a.first().copied().unwrap_or(0)) | u128::from(a.get(1).copied().unwrap_or(0)) << 64
}

pub fn from_u128(v: u128, width: u16) -> Limbs {
    resize(&[v as u64, (v >> 64) as u64], width)
}
