//! Constants: the limb arithmetic and the folding of every operator against the machine's own integers.

use pleach_expr::symbol::SymbolKind;
use pleach_expr::{Key, Model, Terms, bits};
use proptest::prelude::*;

fn cut(v: u128, w: u16) -> u128 {
    if w >= 128 { v } else { v & ((1 << w) - 1) }
}

fn signed(v: u128, w: u16) -> i128 {
    let s = 128 - u32::from(w);
    ((v << s) as i128) >> s
}

/// What SMT-LIB says, in 128-bit integers.
fn reference(op: usize, w: u16, a: u128, b: u128) -> u128 {
    let (sa, sb) = (signed(a, w), signed(b, w));
    let ones = cut(u128::MAX, w);
    cut(
        match op {
            0 => a.wrapping_add(b),
            1 => a.wrapping_sub(b),
            2 => a.wrapping_mul(b),
            3 => a.checked_div(b).unwrap_or(ones),
            4 => a.checked_rem(b).unwrap_or(a),
            5 if sb == 0 => {
                if sa < 0 {
                    1
                } else {
                    ones
                }
            }
            5 => sa.wrapping_div(sb) as u128,
            6 if sb == 0 => a,
            6 => sa.wrapping_rem(sb) as u128,
            7 => {
                if b >= u128::from(w) {
                    0
                } else {
                    a << b
                }
            }
            8 => {
                if b >= u128::from(w) {
                    0
                } else {
                    a >> b
                }
            }
            9 => (sa >> b.min(127)) as u128,
            10 => a & b,
            11 => a | b,
            12 => a ^ b,
            13 => u128::from(a == b),
            14 => u128::from(a < b),
            15 => u128::from(a <= b),
            16 => u128::from(sa < sb),
            _ => u128::from(sa <= sb),
        },
        w,
    )
}

fn apply(terms: &mut Terms, op: usize, a: pleach_expr::TermId, b: pleach_expr::TermId) -> pleach_expr::TermId {
    match op {
        0 => terms.add(a, b),
        1 => terms.sub(a, b),
        2 => terms.mul(a, b),
        3 => terms.udiv(a, b),
        4 => terms.urem(a, b),
        5 => terms.sdiv(a, b),
        6 => terms.srem(a, b),
        7 => terms.shl(a, b),
        8 => terms.lshr(a, b),
        9 => terms.ashr(a, b),
        10 => terms.and(a, b),
        11 => terms.or(a, b),
        12 => terms.xor(a, b),
        13 => terms.eq(a, b),
        14 => terms.ult(a, b),
        15 => terms.ule(a, b),
        16 => terms.slt(a, b),
        _ => terms.sle(a, b),
    }
}

