//! One condition per node, versions of variables, an incremental solver.
//!
//! *Paper*: Backward Fig. 3 and 5. *Idea*: `c_n ⇒ ⋁ (condition ∧ c_m ∧ v⁰ = t…)` over the edges n → m; the conditions
//! of all nodes together with `c_entry` are satisfiable iff a path leads to the goal. A condition never changes once it
//! is made, so the solver keeps it. *Invariant*: along every path towards the goal the version of a variable never
//! grows, and it falls where the variable is assigned. *Deviations*: the print's Fig. 3 line 5 returns the merged
//! versions; here they are the final ones. A variable that nobody needs any more keeps its number, so that no version
//! is used twice. MERGEHEAPS takes the highest version and ties the others to it, as for scalars. At inner nodes the
//! input is not tied: objects that exist there need not be those of the input. *Named conditions*: a condition has a
//! name `c_n` only where paths join and it is large. A small one is put into those before it, and an assignment
//! substitutes in it, so that rewriting sees it; a variable that a named condition mentions (*hidden*) is tied by an
//! equation as in the print. [`Form::Named`] names every condition. The solver is queried where a loop is entered, if
//! enough nodes lie between two queries, and less often as it keeps saying that the condition can hold: only a
//! refutation saves work. With queries at loops the copy of the goal in the first iterations is looked for first: what
//! leads there is a small part of the graph.

use crate::graph::{Graph, NodeId};
use crate::search::{Aim, Found, Search};
use crate::transfer::{Taken, Transfer};
use crate::variables::VarId;
use pleach_expr::{SymbolKind, TermId, Terms};
use pleach_smt::Satisfiability;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// When the solver is queried on the way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Solve {
    Never,
    Always,
    /// at the heads of loops
    Loops,
}

/// Which conditions have names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// those that are large and that several nodes need
    Joined,
    /// all, as in the paper
    Named,
}

#[derive(Clone, Copy)]
struct Version {
    number: u32,
    /// some condition mentions it
    needed: bool,
    /// one that has a name does, under this number
    hidden: bool,
}

type Versions = BTreeMap<VarId, Version>;

/// What is known at a node from which the aim can be reached.
pub(crate) struct State {
    /// the condition or its name
    pub(crate) reached: TermId,
    versions: Versions,
}

/// Operators of a condition that is put into others.
const MAX_INLINED: usize = 1000;

/// `record` gets the condition of each node.
pub fn run(
    search: &mut Search,
    graph: &Graph,
    transfers: &[Transfer],
    aim: Aim,
    solve: Solve,
    form: Form,
    record: &mut dyn FnMut(NodeId, TermId),
) -> Found {
    if aim == Aim::Goals
        && solve == Solve::Loops
        && form == Form::Joined
        && let Some((goal, order)) = nearest_goal(graph, transfers)
    {
        let way = Way { order: &order, only: Some(goal), prefix: "n", solve: Solve::Never, form };
        if let Found::Yes(heap) = walk(search, graph, transfers, aim, &way, record) {
            return Found::Yes(heap);
        }
    }
    let way = Way { order: &graph.order, only: None, prefix: "c", solve, form };
    walk(search, graph, transfers, aim, &way, record)
}

/// Which nodes are walked, and how.
struct Way<'a> {
    /// successors before predecessors
    order: &'a [NodeId],
    /// the only goal that counts
    only: Option<NodeId>,
    /// of names of conditions
    prefix: &'a str,
    solve: Solve,
    form: Form,
}

/// A goal and the way to it with the fewest nodes, if they are less than half of all. Iterations of a loop lead to the
/// goal by different ways: where ways to it join first, one of them is taken.
fn nearest_goal(graph: &Graph, transfers: &[Transfer]) -> Option<(NodeId, Vec<NodeId>)> {
    let mut before: Vec<Vec<NodeId>> = vec![Vec::new(); graph.nodes.len()];
    for &n in &graph.order {
        transfers[n.index()].edges.iter().for_each(|e| before[e.to.index()].push(n));
    }
    let mut ways = Vec::new();
    for &goal in graph.order.iter().filter(|n| transfers[n.index()].goal.is_some_and(|t| t != Terms::FALSE)) {
        let mut chain = vec![goal];
        while let [one] = before[chain[chain.len() - 1].index()][..] {
            chain.push(one);
        }
        let last = chain[chain.len() - 1];
        ways.extend(before[last.index()].iter().map(|n| (goal, chain.clone(), *n)));
    }
    if !(2..=MAX_COMPARED).contains(&ways.len()) {
        return None;
    }
    let nodes = |chain: &[NodeId], from: NodeId| -> Vec<NodeId> {
        let mut leads = vec![false; graph.nodes.len()];
        leads[from.index()] = true;
        for n in &graph.order {
            leads[n.index()] |= transfers[n.index()].edges.iter().any(|e| leads[e.to.index()]);
        }
        chain.iter().for_each(|n| leads[n.index()] = true);
        graph.order.iter().copied().filter(|n| leads[n.index()]).collect()
    };
    let ways = ways.into_iter().map(|(goal, chain, from)| (goal, nodes(&chain, from)));
    let nearest = ways.min_by_key(|(_, nodes)| nodes.len())?;
    (2 * nearest.1.len() < graph.order.len()).then_some(nearest)
}

