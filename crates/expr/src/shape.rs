//! The shape of a term: a hash of it with all numerals erased, so that terms that differ only in constants agree.

use crate::term::{Op, TermId, Terms, arity};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

impl Terms {
    /// Equal for terms that differ in constants only. Variables and bases count as themselves.
    pub fn shape(&self, t: TermId) -> u64 {
        let mut of: FxHashMap<TermId, u64> = FxHashMap::default();
        for x in self.reachable(&[t]) {
            let n = self.node(x);
            let mut h = FxHasher::default();
            (n.op as u8, n.width).hash(&mut h);
            match n.op {
                Op::Const | Op::Wide => {
                    // a wide constant and a narrow one have different widths already
                    h = FxHasher::default();
                    (u8::MAX, n.width).hash(&mut h);
                }
                Op::ArrayConst => self.table(x).len().hash(&mut h),
                Op::Var | Op::Base | Op::ArrayVar => n.a.hash(&mut h),
                op => {
                    for a in self.args(x) {
                        of[&a].hash(&mut h);
                    }
                    if arity(op) == 1 {
                        n.b.hash(&mut h);
                    }
                }
            }
            of.insert(x, h.finish());
        }
        of[&t]
    }
}
