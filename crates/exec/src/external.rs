//! Functions without a body and without a model, by policy: the path ends; or their result and the memory they could
//! reach become symbolic; or they are called natively with concrete arguments; or their result alone is symbolic.
//!
//! *Direction*: the second and the third lose behaviours (globals, call-backs, other values of the arguments), so that
//! the rest is cut off as a path of its own, once per path and function: such a run is never complete. The last is an
//! assumption, which every answer names.

use crate::access::{ResolvedLocation, note};
use crate::config::External;
use crate::feasibility::Feasibility;
use crate::flow::{Flow, StepResult};
use crate::machine::Machine;
use crate::models::symbolic::LARGE_INPUT;
use pleach_expr::{SymbolId, SymbolKind, SymbolOrigin, TermId, Terms};
use pleach_ir::{FuncId, Slot, Ty};
use pleach_memory::{ByteView, ObjId, ObjectKind, Value};
use pleach_state::{Access, Assumption, Cut, End, ForkKind, State};
use std::collections::BTreeSet;
use std::rc::Rc;

/// What a native call finds where nobody wrote.
const UNWRITTEN: u8 = 0xa5;

/// Memory handed to a native call at most.
const MAX_BYTES: u64 = 1 << 20;

/// A call to make natively.
pub struct NativeCall<'a> {
    pub name: &'a str,
    /// bits and whether they are a float's
    pub args: Vec<(u64, bool)>,
    /// whether the result is a float, if there is one
    pub result: Option<bool>,
    /// address and bytes of the objects that the arguments reach
    pub memory: Vec<(u64, Vec<u8>)>,
}

/// What came of it: the bits of the result, and the bytes afterwards.
pub struct NativeAnswer {
    pub result: u64,
    pub memory: Vec<Vec<u8>>,
}

/// Calls native functions in a separate process.
pub trait NativeCalls {
    fn call(&mut self, call: &NativeCall) -> Result<NativeAnswer, String>;
}

impl Machine {
    pub(crate) fn external(&mut self, st: &mut State, callee: FuncId, args: &[(Value, Ty)], dsts: &[Slot]) -> Flow {
        let program = self.program.clone();
        let f = program.function(callee);
        let done = match self.config.external {
            External::Error => Err(Flow::cut(Cut::External(f.name.clone()))),
            _ if f.noreturn => Err(Flow::cut(Cut::External(f.name.clone()))),
            External::Havoc => self.havoc(st, &f.name, args, dsts),
            External::Concrete => self.call_natively(st, &f.name, args, dsts),
            External::Pure => {
                self.any_result(st, &f.name, dsts);
                note(st, || Access::AnyResult);
                return Flow::Next;
            }
        };
        match done {
            Ok(()) => {
                note(st, || Access::Opaque);
                Flow::Next
            }
            Err(flow) => flow,
        }
    }

    /// Cuts off, once per path and function, everything that the policy leaves out.
    fn leave_out(&mut self, st: &mut State, name: &str) -> StepResult<()> {
        if st.left_out.contains(name) {
            return Ok(());
        }
        Rc::make_mut(&mut st.left_out).insert(name.to_owned());
        match (self.is_satisfiable(st, Terms::TRUE), self.is_satisfiable(st, Terms::TRUE)) {
            (Ok(Some(goes_on)), Ok(Some(cut))) => {
                let end = End::Cut(Cut::External(name.into()));
                Err(self.split(st, vec![(goes_on, None), (cut, Some(end))], ForkKind::Other))
            }
            _ => Ok(()),
        }
    }

    fn external_symbol(&mut self, st: &mut State, kind: SymbolKind) -> SymbolId {
        let number = st.fresh_number();
        let name = || format!("external!{number}");
        self.terms.symbols.intern(SymbolOrigin::External(number), kind, name)
    }

    fn symbolic_results(&mut self, st: &mut State, dsts: &[Slot]) {
        let func = st.frame.func;
        for d in dsts {
            let width = self.width_of(self.program.function(func).slots[d.index()].ty);
            let symbol = self.external_symbol(st, SymbolKind::Bits(width));
            let t = self.terms.var(symbol);
            self.set_term(st, *d, t);
        }
    }

    /// The function returns anything and does nothing else, by assumption.
    fn any_result(&mut self, st: &mut State, name: &str, dsts: &[Slot]) {
        Rc::make_mut(&mut st.left_out).insert(name.to_owned());
        self.assume_of_run(Assumption::Pure(name.to_owned()));
        self.symbolic_results(st, dsts);
    }

    fn havoc(&mut self, st: &mut State, name: &str, args: &[(Value, Ty)], dsts: &[Slot]) -> StepResult<()> {
        self.leave_out(st, name)?;
        for obj in self.reachable(st, args) {
            let header = st.memory.header(obj).filter(|o| !o.readonly && o.kind != ObjectKind::Function);
            let Some(size) = header.map(|o| o.capacity()).filter(|size| *size > 0) else { continue };
            let Ok(len) = u32::try_from(size) else {
                return Err(Flow::cut(Cut::Unsupported(format!("{LARGE_INPUT} ({size} bytes)"))));
            };
            let kind = SymbolKind::Array { element: 8, len };
            let symbol = self.external_symbol(st, kind);
            let array = self.terms.array_var(symbol);
            self.write_array(st, obj, 0, size, array);
        }
        self.symbolic_results(st, dsts);
        self.warn_once(format!("`{name}` has no body: its result and the memory it can reach become symbolic"));
        Ok(())
    }