/// Ways that are compared by how many nodes are on them.
const MAX_COMPARED: usize = 64;

fn walk(
    search: &mut Search,
    graph: &Graph,
    transfers: &[Transfer],
    aim: Aim,
    way: &Way,
    record: &mut dyn FnMut(NodeId, TermId),
) -> Found {
    let mut states: Vec<Option<State>> = (0..graph.nodes.len()).map(|_| None).collect();
    let ways = ways_to(graph);
    let mut pause = Pause::default();
    for &n in way.order {
        if let Some(why) = search.out_of_time() {
            return Found::Unknown(why);
        }
        pause.pass();
        let counts = way.only.is_none_or(|goal| goal == n);
        let own = if counts { search.own_condition(&transfers[n.index()], aim) } else { Terms::FALSE };
        let Some(mut state) = merge(search, &transfers[n.index()], &states, own) else { continue };
        record(n, state.reached);
        let large = || ways[n.index()] > 1 && state.is_large(search);
        if (way.form == Form::Named || large())
            && let Err(why) = state.name(search, &format!("{}{}", way.prefix, n.0))
        {
            return Found::Unknown(why);
        }
        let ask = n != graph.entry
            && match way.solve {
                Solve::Never => false,
                Solve::Always => true,
                Solve::Loops => graph.node(n).enters_loop && pause.left == 0,
            };
        if ask {
            let answer = search.check(&[state.reached]);
            if answer == Satisfiability::Unsat {
                // SOUND: no state of the program at this node reaches the aim, whatever comes before.
                pause = Pause::default();
                continue;
            }
            pause.lengthen();
        }
        states[n.index()] = Some(state);
    }
    let Some(state) = states[graph.entry.index()].take() else { return Found::No };
    let mut all = search.input_conditions();
    all.push(state.reached);
    search.solve(&all)
}

/// Nodes between two queries at loops.
struct Pause {
    left: u32,
    length: u32,
}

/// Before the first query, and after a refutation.
const PAUSE: u32 = 512;

impl Default for Pause {
    fn default() -> Pause {
        Pause { left: PAUSE, length: PAUSE }
    }
}

impl Pause {
    fn pass(&mut self) {
        self.left = self.left.saturating_sub(1);
    }

    fn lengthen(&mut self) {
        self.length = self.length.saturating_mul(2);
        self.left = self.length;
    }
}

/// How many edges lead to each node.
pub(crate) fn ways_to(graph: &Graph) -> Vec<u32> {
    let mut ways = vec![0; graph.nodes.len()];
    for &n in &graph.order {
        for e in &graph.node(n).edges {
            ways[e.to.index()] += 1;
        }
    }
    ways
}

/// More than `most` different terms.
fn is_larger(terms: &Terms, t: TermId, most: usize) -> bool {
    let mut seen = FxHashSet::default();
    let mut todo = vec![t];
    while let Some(t) = todo.pop() {
        if !seen.insert(t) {
            continue;
        }
        if seen.len() > most {
            return true;
        }
        todo.extend(terms.args(t));
    }
    false
}

impl State {
    /// The condition has a name from now on.
    pub(crate) fn name(&mut self, search: &mut Search, name: &str) -> Result<(), String> {
        let condition = self.reached;
        self.reached = crate::variables::symbol(search.translator.terms, name, SymbolKind::Bits(1));
        for v in self.versions.values_mut() {
            v.hidden = v.needed;
        }
        let implied = search.translator.terms.implies(self.reached, condition);
        search.session.assert(search.translator.terms, implied).map_err(|why| why.to_string())
    }

