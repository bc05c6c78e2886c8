//! The condition under which a path ends as it did: the start of the backward propagation.

use crate::error_precondition::Failure;
use crate::pruner::Interpolation;
use pleach_expr::TermId;
use pleach_ir::{Callee, FuncId, Function, Inst};
use pleach_memory::{ObjId, ObjectKind, Value};
use pleach_state::access_path::frames;
use pleach_state::seams::PathOracle;
use pleach_state::{Cut, End, ErrorKind, ForkKind, Leaks, State};
use pleach_wp::{Condition, Loc, NoInterpolant, PointsTo, Rounds, WpResult};
use std::collections::BTreeSet;

impl Interpolation {
    /// The condition under which the path ends as it did.
    pub(crate) fn at_end(
        &mut self,
        oracle: &mut dyn PathOracle,
        state: &State,
        end: &End,
        fresh: bool,
    ) -> WpResult<Condition> {
        let program = oracle.program();
        let f = program.function(state.frame.func);
        let Some(inst) = f.insts.get(state.inst as usize) else {
            // Behind the last instruction: the exit handlers have returned.
            return match end {
                End::Exit(_) => self.nothing_lost(oracle, state, self.checks.leaks),
                _ => Err(NoInterpolant::ReturnFromEntry),
            };
        };
        let callee = match inst {
            Inst::Call { callee: Callee::Direct(g), args, .. } => Some((program.function(*g).name.as_str(), *args)),
            _ => None,
        };
        let assume_fails = |this: &mut Self, oracle: &mut dyn PathOracle, args: pleach_ir::Range| {
            let Some(a) = f.args[args.as_range()].first() else { return Err(NoInterpolant::NoArgument) };
            let depth = state.call_depth();
            let w = program.target.bits(a.ty);
            let (v, mut c) = this.with_transformer(oracle, Condition::default(), |transformer| {
                transformer.operand(f, depth, a.value, w)
            })?;
            let zero = oracle.terms().constant(w, 0);
            let fails = oracle.terms().eq(v, zero);
            c.require(fails);
            Ok(c)
        };
        if let End::Cut(Cut::Unwind(max)) = end {
            return self.beyond_bound(f, state, inst, *max);
        }
        let fails = fresh && state.failing;
        match (end, callee) {
            (End::Exit(_), _) => self.nothing_lost(oracle, state, self.checks.leaks),
            // Whoever comes here loses something at this very place or nothing at all.
            (End::Error(e), None) if e.kind == ErrorKind::Leak => Ok(Condition::default()),
            (End::Error(e), Some(("exit", _))) if e.kind == ErrorKind::Leak => Ok(Condition::default()),
            // SOUND: who loses nothing here fails in another way, which this path does not show.
            (End::Error(e), _) if e.kind == ErrorKind::Leak => Err(NoInterpolant::LeakAtError),
            (End::Silent | End::Error(_), Some(("__VERIFIER_assume" | "klee_assume", args))) => {
                assume_fails(self, oracle, args)
            }
            (End::Silent, Some(("klee_silent_exit", _))) => Ok(Condition::default()),
            // SOUND: only of the side that fails; a state that comes to an error of its own may have been through such
            // a fork before. The failing side of a check: its condition is the edge's.
            (End::Error(e), _) if fails && state.history.fork() == ForkKind::Check(e.kind) => Ok(Condition::default()),
            // One of the ways a pointer can go: its parent knows.
            (End::Error(_), _) if fails && state.history.fork() == ForkKind::Target(None) => Ok(Condition::default()),
            (End::Error(e), Some((name, _)))
                if matches!(e.kind, ErrorKind::Assert | ErrorKind::Abort | ErrorKind::User)
                    && matches!(
                        name,
                        "__assert_fail"
                            | "klee_assert_fail"
                            | "__assert"
                            | "__assert_rtn"
                            | "__assert_perror_fail"
                            | "llvm.trap"
                            | "llvm.debugtrap"
                            | "llvm.ubsantrap"
                            | "abort"
                            | "__pleach_aborted"
                            | "__pleach_killed"
                            | "reach_error"
                            | "__VERIFIER_error"
                            | "klee_abort"
                            | "klee_report_error"
                    ) =>
            {
                let anyway = self.checks.leaks == Leaks::LostAnyway;
                self.nothing_lost(oracle, state, if anyway { Leaks::LostAnyway } else { Leaks::Ignored })
            }
            (End::Error(_), _) if matches!(inst, Inst::Unreachable) => Ok(Condition::default()),
            (End::Error(e), _) => {
                let condition = Condition::default();
                Failure { this: self, oracle, state, f, kind: e.kind, condition }.certain(inst)
            }
            (End::Silent, _) => Err(NoInterpolant::SilentEnd),
            (End::Cut(_), _) => Err(NoInterpolant::Tainted),
        }
    }

