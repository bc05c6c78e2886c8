//! Walks over shared terms that visit each term once, whatever the number of paths to it.

use crate::term::{TermId, Terms, arity};
use rustc_hash::{FxHashMap, FxHashSet};

impl Terms {
    /// All terms below and including `roots`, in the order of their ids: arguments before operators.
    pub fn reachable(&self, roots: &[TermId]) -> Vec<TermId> {
        let mut seen: FxHashSet<TermId> = FxHashSet::default();
        let mut todo = roots.to_vec();
        while let Some(t) = todo.pop() {
            if seen.insert(t) {
                todo.extend(self.args(t));
            }
        }
        let mut all: Vec<TermId> = seen.into_iter().collect();
        all.sort_unstable();
        all
    }

    /// The operators among `reachable` that are used more than once, in order: those that get a name in print.
    pub(crate) fn shared(&self, reachable: &[TermId], roots: &[TermId]) -> Vec<TermId> {
        let mut uses: FxHashMap<TermId, u32> = FxHashMap::default();
        for &t in reachable {
            for a in self.args(t) {
                *uses.entry(a).or_default() += 1;
            }
        }
        for &t in roots {
            *uses.entry(t).or_default() += 1;
        }
        reachable.iter().copied().filter(|t| arity(self.op(*t)) > 0 && uses.get(t).is_some_and(|&n| n > 1)).collect()
    }

    /// The conjuncts of a condition, outermost first, with `And` and negated `Or` split.
    pub fn conjuncts(&mut self, t: TermId) -> Vec<TermId> {
        use crate::term::Op;
        let mut found = Vec::new();
        let mut todo = vec![t];
        while let Some(x) = todo.pop() {
            let n = self.node(x);
            match n.op {
                Op::And => todo.extend([n.arg_b(), n.arg_a()]),
                Op::Not if self.op(n.arg_a()) == Op::Or => {
                    let m = self.node(n.arg_a());
                    let (p, q) = (self.not(m.arg_a()), self.not(m.arg_b()));
                    todo.extend([q, p]);
                }
                _ if x == Terms::TRUE => {}
                _ => found.push(x),
            }
        }
        found
    }
}
