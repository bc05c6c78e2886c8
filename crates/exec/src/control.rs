//! Branches, switches and calls: where execution goes next.

use crate::access::note;
use crate::feasible::{Decision, Side};
use crate::flow::{Attempt, Flow, Step};
use crate::machine::{Code, Machine};
use crate::models::Call;
use pleach_expr::{TermId, Terms};
use pleach_ir::{Edge, FuncId, Function, Inst, Opnd, Range, Ty};
use pleach_memory::resolve::candidates;
use pleach_memory::{ObjId, ObjectKind, Value};
use pleach_smt::Why;
use pleach_state::{Access, Callers, Cut, End, ErrorKind, Exit, ForkKind, Frame, Phase, ProgramError, State};
use std::rc::Rc;

impl Machine {
    pub(crate) fn control(&mut self, f: &Function, consts: &[Value], st: &mut State, inst: &Inst) -> Flow {
        match *inst {
            Inst::Branch { cond, edges } => {
                let v = self.value(st, consts, cond, 1);
                let c = self.term(st, v, 1);
                self.branch(f, consts, st, c, edges)
            }
            Inst::Switch { width, value, default, cases } => self.switch(f, consts, st, width, value, default, cases),
            Inst::IndirectJump { target, edges } => {
                let Value::Ptr { obj, off } = self.value(st, consts, target, self.pointer_bits()) else {
                    return Flow::cut(Cut::Unsupported("a computed jump whose target is not known".into()));
                };
                let here = Machine::object_of(&self.program, pleach_ir::Symbol::Function(st.frame.func));
                let edge = f.edges[edges.as_range()].iter().find(|e| obj == here && i64::from(e.target.0) == off);
                match edge {
                    Some(&e) => {
                        // The record of edges does not tell computed jumps apart.
                        note(st, || Access::Opaque);
                        self.leave_by(f, consts, st, e, Exit::Fall);
                        Flow::Jump
                    }
                    None => Flow::error(ErrorKind::BadCall, "a computed jump goes to no label of this function"),
                }
            }
            _ => unreachable!("dispatched by family"),
        }
    }

    fn branch(&mut self, f: &Function, consts: &[Value], st: &mut State, c: TermId, edges: u32) -> Flow {
        let go = |m: &mut Machine, st: &mut State, taken: bool| {
            let e = edges as usize + usize::from(!taken);
            m.coverage.edges[st.frame.func.index()][e] += 1;
            m.leave_by(f, consts, st, f.edges[e], Exit::Side(u8::from(!taken)));
        };
        match self.decide(st, c) {
            Decision::True => go(self, st, true),
            Decision::False => go(self, st, false),
            Decision::Both(yes, no) if !st.forking => {
                // INCOMPLETE: the program switched forking off; one side is followed and the loss is reported.
                let cut = End::Cut(Cut::Concretized("a branch while forking was switched off".into()));
                let flow = self.split(st, vec![(yes, None), (no, Some(cut))], ForkKind::Other);
                return self.advance(flow, &mut |m, st, i| {
                    if i == 0 {
                        go(m, st, true)
                    }
                });
            }
            Decision::Both(yes, no) => {
                let flow = self.split(st, vec![(yes, None), (no, None)], ForkKind::Branch);
                return self.advance(flow, &mut |m, st, i| go(m, st, i == 0));
            }
            Decision::Half { holds, side, why } => {
                let flow = self.half(st, side, None, &why);
                return self.advance(flow, &mut |m, st, i| {
                    if i == 0 {
                        go(m, st, holds)
                    }
                });
            }
        }
        Flow::Jump
    }

    /// Follows an edge and records by which way the block was left.
    fn leave_by(&mut self, f: &Function, consts: &[Value], st: &mut State, edge: Edge, exit: Exit) {
        let (to, depth, func) = (st.inst + 1, st.call_depth(), st.frame.func);
        self.take_edge(f, consts, st, edge);
        if st.recording {
            st.trace.leave(func, to, depth, exit, st.inst);
            st.at_join = self.code.joins.get(func.index()).is_some_and(|j| j[st.block.index()]);
        }
    }

