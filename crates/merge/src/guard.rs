//! What distinguishes the members of a group, and the condition and the values of the merged state by it.
//!
//! *Paper*: Memory §5.2.3, Alg. 4–6. *Idea*: the members' path constraints extend one that they share. Their further
//! constraints, oldest first, form a tree: it branches where the execution tree forked. The condition of a node is the
//! disjunction over its branches; where a fork and its other side are both complete, nothing is left of it. A value is a
//! nested `ite` over the conditions of the branches. Both are linear in the number of members. The textbook way
//! (Alg. 1) is the disjunction of whole path constraints; it is there to compare with. *Invariant*: the conditions of
//! the branches of a node are pairwise exclusive; that is checked, and a group without it is refused. *Deviations*: the
//! tree is built from the path constraints and not from the execution tree. What was assumed on the way is then in it,
//! and a path that ended inside makes its siblings' condition stay without a special case.

use crate::measure::TermSizes;
use crate::suffixes::{ROOT, Suffixes};
use pleach_expr::{Op, TermId, Terms};
use pleach_memory::Value;
use pleach_memory::merge::Choice;
use pleach_state::seams::PathOracle;

/// How the condition and the values are written.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum MergeMethod {
    /// a disjunction of whole path constraints
    Textbook,
    /// through the tree
    #[default]
    Tree,
    /// with quantifiers where rounds of a loop repeat, through the tree elsewhere
    Pattern,
}

/// A node with more branches, which are compared pair by pair, is refused.
const MAX_BRANCHES: usize = 64;
/// The same where several constraints are compared together.
const MAX_WHOLE: usize = 16;
/// How often branches are divided at one node.
const MAX_DIVISIONS: usize = 16;

#[derive(Clone, Debug)]
enum Below {
    Member(usize),
    Branches {
        /// conditions and nodes
        sides: Vec<(TermId, usize)>,
        /// one of the conditions always holds
        exhaustive: bool,
    },
}

#[derive(Clone, Debug)]
struct GuardNode {
    /// what all members below have in common, behind the condition of the branch
    common: Vec<TermId>,
    below: Below,
}

/// The tree; parents come before their children.
#[derive(Clone, Debug)]
pub(crate) struct GuardTree {
    nodes: Vec<GuardNode>,
    /// all constraints that members have and the shared path constraint has not
    suffixes: Suffixes,
    method: MergeMethod,
}

/// Their constraints do not distinguish the members.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NotExclusive;

impl GuardTree {
    /// Of the members' further constraints.
    pub fn new(suffixes: Suffixes, method: MergeMethod, logic: &mut dyn PathOracle) -> Result<GuardTree, NotExclusive> {
        let mut nodes: Vec<GuardNode> = Vec::new();
        let mut todo = vec![ROOT];
        while nodes.len() < todo.len() {
            let mut common = Vec::new();
            let at = suffixes.follow_common(todo[nodes.len()], &mut common);
            if let Some(only) = suffixes.only_member(at) {
                nodes.push(GuardNode { common, below: Below::Member(only) });
                continue;
            }
            let branches = distinguish(&suffixes, at, logic)?;
            let exhaustive = is_exhaustive(&branches, logic);
            let mut below = Vec::with_capacity(branches.len());
            for b in branches {
                below.push((b.condition, todo.len()));
                todo.push(b.at);
            }
            nodes.push(GuardNode { common, below: Below::Branches { sides: below, exhaustive } });
        }
        Ok(GuardTree { nodes, suffixes, method })
    }

    /// Constraints that all members have, and what distinguishes them from everybody else.
    pub fn constraints(&self, terms: &mut Terms) -> Vec<TermId> {
        let mut all = self.nodes[0].common.clone();
        let split = all.len();
        let rest = match self.method {
            MergeMethod::Tree | MergeMethod::Pattern => self.disjunction(terms),
            MergeMethod::Textbook => {
                let of = |m| conjunction(terms, &self.suffixes.of_member(m)[split..]);
                let sides: Vec<TermId> = (0..self.suffixes.len()).map(of).collect();
                sides.into_iter().reduce(|a, b| terms.or(a, b)).unwrap_or(Terms::TRUE)
            }
        };
        all.push(rest);
        all.retain(|c| *c != Terms::TRUE);
        all
    }