    /// Objects that the arguments point to, and those that pointers in them point to, in order.
    fn reachable(&mut self, st: &State, args: &[(Value, Ty)]) -> BTreeSet<ObjId> {
        let mut found = BTreeSet::new();
        let mut next: Vec<Value> = args.iter().map(|a| a.0).collect();
        while let Some(v) = next.pop() {
            let objects: Vec<ObjId> = match v {
                Value::Ptr { obj, .. } => vec![obj],
                Value::Int(a) => st.memory.find(a).into_iter().collect(),
                Value::Term(t) => self.terms.bases(t),
                Value::Undef => Vec::new(),
            };
            for obj in objects {
                if let Some((contents, w)) = st.memory.contents(obj)
                    && found.insert(obj)
                {
                    next.extend(contents.held(w));
                }
            }
        }
        found
    }

    fn call_natively(&mut self, st: &mut State, name: &str, args: &[(Value, Ty)], dsts: &[Slot]) -> StepResult<()> {
        if self.native_calls.is_none() || self.pointer_bits() != 64 {
            return Err(Flow::cut(Cut::External(name.into())));
        }
        self.leave_out(st, name)?;
        let refuse = |why: &str| Flow::cut(Cut::Unsupported(format!("a native call of `{name}` {why}")));
        let mut bits = Vec::new();
        for &(v, ty) in args {
            let w = self.width_of(ty);
            if w > 64 {
                return Err(refuse("with an argument of more than 64 bits"));
            }
            let n = self.concretize(st, v, w, &format!("an argument of `{name}`, which is called natively"))?;
            bits.push((n, matches!(ty, Ty::Float(_))));
        }
        let objects: Vec<ObjId> = self
            .reachable(st, args)
            .into_iter()
            .filter(|o| st.memory.header(*o).is_some_and(|o| o.kind != ObjectKind::Function))
            .collect();
        for &obj in &objects {
            self.fix_size(st, obj, "the size of an object given to a native call")?;
        }
        let total: u64 = objects.iter().filter_map(|o| st.memory.header(*o)).map(|o| o.capacity()).sum();
        if total > MAX_BYTES {
            return Err(refuse("that reaches more than 1 MiB"));
        }
        let memory = self.concrete_memory(st, name, &objects)?;
        let func = st.frame.func;
        let result = dsts.first().map(|d| self.program.function(func).slots[d.index()].ty);
        let call = NativeCall { name, args: bits, result: result.map(|ty| matches!(ty, Ty::Float(_))), memory };
        let answer = match self.native_calls.as_mut().map(|n| n.call(&call)) {
            Some(Ok(answer)) => answer,
            Some(Err(why)) => return Err(refuse(&why)),
            None => return Err(Flow::cut(Cut::External(name.into()))),
        };
        for ((&obj, (_, before)), after) in objects.iter().zip(&call.memory).zip(&answer.memory) {
            for (off, (old, new)) in before.iter().zip(after).enumerate() {
                if old != new {
                    self.write_place(st, ResolvedLocation::At { obj, off: off as u64 }, 1, Value::Int(u64::from(*new)));
                }
            }
        }
        if let (Some(d), Some(ty)) = (dsts.first(), result) {
            let width = self.width_of(ty);
            self.set(st, *d, Value::Int(answer.result & pleach_expr::mask(width)));
        }
        self.warn_once(format!("`{name}` has no body and is called natively, with one value for each argument"));
        Ok(())
    }

    /// One concrete value for each byte of the objects. If others are possible, they are split off and cut.
    fn concrete_memory(&mut self, st: &mut State, name: &str, objects: &[ObjId]) -> StepResult<Vec<(u64, Vec<u8>)>> {
        let mut memory = Vec::new();
        let mut fixed = Terms::TRUE;
        for &obj in objects {
            let size = st.memory.header(obj).map_or(0, |o| o.capacity());
            let bytes = (0..size).map(|off| self.concrete_byte(st, obj, off, &mut fixed)).collect();
            memory.push((st.memory.address(obj), bytes));
        }
        match self.decide(st, fixed) {
            Feasibility::True => Ok(memory),
            Feasibility::Both(yes, no) => {
                let cut =
                    End::Cut(Cut::Concretized(format!("memory that `{name}`, which is called natively, can read")));
                Err(self.split(st, vec![(no, Some(cut)), (yes, None)], ForkKind::Other))
            }
            Feasibility::OtherUnknown { holds: true, side, why } => {
                Err(self.split_with_unknown(st, side, None, false, &why))
            }
            Feasibility::False | Feasibility::OtherUnknown { .. } => {
                let why = format!("a native call of `{name}` with memory that has no example");
                Err(Flow::cut(Cut::Unsupported(why)))
            }
        }
    }

    /// A possible value of a byte; that it has this value is added to `fixed` if it could have another.
    fn concrete_byte(&mut self, st: &mut State, obj: ObjId, off: u64, fixed: &mut TermId) -> u8 {
        // What nobody wrote stays what it is unless the function writes something else there.
        let unwritten = st.memory.contents(obj).is_some_and(|(contents, w)| {
            contents.is_uninit(w.start + off) && contents.view(w.start + off) == ByteView::Background
        });
        if unwritten {
            return UNWRITTEN;
        }
        let v = self.read_place(st, ResolvedLocation::At { obj, off }, 1);
        if let Some(n) = self.concrete_number(st, v) {
            return n as u8;
        }
        let t = self.term(st, v, 8);
        let address_free = self.substitute_addresses(st, t);
        let relevant = st.path.relevant(&mut self.terms, address_free);
        let value = self.terms.try_eval(address_free, &relevant.model).unwrap_or(0);
        let k = self.terms.constant(8, value);
        let same = self.terms.eq(t, k);
        *fixed = self.terms.and(*fixed, same);
        value as u8
    }
}
