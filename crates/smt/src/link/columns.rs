//! One term under all 256 values of one small unknown at once: a column of values per operator.
//!
//! Covers the operators that comparisons of bytes are made of; for others there is [`Terms::try_eval`], value by value.
//! *Checked by*: `tests/links.rs`, against the evaluator.

use pleach_expr::{Key, Node, Op, SymbolId, TermId, Terms, mask, sign_extend};
use rustc_hash::FxHashMap;

const VALUES: usize = 256;
type Column = Vec<u64>;

/// The truth of `t` for each value of `key`, its only unknown. `None` if an operator is not covered.
pub(super) fn truth(terms: &Terms, t: TermId, key: Key) -> Option<Column> {
    let mut columns: FxHashMap<TermId, Column> = FxHashMap::default();
    for x in terms.reachable(&[t]) {
        let n = terms.node(x);
        if n.width > 64 {
            return None;
        }
        let column = match n.op {
            Op::ArrayVar | Op::ArrayConst => continue,
            Op::Const => vec![n.value(); VALUES],
            Op::Var => unknown(n.width),
            Op::Read => read(terms, &n, key, &columns)?,
            _ => operator(terms, &n, &columns)?,
        };
        columns.insert(x, column);
    }
    columns.remove(&t)
}

fn unknown(width: u16) -> Column {
    (0..VALUES as u64).map(|v| v & mask(width)).collect()
}

fn read(terms: &Terms, n: &Node, key: Key, columns: &FxHashMap<TermId, Column>) -> Option<Column> {
    let array = terms.node(n.arg_a());
    match array.op {
        Op::ArrayVar => {
            let cell = terms.as_const(n.arg_b())?;
            let this = SymbolId(array.a) == key.symbol() && cell == u64::from(key.cell());
            this.then(|| unknown(n.width))
        }
        Op::ArrayConst => {
            let table = terms.table(n.arg_a());
            let index = columns.get(&n.arg_b())?;
            Some(index.iter().map(|&i| table.get(i as usize).copied().unwrap_or(0)).collect())
        }
        _ => None,
    }
}

fn operator(terms: &Terms, n: &Node, columns: &FxHashMap<TermId, Column>) -> Option<Column> {
    let w = n.width;
    let m = mask(w);
    let a = columns.get(&n.arg_a())?;
    let one = |f: &dyn Fn(u64) -> u64| a.iter().map(|&x| f(x) & m).collect();
    match n.op {
        Op::Not => return Some(one(&|x| !x)),
        Op::Neg => return Some(one(&|x| x.wrapping_neg())),
        Op::ZExt => return Some(one(&|x| x)),
        Op::Extract => return Some(one(&|x| x >> n.b)),
        Op::SExt => {
            let from = terms.width(n.arg_a());
            return Some(one(&|x| sign_extend(x, from) as u64));
        }
        _ => {}
    }
    let b = columns.get(&n.arg_b())?;
    if n.op == Op::Ite {
        let c = columns.get(&n.arg_c())?;
        return Some((0..VALUES).map(|i| if a[i] != 0 { b[i] } else { c[i] }).collect());
    }
    let from = terms.width(n.arg_a());
    let low = terms.width(n.arg_b());
    let signed = |x: u64| sign_extend(x, from);
    macro_rules! zip {
        (|$x:ident, $y:ident| $value:expr) => {
            Some(a.iter().zip(b).map(|(&$x, &$y)| ($value) & m).collect())
        };
    }
    match n.op {
        Op::And => zip!(|x, y| x & y),
        Op::Or => zip!(|x, y| x | y),
        Op::Xor => zip!(|x, y| x ^ y),
        Op::Add => zip!(|x, y| x.wrapping_add(y)),
        Op::Sub => zip!(|x, y| x.wrapping_sub(y)),
        Op::Mul => zip!(|x, y| x.wrapping_mul(y)),
        Op::Shl => zip!(|x, y| if y >= u64::from(w) { 0 } else { x << y }),
        Op::LShr => zip!(|x, y| if y >= u64::from(w) { 0 } else { x >> y }),
        Op::Eq => zip!(|x, y| u64::from(x == y)),
        Op::Ult => zip!(|x, y| u64::from(x < y)),
        Op::Ule => zip!(|x, y| u64::from(x <= y)),
        Op::Slt => zip!(|x, y| u64::from(signed(x) < signed(y))),
        Op::Sle => zip!(|x, y| u64::from(signed(x) <= signed(y))),
        Op::Concat => zip!(|x, y| x << low | y),
        _ => None,
    }
}
