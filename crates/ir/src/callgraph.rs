//! Who calls whom.
//!
//! *Direction* an indirect call may reach any function whose address is taken and whose signature fits; more than can
//! happen, except through pointers made from integers and through undefined functions that call back (`qsort`), which
//! are not seen.

use crate::ids::{FuncId, InstId};
use crate::inst::{Arg, Callee, Inst, Ty};
use crate::program::{Const, Function, Init, Program, Symbol, Target};
use rustc_hash::FxHashMap;

/// A call through a pointer.
#[derive(Clone, Debug)]
pub struct IndirectCall {
    pub at: InstId,
    /// ascending
    pub candidates: Vec<FuncId>,
}

#[derive(Clone, Debug)]
pub struct CallGraph {
    direct: Vec<Vec<FuncId>>,
    indirect: Vec<Vec<IndirectCall>>,
    callees: Vec<Vec<FuncId>>,
    callers: Vec<Vec<FuncId>>,
    address_taken: Vec<FuncId>,
    components: Vec<Vec<FuncId>>,
    component: Vec<u32>,
}

impl CallGraph {
    pub fn new(p: &Program) -> CallGraph {
        let n = p.functions.len();
        let address_taken = address_taken(p);
        let (mut direct, mut indirect) = (vec![Vec::new(); n], vec![Vec::new(); n]);
        let mut known: FxHashMap<CallShape, Vec<FuncId>> = FxHashMap::default();
        for (i, f) in p.functions.iter().enumerate() {
            for (at, inst) in f.insts.iter().enumerate() {
                let Inst::Call { callee, dsts, args } = inst else { continue };
                match callee {
                    Callee::Direct(id) => direct[i].push(*id),
                    Callee::Indirect(_) => {
                        let shape = CallShape {
                            args: f.args[args.as_range()].iter().map(|a| class(&p.target, a.ty)).collect(),
                            results: f.dsts[dsts.as_range()]
                                .iter()
                                .map(|d| class(&p.target, f.slots[d.index()].ty))
                                .collect(),
                        };
                        let fits = |s: &CallShape| {
                            address_taken.iter().copied().filter(|&c| s.fits(&p.target, p.function(c))).collect()
                        };
                        let candidates = match known.get(&shape) {
                            Some(found) => found.clone(),
                            None => known.entry(shape.clone()).or_insert(fits(&shape)).clone(),
                        };
                        indirect[i].push(IndirectCall { at: InstId::new(at), candidates });
                    }
                }
            }
            sort_unique(&mut direct[i]);
        }
        CallGraph::link(direct, indirect, address_taken)
    }

    fn link(direct: Vec<Vec<FuncId>>, indirect: Vec<Vec<IndirectCall>>, address_taken: Vec<FuncId>) -> CallGraph {
        let n = direct.len();
        let mut callees = direct.clone();
        let mut callers = vec![Vec::new(); n];
        for (i, out) in callees.iter_mut().enumerate() {
            out.extend(indirect[i].iter().flat_map(|c| &c.candidates));
            sort_unique(out);
            for c in out {
                callers[c.index()].push(FuncId::new(i));
            }
        }
        let components = components(&callees);
        let mut component = vec![0; n];
        for (i, members) in components.iter().enumerate() {
            members.iter().for_each(|m| component[m.index()] = i as u32);
        }
        CallGraph { direct, indirect, callees, callers, address_taken, components, component }
    }

    /// Functions called by name, ascending.
    pub fn direct(&self, f: FuncId) -> &[FuncId] {
        &self.direct[f.index()]
    }
    /// Calls through pointers, in instruction order.
    pub fn indirect(&self, f: FuncId) -> &[IndirectCall] {
        &self.indirect[f.index()]
    }
    /// Whom one call instruction may reach.
    pub fn candidates(&self, f: FuncId, at: InstId) -> &[FuncId] {
        let calls = &self.indirect[f.index()];
        calls.binary_search_by_key(&at, |c| c.at).map_or(&[], |i| &calls[i].candidates)
    }
    /// Whom a function may call, by name or through a pointer, ascending.
    pub fn callees(&self, f: FuncId) -> &[FuncId] {
        &self.callees[f.index()]
    }
    pub fn callers(&self, f: FuncId) -> &[FuncId] {
        &self.callers[f.index()]
    }
    /// Functions that occur as a value in code or in an initialiser, ascending.
    pub fn address_taken(&self) -> &[FuncId] {
        &self.address_taken
    }
    /// The strongly connected components, callees before callers.
    pub fn components(&self) -> &[Vec<FuncId>] {
        &self.components
    }
    /// Which of `components` holds the function.
    pub fn component(&self, f: FuncId) -> usize {
        self.component[f.index()] as usize
    }
    /// Whether the function may be called while it is running.
    pub fn is_recursive(&self, f: FuncId) -> bool {
        self.components[self.component(f)].len() > 1 || self.callees(f).contains(&f)
    }
    /// What the roots may end up calling, themselves included, ascending.
    pub fn reachable(&self, roots: impl IntoIterator<Item = FuncId>) -> Vec<FuncId> {
        let mut seen = vec![false; self.callees.len()];
        let mut work: Vec<FuncId> = roots.into_iter().collect();
        while let Some(f) = work.pop() {
            if !std::mem::replace(&mut seen[f.index()], true) {
                work.extend(self.callees(f));
            }
        }
        (0..seen.len()).filter(|&i| seen[i]).map(FuncId::new).collect()
    }
}

