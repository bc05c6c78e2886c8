//! Reads and stores.

use crate::term::{Op, TermId, Terms};

/// How many elements of a table are looked at to find them all equal.
const LOOK: usize = 4096;

/// A read goes down the stores as far as it is known to pass them.
pub(crate) fn read(terms: &mut Terms, array: TermId, index: TermId) -> TermId {
    let mut array = array;
    loop {
        let n = terms.node(array);
        match n.op {
            // rule read-store-same: store(a, i, v)[i] → v
            Op::Store if n.arg_b() == index => return n.arg_c(),
            // rule read-store-other: store(a, i, v)[j], i and j differ → a[j]
            Op::Store if differ(terms, n.arg_b(), index) => array = n.arg_a(),
            Op::ArrayConst => {
                if let Some(t) = read_table(terms, array, index) {
                    return t;
                }
                break;
            }
            _ => break,
        }
    }
    let width = terms.width(array);
    terms.intern(Op::Read, width, array.0, index.0, 0)
}

/// Two indices that are never equal, by a constant-time test: constants, disjoint ranges, or one term plus two
/// constants.
fn differ(terms: &Terms, i: TermId, j: TermId) -> bool {
    let ((il, ih), (jl, jh)) = (terms.range(i), terms.range(j));
    if ih < jl || jh < il {
        return true;
    }
    let offset = |t: TermId| {
        let n = terms.node(t);
        if n.op == Op::Add
            && let Some(c) = terms.as_const(n.arg_b())
        {
            return (n.arg_a(), c);
        }
        (t, 0)
    };
    let ((x, c), (y, d)) = (offset(i), offset(j));
    x == y && c != d
}

fn read_table(terms: &mut Terms, array: TermId, index: TermId) -> Option<TermId> {
    let width = terms.width(array);
    let (low, high) = terms.range(index);
    let table = terms.table(array);
    let end = table.len() as u64;
    // rule read-table: table[k] → its element, 0 beyond the end
    // rule read-table-equal: table[i], all elements in the range of i equal → that element
    let first = table.get(low as usize).copied().unwrap_or(0);
    // Beyond the end all is 0; the elements to look at are bounded by the table.
    let seen = &table[low.min(end) as usize..high.saturating_add(1).min(end) as usize];
    if seen.len() > LOOK {
        return None;
    }
    if seen.iter().any(|&v| v != first) || (high >= end && first != 0) {
        return None;
    }
    Some(terms.constant(width, first))
}

pub(crate) fn store(terms: &mut Terms, array: TermId, index: TermId, value: TermId) -> Option<TermId> {
    let n = terms.node(array);
    // rule store-store: store(store(a, i, v), i, w) → store(a, i, w)
    if n.op == Op::Store && n.arg_b() == index {
        return Some(terms.store(n.arg_a(), index, value));
    }
    let v = terms.node(value);
    // rule store-read: store(a, i, a[i]) → a
    if v.op == Op::Read && v.arg_a() == array && v.arg_b() == index {
        return Some(array);
    }
    None
}
