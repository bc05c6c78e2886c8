//! Returning from functions, and from the program: constructors before, exit handlers and destructors after.

use crate::flow::{Flow, Step};
use crate::machine::Machine;
use pleach_ir::{FuncId, Function, Range};
use pleach_memory::Value;
use pleach_state::{Access, AtExit, End, Exit, Frame, Leaks, Phase, State};
use std::rc::Rc;

impl Machine {
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
            // What the registers pointed to, they point to no longer.
            st.frame.regs.fill(Value::Undef);
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
            Phase::Exiting { status, next } if st.callers.is_none() => {
                return self.next_handler(st, status, next, false);
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
        self.next_handler(st, status, 0, true)
    }

    /// `begins`: the instruction at hand ends the program; otherwise a handler has returned.
    fn next_handler(&mut self, st: &mut State, status: Option<i32>, next: u32, begins: bool) -> Flow {
        let handlers = st.at_exit.clone();
        let total = handlers.len() + self.program.destructors.len();
        if (next as usize) >= total {
            return self.finish(st, status);
        }
        let i = next as usize;
        let (func, argument) = if i < handlers.len() {
            match handlers[handlers.len() - 1 - i] {
                AtExit { handler: Value::Ptr { obj, off: 0 }, argument, .. } => (self.function_at(obj), argument),
                _ => (None, Value::Int(0)),
            }
        } else {
            (self.program.destructors.get(i - handlers.len()).copied(), Value::Int(0))
        };
        let Some(func) = func.filter(|g| !self.program.function(*g).is_declaration()) else {
            return self.next_handler(st, status, next + 1, begins);
        };
        if st.recording {
            // The instruction that ended the program is the last one that was executed.
            let to = st.inst + u32::from(begins);
            let first = self.program.function(func).blocks[0].first.0;
            st.trace.leave(st.frame.func, to, st.call_depth(), Exit::Ending, first);
        }
        // The frame of the handler stands on the frame that exited; nothing above it is needed any more.
        st.callers = None;
        st.phase = Phase::Exiting { status, next: next + 1 };
        let args: smallvec::SmallVec<[Value; 1]> =
            self.program.function(func).params.iter().map(|_| argument).collect();
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
