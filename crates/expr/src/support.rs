//! What a term depends on: variables, single cells of arrays, or whole arrays. Independence is decided on these keys.

use crate::symbol::SymbolId;
use crate::term::{Op, TermId, Terms, arity};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// One symbolic variable: a scalar (`cell` 0), one cell of an array, or all of an array ([`Key::WHOLE`]).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Key(pub u64);

impl Key {
    pub const WHOLE: u32 = u32::MAX;
    #[inline]
    pub fn new(symbol: SymbolId, cell: u32) -> Key {
        Key(u64::from(symbol.0) << 32 | u64::from(cell))
    }
    #[inline]
    pub fn symbol(self) -> SymbolId {
        SymbolId((self.0 >> 32) as u32)
    }
    #[inline]
    pub fn cell(self) -> u32 {
        self.0 as u32
    }
    pub fn is_whole(self) -> bool {
        self.cell() == Key::WHOLE
    }
}

#[derive(Default)]
pub struct SupportCache {
    of: FxHashMap<TermId, Rc<[Key]>>,
}

impl Terms {
    /// One of these symbolic variables occurs in `t`.
    pub fn depends_on(&mut self, t: TermId, keys: &[Key]) -> bool {
        let used = |s: &[Key]| keys.iter().any(|k| s.binary_search(k).is_ok());
        match self.support.of.get(&t) {
            Some(s) => used(s),
            None => used(&self.support(t)),
        }
    }

    /// The symbolic variables of `t`, sorted. Bases are not among them: their values come from the address constraints.
    /// A bound variable of a quantifier is left out.
    pub fn support(&mut self, t: TermId) -> Rc<[Key]> {
        if let Some(s) = self.support.of.get(&t) {
            return s.clone();
        }
        if let Some(v) = self.support_of_small(t) {
            let rc: Rc<[Key]> = v.into();
            self.support.of.insert(t, rc.clone());
            return rc;
        }
        let mut keys: FxHashSet<Key> = FxHashSet::default();
        let mut seen: FxHashSet<TermId> = FxHashSet::default();
        let mut bound: Vec<Key> = Vec::new();
        let mut todo = vec![t];
        while let Some(x) = todo.pop() {
            if !seen.insert(x) {
                continue;
            }
            let n = self.node(x);
            match n.op {
                Op::Var => {
                    keys.insert(Key::new(SymbolId(n.a), 0));
                }
                Op::ArrayVar => {
                    keys.insert(Key::new(SymbolId(n.a), Key::WHOLE));
                }
                Op::Read if self.op(n.arg_a()) == Op::ArrayVar => match self.as_const(n.arg_b()) {
                    Some(i) => {
                        keys.insert(Key::new(SymbolId(self.node(n.arg_a()).a), i as u32));
                    }
                    None => todo.extend([n.arg_a(), n.arg_b()]),
                },
                _ => {
                    if n.op == Op::Forall {
                        bound.push(Key::new(SymbolId(self.node(n.arg_a()).a), 0));
                    }
                    if x != t
                        && let Some(s) = self.support.of.get(&x)
                    {
                        keys.extend(s.iter().copied());
                        continue;
                    }
                    todo.extend([n.arg_a(), n.arg_b(), n.arg_c()].into_iter().take(arity(n.op)));
                }
            }
        }
        // SOUND: bound variables have names of their own (`forall` interns them), so dropping them drops no free
        // variable.
        for b in bound {
            keys.remove(&b);
        }
        let mut v: Vec<Key> = keys.into_iter().collect();
        v.sort_unstable();
        let rc: Rc<[Key]> = v.into();
        self.support.of.insert(t, rc.clone());
        rc
    }

    /// The same for a small term without quantifier, with little overhead.
    fn support_of_small(&self, t: TermId) -> Option<Vec<Key>> {
        let mut keys: Vec<Key> = Vec::new();
        let mut todo = vec![t];
        for _ in 0..SMALL {
            let Some(x) = todo.pop() else {
                keys.sort_unstable();
                keys.dedup();
                return Some(keys);
            };
            let n = self.node(x);
            match n.op {
                Op::Var => keys.push(Key::new(SymbolId(n.a), 0)),
                Op::Const => {}
                Op::ArrayVar | Op::Read | Op::Forall => return None,
                _ => match self.support.of.get(&x) {
                    Some(s) => keys.extend(s.iter()),
                    None => todo.extend([n.arg_a(), n.arg_b(), n.arg_c()].into_iter().take(arity(n.op))),
                },
            }
        }
        None
    }
}

/// A term of fewer operators than this, counting each as often as it occurs, is small.
const SMALL: usize = 256;
