//! Branches and switches: where execution goes next.

use crate::access::note;
use crate::feasibility::{Feasibility, FeasibleSide};
use crate::flow::{Flow, Step, StepResult};
use crate::machine::Machine;
use pleach_expr::{TermId, Terms};
use pleach_ir::{Edge, Function, Inst, Opnd, Range};
use pleach_memory::resolve::candidates;
use pleach_memory::{ObjId, Value};
use pleach_smt::UnknownReason;
use pleach_state::{Access, Cut, Detail, End, ErrorKind, Exit, ForkKind, ProgramError, State};

impl Machine {
    pub(crate) fn control(&mut self, f: &Function, consts: &[Value], st: &mut State, inst: &Inst) -> Flow {
        match *inst {
            Inst::Branch { cond, edges } => {
                let v = self.value(st, consts, cond, 1);
                let c = self.term(st, v, 1);
                if let Err(flow) = self.mind_unwritten_branch(st, c) {
                    return flow;
                }
                self.branch(f, consts, st, c, edges)
            }
            Inst::Switch { width, value, default, cases } => self.switch(f, consts, st, width, value, default, cases),
            Inst::IndirectJump { target, edges } => {
                let (obj, off) = match self.value(st, consts, target, self.pointer_bits()) {
                    Value::Ptr { obj, off } => (obj, off),
                    Value::Term(t) => match self.jump_target(f, st, t, edges) {
                        Ok(target) => target,
                        Err(flow) => return flow,
                    },
                    Value::Int(a) => match st.memory.find(a) {
                        Some(obj) => (obj, a.wrapping_sub(st.memory.address(obj)) as i64),
                        None => return no_label(),
                    },
                    Value::Undef => return no_label(),
                };
                let here = pleach_semantics::object_of(&self.program, pleach_ir::Symbol::Function(st.frame.func));
                let edge = f.edges[edges.as_range()].iter().find(|e| obj == here && i64::from(e.target.0) == off);
                match edge {
                    Some(&e) => {
                        // The edge log does not distinguish computed jumps.
                        note(st, || Access::Opaque);
                        self.leave_by(f, consts, st, e, Exit::Fall);
                        Flow::Jump
                    }
                    None => no_label(),
                }
            }
            _ => unreachable!("dispatched by family"),
        }
    }

    /// A jump to a symbolic address: one state per label, one for everything else.
    fn jump_target(
        &mut self,
        f: &Function,
        st: &mut State,
        t: TermId,
        edges: pleach_ir::Range,
    ) -> StepResult<(ObjId, i64)> {
        let here = pleach_semantics::object_of(&self.program, pleach_ir::Symbol::Function(st.frame.func));
        if let Some(&(obj, off)) = st.decided.get(&t)
            && let Some(off) = self.terms.as_const(off)
        {
            return Ok((obj, off as i64));
        }
        let found = candidates(&mut self.terms, t);
        if !self.config.rules.try_all_code_pointers && found.is_none_or(|f| f.iter().any(|c| c.obj.is_none())) {
            // Natively labels have other addresses: a test that depends on them cannot be replayed.
            return Err(Flow::cut(Cut::Unsupported("a computed jump whose target is not known".into())));
        }
        let bits = self.pointer_bits();
        let mut labels: Vec<i64> = f.edges[edges.as_range()].iter().map(|e| i64::from(e.target.0)).collect();
        labels.dedup();
        let mut conditions = Vec::new();
        let mut elsewhere = Terms::TRUE;
        for &label in &labels {
            let address = self.term(st, Value::ptr(here, label), bits);
            let is = self.terms.eq(t, address);
            let not = self.terms.not(is);
            conditions.push(is);
            elsewhere = self.terms.and(elsewhere, not);
        }
        conditions.push(elsewhere);
        let (sides, taken, lost) = self.possible_ways(st, &conditions);
        let flow = self.split_with_loss(st, sides, lost, ForkKind::Other);
        let Flow::Stop(Step::Fork(mut children)) = flow else { return Err(flow) };
        for (c, &way) in children.iter_mut().zip(&taken) {
            match labels.get(way) {
                Some(&label) => {
                    let off = self.terms.constant(bits, label as u64);
                    c.state.decided.insert(t, (here, off));
                }
                None => c.end = Some(End::Error(no_label_error())),
            }
        }
        Err(Flow::Stop(Step::Fork(children)))
    }

