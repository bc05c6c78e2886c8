//! The dispatcher. Concrete work is done here without terms, allocation or the solver; everything else goes to the
//! file of its instruction family.

use crate::call::CallSite;
use crate::concrete::{self, Accessed, operand};
use crate::flow::{Flow, Step};
use crate::machine::{Code, Machine, TargetHit};
use pleach_expr::Spoiled;
use pleach_ir::{BlockId, Callee, Edge, FuncId, Function, Inst, Opnd, OpndKind};
use pleach_memory::Value;
use pleach_state::{Cut, End, Exit, History, State};
use std::rc::Rc;

/// Blocks that a step may still run once the memory limit is reached.
const BLOCKS_WHEN_SHORT: u32 = 16;

/// At most this many entries of a target block are kept: the first need not lead to an end, a later one may.
const ARRIVALS: u64 = 8;

/// The result of an instruction that could be done, and on to the next one.
macro_rules! put {
    ($regs:ident, $pc:ident, $dst:ident, $result:expr) => {
        if let Some(v) = $result {
            $regs[$dst.index()] = v;
            $pc += 1;
            continue;
        }
    };
}

/// One block more of what a step may do; whether that was all of it.
#[inline(always)]
fn spend(budget: &mut u32, st: &mut State, pc: usize) -> bool {
    if *budget == 0 {
        st.inst = pc as u32;
        return true;
    }
    *budget -= 1;
    false
}

