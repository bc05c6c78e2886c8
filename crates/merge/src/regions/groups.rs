//! Groups of held states and of patterns, and one state for a group: through the tree, or by a pattern.

use super::{Extent, Merging};
use crate::check::CheckedChoice;
use crate::fields::{self, Refusal};
use crate::guard::{GuardTree, NotExclusive};
use crate::held::{self, HeldIn, HeldStates};
use crate::measure::{Measured, MergedSizes};
use crate::pattern::{Counted, PatternChoice, PatternText};
use crate::suffixes::Suffixes;
use pleach_expr::{TermId, Terms};
use pleach_memory::merge::Choice;
use pleach_state::seams::PathOracle;
use pleach_state::{Group, RegionId, State};

/// Merges by patterns that are kept as text.
const MAX_EXPLAINED: usize = 64;

/// Groups of one.
pub(super) fn each_alone(group: Group) -> Vec<Group> {
    let Group { members, before, outer } = group;
    members.into_iter().map(|m| Group { members: vec![m], before: before.clone(), outer }).collect()
}

impl Merging {
    /// Held states of a region that may go on now: they are at one place.
    pub(super) fn release(&mut self, id: RegionId) -> Option<Group> {
        let r = self.regions.get_mut(&id)?;
        let depth = r.stop.depth;
        let of = match r.extent {
            Extent::Loop(func, l) => Some(HeldIn { func, depth, header: self.facts.of(func).loops.get(l).header }),
            _ => None,
        };
        let members = held::release(&mut r.held, of, &mut self.facts);
        let first = members.first()?.node;
        r.inside -= members.len();
        members.iter().for_each(|m| {
            self.leaves.remove(&m.node);
        });
        self.released = Some(first);
        let before = self.parents.get(&first)?.clone();
        Some(Group { members, before, outer: Some(id) })
    }

    /// Those of a released group whose stores are equal; the others are held again.
    pub(super) fn same_stores(&mut self, group: Group, logic: &mut dyn PathOracle) -> Group {
        let Group { members, mut before, outer } = group;
        let mut members = members.into_iter();
        let mut same: HeldStates = members.next().into_iter().collect();
        let mut others = Vec::new();
        for m in members {
            let shared = held::shared_before(&same, &before, &m, &self.parents);
            match shared.filter(|_| held::is_same_store(&same[0], &m, &mut self.facts, logic.terms())) {
                Some(shared) => {
                    before = shared;
                    same.push(m);
                }
                None => others.push(m),
            }
        }
        for m in others {
            self.enter(m.node, outer);
            if let Some(r) = outer.and_then(|id| self.regions.get_mut(&id)) {
                r.held.push(m);
            }
        }
        if same.len() > 1 {
            self.statistics.held_merges += 1;
            self.above_merged = Some(before.clone());
        }
        Group { members: same, before, outer }
    }

    pub(super) fn merge_group(&mut self, group: &Group, logic: &mut dyn PathOracle) -> Result<State, Refusal> {
        let members: Vec<&State> = group.members.iter().map(|m| &**m).collect();
        if let Some(counted) = self.patterns.remove(&members[0].node) {
            let suffixes: Option<Vec<Vec<TermId>>> = members.iter().map(|m| m.path.since(&group.before)).collect();
            let suffixes = suffixes.ok_or(Refusal::NotExclusive)?;
            return self.merge_pattern(&members, &suffixes, group, &counted, logic);
        }
        let suffixes = Suffixes::of(members.iter().map(|m| &m.path), &group.before).ok_or(Refusal::NotExclusive)?;
        let not_exclusive = |_: NotExclusive| Refusal::NotExclusive;
        let guard = GuardTree::new(suffixes, self.config.method, logic).map_err(not_exclusive)?;
        let constraints = guard.constraints(logic.terms());
        let mut plain = &guard;
        let mut checked = CheckedChoice { guard: &guard, obligations: Vec::new() };
        let choice: &mut dyn Choice = if self.config.check { &mut checked } else { &mut plain };
        let mut choice = Measured { choice, sizes: &mut self.sizes, found: MergedSizes::default() };
        let one_sided = self.config.one_sided;
        let facts = &mut self.facts;
        let merged =
            fields::merge(&members, &group.before, one_sided, &constraints, &|_, _| {}, &mut choice, facts, logic)?;
        let mut found = choice.found;
        (found.conditions_before, found.conditions_after) = guard.sizes(logic.terms(), &mut self.sizes);
        self.statistics.sizes.add(found);
        if !self.config.check {
            return Ok(merged);
        }
        let mut obligations = checked.obligations;
        obligations.push(guard.equals_textbook(logic.terms()));
        for o in obligations {
            self.statistics.checked.check(o, logic);
        }
        Ok(merged)
    }