    /// Lets each child of a fork that goes on take its own way.
    fn advance(&mut self, flow: Flow, go: &mut dyn FnMut(&mut Machine, &mut State, usize)) -> Flow {
        let Flow::Stop(Step::Fork(mut children)) = flow else { return flow };
        for (i, c) in children.iter_mut().enumerate() {
            if c.end.is_none() {
                go(self, &mut c.state, i);
                // What a fork leads to is worth comparing.
                c.state.at_join = c.state.recording;
            }
        }
        Flow::Stop(Step::Fork(children))
    }

    #[allow(clippy::too_many_arguments)]
    fn switch(
        &mut self,
        f: &Function,
        consts: &[Value],
        st: &mut State,
        width: u16,
        value: Opnd,
        default: u32,
        cases: Range,
    ) -> Flow {
        let v = self.value(st, consts, value, width);
        let func = st.frame.func.index();
        let first_case = f.edges.len();
        if let Value::Int(x) = v {
            let hit = f.cases[cases.as_range()].iter().position(|c| c.value == x);
            let (counter, edge, exit) = match hit {
                Some(i) => {
                    let i = cases.start as usize + i;
                    (first_case + i, f.cases[i].edge, Exit::Case(i as u32))
                }
                None => (default as usize, f.edges[default as usize], Exit::Default),
            };
            self.coverage.edges[func][counter] += 1;
            self.leave_by(f, consts, st, edge, exit);
            return Flow::Jump;
        }
        let t = self.term(st, v, width);
        // One way per distinct edge, in the order of the cases; the default last.
        let mut ways: Vec<(TermId, Edge, Vec<usize>)> = Vec::new();
        let mut none = Terms::TRUE;
        for i in cases.as_range() {
            let c = f.cases[i];
            let k = self.terms.constant(width, c.value);
            let is = self.terms.eq(t, k);
            let not = self.terms.not(is);
            none = self.terms.and(none, not);
            match ways.iter_mut().find(|w| w.1 == c.edge) {
                Some(w) => {
                    w.0 = self.terms.or(w.0, is);
                    w.2.push(first_case + i);
                }
                None => ways.push((is, c.edge, vec![first_case + i])),
            }
        }
        let default_edge = f.edges[default as usize];
        match ways.iter_mut().find(|w| w.1 == default_edge) {
            Some(w) => {
                w.0 = self.terms.or(w.0, none);
                w.2.push(default as usize);
            }
            None => ways.push((none, default_edge, vec![default as usize])),
        }
        let (sides, taken, lost) = self.possible_ways(st, &ways.iter().map(|w| w.0).collect::<Vec<_>>());
        let flow = self.split_with_loss(st, sides, lost, ForkKind::Branch);
        self.advance(flow, &mut |m, st, i| {
            let Some(&way) = taken.get(i) else { return };
            for &c in &ways[way].2 {
                m.coverage.edges[func][c] += 1;
            }
            let exit = match ways[way].2[0].checked_sub(first_case) {
                Some(i) => Exit::Case(i as u32),
                None => Exit::Default,
            };
            m.leave_by(f, consts, st, ways[way].1, exit);
        })
    }

    /// Which of the conditions are possible: their sides, their numbers, and whether the solver gave up on one.
    fn possible_ways(&mut self, st: &mut State, conditions: &[TermId]) -> (Vec<Side>, Vec<usize>, Option<Why>) {
        let mut sides = Vec::new();
        let mut taken = Vec::new();
        let mut lost = None;
        for (i, &c) in conditions.iter().enumerate() {
            match self.possible(st, c) {
                Ok(Some(side)) => {
                    sides.push(side);
                    taken.push(i);
                }
                Ok(None) => {}
                Err(why) => lost = Some(why),
            }
        }
        (sides, taken, lost)
    }

