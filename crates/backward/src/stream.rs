//! Inputs that a program asks for while it runs: `__VERIFIER_nondet_…`, `klee_int`, `klee_make_symbolic`, and the
//! results of callbacks.
//!
//! *Idea*: all of them are one stream of bytes. An array of the input has the bytes, and a variable counts how many were
//! taken; a call takes the next ones. So the order of calls on a path need not be known: the program that runs natively
//! takes the same bytes.

use crate::graph::Graph;
use crate::layout::AtomKind;
use crate::pointers::constant;
use crate::transfer::{Here, Translator};
use crate::variables::Var;
use pleach_expr::{INDEX_BITS, SymbolKind, TermId, Terms};
use pleach_ir::{Arg, Callee, Function, Inst, Opnd, Program, Ty};

/// What a function takes from the stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Takes {
    /// a number, its result
    Number,
    /// 0 or 1
    Bool,
    /// the bytes of an object
    Object,
}

/// Of a function without a body; `None` if it takes nothing.
pub fn takes(f: &Function) -> Option<Takes> {
    if !f.is_declaration() {
        return None;
    }
    match f.name.as_str() {
        "klee_make_symbolic" | "__VERIFIER_nondet_memory" => Some(Takes::Object),
        "klee_int" => Some(Takes::Number),
        "__VERIFIER_nondet_bool" | "__VERIFIER_nondet__Bool" => Some(Takes::Bool),
        "__VERIFIER_nondet_pointer" | "__VERIFIER_nondet_pchar" => None,
        name => name.starts_with("__VERIFIER_nondet_").then_some(Takes::Number),
    }
}

/// The function that a call instruction takes from, with its arguments.
pub fn taken_by<'f>(program: &Program, f: &'f Function, i: usize) -> Option<(Takes, &'f [Arg])> {
    match f.insts[i] {
        Inst::Call { callee: Callee::Direct(g), args, .. } => {
            Some((takes(program.function(g))?, &f.args[args.as_range()]))
        }
        Inst::Call { callee: Callee::Indirect(_), dsts, .. } => {
            let d = f.dsts[dsts.as_range()].first()?;
            matches!(f.slots[d.index()].ty, Ty::Int(_)).then_some((Takes::Number, &[][..]))
        }
        _ => None,
    }
}

/// Bytes that one call takes; `None` if that is not known.
fn bytes(program: &Program, f: &Function, i: usize) -> Option<u64> {
    let (takes, args) = taken_by(program, f, i)?;
    let Inst::Call { dsts, .. } = f.insts[i] else { return None };
    match takes {
        Takes::Object => constant(f, args.get(1)?.value),
        Takes::Bool => Some(1),
        Takes::Number => {
            let d = f.dsts[dsts.as_range()].first()?;
            let ty = f.slots[d.index()].ty;
            (program.target.bits(ty) <= 64).then(|| u64::from(program.target.store_bytes(ty)))
        }
    }
}

/// The most bytes that a path of the graph takes.
pub fn longest(program: &Program, graph: &Graph) -> u64 {
    let mut most = vec![0u64; graph.nodes.len()];
    for &n in &graph.order {
        let node = graph.node(n);
        let f = graph.function(program, node.frame);
        let own: u64 = node.insts.clone().filter_map(|i| bytes(program, f, i)).sum();
        let after = node.edges.iter().map(|e| most[e.to.index()]).max().unwrap_or(0);
        most[n.index()] = own + after;
    }
    most[graph.entry.index()]
}

impl Translator<'_> {
    /// A byte of the stream, at a constant index.
    pub fn stream_byte(&mut self, at: u64) -> TermId {
        let id = self.variables.id(Var::Stream, SymbolKind::total(8));
        let stream = self.variables.input(self.terms, id);
        let i = self.terms.constant(INDEX_BITS, at);
        self.terms.read(stream, i)
    }

    fn next_bytes(&mut self, here: &Here, from: u64, bytes: u64) -> TermId {
        let taken = self.read_var(here, Var::Taken, SymbolKind::Bits(INDEX_BITS));
        let id = self.variables.id(Var::Stream, SymbolKind::total(8));
        let stream = self.variables.input(self.terms, id);
        let mut value: Option<TermId> = None;
        for k in 0..bytes {
            let by = self.terms.constant(INDEX_BITS, from + k);
            let i = self.terms.add(taken, by);
            let byte = self.terms.read(stream, i);
            value = Some(value.map_or(byte, |low| self.terms.concat(byte, low)));
        }
        value.unwrap_or(Terms::FALSE)
    }

    fn advance(&mut self, here: &mut Here, bytes: u64) {
        let taken = self.read_var(here, Var::Taken, SymbolKind::Bits(INDEX_BITS));
        let by = self.terms.constant(INDEX_BITS, bytes);
        let next = self.terms.add(taken, by);
        self.write_var(here, Var::Taken, SymbolKind::Bits(INDEX_BITS), next);
    }

    /// The result of a call that takes a number; `None` if it is none of at most 64 bits.
    pub fn take_number(&mut self, here: &mut Here, i: usize, takes: Takes) -> Option<TermId> {
        let n = bytes(self.program, here.f, i)?;
        let v = self.next_bytes(here, 0, n);
        self.advance(here, n);
        if takes == Takes::Bool {
            let one = self.terms.constant(8, 1);
            let small = self.terms.ule(v, one);
            self.assume(here, small);
        }
        Some(v)
    }

    /// An object gets the next bytes.
    pub fn take_object(&mut self, here: &mut Here, dst: Opnd, len: Option<u64>) {
        let at = self.pointers.operand(here.frame, here.f, dst, &here.state);
        let (r, o) = self.pointer(here, dst);
        if self.is_unmodelled(&at) {
            return self.forget_written(here, &at);
        }
        let (Some(start), Some(len)) = (self.terms.as_const(o), len) else {
            self.unsupported(here, "a symbolic object whose ends are not known");
            here.assume = Terms::FALSE;
            return;
        };
        if len == 0 {
            return;
        }
        let ok = self.valid(here, &at, r, o, len, true);
        self.assume(here, ok);
        let Some(region) = self.region(here, &at) else { return };
        let Some(atoms) = self.atoms_between(&region, start as i64, len) else {
            self.unsupported(here, "a part of a value becomes symbolic");
            here.assume = Terms::FALSE;
            return;
        };
        for (atom, place) in atoms {
            let AtomKind::Bits { array } = atom.kind else {
                self.unsupported(here, "a pointer becomes symbolic");
                here.assume = Terms::FALSE;
                return;
            };
            let v = self.next_bytes(here, (place - start as i64) as u64, atom.bytes);
            let offset = self.terms.constant(64, place as u64);
            let i = self.index(&region, r, offset, 0);
            self.put(here, array, i, v);
        }
        self.advance(here, len);
    }
}
