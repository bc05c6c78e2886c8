//! Terms as linear sums modulo 2ʷ.

use crate::term::{Op, TermId, Terms, mask};
use std::collections::BTreeMap;

/// Operators looked at when a term is read as a sum.
const MAX_STEPS: usize = 1 << 14;

impl Terms {
    /// `t` as Σ coefficient · atom (sorted, no coefficient 0) and a constant, modulo its width; `None` if it is wider
    /// than a word or too large.
    pub fn linear(&self, t: TermId) -> Option<(Vec<(TermId, u64)>, u64)> {
        let terms = self;
        let w = terms.width(t);
        if w > 64 {
            return None;
        }
        let (mut parts, mut constant) = (BTreeMap::<TermId, u64>::new(), 0u64);
        let mut todo = vec![(t, 1u64)];
        let mut steps = 0;
        while let Some((t, k)) = todo.pop() {
            steps += 1;
            if steps > MAX_STEPS {
                return None;
            }
            let n = terms.node(t);
            let (a, b) = (n.arg_a(), n.arg_b());
            match n.op {
                Op::Const => constant = constant.wrapping_add(n.value().wrapping_mul(k)),
                Op::Add => todo.extend([(a, k), (b, k)]),
                Op::Sub => todo.extend([(a, k), (b, k.wrapping_neg())]),
                Op::Neg => todo.push((a, k.wrapping_neg())),
                // ~x is −x − 1
                Op::Not if w > 1 => {
                    constant = constant.wrapping_sub(k);
                    todo.push((a, k.wrapping_neg()));
                }
                Op::Mul => match terms.as_const(b) {
                    Some(c) => todo.push((a, k.wrapping_mul(c))),
                    None => add(&mut parts, t, k),
                },
                _ => add(&mut parts, t, k),
            }
        }
        let m = mask(w);
        parts.values_mut().for_each(|k| *k &= m);
        parts.retain(|_, k| *k != 0);
        Some((parts.into_iter().collect(), constant & m))
    }
}

fn add(parts: &mut BTreeMap<TermId, u64>, t: TermId, k: u64) {
    let e = parts.entry(t).or_insert(0);
    *e = e.wrapping_add(k);
}