    /// The disjunction at the root, behind what is common there.
    fn disjunction(&self, terms: &mut Terms) -> TermId {
        let mut made: Vec<TermId> = vec![Terms::TRUE; self.nodes.len()];
        for (i, n) in self.nodes.iter().enumerate().rev() {
            let below = match &n.below {
                Below::Member(_) => Terms::TRUE,
                Below::Branches { sides, exhaustive: true } if sides.iter().all(|s| made[s.1] == Terms::TRUE) => {
                    Terms::TRUE
                }
                Below::Branches { sides, .. } => {
                    let sides: Vec<(TermId, TermId)> = sides.iter().map(|&(c, at)| (c, made[at])).collect();
                    either(terms, &sides)
                }
            };
            made[i] = match i {
                0 => below,
                _ => {
                    let common = conjunction(terms, &n.common);
                    terms.and(common, below)
                }
            };
        }
        made[0]
    }

    /// The condition of one member behind what is common at the root.
    pub fn condition_of(&self, terms: &mut Terms, member: usize) -> TermId {
        let split = self.nodes[0].common.len();
        conjunction(terms, &self.suffixes.of_member(member)[split..])
    }

    /// Of the members' further constraints together, and of what became of them.
    pub fn sizes(&self, terms: &mut Terms, sizes: &mut TermSizes) -> (u64, u64) {
        let before = self.suffixes.size(terms, sizes);
        let after = self.constraints(terms);
        (before, sizes.all(terms, &after))
    }

    /// The condition through the tree is the textbook's.
    pub fn equals_textbook(&self, terms: &mut Terms) -> TermId {
        let mut made = [MergeMethod::Textbook, MergeMethod::Tree].map(|method| {
            let constraints = GuardTree { method, ..self.clone() }.constraints(terms);
            conjunction(terms, &constraints)
        });
        made.sort_unstable();
        terms.eq(made[0], made[1])
    }

    fn value(&self, terms: &mut Terms, values: &[TermId]) -> TermId {
        if self.method == MergeMethod::Textbook {
            let last = values.len() - 1;
            return (0..last).rev().fold(values[last], |rest, m| {
                let c = self.condition_of(terms, m);
                terms.ite(c, values[m], rest)
            });
        }
        let mut made: Vec<TermId> = vec![Terms::TRUE; self.nodes.len()];
        for (i, n) in self.nodes.iter().enumerate().rev() {
            made[i] = match &n.below {
                Below::Member(m) => values[*m],
                Below::Branches { sides, .. } => {
                    let mut sides = sides.iter().rev();
                    let last = sides.next().map_or(Terms::TRUE, |s| made[s.1]);
                    sides.fold(last, |rest, &(c, at)| terms.ite(c, made[at], rest))
                }
            };
        }
        made[0]
    }
}

impl Choice for &GuardTree {
    fn choose(&mut self, terms: &mut Terms, values: &[Value], bits: u16) -> Value {
        choose_by(terms, values, bits, |terms, values| self.value(terms, values))
    }
}

/// One value for several, of which `pick` makes one term.
pub(crate) fn choose_by(
    terms: &mut Terms,
    values: &[Value],
    bits: u16,
    mut pick: impl FnMut(&mut Terms, &[TermId]) -> TermId,
) -> Value {
    if values.iter().all(|v| *v == values[0]) {
        return values[0];
    }
    // Pointers into one object differ in their offsets.
    if let Value::Ptr { obj, .. } = values[0]
        && values.iter().all(|v| matches!(v, Value::Ptr { obj: o, .. } if *o == obj))
        && bits == terms.pointer_bits
    {
        let offset = |v: &Value| if let Value::Ptr { off, .. } = v { *off as u64 } else { 0 };
        let offsets: Vec<TermId> = values.iter().map(|v| terms.constant(bits, offset(v))).collect();
        let offset = pick(terms, &offsets);
        let base = terms.base(obj);
        let t = terms.add(base, offset);
        return Value::from_term(terms, t);
    }
    let all: Option<Vec<TermId>> = values.iter().map(|v| v.to_term(terms, bits)).collect();
    match all {
        Some(all) => {
            let t = pick(terms, &all);
            Value::from_term(terms, t)
        }
        // Who needs it gives it a name before.
        None => Value::Undef,
    }
}

fn conjunction(terms: &mut Terms, all: &[TermId]) -> TermId {
    all.iter().fold(Terms::TRUE, |a, &b| terms.and(a, b))
}