impl Machine {
    pub(crate) fn run<const RECORD: bool, const STOP: bool>(
        &mut self,
        code: &Code,
        st: &mut State,
        budget: u32,
    ) -> Step {
        let mut budget = budget;
        let check_overflow = self.config.check_signed_overflow;
        'frame: loop {
            let f: &Function = &code.program.functions[st.frame.func.index()];
            let consts: &[Value] = &code.consts[st.frame.func.index()];
            let mut pc = st.inst as usize;
            loop {
                let inst = &f.insts[pc];
                let regs = &mut st.frame.regs;
                match *inst {
                    Inst::Bin { op, flags: fl, width, dst, a, b } => {
                        let (x, y) = (operand(regs, consts, a), operand(regs, consts, b));
                        put!(regs, pc, dst, concrete::binary(op, fl, width, x, y, check_overflow));
                    }
                    Inst::Cmp { op, width, dst, a, b } => {
                        let (x, y) = (operand(regs, consts, a), operand(regs, consts, b));
                        put!(regs, pc, dst, concrete::compare(op, width, x, y));
                    }
                    Inst::Cast { op, from, to, dst, a } => {
                        put!(regs, pc, dst, concrete::cast(op, from, to, operand(regs, consts, a)));
                    }
                    Inst::Mov { dst, a } => {
                        put!(regs, pc, dst, Some(operand(regs, consts, a)).filter(|v| *v != Value::Undef));
                    }
                    Inst::Undef { dst } => put!(regs, pc, dst, Some(Value::Undef)),
                    Inst::Load { ty, align, dst, ptr, .. } => {
                        let accessed = Accessed { ty, align, pointer: operand(regs, consts, ptr) };
                        let to = &mut regs[dst.index()];
                        if concrete::load::<RECORD>(&code.program.target, &st.memory, &mut st.history, accessed, to) {
                            pc += 1;
                            continue;
                        }
                    }
                    Inst::Gep { dst, base, offset, parts } => {
                        let base = (operand(regs, consts, base), offset);
                        put!(regs, pc, dst, concrete::address(regs, consts, base, &f.scaled[parts.as_range()]));
                    }
                    Inst::Select { dst, cond, a, b, .. } => {
                        if let Value::Int(c) = operand(regs, consts, cond) {
                            put!(regs, pc, dst, Some(operand(regs, consts, if c & 1 != 0 { a } else { b })));
                        }
                    }
                    Inst::Store { ty, align, ptr, value, .. } => {
                        let accessed = Accessed { ty, align, pointer: operand(regs, consts, ptr) };
                        let value = operand(regs, consts, value);
                        if concrete::store::<RECORD>(
                            &code.program.target,
                            &mut st.memory,
                            &mut st.history,
                            accessed,
                            value,
                        ) {
                            pc += 1;
                            continue;
                        }
                    }
                    Inst::Check { cond, .. } if operand(regs, consts, cond) == Value::Int(1) => {
                        pc += 1;
                        continue;
                    }
                    Inst::Jump { edge } => {
                        let (left, from) = (pc as u32 + 1, st.block);
                        pc = self.take_edge(f, consts, st, edge);
                        let join = RECORD && self.record_exit(code, st, left, Exit::Side(0));
                        if !code.loops.is_empty()
                            && let Some(end) = self.beyond_bound(code, st, from)
                        {
                            return Step::End(end);
                        }
                        if join || STOP && self.is_stop(st) || spend(&mut budget, st, pc) {
                            return Step::Next;
                        }
                        continue;
                    }
                    Inst::Branch { cond, edges } => {
                        if let Value::Int(c) = operand(regs, consts, cond) {
                            let e = edges as usize + usize::from(c & 1 == 0);
                            self.count_edge(st, e);
                            let (left, from) = (pc as u32 + 1, st.block);
                            pc = self.take_edge(f, consts, st, f.edges[e]);
                            let join = RECORD && self.record_exit(code, st, left, Exit::Side(u8::from(c & 1 == 0)));
                            if code.has_branch_hooks
                                && let Some(end) = self.after_branch(code, st, from, c & 1 != 0)
                            {
                                return Step::End(end);
                            }
                            if join || STOP && self.is_stop(st) || spend(&mut budget, st, pc) {
                                return Step::Next;
                            }
                            continue;
                        }
                    }
                    _ => {}
                }
                st.inst = pc as u32;
                let from = st.block;
                if self.terms.brake.halted() {
                    return self.left_off(Spoiled::Halt);
                }
                let flow = self.slow(code, f, consts, st, inst);
                if let Some(why) = self.terms.brake.take() {
                    return self.left_off(why);
                }
                if self.is_exhausted() {
                    return self.defer(st);
                }
                if self.terms.brake.is_short() {
                    // Who keeps the limit is asked soon.
                    budget = budget.min(BLOCKS_WHEN_SHORT);
                }
                match flow {
                    Flow::Next if !RECORD && self.config.record_from_input && st.has_symbolic_values() => {
                        st.inst = pc as u32 + 1;
                        st.history = History::beginning(st.inst);
                        return Step::Next;
                    }
                    Flow::Next => pc += 1,
                    Flow::Jump => {
                        pc = st.inst as usize;
                        if !code.loops.is_empty()
                            && let Some(end) = self.beyond_bound(code, st, from)
                        {
                            return Step::End(end);
                        }
                        if RECORD && st.history.is_at_join() || STOP && self.is_stop(st) {
                            return Step::Next;
                        }
                    }
                    Flow::Frame => {
                        if budget == 0 || STOP && self.is_stop(st) {
                            return Step::Next;
                        }
                        budget -= 1;
                        continue 'frame;
                    }
                    Flow::Stop(step) => return step,
                }
            }
        }
    }

    /// The step has to end here.
    #[inline]
    fn is_stop(&self, st: &State) -> bool {
        self.stop_points.as_ref().is_some_and(|s| s.is_at(st))
    }

    /// The instruction under way could not be finished: the path ends, and nothing is kept of what the instruction did.
    #[cold]
    fn left_off(&mut self, why: Spoiled) -> Step {
        Step::End(End::Cut(match why {
            Spoiled::Halt => Cut::Interrupted,
            Spoiled::Memory => Cut::Memory,
        }))
    }

    /// Follows an edge: its copies, then the block. Returns the first instruction.
    #[inline(always)]
    pub(crate) fn take_edge(&mut self, f: &Function, consts: &[Value], st: &mut State, edge: Edge) -> usize {
        let regs = &mut st.frame.regs;
        for c in &f.copies[edge.copies.as_range()] {
            regs[c.dst.index()] = operand(regs, consts, c.src);
        }
        self.enter_block(st, f, edge.target);
        st.inst as usize
    }

    /// Records that a block was left; whether paths meet where the state is now.
    #[inline(always)]
    fn record_exit(&mut self, code: &Code, st: &mut State, to: u32, exit: Exit) -> bool {
        st.history.leave(st.frame.func, to, st.call_depth(), exit, st.inst);
        st.history.enter(code.joins.get(st.frame.func.index()).is_some_and(|j| j[st.block.index()]))
    }

    /// Coverage and counters of a block entry; `state.block` and `state.inst` point to its start.
    #[inline(always)]
    pub(crate) fn enter_block(&mut self, st: &mut State, f: &Function, block: BlockId) {
        st.block = block;
        st.inst = f.blocks[block.index()].first.0;
        let weight = u64::from(f.block_weight[block.index()]);
        st.instructions += weight;
        self.instructions += weight;
        st.since_new_coverage += weight;
        let entries = self.coverage.enter(st.frame.func, block);
        if entries <= ARRIVALS {
            self.early_entry(st, block, entries);
        }
    }

    /// One of the first entries of a block by any path.
    #[cold]
    fn early_entry(&mut self, st: &mut State, block: BlockId, entries: u64) {
        if entries == 1 {
            self.coverage.new_blocks += 1;
            if self.config.rules.count_instructions_alone || self.coverage.counts_for_coverage[st.frame.func.index()] {
                st.covered_new = true;
                st.since_new_coverage = 0;
            }
            let func = st.frame.func;
            st.record(|r| r.covered.push((func, block)));
        }
        if self.targets.contains(&(st.frame.func, block)) {
            Rc::make_mut(&mut st.passed).insert((st.frame.func, block));
            if entries == 1 {
                self.tell_of_arrival(st, block);
            }
            self.target_hits.push(TargetHit { func: st.frame.func, block, state: st.clone() });
        }
    }

    #[inline(always)]
    pub(crate) fn count_edge(&mut self, st: &mut State, edge: usize) {
        // KLEE counts instructions alone.
        if self.coverage.take(st.frame.func, edge) && !self.config.rules.count_instructions_alone {
            st.covered_new = true;
            st.since_new_coverage = 0;
        }
    }

    pub(crate) fn count_entry(&mut self, st: &mut State, func: FuncId) {
        let program = self.program.clone();
        self.enter_block(st, program.function(func), BlockId(0));
    }

    /// An operand of the top frame. An uninitialised slot is decided here, once, as a fresh symbolic variable.
    pub(crate) fn value(&mut self, st: &mut State, consts: &[Value], o: Opnd, width: u16) -> Value {
        let v = operand(&st.frame.regs, consts, o);
        if v != Value::Undef {
            return v;
        }
        let t = self.fresh(st, width);
        let v = Value::from_term(&self.terms, t);
        if let OpndKind::Slot(s) = o.kind() {
            st.frame.regs[s.index()] = v;
        }
        v
    }

    /// An operand that is copied. A slot that nobody wrote is decided, or the copies would differ.
    pub(crate) fn copied(&mut self, st: &mut State, consts: &[Value], o: Opnd, width: u16) -> Value {
        match o.kind() {
            OpndKind::Slot(_) => self.value(st, consts, o, width),
            _ => self.raw(st, consts, o),
        }
    }

    /// An operand as it is, `Undef` included.
    pub(crate) fn raw(&self, st: &State, consts: &[Value], o: Opnd) -> Value {
        operand(&st.frame.regs, consts, o)
    }

    /// Instructions off the fast path, by family.
    #[inline(never)]
    fn slow(&mut self, code: &Code, f: &Function, consts: &[Value], st: &mut State, inst: &Inst) -> Flow {
        let done = match inst {
            Inst::Bin { .. }
            | Inst::Cmp { .. }
            | Inst::Cast { .. }
            | Inst::Select { .. }
            | Inst::Freeze { .. }
            | Inst::Gep { .. } => self.integer(code, f, consts, st, inst),
            Inst::Scalar { .. } => self.scalar(f, consts, st, inst),
            Inst::Load { .. }
            | Inst::Store { .. }
            | Inst::Alloca { .. }
            | Inst::StackSave { .. }
            | Inst::StackRestore { .. }
            | Inst::ScopeEnd { .. } => self.memory_inst(code, f, consts, st, inst),
            Inst::MemCopy { .. } | Inst::MemSet { .. } => self.bulk(consts, st, inst),
            Inst::FBin { .. } | Inst::FNeg { .. } | Inst::FCmp { .. } | Inst::FCast { .. } => {
                self.float(consts, st, inst)
            }
            Inst::Call { callee, dsts, args } => {
                let site = CallSite { caller: f, consts, dsts: *dsts, args: *args };
                return match *callee {
                    Callee::Direct(g) => self.call(code, site, st, g),
                    Callee::Indirect(p) => self.call_through(code, site, st, p),
                };
            }
            Inst::Branch { .. } | Inst::Switch { .. } | Inst::IndirectJump { .. } => {
                return self.control(f, consts, st, inst);
            }
            Inst::Return { values } => return self.ret(f, consts, st, *values),
            Inst::VaStart { .. } | Inst::VaCopy { .. } | Inst::VaEnd { .. } | Inst::VaArg { .. } => {
                self.varargs(consts, st, inst)
            }
            Inst::Assume { .. } => Ok(()),
            Inst::Check { kind, cond } => self.check_inst(consts, st, *kind, *cond),
            Inst::Unreachable => Err(Flow::error(
                pleach_state::ErrorKind::Unreachable,
                "execution reaches a point the compiler was told it never reaches",
            )),
            Inst::Unsupported { name } => {
                Err(Flow::cut(pleach_state::Cut::Unsupported(f.names[*name as usize].clone())))
            }
            Inst::Mov { dst, a } => {
                let w = self.width_of(f.slots[dst.index()].ty);
                let v = self.copied(st, consts, *a, w);
                self.set(st, *dst, v);
                Ok(())
            }
            Inst::Undef { .. } | Inst::Jump { .. } => Ok(()),
        };
        match done {
            Ok(()) => Flow::Next,
            Err(flow) => flow,
        }
    }
}
