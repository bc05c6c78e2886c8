//! Which objects a pointer may refer to: read off the term where it is a choice between bases, found by the solver
//! where it is not.
//!
//! *Paper*: Memory §3.1 (the `fork` policy): one state per object, one per kind of error.

use crate::access::{AccessKind, AccessWords as _, ResolvedLocation};
use crate::feasibility::FeasibleSide;
use crate::flow::{Flow, StepResult};
use crate::input_pointers::{InputPointer, MIDDLE};
use crate::machine::Machine;
use pleach_expr::{Op, TermId, Terms};
use pleach_memory::model::{AtAddress, FaultClass, Pointer};
use pleach_memory::resolve::{Candidate, candidates};
use pleach_memory::{Fault, ObjId, Size, Target, Value};
use pleach_smt::UnknownReason;
use pleach_state::{Cut, End, ErrorKind, ForkKind, ProgramError, State};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// One way a pointer can go: under a side of the path, an error, or a place in an object.
pub(crate) type ResolutionSide = (FeasibleSide, Option<End>, Option<(ObjId, TermId)>);

/// When there is an error of a kind, and its message.
pub(crate) type Failures = BTreeMap<ErrorKind, (TermId, String)>;

/// What the candidates of a pointer come to for one access.
pub(crate) struct TargetSides {
    pub good: Vec<Target>,
    pub bad: Failures,
}

/// What was found of the targets of a pointer.
struct Scan {
    /// when the pointer goes elsewhere
    rest: TermId,
    sides: Vec<ResolutionSide>,
    lost: Option<UnknownReason>,
}

/// Symbolic places are within less than 4 GiB.
pub const LARGE_OBJECT: &str = "an object of 4 GiB or more";

impl Machine {
    pub(crate) fn symbolic_place(
        &mut self,
        st: &mut State,
        t: TermId,
        n: u64,
        purpose: AccessKind,
    ) -> StepResult<ResolvedLocation> {
        if let Some(&(obj, off)) = st.decided.get(&t) {
            return self.place_in(st, obj, off, n, purpose);
        }
        let Some((_, found)) = self.take_apart(st, t) else {
            return self.place_by_solver(st, t, n, purpose);
        };
        if let [Candidate { obj: Some(obj), offset, .. }] = found[..] {
            return self.place_in(st, obj, offset, n, purpose);
        }
        if let [Candidate { obj: None, offset, .. }] = found[..] {
            return match self.terms.as_const(offset) {
                Some(a) => self.numeric_place(st, a, n, purpose),
                None => self.place_by_solver(st, t, n, purpose),
            };
        }
        let Some(sorted) = self.sort_targets(st, &found, n, purpose) else {
            return self.place_by_solver(st, t, n, purpose);
        };
        self.fork_targets(st, t, sorted)
    }

    /// The objects that a pointer may refer to, where they can be read off it, and the pointer they were read off.
    /// Where the choice depends on an address (a hash that was seeded with one), that is substituted into the
    /// conditions; the object stays where it is from then on.
    pub(crate) fn take_apart(&mut self, st: &mut State, t: TermId) -> Option<(TermId, Vec<Candidate>)> {
        if let Some(found) = candidates(&mut self.terms, t) {
            return Some((t, found));
        }
        let decided = self.with_addresses(st, t, &mut FxHashMap::default());
        if decided == t {
            return None;
        }
        candidates(&mut self.terms, decided).map(|found| (decided, found))
    }

    /// A choice between pointers with this path's addresses in its conditions.
    fn with_addresses(&mut self, st: &mut State, t: TermId, memo: &mut FxHashMap<TermId, TermId>) -> TermId {
        if let Some(&known) = memo.get(&t) {
            return known;
        }
        let node = self.terms.node(t);
        let (a, b) = (node.arg_a(), node.arg_b());
        let made = match node.op {
            Op::Ite => {
                self.pin_bases(st, a);
                let condition = self.substitute_addresses(st, a);
                let (x, y) = (self.with_addresses(st, b, memo), self.with_addresses(st, node.arg_c(), memo));
                self.terms.ite(condition, x, y)
            }
            Op::Add => {
                let (x, y) = (self.with_addresses(st, a, memo), self.with_addresses(st, b, memo));
                self.terms.add(x, y)
            }
            _ => t,
        };
        memo.insert(t, made);
        made
    }

