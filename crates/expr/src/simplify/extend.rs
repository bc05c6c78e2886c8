//! Zero and sign extension.

use crate::term::{Op, TermId, Terms};

pub(crate) fn zext(terms: &mut Terms, t: TermId, width: u16) -> Option<TermId> {
    let n = terms.node(t);
    match n.op {
        // rule zext-zext: zext(zext(x)) → zext(x)
        Op::ZExt => Some(terms.zext(n.arg_a(), width)),
        // rule zext-ite: zext(ite(c, k, l)) → ite(c, zext(k), zext(l))
        Op::Ite if terms.is_constant(n.arg_b()) && terms.is_constant(n.arg_c()) => {
            let (k, l) = (terms.zext(n.arg_b(), width), terms.zext(n.arg_c(), width));
            Some(terms.ite(n.arg_a(), k, l))
        }
        _ => None,
    }
}

pub(crate) fn sext(terms: &mut Terms, t: TermId, width: u16) -> Option<TermId> {
    let n = terms.node(t);
    match n.op {
        // rule sext-sext: sext(sext(x)) → sext(x)
        Op::SExt => Some(terms.sext(n.arg_a(), width)),
        // rule sext-ite: sext(ite(c, k, l)) → ite(c, sext(k), sext(l))
        Op::Ite if terms.is_constant(n.arg_b()) && terms.is_constant(n.arg_c()) => {
            let (k, l) = (terms.sext(n.arg_b(), width), terms.sext(n.arg_c(), width));
            Some(terms.ite(n.arg_a(), k, l))
        }
        // rule sext-nonnegative: sext(x), sign of x is 0 → zext(x)
        _ if terms.is_nonnegative(t) => Some(terms.zext(t, width)),
        _ => None,
    }
}
