//! Which recursive functions have contracts: those over numbers, in registers and in global variables.

use crate::undefined;
use pleach_ir::callgraph::CallGraph;
use pleach_ir::{Callee, CastOp, Const, FuncId, Function, GlobalId, Inst, OpndKind, Program, Symbol, Ty};
use std::collections::{BTreeMap, BTreeSet};

/// Functions without a body that a recursive function may call: they have no effect on memory.
const HARMLESS: &[&str] =
    &["__VERIFIER_assume", "__VERIFIER_error", "reach_error", "abort", "klee_silent_exit", "__assert_fail"];

/// A recursive function, and what its calls may read and change.
#[derive(Clone, Debug)]
pub(crate) struct RecursiveFunction {
    pub id: FuncId,
    /// bits of each argument
    pub arguments: Vec<u16>,
    /// bits of its result, if it has one
    pub result: Option<u16>,
    /// global variables that calls read or change, and their bits
    pub touched: BTreeMap<GlobalId, u16>,
    pub changed: BTreeSet<GlobalId>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Fragment {
    pub functions: Vec<RecursiveFunction>,
}

impl Fragment {
    pub fn of(program: &Program, entry: FuncId) -> Result<Fragment, String> {
        let graph = CallGraph::new(program);
        let recursive = recursive(program, entry);
        let mut out = Fragment::default();
        for &id in &recursive {
            out.functions.push(function(program, &graph, id)?);
        }
        for id in reached(&graph, entry) {
            undefined::refuse(program, program.function(id), &recursive)?;
        }
        Ok(out)
    }
}

/// Everything that a function may call, itself first.
fn reached(graph: &CallGraph, from: FuncId) -> Vec<FuncId> {
    let (mut all, mut next) = (vec![from], 0);
    while let Some(&f) = all.get(next) {
        next += 1;
        for &g in graph.callees(f) {
            if !all.contains(&g) {
                all.push(g);
            }
        }
    }
    all
}

/// The recursive functions that the entry reaches.
pub(crate) fn recursive(program: &Program, entry: FuncId) -> Vec<FuncId> {
    let graph = CallGraph::new(program);
    let mut all: Vec<FuncId> = reached(&graph, entry).into_iter().filter(|f| graph.is_recursive(*f)).collect();
    all.sort_unstable();
    all
}

fn function(program: &Program, graph: &CallGraph, id: FuncId) -> Result<RecursiveFunction, String> {
    let f = program.function(id);
    let no = |why: &str| Err(format!("`{}` {why}", f.name));
    if graph.address_taken().contains(&id) {
        return no("is called through a pointer");
    }
    if f.variadic || f.results.len() > 1 || program.constructors.contains(&id) || program.destructors.contains(&id) {
        return no("takes or returns more than numbers");
    }
    let bits = |ty: Ty| match ty {
        Ty::Int(w) if matches!(w, 1 | 8 | 16 | 32 | 64) => Some(w),
        _ => None,
    };
    let arguments: Option<Vec<u16>> = f.params.iter().map(|p| bits(p.ty).filter(|_| p.byval.is_none())).collect();
    let result: Option<Vec<u16>> = f.results.iter().map(|r| bits(*r)).collect();
    let (Some(arguments), Some(result)) = (arguments, result) else {
        return no("takes or returns more than numbers");
    };
    let (mut touched, mut changed) = (BTreeMap::new(), BTreeSet::new());
    for g in reached(graph, id) {
        body(program, program.function(g), &mut touched, &mut changed)?;
    }
    Ok(RecursiveFunction { id, arguments, result: result.first().copied(), touched, changed })
}

/// What a function that a recursive one calls reads and changes.
fn body(
    program: &Program,
    f: &Function,
    touched: &mut BTreeMap<GlobalId, u16>,
    changed: &mut BTreeSet<GlobalId>,
) -> Result<(), String> {
    let no = |why: &str| Err(format!("`{}` {why}", f.name));
    if f.is_declaration() {
        let harmless = HARMLESS.contains(&f.name.as_str()) || f.name.starts_with("__VERIFIER_nondet_");
        return if harmless { Ok(()) } else { no("has no body") };
    }
    let mut cell = |ty: Ty, ptr: pleach_ir::Opnd| -> Option<GlobalId> {
        let OpndKind::Const(c) = ptr.kind() else { return None };
        let Const::Addr { symbol: Symbol::Global(g), addend: 0 } = f.consts[c as usize] else { return None };
        let Ty::Int(w) = ty else { return None };
        let whole = matches!(w, 8 | 16 | 32 | 64) && program.global(g).size == u64::from(w / 8);
        let plain = whole && !program.global(g).thread_local;
        (plain && *touched.entry(g).or_insert(w) == w).then_some(g)
    };
    for inst in &f.insts {
        match inst {
            Inst::Load { ty, volatile: false, ptr, .. } => match cell(*ty, *ptr) {
                Some(_) => {}
                None => return no("reads memory other than global numbers"),
            },
            Inst::Store { ty, volatile: false, ptr, .. } => match cell(*ty, *ptr) {
                Some(g) if !program.global(g).constant => drop(changed.insert(g)),
                _ => return no("writes memory other than global numbers"),
            },
            Inst::Cast { op: CastOp::Trunc | CastOp::ZExt | CastOp::SExt, .. }
            | Inst::Bin { .. }
            | Inst::Cmp { .. }
            | Inst::Select { .. }
            | Inst::Mov { .. }
            | Inst::Freeze { .. }
            | Inst::Undef { .. }
            | Inst::Scalar { .. }
            | Inst::Assume { .. }
            | Inst::Check { .. }
            | Inst::Call { callee: Callee::Direct(_), .. }
            | Inst::Jump { .. }
            | Inst::Branch { .. }
            | Inst::Switch { .. }
            | Inst::Return { .. }
            | Inst::Unreachable => {}
            Inst::Call { .. } => return no("calls through a pointer"),
            _ => return no("works on more than numbers"),
        }
    }
    Ok(())
}
