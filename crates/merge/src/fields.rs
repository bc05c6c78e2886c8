//! The rule for each field of a state.
//!
//! | field | rule |
//! |---|---|
//! | function, block, instruction, callers, phase, call's own data | equal, or the states do not meet |
//! | registers | equal, or an `ite`; what is not live is forgotten |
//! | memory | [`AddressSpace::merge`] |
//! | path constraint | the shared one and the guard's constraints; any member's model satisfies them |
//! | inputs and their names | equal: the order of requests is what a replay follows |
//! | exit handlers, jump points, exceptions, preferences, forking, targets passed | equal |
//! | functions left out, dependence on addresses, new coverage | of any member |
//! | decisions about pointers | those that all members have |
//! | numbers of fresh values | the largest: members are exclusive, so they may share a name |
//! | counters | the largest |
//! | rounds of bounded loops | the fewest |
//! | history | begins anew; the pruner gets those of the members |
//! | a record of branches, a query that waits | refused |

use crate::loops::ProgramFacts;
use pleach_expr::{Model, SymbolKind, SymbolOrigin, TermId, Terms};
use pleach_memory::merge::{Choice, SpaceConflict};
use pleach_memory::{AddressSpace, Value};
use pleach_state::seams::PathOracle;
use pleach_state::{CallStack, Frame, HashMap, History, PathConstraint, State};
use std::rc::Rc;

/// Why a group is not merged.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Refusal {
    /// their path constraints do not distinguish the members
    NotExclusive,
    Memory(SpaceConflict),
    Inputs,
    CallStack,
    /// exit handlers, jump points, exceptions, preferences, phase
    Surroundings,
    /// targets that only some have passed
    Targets,
    BranchRecord,
    /// a trial has shown that the members cost less
    Costs,
}

impl Refusal {
    pub fn describe(self) -> &'static str {
        match self {
            Refusal::NotExclusive => "conditions that are not known to be exclusive",
            Refusal::Memory(why) => why.describe(),
            Refusal::Inputs => "different inputs",
            Refusal::CallStack => "different call stacks",
            Refusal::Surroundings => "different exit handlers, jump points or exceptions",
            Refusal::Targets => "targets that only some states have passed",
            Refusal::BranchRecord => "a record of branches",
            Refusal::Costs => "a merged state costs more than its members",
        }
    }
}

/// One state for all members. `complete` makes a model of the first one a model of the `constraints`.
#[expect(clippy::too_many_arguments, reason = "what a merge depends on, once")]
pub(crate) fn merge(
    members: &[&State],
    before: &PathConstraint,
    one_sided: bool,
    constraints: &[TermId],
    complete: &dyn Fn(&mut Model, &Terms),
    choice: &mut dyn Choice,
    facts: &mut ProgramFacts,
    logic: &mut dyn PathOracle,
) -> Result<State, Refusal> {
    let first = members[0];
    members.iter().try_for_each(|m| compatible(first, m))?;
    let spaces: Vec<&AddressSpace> = members.iter().map(|m| &m.memory).collect();
    let memory = AddressSpace::merge(&spaces, one_sided, logic.terms(), choice).map_err(Refusal::Memory)?;
    let most = |count: fn(&State) -> u64| members.iter().map(|m| count(m)).max().unwrap_or(0);
    let any = |test: fn(&State) -> bool| members.iter().any(|m| test(m));
    let mut state = State {
        memory,
        path: before.clone(),
        frame: first.frame.clone(),
        left_out: union(members, |m| &m.left_out),
        fresh: most(|m| u64::from(m.fresh)) as u32,
        decided: in_all(members, |m| &m.decided),
        decided_numbers: in_all(members, |m| &m.decided_numbers),
        instructions: most(|m| m.instructions),
        since_new_coverage: members.iter().map(|m| m.since_new_coverage).min().unwrap_or(0),
        covered_new: any(|m| m.covered_new),
        depth: most(|m| u64::from(m.depth)) as u32,
        address_dependent: any(|m| m.address_dependent),
        query_cost: most(|m| m.query_cost),
        history: if first.history.is_kept() { History::beginning(first.inst) } else { History::default() },
        deferred: None,
        ..first.clone()
    };
    // At a place where paths meet, which is worth comparing.
    state.history.set_at_join();
    // SOUND: no member is cut by the bound on rounds before its time.
    for (block, rounds) in &mut state.frame.visits {
        *rounds = members.iter().map(|m| m.frame.visits.get(block).copied().unwrap_or(0)).min().unwrap_or(0);
    }
    merge_registers(&mut state, members, choice, facts, logic);
    let mut model = first.path.model();
    complete(&mut model, logic.terms());
    let model = Rc::new(model);
    for &c in constraints {
        logic.constrain(&mut state, c, &model);
    }
    Ok(state)
}

