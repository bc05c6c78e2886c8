//! Substitution of terms for terms, by rebuilding through the rewriting builder.
//!
//! *Invariant*: replacements are not themselves rewritten (all keys are replaced at once). Stack-safe: terms may be
//! hundreds of thousands of operators deep.

use crate::support::Key;
use crate::symbol::SymbolId;
use crate::term::{BaseId, Op, TermId, Terms, arity, facts};
use rustc_hash::{FxHashMap, FxHashSet};

/// A map from terms to terms, with its variables apart.
pub struct Replacing<'a> {
    map: &'a FxHashMap<TermId, TermId>,
    keys: Vec<Key>,
    bases: bool,
    others: bool,
}

impl Terms {
    /// `t` with every key replaced by its value. A bound variable of a quantifier must not be a key.
    pub fn substitute(&mut self, t: TermId, map: &FxHashMap<TermId, TermId>) -> TermId {
        let Some(&first) = map.keys().min() else { return t };
        // Arguments have smaller ids than their operators, so nothing below the first key contains one.
        self.replace(t, &|_, x| x < first, &mut |_, x| map.get(&x).copied())
    }

    /// As `substitute`, for variables and bases: a term that mentions none of them is not walked over.
    pub fn substitute_used(&mut self, t: TermId, map: &FxHashMap<TermId, TermId>) -> TermId {
        let r = self.replacing(map);
        self.substitute_by(t, &r)
    }

    /// What a map replaces, looked up once for many terms.
    pub fn replacing<'a>(&self, map: &'a FxHashMap<TermId, TermId>) -> Replacing<'a> {
        let mut r = Replacing { map, keys: Vec::new(), bases: false, others: false };
        for &k in map.keys() {
            let n = self.node(k);
            match n.op {
                Op::Var => r.keys.push(Key::new(SymbolId(n.a), 0)),
                Op::Base => r.bases = true,
                _ => r.others = true,
            }
        }
        r
    }

    pub fn substitute_by(&mut self, t: TermId, r: &Replacing) -> TermId {
        let used = r.others || (r.bases && self.has(t, facts::HAS_BASE)) || self.depends_on(t, &r.keys);
        if used { self.substitute(t, r.map) } else { t }
    }

    /// `t` with every base replaced by what `value` gives for it.
    pub fn substitute_bases(&mut self, t: TermId, value: &mut dyn FnMut(BaseId) -> TermId) -> TermId {
        self.replace(t, &|terms, x| !terms.has(x, facts::HAS_BASE), &mut |terms, x| {
            let n = terms.node(x);
            if n.op == Op::Base { Some(value(BaseId(n.a))) } else { None }
        })
    }

    /// The bases of `t`, sorted.
    pub fn bases(&self, t: TermId) -> Vec<BaseId> {
        let mut seen: FxHashSet<TermId> = FxHashSet::default();
        let mut found = Vec::new();
        let mut todo = vec![t];
        while let Some(x) = todo.pop() {
            if !self.has(x, facts::HAS_BASE) || !seen.insert(x) {
                continue;
            }
            let n = self.node(x);
            if n.op == Op::Base {
                found.push(BaseId(n.a));
            } else {
                todo.extend(self.args(x));
            }
        }
        found.sort_unstable();
        found
    }

    fn replace(
        &mut self,
        root: TermId,
        untouched: &dyn Fn(&Terms, TermId) -> bool,
        replacement: &mut dyn FnMut(&Terms, TermId) -> Option<TermId>,
    ) -> TermId {
        if untouched(self, root) {
            return root;
        }
        let mut done: FxHashMap<TermId, TermId> = FxHashMap::default();
        let mut stack = vec![root];
        while let Some(&x) = stack.last() {
            if done.contains_key(&x) {
                stack.pop();
                continue;
            }
            if let Some(r) = replacement(self, x) {
                done.insert(x, r);
                stack.pop();
                continue;
            }
            let n = self.node(x);
            let mut args = [n.arg_a(), n.arg_b(), n.arg_c()];
            let mut changed = false;
            let depth = stack.len();
            for a in args.iter_mut().take(arity(n.op)) {
                if untouched(self, *a) {
                    continue;
                }
                match done.get(a) {
                    Some(&r) => {
                        changed |= r != *a;
                        *a = r;
                    }
                    None => stack.push(*a),
                }
            }
            if stack.len() > depth {
                continue;
            }
            let r = if changed { self.rebuild(n, &args[..arity(n.op)]) } else { x };
            done.insert(x, r);
            stack.pop();
        }
        done.get(&root).copied().unwrap_or(root)
    }
}