/// `⋁ c ∧ x`. Of a fork and its other side, the condition of one is left out where that changes nothing.
fn either(terms: &mut Terms, sides: &[(TermId, TermId)]) -> TermId {
    if let [(c, x), (d, y)] = *sides
        && terms.not(c) == d
    {
        return match (x == Terms::TRUE, y == Terms::TRUE) {
            (true, true) => Terms::TRUE,
            (true, false) => terms.or(c, y),
            (false, true) => terms.or(d, x),
            (false, false) => {
                let (a, b) = (terms.and(c, x), terms.and(d, y));
                terms.or(a, b)
            }
        };
    }
    let mut all = Terms::FALSE;
    for &(c, x) in sides.iter().rev() {
        let side = terms.and(c, x);
        all = terms.or(side, all);
    }
    all
}

/// What distinguishes some members of a node from its others, and where the rest of their constraints begins.
#[derive(Clone, Debug)]
struct Branch {
    condition: TermId,
    at: usize,
}

/// Branches whose conditions exclude each other. The next constraint of each member is enough where the execution tree
/// forked. Members that were merged before have a disjunction there, which others exclude by several constraints
/// together: the branches' conditions then become longer, and branches are divided, until they are exclusive.
fn distinguish(suffixes: &Suffixes, at: usize, logic: &mut dyn PathOracle) -> Result<Vec<Branch>, NotExclusive> {
    let next = suffixes.next(at).ok_or(NotExclusive)?;
    let mut branches: Vec<Branch> = next.into_iter().map(|(condition, at)| Branch { condition, at }).collect();
    if branches.len() > MAX_BRANCHES {
        return Err(NotExclusive);
    }
    if overlapping(&branches, logic).is_none() {
        return Ok(branches);
    }
    branches.iter_mut().for_each(|b| lengthen(b, suffixes, logic.terms()));
    for _ in 0..MAX_DIVISIONS {
        let Some((i, j)) = overlapping(&branches, logic) else { return Ok(branches) };
        // Most members are where the later rounds of a loop are: the others are divided.
        let divisible = [i, j].into_iter().filter(|k| suffixes.members(branches[*k].at) > 1);
        let least = divisible.min_by_key(|k| suffixes.members(branches[*k].at)).ok_or(NotExclusive)?;
        let Branch { condition, at } = branches.remove(least);
        for (next, at) in suffixes.next(at).ok_or(NotExclusive)? {
            let condition = logic.terms().and(condition, next);
            let mut divided = Branch { condition, at };
            lengthen(&mut divided, suffixes, logic.terms());
            branches.push(divided);
        }
        if branches.len() > MAX_WHOLE {
            return Err(NotExclusive);
        }
    }
    Err(NotExclusive)
}

/// Takes all constraints into the condition that the members have in common.
fn lengthen(b: &mut Branch, suffixes: &Suffixes, terms: &mut Terms) {
    let mut common = Vec::new();
    b.at = suffixes.follow_common(b.at, &mut common);
    let common = conjunction(terms, &common);
    b.condition = terms.and(b.condition, common);
}

/// Two branches that are not known to be exclusive.
fn overlapping(branches: &[Branch], logic: &mut dyn PathOracle) -> Option<(usize, usize)> {
    for (i, Branch { condition: c, .. }) in branches.iter().enumerate() {
        for (j, Branch { condition: d, .. }) in branches.iter().enumerate().skip(i + 1) {
            let terms = logic.terms();
            if terms.not(*c) == *d || different_constants(terms, *c, *d) {
                continue;
            }
            let both = terms.and(*c, *d);
            let never = terms.not(both);
            if !logic.valid(never) {
                return Some((i, j));
            }
        }
    }
    None
}

/// One of the conditions holds whatever the inputs are.
fn is_exhaustive(branches: &[Branch], logic: &mut dyn PathOracle) -> bool {
    let terms = logic.terms();
    if let [a, b] = branches
        && terms.not(a.condition) == b.condition
    {
        return true;
    }
    let conditions: Vec<TermId> = branches.iter().map(|b| b.condition).collect();
    let any = terms.or_all(&conditions);
    logic.valid(any)
}

/// `x = 1` and `x = 2`.
fn different_constants(terms: &Terms, c: TermId, d: TermId) -> bool {
    let fixed = |t: TermId| {
        let n = terms.node(t);
        if n.op != Op::Eq {
            return None;
        }
        let (a, b) = (n.arg_a(), n.arg_b());
        match (terms.as_const(a), terms.as_const(b)) {
            (Some(v), None) => Some((b, v)),
            (None, Some(v)) => Some((a, v)),
            _ => None,
        }
    };
    matches!((fixed(c), fixed(d)), (Some((x, v)), Some((y, w))) if x == y && v != w)
}

#[cfg(test)]
#[path = "guard_tests.rs"]
pub(crate) mod tests;