fn interesting() -> impl Strategy<Value = u128> {
    prop_oneof![
        any::<u128>(),
        0u128..20,
        (0u128..20).prop_map(|x| x.wrapping_neg()),
        (0u32..128).prop_map(|s| 1u128 << s),
        any::<u64>().prop_map(u128::from),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

    #[test]
    fn folding_is_smtlib(op in 0usize..18, w in 1u16..=128, a in interesting(), b in interesting()) {
        let (a, b) = (cut(a, w), cut(b, w));
        let mut terms = Terms::new(64);
        let ta = terms.wide_constant(w, &bits::from_u128(a, w));
        let tb = terms.wide_constant(w, &bits::from_u128(b, w));
        let t = apply(&mut terms, op, ta, tb);
        let v = terms.constant_limbs(t).expect("folded");
        prop_assert_eq!(bits::to_u128(&v), if op >= 13 { reference(op, w, a, b) & 1 } else { reference(op, w, a, b) });
    }

    #[test]
    fn parts_of_constants(w in 2u16..=128, a in interesting(), b in interesting(), lo in any::<u16>(), n in any::<u16>()) {
        let a = cut(a, w);
        let mut terms = Terms::new(64);
        let t = terms.wide_constant(w, &bits::from_u128(a, w));
        let lo = lo % w;
        let n = n % (w - lo) + 1;
        let x = terms.extract(t, lo, n);
        let limbs = terms.constant_limbs(x).expect("folded");
        prop_assert_eq!(bits::to_u128(&limbs), cut(a >> lo, n));
        let z = terms.zext(x, 128);
        let limbs = terms.constant_limbs(z).expect("folded");
        prop_assert_eq!(bits::to_u128(&limbs), cut(a >> lo, n));
        let s = terms.sext(x, 128);
        let limbs = terms.constant_limbs(s).expect("folded");
        prop_assert_eq!(bits::to_u128(&limbs), signed(cut(a >> lo, n), n) as u128);
        let k = 128 - w;
        if k > 0 {
            let high = terms.wide_constant(k, &bits::from_u128(cut(b, k), k));
            let c = terms.concat(high, t);
            let limbs = terms.constant_limbs(c).expect("folded");
            prop_assert_eq!(bits::to_u128(&limbs), cut(b, k) << w | a);
        }
    }

    #[test]
    fn wide_division_is_right(a in any::<[u64; 4]>(), b in any::<[u64; 4]>(), small in 0usize..4) {
        // q * b + r = a and r < b, over 256 bits
        let mut b = b;
        for l in b.iter_mut().skip(small + 1) {
            *l = 0;
        }
        let (q, r) = bits::udivrem(&a, &b, 256);
        let back = bits::add(&bits::mul(&q, &b, 256), &r, 256);
        prop_assert_eq!(&back[..], &a[..]);
        if !bits::is_zero(&b) {
            prop_assert_eq!(bits::compare(&r, &b), std::cmp::Ordering::Less);
        }
    }

    #[test]
    fn floats_fold_like_the_machine(a in any::<f64>(), b in any::<f64>()) {
        let mut terms = Terms::new(64);
        let (x, y) = (terms.constant(64, a.to_bits()), terms.constant(64, b.to_bits()));
        let sum = terms.fadd(x, y);
        let expected = a + b;
        let bits = terms.as_const(sum).expect("folded");
        if expected.is_nan() {
            prop_assert_eq!(bits, 0x7ff8_0000_0000_0000);
        } else {
            prop_assert_eq!(bits, expected.to_bits());
        }
        let less = terms.flt(x, y);
        prop_assert_eq!(terms.as_const(less), Some(u64::from(a < b)));
        let single = terms.fresize(x, 32);
        if !a.is_nan() {
            prop_assert_eq!(terms.as_const(single), Some(u64::from((a as f32).to_bits())));
        }
        let int = terms.fto_signed(x, 32);
        let inside = a.trunc() >= f64::from(i32::MIN) && a.trunc() <= f64::from(i32::MAX);
        prop_assert_eq!(terms.as_const(int), Some(if inside { u64::from(a as i32 as u32) } else { 0x8000_0000 }));
    }
}

#[test]
fn conversions_round_to_nearest_even() {
    let mut terms = Terms::new(64);
    let big = terms.constant(64, (1 << 53) + 1);
    let f = terms.ffrom_unsigned(big, 64);
    assert_eq!(terms.as_const(f), Some(((1u64 << 53) as f64).to_bits()));
    let minus = terms.constant(8, 0xff);
    let f = terms.ffrom_signed(minus, 32);
    assert_eq!(terms.as_const(f), Some(u64::from((-1f32).to_bits())));
    let half = terms.constant(64, 2.5f64.to_bits());
    for (mode, expected) in [(0, 2.0f64), (1, 3.0), (2, 3.0), (3, 2.0), (4, 2.0)] {
        let r = terms.fround(half, mode);
        assert_eq!(terms.as_const(r), Some(expected.to_bits()));
    }
}

#[test]
fn foreign_floats_and_quantifiers_have_no_value() {
    let mut terms = Terms::new(64);
    let s = terms.symbols.named("x", SymbolKind::Bits(96));
    let x = terms.var(s);
    let nan = terms.fisnan(x);
    let model = Model::new();
    assert_eq!(terms.try_eval(nan, &model), None);
    let s = terms.symbols.named("i", SymbolKind::Bits(8));
    let i = terms.var(s);
    let k = terms.constant(8, 5);
    let body = terms.ult(i, k);
    let s = terms.symbols.named("n", SymbolKind::Bits(8));
    let n = terms.var(s);
    let all = terms.forall(i, n, body);
    for (count, holds) in [(0, 1), (5, 1), (6, 0), (255, 0)] {
        let mut model = Model::new();
        model.set(Key::new(s, 0), count);
        assert_eq!(terms.try_eval(all, &model), Some(holds), "{count}");
    }
    assert_eq!(*terms.support(all), [Key::new(s, 0)]);
}

#[test]
fn wide_variables_are_listed_limb_by_limb() {
    let mut terms = Terms::new(64);
    let s = terms.symbols.named("x", SymbolKind::Bits(100));
    let x = terms.var(s);
    let mut model = Model::new();
    model.set(Key::new(s, 0), 7);
    model.set(Key::new(s, 1), u64::MAX);
    assert_eq!(terms.eval_wide(x, &model)[..], [7, (1 << 36) - 1]);
    let high = terms.extract(x, 60, 40);
    assert_eq!(terms.eval(high, &model), ((1 << 36) - 1) << 4);
    // a changed model forgets what it remembered
    model.set(Key::new(s, 1), 1);
    assert_eq!(terms.eval(high, &model), 1 << 4);
}
