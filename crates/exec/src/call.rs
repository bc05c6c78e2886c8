//! Calls: into functions with a body, into models, through pointers.

use crate::flow::{Flow, Step, StepResult};
use crate::machine::{Code, Machine};
use crate::models::Call;
use crate::overlap::Overlap;
use pleach_expr::{TermId, Terms};
use pleach_ir::{FuncId, Function, Opnd, Range, Ty};
use pleach_memory::resolve::Candidate;
use pleach_memory::{NULL_PAGE, ObjId, ObjectKind, Value};
use pleach_state::{Access, CallStack, Cut, End, ErrorKind, Exit, ForkKind, Frame, ProgramError, State};
use std::rc::Rc;

/// A call instruction and the function it stands in.
#[derive(Clone, Copy)]
pub(crate) struct CallSite<'a> {
    pub caller: &'a Function,
    pub consts: &'a [Value],
    pub dsts: Range,
    pub args: Range,
}

/// Arguments with their types, in order.
type TypedValues = smallvec::SmallVec<[(Value, Ty); 6]>;

/// What a callee gets.
struct Passed {
    values: smallvec::SmallVec<[Value; 8]>,
    /// objects passed by value
    copies: smallvec::SmallVec<[ObjId; 2]>,
}

impl Machine {
    pub(crate) fn call(&mut self, code: &Code, site: CallSite, st: &mut State, callee: FuncId) -> Flow {
        let callee = if code.aliases.is_empty() { callee } else { *code.aliases.get(&callee).unwrap_or(&callee) };
        if let Some(how) = self.config.externals
            && code.library.contains(&callee)
            && !code.library.contains(&st.frame.func)
            && let Err(flow) = self.call_of_external(st, callee, site.consts, site.args, how)
        {
            return flow;
        }
        if code.models[callee.index()].is_some() {
            return self.call_model(code, site, st, callee);
        }
        if code.program.function(callee).is_declaration() {
            let values = self.typed_values(site, st);
            return self.external(st, callee, &values, &site.caller.dsts[site.dsts.as_range()]);
        }
        self.call_body(code, site, st, callee).unwrap_or_else(|flow| flow)
    }

    fn typed_values(&mut self, site: CallSite, st: &mut State) -> TypedValues {
        let list = &site.caller.args[site.args.as_range()];
        list.iter().map(|a| (self.value(st, site.consts, a.value, self.width_of(a.ty)), a.ty)).collect()
    }

    fn call_model(&mut self, code: &Code, site: CallSite, st: &mut State, callee: FuncId) -> Flow {
        let Some(model) = code.models[callee.index()] else { return Flow::Next };
        let values = self.typed_values(site, st);
        let name = &code.program.function(callee).name;
        let call = Call { name, args: &values, results: &site.caller.dsts[site.dsts.as_range()] };
        let mark = st.history.accesses();
        match model(self, st, &call) {
            Ok(()) => {
                // A model describes itself by exactly one entry; otherwise nothing may be concluded across it.
                if st.history.is_kept() && st.history.accesses() != mark + 1 {
                    st.history.drop_accesses(mark);
                    st.history.access(Access::Opaque);
                }
                if code.stops_after.contains(&callee) {
                    st.inst += 1;
                    return Flow::Stop(Step::Next);
                }
                Flow::Next
            }
            // A model that goes on in another frame describes itself.
            Err(Flow::Frame) => Flow::Frame,
            Err(flow) => {
                st.history.drop_accesses(mark);
                flow
            }
        }
    }

    fn call_body(&mut self, code: &Code, site: CallSite, st: &mut State, callee: FuncId) -> StepResult<Flow> {
        let target = code.program.function(callee);
        let list = &site.caller.args[site.args.as_range()];
        let fixed = target.params.len();
        if list.len() < fixed {
            let text = format!("`{}` takes {fixed} arguments but is called with {}", target.name, list.len());
            return Err(Flow::error(ErrorKind::BadCall, text));
        }
        if st.call_depth() + 1 >= self.config.max_stack_depth {
            let text = format!("more than {} calls are active", self.config.max_stack_depth);
            return Err(Flow::error(ErrorKind::StackOverflow, text));
        }
        if let Some(flow) = self.recursion_bound(st, callee) {
            return Err(flow);
        }
        let passed = self.pass_arguments(site, st, target)?;
        let mut rest: Rc<[(Value, Ty)]> = Rc::new([]);
        if target.variadic && list.len() > fixed {
            let mut extra = Vec::new();
            let as_number = self.prints_for_klee(code, st, callee);
            for a in &list[fixed..] {
                let w = self.width_of(a.ty);
                let v = self.value(st, site.consts, a.value, w);
                extra.push((if as_number { self.shown_number(st, v, a.ty) } else { v }, a.ty));
            }
            rest = extra.into();
        }
        self.enter_function(st, callee, &passed.values, rest, site.dsts);
        st.frame.locals.extend(passed.copies);
        Ok(Flow::Frame)
    }

