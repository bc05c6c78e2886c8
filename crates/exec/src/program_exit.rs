//! Returning from functions, and from the program: constructors before, exit handlers and destructors after.

use crate::flow::{Flow, Step};
use crate::machine::Machine;
use pleach_ir::{FuncId, Function, Range};
use pleach_memory::Value;
use pleach_state::{Access, AtExit, Cut, End, ErrorKind, Exit, Frame, Leaks, Phase, State};
use std::rc::Rc;

impl Machine {
    pub(crate) fn ret(&mut self, f: &Function, consts: &[Value], st: &mut State, values: Range) -> Flow {
        let results: smallvec::SmallVec<[Value; 4]> =
            f.args[values.as_range()].iter().map(|a| self.raw(st, consts, a.value)).collect();
        if let (None, crate::config::ProgramEntry::Main { .. }, Some(v)) =
            (&st.callers, &self.config.entry, results.first())
            && let Err(flow) = self.mind_unwritten(st, *v, "the exit status")
        {
            return flow;
        }
        let dropped = std::mem::take(&mut st.frame.locals);
        for &o in &dropped {
            st.memory.drop_local(o);
        }
        let left = (st.frame.func, st.inst + 1, st.call_depth());
        let Some(callers) = st.callers.take() else {
            let status = match (&self.config.entry, results.first()) {
                (crate::config::ProgramEntry::Main { .. }, Some(v)) => self.status(st, *v),
                // Another entry's result is not the program's.
                _ => Some(0),
            };
            let told = match self.config.entry {
                crate::config::ProgramEntry::Main { .. } => results.first().copied(),
                _ => None,
            };
            self.tell_handlers(st, told.unwrap_or(Value::Int(0)));
            // What the registers pointed to, they point to no longer.
            st.frame.regs.fill(Value::Undef);
            return self.begin_exit(st, status, false);
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
        if st.history.is_kept() {
            st.history.access(Access::Returned { caller: st.frame.func, dsts, dropped: dropped.into() });
            st.history.leave(left.0, left.1, left.2, Exit::Return, st.inst);
        }
        let given = f.args[values.as_range()].iter().zip(results);
        for (d, (a, v)) in caller.dsts[dsts.as_range()].iter().zip(given) {
            // A call without a declaration may take the result for a type of another width.
            let (from, to) = (self.width_of(a.ty), self.width_of(caller.slots[d.index()].ty));
            st.frame.regs[d.index()] = self.fit(v, from, to);
        }
        match st.phase {
            Phase::Constructor(n) if st.callers.is_none() => {
                if (n as usize) + 1 < self.program.constructors.len() {
                    st.inst = 0;
                    st.block = pleach_ir::BlockId(0);
                    self.push_constructor(st, n + 1);
                } else {
                    st.phase = Phase::Main;
                    let f = st.frame.func;
                    self.count_entry(st, f);
                }
            }
            Phase::Exiting { status, next, quick } if st.callers.is_none() => {
                return self.next_handler(st, status, next, quick, false);
            }
            _ => {}
        }
        Flow::Frame
    }

    /// The exit status on this path's test input; none if it depends on memory that nobody wrote.
    pub(crate) fn status(&mut self, st: &mut State, v: Value) -> Option<i32> {
        if let Some(n) = self.concrete_number(st, v) {
            return Some(n as i32);
        }
        let Value::Term(t) = v else { return None };
        let address_free = self.substitute_addresses(st, t);
        if self.terms.support(address_free).iter().any(|k| self.is_uninitialised(k.symbol())) {
            return None;
        }
        let relevant = st.path.relevant(&mut self.terms, address_free);
        self.terms.try_eval(address_free, &relevant.model).map(|n| n as i32)
    }

    /// The program ends: handlers registered with `atexit` in reverse, then destructors, then the end. `quick`: those
    /// registered with `at_quick_exit`, then the end. A handler that ends the program itself goes on with what is left.
    pub(crate) fn begin_exit(&mut self, st: &mut State, status: Option<i32>, quick: bool) -> Flow {
        let (next, quick) = match st.phase {
            Phase::Exiting { next, quick: first, .. } => (next, first || quick),
            _ => (0, quick),
        };
        self.next_handler(st, status, next, quick, true)
    }

    /// The handlers that `on_exit` was told get the exit status.
    pub(crate) fn tell_handlers(&self, st: &mut State, status: Value) {
        if st.at_exit.iter().any(|h| h.status.is_some()) {
            for h in Rc::make_mut(&mut st.at_exit).iter_mut().filter(|h| h.status.is_some()) {
                h.status = Some(status);
            }
        }
    }

    /// `begins`: the instruction at hand ends the program; otherwise a handler has returned.
    fn next_handler(&mut self, st: &mut State, status: Option<i32>, next: u32, quick: bool, begins: bool) -> Flow {
        let mut next = next;
        let (func, status_given, argument) = loop {
            if let Some(i) = st.at_exit.iter().rposition(|h| h.quick == quick) {
                let AtExit { handler, argument, status, .. } = Rc::make_mut(&mut st.at_exit).remove(i);
                let func = match handler {
                    Value::Ptr { obj, off: 0 } => self.function_at(obj),
                    _ => None,
                };
                let Some(func) = func else {
                    return Flow::error(ErrorKind::BadCall, "an exit handler is not the address of a function");
                };
                break (func, status, argument);
            }
            let Some(func) = self.program.destructors.get(next as usize).copied().filter(|_| !quick) else {
                return self.finish(st, status);
            };
            next += 1;
            if !self.program.function(func).is_declaration() {
                break (func, None, Value::Int(0));
            }
        };
        let program = self.program.clone();
        let handler = program.function(func);
        st.phase = Phase::Exiting { status, next, quick };
        if handler.is_declaration() {
            // A function of the engine's as a handler; `abort` for instance.
            let call = crate::models::Call { name: &handler.name, args: &[], results: &[] };
            let mark = st.history.accesses();
            let done = match crate::models::find(&handler.name, true) {
                Some(model) if handler.params.is_empty() => model(self, st, &call),
                _ => Err(Flow::cut(Cut::External(handler.name.clone()))),
            };
            st.history.drop_accesses(mark);
            return match done {
                Ok(()) => Flow::cut(Cut::Unsupported(format!("`{}` as an exit handler", handler.name))),
                Err(flow) => flow,
            };
        }
        if st.history.is_kept() {
            // The instruction that ended the program is the last one that was executed.
            let to = st.inst + u32::from(begins);
            let first = handler.blocks[0].first.0;
            st.history.leave(st.frame.func, to, st.call_depth(), Exit::Ending, first);
        }
        // The frame of the handler stands on the frame that exited; nothing above it is needed any more.
        st.callers = None;
        let first = status_given.unwrap_or(argument);
        let given = std::iter::once(first).chain(std::iter::repeat(argument));
        let args: smallvec::SmallVec<[Value; 2]> = handler.params.iter().zip(given).map(|(_, v)| v).collect();
        self.push_frame(st, func, &args, Rc::new([]), Range::default());
        Flow::Frame
    }

    pub(crate) fn finish(&mut self, st: &mut State, status: Option<i32>) -> Flow {
        let end = End::Exit(status);
        match self.config.leaks {
            Leaks::Ignored => Flow::Stop(Step::End(end)),
            _ => self.end_unless_lost(st, end),
        }
    }
}
