//! One condition per node, versions of variables, an incremental solver.
//!
//! *Paper*: Backward Fig. 3 and 5. *Idea*: `c_n ⇒ ⋁ (condition ∧ c_m ∧ v⁰ = t…)` over the edges n → m; the conditions of
//! all nodes together with `c_entry` are satisfiable iff a path leads to the goal. A condition never changes once it is
//! made, so the solver keeps it. *Invariant*: along every path towards the goal the version of a variable never grows,
//! and it falls where the variable is assigned. *Deviations*: the print's Fig. 3 line 5 returns the merged versions; here
//! they are the final ones. A variable that nobody needs any more keeps its number, so that no version is used twice.
//! MERGEHEAPS takes the highest version and ties the others to it, as for scalars. At inner nodes the input is not tied:
//! objects that exist there need not be those of the input.

use crate::graph::{Graph, NodeId};
use crate::search::{Aim, Found, Search};
use crate::transfer::{Taken, Transfer};
use crate::variables::VarId;
use pleach_expr::{SymbolKind, TermId, Terms};
use pleach_smt::Satisfiability;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// When the solver is queried on the way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Solve {
    Never,
    Always,
    /// at the heads of loops
    Loops,
}

#[derive(Clone, Copy)]
struct Version {
    number: u32,
    /// some condition mentions it
    needed: bool,
}

type Versions = BTreeMap<VarId, Version>;

/// What is known at a node from which the aim can be reached.
struct State {
    reached: TermId,
    versions: Versions,
}

pub fn run(search: &mut Search, graph: &Graph, transfers: &[Transfer], aim: Aim, solve: Solve) -> Found {
    let mut states: Vec<Option<State>> = (0..graph.nodes.len()).map(|_| None).collect();
    for &n in &graph.order {
        if let Some(why) = search.out_of_time() {
            return Found::Unknown(why);
        }
        let Some((state, condition)) = merge(search, &transfers[n.index()], &states, aim, n) else { continue };
        let implied = search.translator.terms.implies(state.reached, condition);
        if let Err(why) = search.session.assert(search.translator.terms, implied) {
            return Found::Unknown(why.to_string());
        }
        let ask = match solve {
            Solve::Never => false,
            Solve::Always => true,
            Solve::Loops => graph.node(n).loop_head,
        };
        if ask && n != graph.entry && search.check(&[state.reached]) == Satisfiability::Unsat {
            // SOUND: no state of the program at this node reaches the aim, whatever comes before.
            continue;
        }
        states[n.index()] = Some(state);
    }
    let Some(state) = states[graph.entry.index()].take() else { return Found::No };
    let mut all = search.input_conditions();
    all.push(state.reached);
    search.solve(&all)
}

/// The value of a variable after an edge; `None` if it is that before the node, which differs between paths.
fn value_of(search: &mut Search, transfer: &Transfer, e: &Taken, v: VarId) -> Option<TermId> {
    match e.values.get(&v) {
        Some(&t) => Some(t),
        None => search.translator.known_value(&transfer.known, v),
    }
}

/// MERGE: the state of a node and its condition; nothing if no path leads to the aim.
fn merge(
    search: &mut Search,
    transfer: &Transfer,
    states: &[Option<State>],
    aim: Aim,
    n: NodeId,
) -> Option<(State, TermId)> {
    let own = search.own_condition(transfer, aim);
    let edges: Vec<_> = transfer.edges.iter().filter_map(|e| Some((e, states[e.to.index()].as_ref()?))).collect();
    if own == Terms::FALSE && edges.is_empty() {
        return None;
    }
    let mut versions = Versions::new();
    for (e, s) in &edges {
        for (&v, version) in &s.versions {
            let base = search.translator.variables.term(search.translator.terms, v, 0);
            let value = value_of(search, transfer, e, v);
            let assigned = version.needed && value.is_some_and(|t| t != base);
            let number = version.number + u32::from(assigned);
            let entry = versions.entry(v).or_insert(Version { number, needed: false });
            entry.number = entry.number.max(number);
            entry.needed |= version.needed && !assigned;
        }
    }
    // Everything that is mentioned is needed.
    let mut mentioned = vec![own];
    for (e, s) in &edges {
        mentioned.push(e.condition);
        for (v, version) in &s.versions {
            if version.needed
                && let Some(t) = e.values.get(v)
            {
                mentioned.push(*t);
            }
        }
    }
    for t in mentioned {
        for v in search.variables_of(t) {
            versions.entry(v).or_insert(Version { number: 0, needed: true }).needed = true;
        }
    }
    let mut map = FxHashMap::default();
    for (&v, version) in &versions {
        if version.number > 0 && version.needed {
            let base = search.translator.variables.term(search.translator.terms, v, 0);
            let now = search.translator.variables.term(search.translator.terms, v, version.number);
            map.insert(base, now);
        }
    }
    let mut any = search.translator.terms.substitute(own, &map);
    for (e, s) in &edges {
        let terms = &mut *search.translator.terms;
        let condition = terms.substitute(e.condition, &map);
        let mut all = terms.and(condition, s.reached);
        for (&v, version) in s.versions.iter().filter(|(_, version)| version.needed) {
            let after = search.translator.variables.term(search.translator.terms, v, version.number);
            let before = match value_of(search, transfer, e, v) {
                Some(t) => search.translator.terms.substitute(t, &map),
                None => search.translator.variables.term(search.translator.terms, v, versions[&v].number),
            };
            let terms = &mut *search.translator.terms;
            let same = if search.translator.variables.is_array(v) {
                terms.array_eq(after, before)
            } else {
                terms.eq(after, before)
            };
            all = terms.and(all, same);
        }
        any = search.translator.terms.or(any, all);
    }
    let name = format!("c{}", n.0);
    let reached = crate::variables::symbol(search.translator.terms, &name, SymbolKind::Bits(1));
    Some((State { reached, versions }, any))
}