    fn branch(&mut self, f: &Function, consts: &[Value], st: &mut State, c: TermId, edges: u32) -> Flow {
        let go = |m: &mut Machine, st: &mut State, taken: bool, free: bool| {
            let wrong = m.note_branch(st, taken, free);
            let e = edges as usize + usize::from(!taken);
            m.count_edge(st, e);
            m.leave_by(f, consts, st, f.edges[e], Exit::Side(u8::from(!taken)));
            wrong
        };
        let before = self.solver_time;
        let decision = self.decide(st, c);
        if let Feasibility::True | Feasibility::False = decision {
            let holds = matches!(decision, Feasibility::True);
            if let Err(flow) = self.check_address_dependence(st, c, holds) {
                return flow;
            }
        }
        let (flow, first) = match decision {
            Feasibility::True => return jump(go(self, st, true, false)),
            Feasibility::False => return jump(go(self, st, false, false)),
            Feasibility::Both(yes, no) if !st.forking => {
                // INCOMPLETE: the program switched forking off; one side is followed and the loss is reported.
                let cut = End::Cut(Cut::Concretized("a branch while forking was switched off".into()));
                (self.split(st, vec![(yes, None), (no, Some(cut))], ForkKind::Other), true)
            }
            Feasibility::Both(yes, no) => {
                if let Some(taken) = self.side_to_follow(st) {
                    self.add(st, if taken { yes } else { no });
                    return jump(go(self, st, taken, false));
                }
                if !self.share_is_used_up(st, self.solver_time - before) {
                    let flow = self.split(st, vec![(yes, None), (no, None)], ForkKind::Branch);
                    return self.advance(flow, &mut |m, st, i| go(m, st, i == 0, true));
                }
                (self.one_side(st, yes, no), true)
            }
            Feasibility::OtherUnknown { holds, side, why } => {
                (self.split_with_unknown(st, side, None, holds, &why), holds)
            }
        };
        // The only child that goes on, whichever it is.
        self.advance(flow, &mut |m, st, _| go(m, st, first, false))
    }

    /// Follows an edge and records by which way the block was left.
    fn leave_by(&mut self, f: &Function, consts: &[Value], st: &mut State, edge: Edge, exit: Exit) {
        let (to, depth, func) = (st.inst + 1, st.call_depth(), st.frame.func);
        self.take_edge(f, consts, st, edge);
        if st.history.is_kept() {
            st.history.leave(func, to, depth, exit, st.inst);
            let join = self.code.joins.get(func.index()).is_some_and(|j| j[st.block.index()]);
            st.history.enter(join);
        }
    }

    /// Lets each child of a fork that goes on take its own way.
    fn advance(&mut self, flow: Flow, go: &mut dyn FnMut(&mut Machine, &mut State, usize) -> Option<End>) -> Flow {
        let Flow::Stop(Step::Fork(mut children)) = flow else { return flow };
        let code = self.code.clone();
        for (i, c) in children.iter_mut().enumerate() {
            if c.end.is_none() && c.state.pending.is_none() {
                let from = c.state.block;
                c.end = go(self, &mut c.state, i);
                if !code.loops.is_empty() && c.end.is_none() {
                    c.end = self.beyond_bound(&code, &mut c.state, from);
                }
                // What a fork leads to is worth comparing.
                c.state.history.set_at_join();
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
            self.count_edge(st, counter);
            self.leave_by(f, consts, st, edge, exit);
            return Flow::Jump;
        }
        if let Err(flow) = self.mind_unwritten(st, v, "a switch") {
            return flow;
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
            match ways.iter_mut().find(|w| w.1 == c.edge && !self.config.split_cases) {
                Some(w) => {
                    w.0 = self.terms.or(w.0, is);
                    w.2.push(first_case + i);
                }
                None => ways.push((is, c.edge, vec![first_case + i])),
            }
        }
        if self.config.rules.reverse_cases {
            // The order of KLEE's states, which its strategies show.
            ways.reverse();
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
            let &way = taken.get(i)?;
            for &c in &ways[way].2 {
                m.count_edge(st, c);
            }
            let exit = match ways[way].2[0].checked_sub(first_case) {
                Some(i) => Exit::Case(i as u32),
                None => Exit::Default,
            };
            m.leave_by(f, consts, st, ways[way].1, exit);
            None
        })
    }

    /// Which of the conditions are feasible: their sides, their indices, and whether the solver returned unknown for
    /// one.
    pub(crate) fn possible_ways(
        &mut self,
        st: &mut State,
        conditions: &[TermId],
    ) -> (Vec<FeasibleSide>, Vec<usize>, Option<UnknownReason>) {
        let mut sides = Vec::new();
        let mut taken = Vec::new();
        let mut lost = None;
        for (i, &c) in conditions.iter().enumerate() {
            match self.is_satisfiable(st, c) {
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

    pub(crate) fn split_with_loss(
        &mut self,
        st: &mut State,
        sides: Vec<FeasibleSide>,
        lost: Option<UnknownReason>,
        kind: ForkKind,
    ) -> Flow {
        if sides.is_empty() {
            let why = lost.map_or("no way out of a branch is possible".to_string(), |w| w.to_string());
            return Flow::cut(Cut::Solver(why));
        }
        let copy = lost.as_ref().map(|_| {
            let mut copy = st.clone();
            copy.clear_new_coverage();
            copy
        });
        let flow = self.split(st, sides.into_iter().map(|s| (s, None)).collect(), kind);
        match (flow, copy, lost) {
            (Flow::Stop(Step::Fork(mut children)), Some(state), Some(why)) => {
                let end = Some(End::Cut(Cut::Solver(why.to_string())));
                children.push(crate::flow::Child { block: state.block, state, condition: Terms::TRUE, end });
                Flow::Stop(Step::Fork(children))
            }
            (flow, ..) => flow,
        }
    }
}

/// On to the next block, if that is the way to go.
fn jump(wrong: Option<End>) -> Flow {
    wrong.map_or(Flow::Jump, |end| Flow::Stop(Step::End(end)))
}

fn no_label_error() -> ProgramError {
    let message = "a computed jump goes to no label of this function".into();
    ProgramError { kind: ErrorKind::BadCall, message, detail: Detail::Jump }
}

fn no_label() -> Flow {
    Flow::Stop(Step::End(End::Error(no_label_error())))
}