    fn split_with_loss(&mut self, st: &mut State, sides: Vec<Side>, lost: Option<Why>, kind: ForkKind) -> Flow {
        if sides.is_empty() {
            let why = lost.map_or("no way out of a branch is possible".to_string(), |w| w.to_string());
            return Flow::cut(Cut::Solver(why));
        }
        let copy = lost.as_ref().map(|_| st.clone());
        let flow = self.split(st, sides.into_iter().map(|s| (s, None)).collect(), kind);
        match (flow, copy, lost) {
            (Flow::Stop(Step::Fork(mut children)), Some(state), Some(why)) => {
                let end = Some(End::Cut(Cut::Solver(why.to_string())));
                children.push(crate::flow::Child { state, condition: Terms::TRUE, end });
                Flow::Stop(Step::Fork(children))
            }
            (flow, ..) => flow,
        }
    }

    #[allow(clippy::too_many_arguments)]
    pub(crate) fn call(
        &mut self,
        code: &Code,
        f: &Function,
        consts: &[Value],
        st: &mut State,
        callee: FuncId,
        dsts: Range,
        args: Range,
    ) -> Flow {
        let target = code.program.function(callee);
        let model = code.models[callee.index()];
        if model.is_none() && target.is_declaration() {
            return Flow::cut(Cut::External(target.name.clone()));
        }
        let list = &f.args[args.as_range()];
        if let Some(model) = model {
            let mut values: smallvec::SmallVec<[(Value, Ty); 6]> = smallvec::SmallVec::new();
            for a in list {
                let w = self.width_of(a.ty);
                values.push((self.value(st, consts, a.value, w), a.ty));
            }
            let call = Call { name: &target.name, args: &values, results: &f.dsts[dsts.as_range()] };
            let mark = st.trace.accesses.len();
            return match model(self, st, &call) {
                Ok(()) => {
                    // A model describes itself by exactly one entry; otherwise nothing may be concluded across it.
                    if st.recording && st.trace.accesses.len() != mark + 1 {
                        st.trace.accesses.truncate(mark);
                        st.trace.access(Access::Opaque);
                    }
                    Flow::Next
                }
                Err(flow) => {
                    st.trace.accesses.truncate(mark);
                    flow
                }
            };
        }
        let fixed = target.params.len();
        if list.len() < fixed {
            return Flow::error(
                ErrorKind::BadCall,
                format!("`{}` takes {fixed} arguments but is called with {}", target.name, list.len()),
            );
        }
        if st.call_depth() + 1 >= self.config.max_stack_depth {
            return Flow::error(
                ErrorKind::StackOverflow,
                format!("more than {} calls are active", self.config.max_stack_depth),
            );
        }
        let mut values: smallvec::SmallVec<[Value; 8]> = smallvec::SmallVec::new();
        let mut copies: smallvec::SmallVec<[ObjId; 2]> = smallvec::SmallVec::new();
        let mark = st.trace.accesses.len();
        for (i, a) in list[..fixed].iter().enumerate() {
            let mut v = self.raw(st, consts, a.value);
            let p = &target.params[i];
            if let Some((size, align)) = p.byval {
                let id = match self.allocate(st, u64::from(size), u64::from(align), ObjectKind::Stack) {
                    Ok(id) => id,
                    Err(flow) => return flow,
                };
                let to = Value::ptr(id, 0);
                if let Err(flow) = self.copy_bytes(st, to, v, Value::Int(u64::from(size)), 64) {
                    st.memory.drop_local(id);
                    return flow;
                }
                copies.push(id);
                v = to;
            }
            v = self.fit_argument(v, self.width_of(a.ty), self.width_of(p.ty));
            values.push(v);
        }
        let mut rest: Rc<[(Value, Ty)]> = Rc::new([]);
        if target.variadic && list.len() > fixed {
            let mut extra = Vec::new();
            for a in &list[fixed..] {
                let w = self.width_of(a.ty);
                extra.push((self.value(st, consts, a.value, w), a.ty));
            }
            rest = extra.into();
        }
        // Copies made for the callee are part of the call, which walkers recognise by the callee's parameters.
        st.trace.accesses.truncate(mark);
        self.enter_function(st, callee, &values, rest, dsts);
        st.frame.locals.extend(copies);
        Flow::Frame
    }