    /// The members went through the same round, different numbers of times.
    fn merge_pattern(
        &mut self,
        members: &[&State],
        suffixes: &[Vec<TermId>],
        group: &Group,
        counted: &Counted,
        logic: &mut dyn PathOracle,
    ) -> Result<State, Refusal> {
        let constraints = counted.constraints(logic.terms());
        let obligations = self.config.check.then(Vec::new);
        let mut values = PatternChoice { counted, obligations, linear: 0, choices: 0 };
        let mut choice = Measured { choice: &mut values, sizes: &mut self.sizes, found: MergedSizes::default() };
        let merged = fields::merge(
            members,
            &group.before,
            self.config.one_sided,
            &constraints,
            &|model, terms| counted.complete(model, terms),
            &mut choice,
            &mut self.facts,
            logic,
        )?;
        let mut found = choice.found;
        found.conditions_before = suffixes.iter().map(|s| self.sizes.all(logic.terms(), s)).sum();
        found.conditions_after = self.sizes.all(logic.terms(), &constraints);
        self.statistics.sizes.add(found);
        let s = &mut self.statistics.patterns;
        s.groups += 1;
        s.states += members.len() as u64;
        s.most_rounds = s.most_rounds.max(counted.rounds.last().copied().unwrap_or(0));
        s.linear_values += values.linear;
        s.chosen_values += values.choices;
        if self.explained.len() < MAX_EXPLAINED {
            let program = &self.facts.program;
            let f = program.function(merged.frame.func);
            let span = f.spans.get(merged.inst as usize).copied().unwrap_or_default();
            let place = (program.path(span).to_owned(), span.line, f.name.clone());
            self.explained.push(PatternText::new(counted, place, logic.terms()));
        }
        if let Some(mut obligations) = values.obligations {
            let own = suffixes.iter().enumerate();
            let before: Vec<TermId> = group.before.iter().collect();
            let mut condition = |(m, s): (usize, &Vec<TermId>)| {
                let terms = logic.terms();
                let same = counted.is_condition_of(m, s, terms);
                // A member without a branch at the end has it in what it began with.
                let before = if same == Terms::TRUE { same } else { terms.and_all(&before) };
                terms.implies(before, same)
            };
            obligations.extend(own.map(&mut condition));
            for o in obligations {
                self.statistics.checked.check(o, logic);
            }
        }
        Ok(merged)
    }

    /// Who leaves the loop as this group does goes on separately.
    pub(super) fn is_exit_over(&mut self, group: &Group) -> bool {
        let first = group.members[0].node;
        self.trials.exit = self.patterns.get(&first).map(|c| c.pattern.exit.len());
        let is_over = self.trials.is_exit_over();
        if is_over {
            self.patterns.remove(&first);
        }
        is_over
    }

    /// The last merge is taken back: the members go on separately, as they cost less.
    pub(super) fn take_back(&mut self, group: &Group) {
        let Some((figures, texts)) = self.before_merge.take() else { return };
        self.statistics = figures;
        self.explained.truncate(texts);
        *self.statistics.refused.entry(Refusal::Costs).or_default() += 1;
        self.statistics.refused_states += group.members.len() as u64;
    }

    /// The first merges by patterns, as text.
    pub fn explained(&self) -> &[PatternText] {
        &self.explained
    }

    /// The group by the patterns of its members.
    pub(super) fn partition_by_patterns(&mut self, group: Group, logic: &mut dyn PathOracle) -> Vec<Group> {
        let states: Vec<&State> = group.members.iter().map(|m| &**m).collect();
        let suffixes: Option<Vec<Vec<TermId>>> = states.iter().map(|m| m.path.since(&group.before)).collect();
        let Some(suffixes) = suffixes.filter(|s| s.len() > 2) else { return vec![group] };
        let found = {
            let entails = |logic: &mut dyn PathOracle, m: usize, c| logic.entails(states[m], c);
            self.words.patterns(&suffixes, self.config.max_patterns, logic, &entails)
        };
        for why in found.refused {
            *self.statistics.patterns.refused.entry(why).or_default() += 1;
        }
        let Group { members, before, outer } = group;
        let mut members: Vec<Option<Box<State>>> = members.into_iter().map(Some).collect();
        let mut groups = Vec::with_capacity(found.patterns.len() + 1);
        for pattern in found.patterns {
            let own: Vec<Box<State>> = pattern.members.iter().filter_map(|m| members[m.0].take()).collect();
            self.trials.has_exit(Some(pattern.exit.len()));
            let counted = Counted::new(pattern, self.counters, logic.terms());
            self.counters += 1;
            self.patterns.insert(own[0].node, counted);
            groups.push(Group { members: own, before: before.clone(), outer });
        }
        let rest: Vec<Box<State>> = members.into_iter().flatten().collect();
        if rest.len() > 1 {
            self.trials.has_exit(None);
        }
        if !rest.is_empty() {
            groups.push(Group { members: rest, before, outer });
        }
        groups
    }
}