    /// An offset into one object: within bounds, or the path splits.
    pub(crate) fn place_in(
        &mut self,
        st: &mut State,
        obj: ObjId,
        off: TermId,
        n: u64,
        purpose: AccessKind,
    ) -> StepResult<ResolvedLocation> {
        if let Value::Int(k) = Value::from_term(&self.terms, off) {
            let k = pleach_expr::sign_extend(k, self.terms.width(off));
            return self.place(st, Value::ptr(obj, k), n, purpose);
        }
        let size = self.live_size(st, obj, purpose)?;
        let ok = self.within(size, off, n);
        let what = self.describe(st, obj);
        self.require(st, ok, purpose.oob(), || {
            format!("{} of {n} byte{} outside {what}", purpose.verb(), if n == 1 { "" } else { "s" })
        })?;
        if size.is_symbolic() {
            self.narrow(st, obj);
        }
        self.pin_bases(st, off);
        let address_free = self.substitute_addresses(st, off);
        let (address_free, off) = self.small_value_set(st, address_free).map_or((address_free, off), |few| (few, few));
        Ok(match self.terms.as_const(address_free) {
            Some(k) => ResolvedLocation::At { obj, off: k },
            // INCOMPLETE: an index of 32 bits would wrap around.
            None if size.capacity() > u64::from(u32::MAX) => {
                let bytes = size.capacity();
                let what = format!("a {} at a symbolic place of {LARGE_OBJECT} ({bytes} bytes)", purpose.verb());
                return Err(Flow::cut(Cut::Unsupported(what)));
            }
            None => match self.piece(st, obj, address_free, n)? {
                Some(place) => place,
                None => ResolvedLocation::Symbolic { obj, off },
            },
        })
    }

    /// `off + n ≤ size`, no wrap-around.
    pub(crate) fn within(&mut self, size: impl Into<Size>, off: TermId, n: u64) -> TermId {
        size.into().within(&mut self.terms, off, n)
    }

    /// The objects a pointer may be within, and what is wrong where it is not; `None` where only the solver can tell.
    pub(crate) fn sort_targets(
        &mut self,
        st: &mut State,
        found: &[Candidate],
        n: u64,
        purpose: AccessKind,
    ) -> Option<TargetSides> {
        let found = self.model.classify(&st.memory, &mut self.terms, found, n, purpose);
        if let Some(elsewhere) = found.elsewhere
            && !matches!(self.is_satisfiable(st, elsewhere), Ok(None))
        {
            return None;
        }
        let mut bad = Failures::new();
        for (guard, fault) in found.bad {
            if let Flow::Stop(crate::flow::Step::End(End::Error(e))) = self.faulty(st, fault, n, purpose) {
                bad.insert(e.kind, (guard, e.message));
            }
        }
        Some(TargetSides { good: found.good, bad })
    }

    /// The kinds of errors that are possible, each a side of its own.
    pub(crate) fn failing_sides(
        &mut self,
        st: &mut State,
        bad: Failures,
    ) -> (Vec<ResolutionSide>, Option<UnknownReason>) {
        let mut sides: Vec<ResolutionSide> = Vec::new();
        let mut lost: Option<UnknownReason> = None;
        for (kind, (guard, message)) in bad {
            match self.is_satisfiable(st, guard) {
                Ok(Some(side)) => sides.push((side, Some(End::Error(ProgramError::new(kind, message))), None)),
                Ok(None) => {}
                Err(why) => lost = Some(why),
            }
        }
        (sides, lost)
    }