    /// A call whose argument has another width than the parameter (old-style declarations).
    fn fit_argument(&mut self, v: Value, from: u16, to: u16) -> Value {
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
        let program = self.program.clone();
        let target = program.function(callee);
        let mut frame = Frame::new(callee, target.slots.len());
        for (p, v) in target.params.iter().zip(args) {
            frame.regs[p.slot.index()] = *v;
        }
        frame.varargs = varargs;
        if st.recording {
            let first = target.blocks[0].first.0;
            st.trace.leave(st.frame.func, st.inst + 1, st.call_depth(), Exit::Call, first);
        }
        let mut below = std::mem::replace(&mut st.frame, frame);
        below.block = st.block;
        below.inst = st.inst + 1;
        below.dsts = dsts;
        let depth = st.call_depth() + 1;
        st.callers = Some(Rc::new(Callers { frame: below, below: st.callers.take(), depth }));
        self.enter_block(st, target, pleach_ir::BlockId(0));
    }

    #[allow(clippy::too_many_arguments)]
    pub(crate) fn call_through(
        &mut self,
        code: &Code,
        f: &Function,
        consts: &[Value],
        st: &mut State,
        pointer: Opnd,
        dsts: Range,
        args: Range,
    ) -> Flow {
        let v = self.value(st, consts, pointer, self.pointer_bits());
        match v {
            Value::Ptr { obj, off } => match self.function_at(obj) {
                Some(g) if off == 0 => self.call(code, f, consts, st, g, dsts, args),
                _ => Flow::error(ErrorKind::BadCall, "call through a pointer that is not a function's address"),
            },
            Value::Int(a) if a < 4096 => Flow::error(ErrorKind::BadCall, "call through a null function pointer"),
            Value::Int(a) => {
                match st.memory.find(a).filter(|o| st.memory.address(*o) == a).and_then(|o| self.function_at(o)) {
                    Some(g) => self.call(code, f, consts, st, g, dsts, args),
                    None => Flow::error(ErrorKind::BadCall, format!("call to address {a:#x}, where no function is")),
                }
            }
            Value::Term(t) => {
                if let Some(&(obj, _)) = st.decided.get(&t)
                    && let Some(g) = self.function_at(obj)
                {
                    return self.call(code, f, consts, st, g, dsts, args);
                }
                match self.resolve_call(st, t) {
                    Ok(g) => self.call(code, f, consts, st, g, dsts, args),
                    Err(flow) => flow,
                }
            }
            Value::Undef => {
                Flow::error(ErrorKind::BadCall, "call through a function pointer that was never initialised")
            }
        }
    }

