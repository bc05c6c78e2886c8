//! How large conditions and values are before and after merging, as the thesis counts it (Memory §5.4.2.5): nodes of
//! the term written out as a tree.

use pleach_expr::{TermId, Terms};
use pleach_memory::Value;
use pleach_memory::merge::Choice;
use rustc_hash::FxHashMap;

/// Sizes of terms, each found once.
#[derive(Clone, Default, Debug)]
pub(crate) struct TermSizes(FxHashMap<TermId, u64>);

impl TermSizes {
    pub fn of(&mut self, terms: &Terms, t: TermId) -> u64 {
        if let Some(&known) = self.0.get(&t) {
            return known;
        }
        let mut todo = vec![t];
        while let Some(&x) = todo.last() {
            let args = terms.args(x);
            let before = todo.len();
            todo.extend(args.iter().filter(|a| !self.0.contains_key(a)));
            if todo.len() == before {
                let size = args.iter().fold(1u64, |sum, a| sum.saturating_add(self.0[a]));
                self.0.insert(x, size);
                todo.pop();
            }
        }
        self.0[&t]
    }

    pub fn all(&mut self, terms: &Terms, all: &[TermId]) -> u64 {
        all.iter().fold(0u64, |sum, t| sum.saturating_add(self.of(terms, *t)))
    }

    fn of_value(&mut self, terms: &Terms, v: Value) -> u64 {
        match v {
            Value::Term(t) => self.of(terms, t),
            _ => 1,
        }
    }
}

/// Sums over all merges.
#[derive(Clone, Default, Debug)]
pub(crate) struct MergedSizes {
    pub conditions_before: u64,
    pub conditions_after: u64,
    pub values_before: u64,
    pub values_after: u64,
    pub largest_value: u64,
}

impl MergedSizes {
    pub fn add(&mut self, more: MergedSizes) {
        let MergedSizes { conditions_before, conditions_after, values_before, values_after, largest_value } = more;
        self.conditions_before = self.conditions_before.saturating_add(conditions_before);
        self.conditions_after = self.conditions_after.saturating_add(conditions_after);
        self.values_before = self.values_before.saturating_add(values_before);
        self.values_after = self.values_after.saturating_add(values_after);
        self.largest_value = self.largest_value.max(largest_value);
    }
}

/// Makes values as another does, and counts.
pub(crate) struct Measured<'a> {
    pub choice: &'a mut dyn Choice,
    pub sizes: &'a mut TermSizes,
    pub found: MergedSizes,
}

impl Choice for Measured<'_> {
    fn choose(&mut self, terms: &mut Terms, values: &[Value], bits: u16) -> Value {
        let made = self.choice.choose(terms, values, bits);
        let before = values.iter().map(|v| self.sizes.of_value(terms, *v)).fold(0u64, u64::saturating_add);
        let after = self.sizes.of_value(terms, made);
        self.found.values_before = self.found.values_before.saturating_add(before);
        self.found.values_after = self.found.values_after.saturating_add(after);
        self.found.largest_value = self.found.largest_value.max(after);
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_parts_count_as_often_as_they_are_written() {
        let mut terms = Terms::new(64);
        let s = terms.symbols.named("x", pleach_expr::SymbolKind::Bits(8));
        let x = terms.var(s);
        let mut sizes = TermSizes::default();
        assert_eq!(sizes.of(&terms, x), 1);
        let square = terms.mul(x, x);
        let fourth = terms.mul(square, square);
        assert_eq!([sizes.of(&terms, square), sizes.of(&terms, fourth)], [3, 7]);
        assert_eq!(sizes.all(&terms, &[x, fourth]), 8);
    }
}
