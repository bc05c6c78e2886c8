//! Values of a state that was merged by a pattern (Def. 6.2.6): terms over the counter.

use super::Counted;
use super::synthesis::formula;
use crate::guard::choose_by;
use pleach_expr::{TermId, Terms};
use pleach_memory::Value;
use pleach_memory::merge::Choice;

/// Makes values, and counts how.
pub(crate) struct PatternChoice<'a> {
    pub counted: &'a Counted,
    /// what has to be true of them, where that is checked
    pub obligations: Option<Vec<TermId>>,
    /// values that are terms over the counter
    pub linear: u64,
    /// values that are choices by it
    pub choices: u64,
}

impl PatternChoice<'_> {
    fn value(&mut self, terms: &mut Terms, values: &[TermId]) -> TermId {
        let Counted { pattern, k, rounds } = self.counted;
        let instances: Vec<(u64, TermId)> = rounds.iter().copied().zip(values.iter().copied()).collect();
        if let Some(found) = formula(terms, pattern.x, &instances) {
            self.linear += 1;
            return terms.substitute(found, &[(pattern.x, *k)].into_iter().collect());
        }
        self.choices += 1;
        // One choice for each run of equal values: what is written in one round stays as it is in later ones.
        let mut made = instances[instances.len() - 1].1;
        for pair in instances.windows(2).rev() {
            let [(n, value), (_, next)] = *pair else { continue };
            if value != next {
                let last = terms.constant(super::COUNTER_BITS, n);
                let up_to = terms.ule(*k, last);
                made = terms.ite(up_to, value, made);
            }
        }
        made
    }
}

impl Choice for PatternChoice<'_> {
    fn choose(&mut self, terms: &mut Terms, values: &[Value], bits: u16) -> Value {
        let made = choose_by(terms, values, bits, |terms, values| self.value(terms, values));
        if self.obligations.is_some()
            && let Some(merged) = made.to_term(terms, bits)
        {
            for (member, v) in values.iter().enumerate() {
                let Some(v) = v.to_term(terms, bits) else { continue };
                let (same, here) = (terms.eq(merged, v), self.counted.is_member(member, terms));
                let obligation = terms.implies(here, same);
                self.obligations.get_or_insert_default().push(obligation);
            }
        }
        made
    }
}
