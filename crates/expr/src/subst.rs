//! Substitution of terms for terms, by rebuilding through the rewriting builder.
//!
//! *Invariant*: replacements are not themselves rewritten (all keys are replaced at once). Stack-safe: terms may be
//! hundreds of thousands of operators deep.

use crate::support::Key;
use crate::symbol::SymbolId;
use crate::term::{BaseId, Op, TermId, Terms, arity, facts};
use rustc_hash::{FxHashMap, FxHashSet};

/// A map from terms to terms for many terms, with its variables listed separately. What was rebuilt in one term is not
/// rebuilt in the next.
pub struct Replacing<'a> {
    map: &'a FxHashMap<TermId, TermId>,
    keys: Vec<Key>,
    bases: bool,
    others: bool,
    done: FxHashMap<TermId, TermId>,
}

/// A map from terms to terms that grows from one use to the next.
///
/// *Invariant* kept by who uses it: all keys that a term contains are in the map before it is substituted in that term,
/// and never change.
#[derive(Default)]
pub struct IncrementalSubstitution {
    map: FxHashMap<TermId, TermId>,
    first: Option<TermId>,
    done: FxHashMap<TermId, TermId>,
}

impl IncrementalSubstitution {
    pub fn get(&self, key: TermId) -> Option<TermId> {
        self.map.get(&key).copied()
    }

    pub fn insert(&mut self, key: TermId, value: TermId) {
        self.first = Some(self.first.map_or(key, |f| f.min(key)));
        self.map.insert(key, value);
    }
}

impl Terms {
    /// `t` with every key replaced by its value. A bound variable of a quantifier must not be a key.
    pub fn substitute(&mut self, t: TermId, map: &FxHashMap<TermId, TermId>) -> TermId {
        self.substitute_again(t, map, &mut FxHashMap::default())
    }

    /// As `substitute`, with what is known from other terms.
    fn substitute_again(
        &mut self,
        t: TermId,
        map: &FxHashMap<TermId, TermId>,
        done: &mut FxHashMap<TermId, TermId>,
    ) -> TermId {
        let Some(&first) = map.keys().min() else { return t };
        let t = self.apart_from(t, map);
        // Arguments have smaller ids than their operators, so nothing below the first key contains one.
        self.replace(t, &|_, x| x < first, &mut |_, x| map.get(&x).copied(), done)
    }

    /// `t` such that none of its quantifiers binds the variable of one that the map puts into it.
    fn apart_from(&mut self, t: TermId, map: &FxHashMap<TermId, TermId>) -> TermId {
        let quantified = |terms: &Terms, t: TermId| terms.has(t, facts::HAS_FORALL);
        if quantified(self, t) && map.values().any(|v| quantified(self, *v)) {
            return self.with_higher_variables(t, map.values().copied().collect());
        }
        t
    }

    /// As `substitute`, by a map that grows.
    pub fn substitute_growing(&mut self, t: TermId, g: &mut IncrementalSubstitution) -> TermId {
        let Some(first) = g.first else { return t };
        let map = &g.map;
        let t = self.apart_from(t, map);
        self.replace(t, &|_, x| x < first, &mut |_, x| map.get(&x).copied(), &mut g.done)
    }

    /// What a map replaces, looked up once for many terms.
    pub fn replacing<'a>(&self, map: &'a FxHashMap<TermId, TermId>) -> Replacing<'a> {
        let mut r = Replacing { map, keys: Vec::new(), bases: false, others: false, done: FxHashMap::default() };
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

    /// As `substitute`; a term that mentions none of the variables is not walked over.
    pub fn substitute_by(&mut self, t: TermId, r: &mut Replacing) -> TermId {
        let used = r.others || (r.bases && self.has(t, facts::HAS_BASE)) || self.depends_on(t, &r.keys);
        if used { self.substitute_again(t, r.map, &mut r.done) } else { t }
    }

    /// `t` with every base replaced by what `value` gives for it.
    pub fn substitute_bases(&mut self, t: TermId, value: &mut dyn FnMut(BaseId) -> TermId) -> TermId {
        self.substitute_bases_again(t, value, &mut FxHashMap::default())
    }

    /// As `substitute_bases`, with what is known from other terms in which the same bases have the same values.
    pub fn substitute_bases_again(
        &mut self,
        t: TermId,
        value: &mut dyn FnMut(BaseId) -> TermId,
        done: &mut FxHashMap<TermId, TermId>,
    ) -> TermId {
        let mut base = |terms: &Terms, x: TermId| {
            let n = terms.node(x);
            if n.op == Op::Base { Some(value(BaseId(n.a))) } else { None }
        };
        self.replace(t, &|terms, x| !terms.has(x, facts::HAS_BASE), &mut base, done)
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
        done: &mut FxHashMap<TermId, TermId>,
    ) -> TermId {
        if untouched(self, root) {
            return root;
        }
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