    /// The `fork` policy for a pointer with multiple targets: one state per object it can be within, one per kind of
    /// error.
    pub(crate) fn fork_targets(
        &mut self,
        st: &mut State,
        t: TermId,
        TargetSides { good, bad }: TargetSides,
    ) -> StepResult<ResolvedLocation> {
        let before = self.queries;
        let (mut sides, mut lost) = self.failing_sides(st, bad);
        for (guard, obj, offset) in good {
            match self.is_satisfiable(st, guard) {
                Ok(Some(side)) => sides.push((side, None, Some((obj, offset)))),
                Ok(None) => {}
                Err(why) => lost = Some(why),
            }
        }
        self.resolved.queries += self.queries - before;
        self.children_of_resolution(st, t, sides, lost)
    }

    pub(crate) fn children_of_resolution(
        &mut self,
        st: &mut State,
        t: TermId,
        sides: Vec<ResolutionSide>,
        lost: Option<UnknownReason>,
    ) -> StepResult<ResolvedLocation> {
        if let Some(why) = &lost
            && sides.is_empty()
        {
            return Err(Flow::cut(Cut::Solver(why.to_string())));
        }
        let targets: Vec<_> = sides.iter().map(|s| s.2).collect();
        self.resolved.multiple += u64::from(targets.iter().flatten().count() > 1);
        let before = lost.as_ref().map(|_| {
            let mut copy = st.clone();
            copy.clear_new_coverage();
            copy
        });
        let flow = self.split(st, sides.into_iter().map(|(s, e, _)| (s, e)).collect(), ForkKind::Other);
        let Flow::Stop(crate::flow::Step::Fork(mut children)) = flow else { return Err(flow) };
        for (child, target) in children.iter_mut().zip(targets) {
            child.state.history.set_fork(ForkKind::Target(target.map(|t| t.0)));
            if let Some((obj, offset)) = target {
                child.state.decided.insert(t, (obj, offset));
            }
        }
        if let (Some(state), Some(why)) = (before, lost) {
            let end = Some(End::Cut(Cut::Solver(why.to_string())));
            children.push(crate::flow::Child { block: state.block, state, condition: Terms::TRUE, end });
        }
        Err(Flow::Stop(crate::flow::Step::Fork(children)))
    }

    /// A pointer that is not a choice between bases: the solver gives addresses, one object after the other.
    fn place_by_solver(
        &mut self,
        st: &mut State,
        t: TermId,
        n: u64,
        purpose: AccessKind,
    ) -> StepResult<ResolvedLocation> {
        let before = self.queries;
        let scanned = self.scan(st, t, n, purpose);
        self.resolved.queries += self.queries - before;
        let (sides, lost) = scanned?;
        self.place_of(st, t, sides, lost, n, purpose)
    }