    pub(crate) fn is_large(&self, search: &Search) -> bool {
        is_larger(search.translator.terms, self.reached, MAX_INLINED)
    }
}

/// The value of a variable after an edge; `None` if it is that before the node, which differs between paths.
fn value_of(search: &mut Search, transfer: &Transfer, e: &Taken, v: VarId) -> Option<TermId> {
    match e.values.get(&v) {
        Some(&t) => Some(t),
        None => search.translator.known_value(&transfer.known, v),
    }
}

/// MERGE: the state of a node; nothing if no path leads to the aim. `own`: when the node itself is the aim.
pub(crate) fn merge(search: &mut Search, transfer: &Transfer, states: &[Option<State>], own: TermId) -> Option<State> {
    let edges: Vec<_> = transfer.edges.iter().filter_map(|e| Some((e, states[e.to.index()].as_ref()?))).collect();
    if own == Terms::FALSE && edges.is_empty() {
        return None;
    }
    let mut versions = merged_versions(search, transfer, &edges);
    // Everything that is mentioned is needed.
    let mut mentioned = vec![own];
    for (e, s) in &edges {
        mentioned.push(e.condition);
        let needed = s.versions.iter().filter(|(_, version)| version.needed);
        mentioned.extend(needed.filter_map(|(v, _)| e.values.get(v)));
    }
    for t in mentioned {
        for v in search.variables_of(t) {
            versions.entry(v).or_insert(Version { number: 0, needed: true, hidden: false }).needed = true;
        }
    }
    let mut now = FxHashMap::default();
    for (&v, version) in versions.iter().filter(|(_, version)| version.number > 0 && version.needed) {
        let base = search.translator.variables.term(search.translator.terms, v, 0);
        now.insert(base, search.translator.variables.term(search.translator.terms, v, version.number));
    }
    let mut any = search.translator.terms.substitute(own, &now);
    for (e, s) in &edges {
        let all = before(search, transfer, e, s, &versions, &now);
        any = search.translator.terms.or(any, all);
    }
    (any != Terms::FALSE).then_some(State { reached: any, versions })
}

/// The versions at a node: the highest of those after it, and one more for a hidden variable that is assigned.
fn merged_versions(search: &mut Search, transfer: &Transfer, edges: &[(&Taken, &State)]) -> Versions {
    let mut versions = Versions::new();
    let mut kept = Vec::new();
    for (e, s) in edges {
        for (&v, version) in &s.versions {
            let base = search.translator.variables.term(search.translator.terms, v, 0);
            let value = value_of(search, transfer, e, v);
            let assigned = version.needed && value.is_some_and(|t| t != base);
            let number = version.number + u32::from(assigned && version.hidden);
            let entry = versions.entry(v).or_insert(Version { number, needed: false, hidden: false });
            entry.number = entry.number.max(number);
            entry.needed |= version.needed && !assigned;
            if version.hidden && !assigned {
                kept.push((v, number));
            }
        }
    }
    for (v, number) in kept {
        if let Some(entry) = versions.get_mut(&v) {
            // A lower version is tied to this one by an equation that can be seen.
            entry.hidden |= entry.number == number;
        }
    }
    versions
}

/// The condition after an edge as one before it.
fn before(
    search: &mut Search,
    transfer: &Transfer,
    e: &Taken,
    s: &State,
    versions: &Versions,
    now: &FxHashMap<TermId, TermId>,
) -> TermId {
    let condition = search.translator.terms.substitute(e.condition, now);
    if condition == Terms::FALSE {
        return Terms::FALSE;
    }
    let (mut put, mut tied) = (FxHashMap::default(), Terms::TRUE);
    for (&v, version) in s.versions.iter().filter(|(_, version)| version.needed) {
        let after = search.translator.variables.term(search.translator.terms, v, version.number);
        let value = match value_of(search, transfer, e, v) {
            Some(t) => search.translator.terms.substitute(t, now),
            None => search.translator.variables.term(search.translator.terms, v, versions[&v].number),
        };
        if !version.hidden {
            if value != after {
                put.insert(after, value);
            }
            continue;
        }
        let terms = &mut *search.translator.terms;
        let is_array = search.translator.variables.is_array(v);
        search.equates_arrays |= is_array;
        let same = if is_array { terms.array_eq(after, value) } else { terms.eq(after, value) };
        tied = terms.and(tied, same);
    }
    let terms = &mut *search.translator.terms;
    let reached = terms.substitute(s.reached, &put);
    let all = terms.and(condition, reached);
    terms.and(all, tied)
}
