//! Disjuncts that are carried to the entry.
//!
//! *Paper*: Backward Fig. 2 and 4. *Idea*: the state of a node is a disjunction of conditions over the variables there;
//! an assignment substitutes, a branch adds its condition. SIMPLIFY is the rewriting builder of terms, per disjunct:
//! equal disjuncts are one, false ones are dropped. *Invariant*: an execution at the node reaches the aim iff some
//! disjunct holds.

use crate::graph::Graph;
use crate::search::{Aim, Found, Search};
use crate::transfer::Transfer;
use pleach_expr::{TermId, Terms};
use rustc_hash::{FxHashMap, FxHashSet};

/// How a state is represented.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Disjuncts {
    /// a set of disjuncts
    Set,
    /// one term
    Whole,
    /// a set whose members become one term where paths join
    Combined,
}

/// More disjuncts than this at one node are given up.
const MAX_DISJUNCTS: usize = 200_000;

pub fn run(search: &mut Search, graph: &Graph, transfers: &[Transfer], aim: Aim, how: Disjuncts) -> Found {
    let disjuncts = match states(search, graph, transfers, aim, how) {
        Ok(mut states) => std::mem::take(&mut states[graph.entry.index()]),
        Err(why) => return Found::Unknown(why),
    };
    let inputs = search.input_conditions();
    let mut unknown = None;
    for d in disjuncts {
        let mut query = vec![d];
        query.extend(&inputs);
        match search.solve(&query) {
            Found::No => {}
            Found::Unknown(why) => unknown = Some(why),
            yes => return yes,
        }
    }
    unknown.map_or(Found::No, Found::Unknown)
}

/// The disjuncts of each node, or why there are none.
pub fn states(
    search: &mut Search,
    graph: &Graph,
    transfers: &[Transfer],
    aim: Aim,
    how: Disjuncts,
) -> Result<Vec<Vec<TermId>>, String> {
    let mut states: Vec<Vec<TermId>> = vec![Vec::new(); graph.nodes.len()];
    for &n in &graph.order {
        if let Some(why) = search.out_of_time() {
            return Err(why);
        }
        let transfer = &transfers[n.index()];
        let mut all = Vec::new();
        let mut seen = FxHashSet::default();
        let mut ways = 0;
        let own = search.own_condition(transfer, aim);
        if own != Terms::FALSE {
            ways += 1;
            all.push(own);
        }
        for e in transfer.edges.iter().filter(|e| !states[e.to.index()].is_empty()) {
            let mut map = FxHashMap::default();
            for (v, t) in &e.values {
                let base = search.translator.variables.term(search.translator.terms, *v, 0);
                map.insert(base, *t);
            }
            ways += 1;
            for &d in &states[e.to.index()] {
                if let Some(why) = search.out_of_time() {
                    return Err(why);
                }
                for v in search.variables_of(d) {
                    if !e.values.contains_key(&v)
                        && let Some(t) = search.translator.known_value(&transfer.known, v)
                    {
                        let base = search.translator.variables.term(search.translator.terms, v, 0);
                        map.insert(base, t);
                    }
                }
                let terms = &mut *search.translator.terms;
                let before = terms.substitute(d, &map);
                let d = terms.and(e.condition, before);
                if d != Terms::FALSE && seen.insert(d) {
                    all.push(d);
                }
            }
        }
        let one = how == Disjuncts::Whole || how == Disjuncts::Combined && ways > 1;
        if one && all.len() > 1 {
            all = vec![search.translator.terms.or_all(&all)];
        }
        if all.len() > MAX_DISJUNCTS {
            return Err(format!("more than {MAX_DISJUNCTS} disjuncts"));
        }
        states[n.index()] = all;
    }
    Ok(states)
}
