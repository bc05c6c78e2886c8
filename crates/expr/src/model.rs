//! Assignments to the symbolic variables, with the values of terms cached as they are computed.

use crate::support::Key;
use crate::term::TermId;
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// A total assignment: what is not listed is 0. Variables wider than 64 bits are listed limb by limb
/// (`Key::new(symbol, limb)`).
#[derive(Default, Debug)]
pub struct Model {
    values: FxHashMap<Key, u64>,
    /// values of terms of at most 64 bits under this model
    pub(crate) memo: RefCell<Memo>,
}

/// Values already computed, and a stack kept to spare its allocation.
#[derive(Default, Debug)]
pub(crate) struct Memo {
    pub values: FxHashMap<TermId, u64>,
    pub stack: Vec<TermId>,
}

impl Clone for Model {
    fn clone(&self) -> Model {
        Model { values: self.values.clone(), memo: RefCell::default() }
    }
}

impl PartialEq for Model {
    fn eq(&self, other: &Model) -> bool {
        self.values == other.values
    }
}

impl Model {
    pub fn new() -> Model {
        Model::default()
    }
    #[inline]
    pub fn get(&self, key: Key) -> u64 {
        self.values.get(&key).copied().unwrap_or(0)
    }
    pub fn contains(&self, key: Key) -> bool {
        self.values.contains_key(&key)
    }
    pub fn set(&mut self, key: Key, value: u64) {
        self.values.insert(key, value);
        self.memo.get_mut().values.clear();
    }
    /// The listed values in the order of their keys.
    pub fn entries(&self) -> Vec<(Key, u64)> {
        let mut v: Vec<_> = self.values.iter().map(|(k, x)| (*k, *x)).collect();
        v.sort_unstable();
        v
    }
    pub fn len(&self) -> usize {
        self.values.len()
    }
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}
