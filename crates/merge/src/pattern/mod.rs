//! States that left a loop after different numbers of rounds, merged with a quantifier.
//!
//! *Paper*: Memory §6.2. *Idea*: the further constraints of a member, with their numerals erased, are a word. Members
//! whose words are `ω1 ω2^k ω3` went k times through the same round. If the constraints of the rounds are instances of
//! one formula φ2(x), and those behind them of φ3(x), then one condition stands for all members: `φ1 ∧ (∀ i < k. φ2(i)) ∧
//! φ3(k)`, with a new counter k. Values are terms over k. *Invariant*: for every member with k_j rounds, the condition
//! with k_j for k, expanded, consists of exactly the member's constraints. That is checked for each member, constraint
//! by constraint, so that nothing depends on the hash. *Deviations*: rounds are counted from 0; Def. 6.2.1's validity is
//! not needed. A first round that differs from the others is left to ω1. *Direction*: what has no pattern is merged
//! through the tree. *Checked by*: `--check-merging`.

mod choice;
mod detect;
mod synthesis;
mod text;

pub(crate) use choice::PatternChoice;
pub(crate) use detect::Words;
pub use text::PatternText;

use pleach_expr::{Model, SymbolKind, SymbolOrigin, TermId, Terms};

/// Width of counters.
pub(crate) const COUNTER_BITS: u16 = 32;
/// Numbers of rounds that are missing between others; with more there is no pattern.
const MAX_GAPS: usize = 16;

/// Why members that look alike are not merged by a pattern.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum NoPattern {
    /// no two rounds repeat the same word
    NoRepetition,
    /// the constraints of the rounds are no instances of one formula
    Rounds,
    /// the constraints behind the rounds are none
    Exit,
    /// fewer than three members are left
    FewMembers,
    /// too many numbers of rounds are missing between others
    Gaps,
    /// more than `--merge-max-patterns`
    TooMany,
}

impl NoPattern {
    pub fn describe(self) -> &'static str {
        match self {
            NoPattern::NoRepetition => "no repetition",
            NoPattern::Rounds => "rounds that are not linear in their number",
            NoPattern::Exit => "exits that are not linear in the number of rounds",
            NoPattern::FewMembers => "fewer than three states",
            NoPattern::Gaps => "too many numbers of rounds missing",
            NoPattern::TooMany => "too many patterns",
        }
    }
}

/// A formula pattern with its members (Def. 6.2.5).
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    /// what all members have before the first round
    pub first: Vec<TermId>,
    /// the constraints of a round, over `x`
    pub round: Vec<TermId>,
    /// the constraints behind the rounds, over `x`
    pub exit: Vec<TermId>,
    /// stands for the number of the round, or of rounds
    pub x: TermId,
    /// members with the number of their rounds, fewest first
    pub members: Vec<(usize, u64)>,
}

/// A pattern with its counter.
#[derive(Clone, Debug)]
pub(crate) struct Counted {
    pub pattern: Pattern,
    pub k: TermId,
    /// by member of the group
    pub rounds: Vec<u64>,
}

impl Counted {
    /// Of a group that has just the members of the pattern, in their order.
    pub fn new(pattern: Pattern, number: u32, terms: &mut Terms) -> Counted {
        let origin = SymbolOrigin::Rounds(number);
        let s = terms.symbols.intern(origin, SymbolKind::Bits(COUNTER_BITS), || format!("k{}", number + 1));
        let rounds = pattern.members.iter().map(|m| m.1).collect();
        Counted { k: terms.var(s), pattern, rounds }
    }

    /// `k` is the number of rounds of some member.
    pub fn range(&self, terms: &mut Terms) -> Vec<TermId> {
        let last = self.rounds.last().copied().unwrap_or(0);
        let most = terms.constant(COUNTER_BITS, last);
        let mut all = vec![terms.ule(self.k, most)];
        for missing in (0..last).filter(|n| !self.rounds.contains(n)) {
            let missing = terms.constant(COUNTER_BITS, missing);
            all.push(terms.ne(self.k, missing));
        }
        all
    }

    /// `∀ i < k. φ2(i)`
    pub fn rounds_done(&self, terms: &mut Terms) -> TermId {
        let body = terms.and_all(&self.pattern.round);
        terms.forall(self.pattern.x, self.k, body)
    }

    /// `φ3(k)`
    pub fn exit(&self, terms: &mut Terms) -> Vec<TermId> {
        let map = [(self.pattern.x, self.k)].into_iter().collect();
        self.pattern.exit.iter().map(|t| terms.substitute(*t, &map)).collect()
    }

    /// The condition of the merged state (Def. 6.2.6).
    pub fn constraints(&self, terms: &mut Terms) -> Vec<TermId> {
        let mut all = self.pattern.first.clone();
        all.extend(self.range(terms));
        all.push(self.rounds_done(terms));
        all.extend(self.exit(terms));
        all.retain(|c| *c != Terms::TRUE);
        all
    }

    /// A model of the first member, for the merged state.
    pub fn complete(&self, model: &mut Model, terms: &Terms) {
        let key = pleach_expr::Key::new(pleach_expr::SymbolId(terms.node(self.k).a), 0);
        model.set(key, self.rounds[0]);
    }

    /// `k` is the number of rounds of this member.
    pub fn is_member(&self, member: usize, terms: &mut Terms) -> TermId {
        let n = terms.constant(COUNTER_BITS, self.rounds[member]);
        terms.eq(self.k, n)
    }

    /// The condition for the rounds of one member, expanded, is the conjunction of its constraints.
    pub fn is_condition_of(&self, member: usize, constraints: &[TermId], terms: &mut Terms) -> TermId {
        let rounds = self.rounds[member];
        let number = terms.constant(COUNTER_BITS, rounds);
        let map = [(self.k, number)].into_iter().collect();
        let mut made = Terms::TRUE;
        for c in self.constraints(terms) {
            let c = terms.substitute(c, &map);
            let c = terms.expanded(c, rounds);
            made = terms.and(made, c);
        }
        let wanted = terms.and_all(constraints);
        terms.eq(made, wanted)
    }
}

#[cfg(test)]
mod tests;