    /// The values of the declared parameters; what is passed by value is copied, recorded as a part of the call.
    fn pass_arguments(&mut self, site: CallSite, st: &mut State, target: &Function) -> StepResult<Passed> {
        let mut passed = Passed { values: smallvec::SmallVec::new(), copies: smallvec::SmallVec::new() };
        let mark = st.history.accesses();
        for (a, p) in site.caller.args[site.args.as_range()].iter().zip(&target.params) {
            let mut v = self.copied(st, site.consts, a.value, self.width_of(a.ty));
            if let Some((size, align)) = p.byval {
                let id = self.allocate(st, u64::from(size), u64::from(align), ObjectKind::Stack)?;
                let to = Value::ptr(id, 0);
                if let Err(flow) = self.copy_bytes(st, to, v, (Value::Int(u64::from(size)), 64), Overlap::Allowed) {
                    st.history.drop_accesses(mark);
                    st.memory.drop_local(id);
                    return Err(flow);
                }
                passed.copies.push(id);
                v = to;
            }
            passed.values.push(self.fit(v, self.width_of(a.ty), self.width_of(p.ty)));
        }
        Ok(passed)
    }

    /// A value that is taken for one of another width (old-style declarations).
    pub(crate) fn fit(&mut self, v: Value, from: u16, to: u16) -> Value {
        if from == to || v == Value::Undef {
            return v;
        }
        match v.to_term(&mut self.terms, from) {
            Some(t) => {
                let t = self.terms.resize_unsigned(t, to);
                Value::from_term(&self.terms, t)
            }
            None => v,
        }
    }

    /// Suspends the top frame after the current instruction and puts a new one on top.
    pub(crate) fn enter_function(
        &mut self,
        st: &mut State,
        callee: FuncId,
        args: &[Value],
        varargs: Rc<[(Value, Ty)]>,
        dsts: Range,
    ) {
        if st.history.is_kept() {
            let first = self.program.function(callee).blocks[0].first.0;
            st.history.leave(st.frame.func, st.inst + 1, st.call_depth(), Exit::Call, first);
        }
        self.push_frame(st, callee, args, varargs, dsts);
    }

    pub(crate) fn push_frame(
        &mut self,
        st: &mut State,
        callee: FuncId,
        args: &[Value],
        varargs: Rc<[(Value, Ty)]>,
        dsts: Range,
    ) {
        let program = self.program.clone();
        let target = program.function(callee);
        let mut frame = Frame::new(callee, target.slots.len());
        for (p, v) in target.params.iter().zip(args) {
            frame.regs[p.slot.index()] = *v;
        }
        frame.varargs = varargs;
        let mut below = std::mem::replace(&mut st.frame, frame);
        below.block = st.block;
        below.inst = st.inst + 1;
        below.dsts = dsts;
        let depth = st.call_depth() + 1;
        st.callers = Some(Rc::new(CallStack { frame: below, below: st.callers.take(), depth }));
        self.enter_block(st, target, pleach_ir::BlockId(0));
    }

    pub(crate) fn call_through(&mut self, code: &Code, site: CallSite, st: &mut State, pointer: Opnd) -> Flow {
        let v = self.value(st, site.consts, pointer, self.pointer_bits());
        if let Err(flow) = self.mind_unwritten(st, v, "the function that is called") {
            return flow;
        }
        match v {
            Value::Ptr { obj, off } => match self.function_at(obj) {
                Some(g) if off == 0 => self.call(code, site, st, g),
                _ => Flow::error(ErrorKind::BadCall, "call through a pointer that is not a function's address"),
            },
            Value::Int(a) if a < NULL_PAGE => Flow::error(ErrorKind::BadCall, "call through a null function pointer"),
            Value::Int(a) => {
                match st.memory.find(a).filter(|o| st.memory.address(*o) == a).and_then(|o| self.function_at(o)) {
                    Some(g) => self.call(code, site, st, g),
                    None => Flow::error(ErrorKind::BadCall, format!("call to address {a:#x}, where no function is")),
                }
            }
            Value::Term(t) => {
                if let Some(&(obj, _)) = st.decided.get(&t)
                    && let Some(g) = self.function_at(obj)
                {
                    return self.call(code, site, st, g);
                }
                match self.resolve_call(st, t) {
                    Ok(g) => self.call(code, site, st, g),
                    Err(flow) => flow,
                }
            }
            Value::Undef => {
                Flow::error(ErrorKind::BadCall, "call through a function pointer that was never initialised")
            }
        }
    }