/// What a calling convention distinguishes: whether the value is a float, and its bits. Pointers pass as integers.
type Class = (bool, u16);

fn class(target: &Target, ty: Ty) -> Class {
    (matches!(ty, Ty::Float(_)), target.bits(ty))
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct CallShape {
    args: Vec<Class>,
    results: Vec<Class>,
}

impl CallShape {
    /// A caller may pass more to a variadic function and may ignore the results.
    fn fits(&self, target: &Target, f: &Function) -> bool {
        let count_fits = if f.variadic { self.args.len() >= f.params.len() } else { self.args.len() == f.params.len() };
        count_fits
            && f.params.iter().zip(&self.args).all(|(p, &a)| class(target, p.ty) == a)
            && (self.results.is_empty() || f.results.iter().map(|&r| class(target, r)).eq(self.results.iter().copied()))
    }
}

/// Whether a call with these arguments and result types suits a function.
pub fn signature_fits(target: &Target, f: &Function, args: &[Arg], results: &[Ty]) -> bool {
    let args = args.iter().map(|a| class(target, a.ty)).collect();
    CallShape { args, results: results.iter().map(|&r| class(target, r)).collect() }.fits(target, f)
}

fn address_taken(p: &Program) -> Vec<FuncId> {
    let consts = p.functions.iter().flat_map(|f| &f.consts).filter_map(|c| match c {
        Const::Addr { symbol: Symbol::Function(id), .. } => Some(*id),
        _ => None,
    });
    let relocs = p.globals.iter().filter_map(|g| match &g.init {
        Init::Bytes { relocs, .. } => Some(relocs),
        _ => None,
    });
    let stored = relocs.flatten().filter_map(|r| match r.symbol {
        Symbol::Function(id) => Some(id),
        _ => None,
    });
    let mut all: Vec<FuncId> = consts.chain(stored).collect();
    sort_unique(&mut all);
    all
}

fn sort_unique(v: &mut Vec<FuncId>) {
    v.sort_unstable();
    v.dedup();
}

/// Tarjan's algorithm with an explicit stack; a component is finished only after those it calls.
fn components(callees: &[Vec<FuncId>]) -> Vec<Vec<FuncId>> {
    const NEW: u32 = u32::MAX;
    let n = callees.len();
    let (mut order, mut low, mut open) = (vec![NEW; n], vec![NEW; n], vec![false; n]);
    let (mut found, mut pending, mut clock) = (Vec::new(), Vec::new(), 0);
    for root in 0..n {
        if order[root] != NEW {
            continue;
        }
        let mut stack = vec![(root, 0)];
        while let Some((v, next)) = stack.last_mut() {
            let v = *v;
            if *next == 0 && order[v] == NEW {
                (order[v], low[v], open[v]) = (clock, clock, true);
                clock += 1;
                pending.push(v);
            }
            if let Some(w) = callees[v].get(*next).map(|w| w.index()) {
                *next += 1;
                if order[w] == NEW {
                    stack.push((w, 0));
                } else if open[w] {
                    low[v] = low[v].min(order[w]);
                }
                continue;
            }
            stack.pop();
            if let Some((up, _)) = stack.last() {
                low[*up] = low[*up].min(low[v]);
            }
            if low[v] == order[v] {
                let mut members = Vec::new();
                while let Some(w) = pending.pop() {
                    open[w] = false;
                    members.push(FuncId::new(w));
                    if w == v {
                        break;
                    }
                }
                sort_unique(&mut members);
                found.push(members);
            }
        }
    }
    found
}