    /// A function pointer with several targets: one state per function, one for everything else.
    fn resolve_call(&mut self, st: &mut State, t: TermId) -> Attempt<FuncId> {
        let Some(found) = candidates(&mut self.terms, t) else {
            return Err(Flow::cut(Cut::Unsupported("a call through a computed function pointer".into())));
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
                _ => {
                    c.end = Some(End::Error(ProgramError {
                        kind: ErrorKind::BadCall,
                        message: "call through a pointer that may not be a function's address".into(),
                    }));
                }
            }
        }
        Err(Flow::Stop(Step::Fork(children)))
    }

    pub(crate) fn ret(&mut self, f: &Function, consts: &[Value], st: &mut State, values: Range) -> Flow {
        let results: smallvec::SmallVec<[Value; 4]> =
            f.args[values.as_range()].iter().map(|a| self.raw(st, consts, a.value)).collect();
        let dropped = std::mem::take(&mut st.frame.locals);
        for &o in &dropped {
            st.memory.drop_local(o);
        }
        let left = (st.frame.func, st.inst + 1, st.call_depth());
        let Some(callers) = st.callers.take() else {
            let status = match (&self.config.entry, results.first()) {
                (crate::config::Entry::Main { .. }, Some(v)) => self.status(st, *v),
                // Another entry's result is not the program's.
                _ => Some(0),
            };
            return self.begin_exit(st, status);
        };
        let (frame, below) = match Rc::try_unwrap(callers) {
            Ok(mut c) => (std::mem::replace(&mut c.frame, Frame::new(FuncId(0), 0)), c.below.take()),
            Err(shared) => (shared.frame.clone(), shared.below.clone()),
        };
        st.frame = frame;
        st.callers = below;
        st.block = st.frame.block;
        st.inst = st.frame.inst;
        let program = self.program.clone();
        let caller = program.function(st.frame.func);
        let dsts = st.frame.dsts;
        if st.recording {
            st.trace.access(Access::Returned { caller: st.frame.func, dsts, dropped: dropped.into() });
            st.trace.leave(left.0, left.1, left.2, Exit::Return, st.inst);
        }
        for (d, v) in caller.dsts[dsts.as_range()].iter().zip(results) {
            st.frame.regs[d.index()] = v;
        }
        match st.phase {
            Phase::Constructor(n) if st.callers.is_none() => {
                if (n as usize) + 1 < self.program.constructors.len() {
                    st.inst = 0;
                    st.block = pleach_ir::BlockId(0);
                    self.restart_before_constructor(st, n + 1);
                } else {
                    st.phase = Phase::Main;
                    let f = st.frame.func;
                    self.count_entry(st, f);
                }
            }
            Phase::Exiting { status, next } if st.callers.is_none() => return self.next_handler(st, status, next),
            _ => {}
        }
        Flow::Frame
    }

    fn restart_before_constructor(&mut self, st: &mut State, n: u32) {
        self.push_constructor(st, n);
    }

    /// The exit status on this path's test input; none if it depends on memory that nobody wrote.
    pub(crate) fn status(&mut self, st: &mut State, v: Value) -> Option<i32> {
        if let Some(n) = self.concrete_number(st, v) {
            return Some(n as i32);
        }
        let Value::Term(t) = v else { return None };
        let plain = self.plain(st, t);
        if self.terms.support(plain).iter().any(|k| self.is_uninitialised(k.symbol())) {
            return None;
        }
        let relevant = st.path.relevant(&mut self.terms, plain);
        self.terms.try_eval(plain, &relevant.model).map(|n| n as i32)
    }

    /// The program ends: handlers registered with `atexit` in reverse, then destructors, then the end.
    pub(crate) fn begin_exit(&mut self, st: &mut State, status: Option<i32>) -> Flow {
        for o in std::mem::take(&mut st.frame.locals) {
            st.memory.drop_local(o);
        }
        self.next_handler(st, status, 0)
    }

    fn next_handler(&mut self, st: &mut State, status: Option<i32>, next: u32) -> Flow {
        let handlers = st.at_exit.clone();
        let total = handlers.len() + self.program.destructors.len();
        if (next as usize) >= total {
            return self.finish(st, status);
        }
        let i = next as usize;
        let func = if i < handlers.len() {
            match handlers[handlers.len() - 1 - i] {
                Value::Ptr { obj, off: 0 } => self.function_at(obj),
                _ => None,
            }
        } else {
            self.program.destructors.get(i - handlers.len()).copied()
        };
        let Some(func) = func.filter(|g| !self.program.function(*g).is_declaration()) else {
            return self.next_handler(st, status, next + 1);
        };
        // The frame of the handler stands on the frame that exited; nothing above it is needed any more.
        st.callers = None;
        st.phase = Phase::Exiting { status, next: next + 1 };
        let args: smallvec::SmallVec<[Value; 1]> =
            self.program.function(func).params.iter().map(|_| Value::Int(0)).collect();
        self.enter_function(st, func, &args, Rc::new([]), Range::default());
        Flow::Frame
    }

    fn finish(&mut self, st: &mut State, status: Option<i32>) -> Flow {
        if self.config.check_leaks
            && let Some(flow) = self.leak(st)
        {
            return flow;
        }
        Flow::Stop(Step::End(End::Exit(status)))
    }

    /// Counts a visit of a loop header in this activation.
    pub(crate) fn count_loop(&mut self, code: &Code, st: &mut State) -> Attempt<()> {
        let Some(limit) = self.config.loop_limit else { return Ok(()) };
        if !code.headers[st.frame.func.index()][st.block.index()] {
            return Ok(());
        }
        let n = st.frame.visits.entry(st.block).or_insert(0);
        *n += 1;
        if *n > limit.saturating_add(1) {
            return Err(Flow::error(ErrorKind::LoopLimit, format!("a loop runs more than {limit} times")));
        }
        Ok(())
    }
}