/// What has to be equal. Every field is named here, so that a new one needs a rule.
fn compatible(a: &State, b: &State) -> Result<(), Refusal> {
    let State {
        id: _,
        node: _,
        frame,
        callers,
        block,
        inst,
        memory: _,
        path: _,
        inputs,
        names,
        left_out: _,
        fresh: _,
        decided: _,
        decided_numbers: _,
        instructions: _,
        since_new_coverage: _,
        covered_new: _,
        depth: _,
        failing,
        address_dependent: _,
        passed,
        forking,
        preferences,
        at_exit,
        jump_points,
        thrown,
        phase,
        history,
        record,
        query_cost: _,
        deferred: _,
        pending,
    } = a;
    if (block, inst) != (&b.block, &b.inst) || !same_frame(frame, &b.frame) || !same_callers(callers, &b.callers) {
        return Err(Refusal::CallStack);
    }
    if !inputs.is_same(&b.inputs) || *names != b.names {
        return Err(Refusal::Inputs);
    }
    if !Rc::ptr_eq(passed, &b.passed) && *passed != b.passed {
        return Err(Refusal::Targets);
    }
    if record.is_some() || b.record.is_some() {
        return Err(Refusal::BranchRecord);
    }
    let thrown = match (thrown, &b.thrown) {
        (Some(x), Some(y)) => Rc::ptr_eq(x, y),
        (x, y) => x.is_none() && y.is_none(),
    };
    let jumps = Rc::ptr_eq(jump_points, &b.jump_points) || jump_points.is_empty() && b.jump_points.is_empty();
    let same = thrown
        && jumps
        && *forking == b.forking
        && *preferences == b.preferences
        && *at_exit == b.at_exit
        && *phase == b.phase
        && history.is_kept() == b.history.is_kept()
        && !(*failing || b.failing)
        && pending.is_none()
        && b.pending.is_none();
    if same { Ok(()) } else { Err(Refusal::Surroundings) }
}

/// Everything but the registers, how often loops were entered, and where the last call was to return to.
fn same_frame(a: &Frame, b: &Frame) -> bool {
    let Frame { func, regs: _, locals, varargs, block: _, inst: _, dsts: _, visits: _, landing } = a;
    let varargs = Rc::ptr_eq(varargs, &b.varargs) || varargs == &b.varargs;
    varargs && (func, locals, landing) == (&b.func, &b.locals, &b.landing)
}

/// The suspended calls are the same ones.
pub(crate) fn same_callers(a: &Option<Rc<CallStack>>, b: &Option<Rc<CallStack>>) -> bool {
    match (a, b) {
        (Some(x), Some(y)) => Rc::ptr_eq(x, y),
        (x, y) => x.is_none() && y.is_none(),
    }
}

fn merge_registers(
    state: &mut State,
    members: &[&State],
    choice: &mut dyn Choice,
    facts: &mut ProgramFacts,
    logic: &mut dyn PathOracle,
) {
    let func = state.frame.func;
    let program = facts.program.clone();
    let f = program.function(func);
    let live = facts.of(func).liveness.live_at(f, pleach_ir::InstId(state.inst));
    let mut values = Vec::with_capacity(members.len());
    for slot in 0..state.frame.regs.len() {
        values.clear();
        values.extend(members.iter().map(|m| m.frame.regs[slot]));
        if values.iter().all(|v| *v == values[0]) {
            continue;
        }
        if !live.contains(slot) {
            state.frame.regs[slot] = Value::Undef;
            continue;
        }
        let bits = program.target.bits(f.slots[slot].ty);
        for v in values.iter_mut().filter(|v| **v == Value::Undef) {
            *v = Value::Term(fresh(state.fresh, logic.terms(), bits));
            state.fresh += 1;
        }
        state.frame.regs[slot] = choice.choose(logic.terms(), &values, bits);
    }
}

/// A symbolic variable for a value that was never initialised.
fn fresh(number: u32, terms: &mut Terms, bits: u16) -> TermId {
    let name = || format!("undef!{number}");
    let s = terms.symbols.intern(SymbolOrigin::Undefined(number), SymbolKind::Bits(bits), name);
    terms.var(s)
}

type Set = Rc<std::collections::BTreeSet<String>>;

fn union(members: &[&State], set: fn(&State) -> &Set) -> Set {
    let mut all = set(members[0]).clone();
    for m in &members[1..] {
        if !Rc::ptr_eq(&all, set(m)) && !set(m).is_subset(&all) {
            Rc::make_mut(&mut all).extend(set(m).iter().cloned());
        }
    }
    all
}

fn in_all<V: Clone + PartialEq>(members: &[&State], map: fn(&State) -> &HashMap<TermId, V>) -> HashMap<TermId, V> {
    let mut all = map(members[0]).clone();
    for m in &members[1..] {
        let other = map(m);
        if !all.ptr_eq(other) {
            all.retain(|k, v| other.get(k) == Some(v));
        }
    }
    all
}