    /// The one place that was found, or a split between those that were.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn place_of(
        &mut self,
        st: &mut State,
        t: TermId,
        sides: Vec<ResolutionSide>,
        lost: Option<UnknownReason>,
        n: u64,
        purpose: AccessKind,
    ) -> StepResult<ResolvedLocation> {
        if let [(_, None, Some((obj, off)))] = sides[..]
            && lost.is_none()
        {
            st.decided.insert(t, (obj, off));
            return self.place_in(st, obj, off, n, purpose);
        }
        self.children_of_resolution(st, t, sides, lost)
    }

    /// Everything a pointer can go to, object after object.
    pub(crate) fn scan(
        &mut self,
        st: &mut State,
        t: TermId,
        n: u64,
        purpose: AccessKind,
    ) -> StepResult<(Vec<ResolutionSide>, Option<UnknownReason>)> {
        const MAX_TARGETS: usize = 256;
        let pointer = Pointer { ptr: t, address: self.substitute_addresses(st, t) };
        let given = self.input_pointer(st, t);
        let mut found = Scan { rest: Terms::TRUE, sides: Vec::new(), lost: None };
        loop {
            let side = match self.is_satisfiable(st, found.rest) {
                Ok(Some(s)) => s,
                Ok(None) => break,
                Err(why) => {
                    found.lost = Some(why);
                    break;
                }
            };
            let model = self.model_for(st, &side, pointer.address);
            let Some(addr) = self.terms.try_eval(pointer.address, &model) else {
                return Err(Flow::cut(Cut::Unsupported("a pointer without a concrete example".into())));
            };
            let done = match self.model.around(&st.memory, &mut self.terms, pointer, addr, n) {
                AtAddress::Object { obj, base, size } => {
                    let off = self.terms.sub(t, base);
                    // INCOMPLETE: a pointer of an entry function's input goes to whole objects.
                    let whole = match &given {
                        InputPointer::No => Terms::TRUE,
                        InputPointer::From(p) => self.terms.eq(*p, base),
                        InputPointer::Mixed => Terms::FALSE,
                    };
                    self.scan_object(st, &mut found, (obj, off, size), whole, n, purpose)?
                }
                AtAddress::Nothing { fault, range } => {
                    self.scan_nothing(st, &mut found, (addr, fault, range), n, purpose);
                    if found.sides.len() > MAX_TARGETS || found.lost.is_some() {
                        break;
                    }
                    range
                }
            };
            let not = self.terms.not(done);
            found.rest = self.terms.and(found.rest, not);
            if found.sides.len() > MAX_TARGETS {
                found.lost =
                    Some(UnknownReason::Unsupported(format!("a pointer with more than {MAX_TARGETS} targets")));
                break;
            }
        }
        Ok((found.sides, found.lost))
    }

    /// The pointer may go to addresses where no object is: all of them are one error.
    fn scan_nothing(
        &mut self,
        st: &mut State,
        found: &mut Scan,
        (addr, fault, range): (u64, Fault, TermId),
        n: u64,
        purpose: AccessKind,
    ) {
        let (kind, freed) = match fault.class() {
            FaultClass::Null => (ErrorKind::Null, ""),
            FaultClass::Lifetime => (ErrorKind::UseAfterFree, ", where an object was freed"),
            FaultClass::Bounds | FaultClass::Readonly => (purpose.oob(), ""),
        };
        let here = self.terms.and(found.rest, range);
        let message = format!("{} of {n} bytes through a pointer that may be {addr:#x}{freed}", purpose.verb());
        let end = Some(End::Error(ProgramError::new(kind, message)));
        if !self.add_side(st, found, here, end, None) && found.lost.is_none() {
            // The example says otherwise; asking again would give it again.
            found.lost = Some(UnknownReason::Unsupported(format!("a pointer with the value {addr:#x}")));
        }
    }

    /// The pointer may go to this object: within it, behind it, or (of an input's pointer) into its middle. Returns
    /// when it goes there.
    fn scan_object(
        &mut self,
        st: &mut State,
        found: &mut Scan,
        (obj, off, size): (ObjId, TermId, Size),
        whole: TermId,
        n: u64,
        purpose: AccessKind,
    ) -> StepResult<TermId> {
        let here = self.within(size, off, n);
        let reserved = self.within(size.capacity(), off, n);
        if here != reserved {
            let not = self.terms.not(here);
            let behind = self.terms.and(found.rest, reserved);
            let behind = self.terms.and(behind, not);
            let message = self.oob_message(st, obj, None, n, purpose);
            let end = End::Error(ProgramError::new(purpose.oob(), message));
            self.add_side(st, found, behind, Some(end), None);
        }
        if whole != Terms::TRUE {
            let middle = self.terms.not(whole);
            let middle = self.terms.and(here, middle);
            self.add_side(st, found, middle, Some(End::Cut(Cut::Concretized(MIDDLE.into()))), None);
        }
        let followed = self.terms.and(here, whole);
        if self.add_side(st, found, followed, None, Some((obj, off)))
            && let Err(flow) = self.live_size(st, obj, purpose)
        {
            // Writing to a constant and the like is an error of that object.
            let Flow::Stop(crate::flow::Step::End(end)) = flow else { return Err(flow) };
            if let Some(side) = found.sides.last_mut() {
                (side.1, side.2) = (Some(end), None);
            }
        }
        Ok(reserved)
    }

    /// Adds a side if it is feasible.
    fn add_side(
        &mut self,
        st: &mut State,
        found: &mut Scan,
        condition: TermId,
        end: Option<End>,
        target: Option<(ObjId, TermId)>,
    ) -> bool {
        match self.is_satisfiable(st, condition) {
            Ok(Some(side)) => {
                found.sides.push((side, end, target));
                return true;
            }
            Ok(None) => {}
            Err(why) => found.lost = Some(why),
        }
        false
    }

    /// Decides which object (and offset) a pointer to be freed means without touching it: one child per possibility.
    pub(crate) fn decide_pointer(&mut self, st: &mut State, t: TermId) -> StepResult<()> {
        let Some(found) = candidates(&mut self.terms, t) else { return Ok(()) };
        let mut sides = Vec::new();
        let mut lost = None;
        let mut ways = Vec::new();
        for c in found {
            if c.obj.is_some() || self.terms.as_const(c.offset).is_some() {
                ways.push(c);
                continue;
            }
            // Several numbers: null, and the others, of which one stands for all; to free it is an error, and the path
            // ends.
            let zero = self.terms.constant(self.pointer_bits(), 0);
            let null = self.terms.eq(c.offset, zero);
            let other = self.terms.not(null);
            let (guard, rest) = (self.terms.and(c.guard, null), self.terms.and(c.guard, other));
            ways.push(Candidate { obj: None, guard, offset: zero });
            if let Ok(Some(side)) = self.is_satisfiable(st, rest) {
                let model = self.model_for(st, &side, c.offset);
                let address_free = self.substitute_addresses(st, c.offset);
                let Some(n) = self.terms.try_eval(address_free, &model) else {
                    return Err(Flow::cut(Cut::Unsupported("a pointer without a concrete example".into())));
                };
                let value = self.terms.constant(self.pointer_bits(), n);
                ways.push(Candidate { obj: None, guard: rest, offset: value });
            }
        }
        for c in ways {
            match self.is_satisfiable(st, c.guard) {
                Ok(Some(side)) => sides.push((side, c.obj.map(|o| (o, c.offset)), c.offset)),
                Ok(None) => {}
                Err(why) => lost = Some(why),
            }
        }
        if let [(_, Some((obj, off)), _)] = sides[..]
            && lost.is_none()
        {
            return match self.terms.as_const(off) {
                Some(_) => {
                    st.decided.insert(t, (obj, off));
                    Err(Flow::Jump)
                }
                None => Ok(()),
            };
        }
        let numbers: Vec<_> = sides.iter().map(|s| s.1.is_none().then_some(s.2)).collect();
        let sides = sides.into_iter().map(|(s, target, _)| (s, None, target)).collect();
        match self.children_of_resolution(st, t, sides, lost) {
            Err(Flow::Stop(crate::flow::Step::Fork(mut children))) => {
                for (c, number) in children.iter_mut().zip(numbers) {
                    if let Some(a) = number.and_then(|n| self.terms.as_const(n)) {
                        c.state.decided_numbers.insert(t, a);
                    }
                }
                Err(Flow::Stop(crate::flow::Step::Fork(children)))
            }
            other => other.map(|_| ()),
        }
    }

    /// A model that also assigns the symbolic variables of `t`.
    pub(crate) fn model_for(&mut self, st: &State, side: &FeasibleSide, t: TermId) -> std::rc::Rc<pleach_expr::Model> {
        if side.address_free == Terms::TRUE {
            return st.path.relevant(&mut self.terms, t).model;
        }
        side.model.clone()
    }
}