    /// The condition under which a path is cut by the bound on rounds.
    fn beyond_bound(&self, f: &Function, state: &State, inst: &Inst, max: u32) -> WpResult<Condition> {
        let header = state.block;
        let rounds = Rounds { depth: state.call_depth(), header, at_least: max.saturating_add(1) };
        if f.blocks[header.index()].first.0 == state.inst && rounds.hold_in(state) {
            return Ok(Condition { rounds: vec![rounds], ..Condition::default() });
        }
        // A recursion: how many calls of a function are active is a matter of the point.
        let active = |g: FuncId| frames(state).filter(|(_, frame)| frame.func == g).count() as u64;
        match inst {
            Inst::Call { callee: Callee::Direct(g), .. } if active(*g) >= u64::from(max.max(1)) => {
                Ok(Condition::default())
            }
            _ => Err(NoInterpolant::Tainted),
        }
    }

    /// No heap block is left that would be an error: none at all, or those that variables hold, by these pointers.
    fn nothing_lost(&mut self, oracle: &mut dyn PathOracle, state: &State, leaks: Leaks) -> WpResult<Condition> {
        if leaks == Leaks::Ignored {
            return Ok(Condition::default());
        }
        let left = state.memory.live().filter(|(_, o)| o.kind == ObjectKind::Heap).count();
        let mut found = ReachableBlocks { condition: Condition::default(), blocks: BTreeSet::new(), todo: Vec::new() };
        if left > 0 && leaks != Leaks::Unfreed {
            found.todo.extend((0..self.fixed).map(ObjId));
            self.follow(oracle, state, &mut found);
            for (depth, f) in frames(state) {
                for (slot, v) in f.regs.iter().enumerate() {
                    if let Value::Ptr { obj, off } = *v {
                        let width = oracle.terms().pointer_bits;
                        let loc = Loc::Reg { depth, slot: slot as u32 };
                        let register = self.locs.term(oracle.terms(), loc, width);
                        found.held(state, self.fixed, register, obj, off);
                        self.follow(oracle, state, &mut found);
                    }
                }
            }
        }
        let heap = |b: &&ObjId| state.memory.get(**b).is_some_and(|o| o.kind == ObjectKind::Heap);
        if found.blocks.iter().filter(heap).count() != left {
            return Err(NoInterpolant::SymbolicHeapReference);
        }
        let blocks = found.blocks.iter().filter(heap).copied().collect();
        Ok(Condition { blocks: Some(blocks), ..found.condition })
    }

    /// What the objects at hand point to.
    fn follow(&mut self, oracle: &mut dyn PathOracle, state: &State, found: &mut ReachableBlocks) {
        let width = oracle.terms().pointer_bits;
        let bytes = u32::from(width) / 8;
        while let Some(from) = found.todo.pop() {
            let Some(object) = state.memory.get(from) else { continue };
            for (at, n, v) in object.contents.cells() {
                if let Value::Ptr { obj, off } = v
                    && u32::from(n) == bytes
                {
                    let cell = self.locs.term(oracle.terms(), Loc::Cell { obj: from, off: at, bytes }, width);
                    found.held(state, self.fixed, cell, obj, off);
                }
            }
        }
    }
}

/// Objects that variables hold, and by which pointers.
struct ReachableBlocks {
    condition: Condition,
    blocks: BTreeSet<ObjId>,
    todo: Vec<ObjId>,
}

impl ReachableBlocks {
    /// `pointer` points to the object.
    fn held(&mut self, state: &State, fixed: u32, pointer: TermId, obj: ObjId, off: i64) {
        let Some(object) = state.memory.get(obj) else { return };
        let Ok(off) = u64::try_from(off) else { return };
        if obj.0 >= fixed && off <= object.capacity() && self.blocks.insert(obj) {
            self.condition.require_points_to(PointsTo::new(pointer, obj, Some(off)));
            self.todo.push(obj);
        }
    }
}