    /// A pointer that may be anything: the functions of the program it can be equal to, and everything else.
    fn any_function(&mut self, t: TermId) -> Vec<Candidate> {
        let program = self.program.clone();
        let own = (0..program.functions.len()).map(FuncId::new);
        let own = own.filter(|f| program.is_own(*f));
        self.one_of(t, own.map(|f| pleach_semantics::object_of(&program, pleach_ir::Symbol::Function(f))))
    }

    /// A pointer that is no choice between bases (its bytes were read from an array): the functions that its term
    /// mentions, and everything else.
    fn mentioned_functions(&mut self, st: &mut State, t: TermId) -> Vec<Candidate> {
        self.pin_bases(st, t);
        let mut objects = self.terms.bases(t);
        objects.retain(|obj| self.function_at(*obj).is_some());
        self.one_of(t, objects.into_iter())
    }

    /// A pointer that mentions no base: the functions that the path compares it with, and everything else.
    fn compared_functions(&mut self, st: &State, t: TermId) -> Option<Vec<Candidate>> {
        let relevant = st.path.relevant(&mut self.terms, t);
        let mut functions: Vec<ObjId> = Vec::new();
        for &c in relevant.with_bases().iter() {
            functions.extend(self.terms.bases(c).into_iter().filter(|o| self.function_at(*o).is_some()));
        }
        functions.sort_unstable();
        functions.dedup();
        (!functions.is_empty()).then(|| self.one_of(t, functions.into_iter()))
    }

    fn one_of(&mut self, t: TermId, functions: impl Iterator<Item = ObjId>) -> Vec<Candidate> {
        let zero = self.terms.constant(self.pointer_bits(), 0);
        let mut found = Vec::new();
        let mut elsewhere = Terms::TRUE;
        for obj in functions {
            let address = self.terms.base(obj);
            let guard = self.terms.eq(t, address);
            let not = self.terms.not(guard);
            elsewhere = self.terms.and(elsewhere, not);
            found.push(Candidate { guard, obj: Some(obj), offset: zero });
        }
        found.push(Candidate { guard: elsewhere, obj: None, offset: t });
        found
    }

    /// A function pointer with multiple targets: one state per function, one for everything else.
    pub(crate) fn resolve_call(&mut self, st: &mut State, t: TermId) -> StepResult<FuncId> {
        let (found, otherwise) = match self.take_apart(st, t) {
            Some((_, found)) if found.iter().any(|c| c.obj.is_some()) => (found, bad_call()),
            // Natively functions have other addresses: a test that depends on them cannot be replayed.
            _ if self.config.rules.try_all_code_pointers => (self.any_function(t), bad_call()),
            Some((_, found)) => (self.compared_functions(st, t).unwrap_or(found), bad_call()),
            // INCOMPLETE: it may be a function that the term does not mention, by its number.
            None => {
                let cut = Cut::Unsupported("a call through a computed function pointer".into());
                (self.mentioned_functions(st, t), End::Cut(cut))
            }
        };
        let mut conditions = Vec::new();
        let mut targets = Vec::new();
        let mut bad = Terms::FALSE;
        for c in found {
            let zero = self.terms.constant(self.pointer_bits(), 0);
            let exact = self.terms.eq(c.offset, zero);
            match c.obj.and_then(|o| self.function_at(o)) {
                Some(g) if exact == Terms::TRUE => {
                    conditions.push(c.guard);
                    targets.push((c.obj, Some(g), c.offset));
                }
                _ => bad = self.terms.or(bad, c.guard),
            }
        }
        conditions.push(bad);
        targets.push((None, None, t));
        let (sides, taken, lost) = self.possible_ways(st, &conditions);
        if let ([way], None) = (&taken[..], &lost)
            && let Some(g) = targets[*way].1
        {
            return Ok(g);
        }
        let flow = self.split_with_loss(st, sides, lost, ForkKind::Other);
        let Flow::Stop(Step::Fork(mut children)) = flow else { return Err(flow) };
        for (c, &way) in children.iter_mut().zip(&taken) {
            match targets[way] {
                (Some(obj), Some(_), off) => {
                    c.state.decided.insert(t, (obj, off));
                }
                _ => c.end = Some(otherwise.clone()),
            }
        }
        Err(Flow::Stop(Step::Fork(children)))
    }
}

fn bad_call() -> End {
    End::Error(ProgramError::new(ErrorKind::BadCall, "call through a pointer that may not be a function's address"))
}
