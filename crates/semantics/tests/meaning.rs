//! Concrete operators and terms agree; the overflow condition is the one of wider arithmetic.

use pleach_expr::{Terms, mask, sign_extend};
use pleach_ir::{BinOp, CmpOp, ScalarFn, Ty};
use pleach_semantics::{bin_term, cmp_term, compare, concrete, disjoint, overflow_term, scalar_terms, signed_min};
use proptest::prelude::*;

const OPERATORS: [BinOp; 13] = [
    BinOp::Add,
    BinOp::Sub,
    BinOp::Mul,
    BinOp::UDiv,
    BinOp::SDiv,
    BinOp::URem,
    BinOp::SRem,
    BinOp::Shl,
    BinOp::LShr,
    BinOp::AShr,
    BinOp::And,
    BinOp::Or,
    BinOp::Xor,
];
const COMPARISONS: [CmpOp; 10] = [
    CmpOp::Eq,
    CmpOp::Ne,
    CmpOp::Ult,
    CmpOp::Ule,
    CmpOp::Ugt,
    CmpOp::Uge,
    CmpOp::Slt,
    CmpOp::Sle,
    CmpOp::Sgt,
    CmpOp::Sge,
];
const WIDTHS: [u16; 6] = [1, 7, 8, 16, 32, 64];

/// Numbers of a width, its limits among them.
fn operand() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(1), Just(u64::MAX), Just(1 << 31), Just(1 << 63), 0..70u64, any::<u64>()]
}

proptest! {
    #[test]
    fn operators_agree_on_numbers_and_terms(op in 0..13usize, w in 0..6usize, a in operand(), b in operand()) {
        let (op, w) = (OPERATORS[op], WIDTHS[w]);
        let (a, b) = (a & mask(w), b & mask(w));
        if let Some(result) = concrete(op, w, a, b) {
            let mut terms = Terms::new(64);
            let (x, y) = (terms.constant(w, a), terms.constant(w, b));
            let term = bin_term(&mut terms, op, x, y);
            prop_assert_eq!(terms.as_const(term), Some(result), "{:?} {} {} {}", op, w, a, b);
        }
    }

    #[test]
    fn comparisons_agree_on_numbers_and_terms(op in 0..10usize, w in 0..6usize, a in operand(), b in operand()) {
        let (op, w) = (COMPARISONS[op], WIDTHS[w]);
        let (a, b) = (a & mask(w), b & mask(w));
        let mut terms = Terms::new(64);
        let (x, y) = (terms.constant(w, a), terms.constant(w, b));
        let term = cmp_term(&mut terms, op, x, y);
        prop_assert_eq!(terms.as_const(term), Some(u64::from(compare(op, w, a, b))));
    }

    #[test]
    fn overflow_is_what_wider_arithmetic_says(op in 0..3usize, signed: bool, w in 2..5usize, a in operand(), b in operand()) {
        let (op, w) = (OPERATORS[op], WIDTHS[w]);
        let (a, b) = (a & mask(w), b & mask(w));
        let wide = |n: u64| if signed { i128::from(sign_extend(n, w)) } else { i128::from(n) };
        let exact = match op {
            BinOp::Add => wide(a) + wide(b),
            BinOp::Sub => wide(a) - wide(b),
            _ => wide(a) * wide(b),
        };
        let fits = exact == wide(exact as u64 & mask(w));
        let mut terms = Terms::new(64);
        let (x, y) = (terms.constant(w, a), terms.constant(w, b));
        let term = overflow_term(&mut terms, op, signed, x, y);
        prop_assert_eq!(terms.as_const(term), Some(u64::from(!fits)));
    }

    #[test]
    fn bits_are_counted_as_the_machine_does(a: u32) {
        let count = |op| {
            let mut terms = Terms::new(64);
            let x = terms.constant(32, u64::from(a));
            let results = scalar_terms(&mut terms, op, Ty::Int(32), 32, &[x]).expect("modelled");
            terms.as_const(results[0]).expect("constant")
        };
        prop_assert_eq!(count(ScalarFn::Ctpop), u64::from(a.count_ones()));
        prop_assert_eq!(count(ScalarFn::Ctlz), u64::from(a.leading_zeros()));
        prop_assert_eq!(count(ScalarFn::Cttz), u64::from(a.trailing_zeros()));
        prop_assert_eq!(count(ScalarFn::Bswap), u64::from(a.swap_bytes()));
        prop_assert_eq!(count(ScalarFn::Bitreverse), u64::from(a.reverse_bits()));
    }

    #[test]
    fn ranges_are_disjoint_or_equal(a in 0..40u64, b in 0..40u64, n in 0..20u64) {
        let mut terms = Terms::new(64);
        let [x, y, len] = [a, b, n].map(|k| terms.constant(64, k));
        let term = disjoint(&mut terms, x, y, len);
        prop_assert_eq!(terms.as_const(term), Some(u64::from(a == b || a.abs_diff(b) >= n)));
    }
}

#[test]
fn the_smallest_number_of_a_wide_type_is_its_top_bit() {
    let mut terms = Terms::new(64);
    let min = signed_min(&mut terms, 128);
    let top = terms.extract(min, 127, 1);
    let rest = terms.extract(min, 0, 64);
    assert_eq!((terms.as_const(top), terms.as_const(rest)), (Some(1), Some(0)));
}
