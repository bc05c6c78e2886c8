//! All states that satisfy Ψ, as one: what Ψ does not determine becomes symbolic.

use crate::AuditError;
use crate::satisfaction::{chosen, literals, target, translate, value};
use pleach_exec::Machine;
use pleach_expr::{Op, SymbolId, SymbolKind, SymbolOrigin, TermId, Terms};
use pleach_memory::{Background, Contents, ObjId, ObjectKind, Value};
use pleach_state::seams::PathOracle;
use pleach_state::{CallStack, Frame, History, PathConstraint, State};
use pleach_wp::{Condition, Loc, Locs, PointsTo, room_for};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// What Ψ says about the value of one location.
#[derive(Clone, Copy)]
enum LocationValue {
    Is(Value),
    /// some place in the object
    In(ObjId),
}

/// `x` or `x + c`, where `x` is a location.
fn location(terms: &Terms, locs: &Locs, t: TermId) -> Option<(Loc, u64)> {
    let n = terms.node(t);
    let (x, c) = match n.op {
        Op::Var => (n, 0),
        Op::Add => (terms.node(n.arg_a()), terms.as_const(n.arg_b())?),
        _ => return None,
    };
    (x.op == Op::Var).then(|| locs.get(SymbolId(x.a)))?.map(|l| (l, c))
}

fn what_is_known(terms: &mut Terms, locs: &Locs, own: &State, psi: &Condition) -> BTreeMap<Loc, LocationValue> {
    let mut known = BTreeMap::new();
    for l in literals(terms, psi) {
        let n = terms.node(l);
        if n.op != Op::Eq {
            continue;
        }
        for (x, v) in [(n.arg_a(), n.arg_b()), (n.arg_b(), n.arg_a())] {
            if let Some((loc, 0)) = location(terms, locs, x)
                && let v @ (Value::Int(_) | Value::Ptr { .. }) = Value::from_term(terms, v)
                // What the tree knows only by the path must not be a plain number here: a switch would be no fork.
                && let Some(have) = value(terms, own, loc, x)
                && terms.as_const(have).is_some() == matches!(v, Value::Int(_))
            {
                known.insert(loc, LocationValue::Is(v));
            }
        }
    }
    for p in &psi.points_to {
        if let (Some((loc, c)), Some(k)) = (location(terms, locs, p.ptr), p.off) {
            known.entry(loc).or_insert(LocationValue::Is(Value::ptr(p.obj, (k as i64).wrapping_sub(c as i64))));
        }
    }
    for d in &psi.dangling {
        if let (Some((loc, c)), Some(k)) = (location(terms, locs, d.ptr), d.at) {
            known.entry(loc).or_insert(LocationValue::Is(Value::ptr(d.obj, k.wrapping_sub(c as i64))));
        }
    }
    let pointers = psi.points_to.iter().map(|p| p.ptr).chain(psi.dereferenceable.iter().map(|v| v.ptr));
    let pointers: Vec<TermId> = pointers.chain(psi.dangling.iter().map(|d| d.ptr)).collect();
    for t in pointers {
        let symbols: Vec<SymbolId> = terms.support(t).iter().map(|k| k.symbol()).collect();
        for s in symbols {
            let Some(loc) = locs.get(s) else { continue };
            let var = terms.var(s);
            if terms.width(var) == terms.pointer_bits
                && let Some(v) = value(terms, own, loc, var)
                && let Some((obj, _)) = target(terms, v)
            {
                known.entry(loc).or_insert(LocationValue::In(obj));
            }
        }
    }
    known
}

fn unknown(terms: &mut Terms, name: &str, width: u16) -> TermId {
    let s = symbol(terms, name, SymbolKind::Bits(width));
    terms.var(s)
}

fn symbol(terms: &mut Terms, name: &str, kind: SymbolKind) -> SymbolId {
    let origin = SymbolOrigin::Audit(terms.symbols.name(name));
    terms.symbols.intern(origin, kind, || name.to_owned())
}

fn known_value(terms: &mut Terms, known: LocationValue, name: &str) -> Value {
    match known {
        LocationValue::Is(v) => v,
        LocationValue::In(obj) => {
            let bits = terms.pointer_bits;
            let (base, off) = (terms.base(obj), unknown(terms, &format!("audit!off.{name}"), bits));
            Value::Term(terms.add(base, off))
        }
    }
}

fn frame(machine: &mut Machine, known: &BTreeMap<Loc, LocationValue>, depth: u32, frame: &Frame) -> Frame {
    let program = machine.program();
    let f = program.function(frame.func);
    let mut out = frame.clone();
    for (slot, r) in out.regs.iter_mut().enumerate() {
        let loc = Loc::Reg { depth, slot: slot as u32 };
        let width = program.target.bits(f.slots[slot].ty);
        *r = match known.get(&loc) {
            Some(k) => known_value(machine.terms(), *k, &format!("r{depth}.{slot}")),
            None => Value::Term(unknown(machine.terms(), &format!("audit!r{depth}.{slot}"), width)),
        };
    }
    let behind = out.regs.len();
    out.varargs = frame
        .varargs
        .iter()
        .enumerate()
        .map(|(i, (_, ty))| {
            let slot = (behind + i) as u32;
            let v = match known.get(&Loc::Reg { depth, slot }) {
                Some(k) => known_value(machine.terms(), *k, &format!("r{depth}.{slot}")),
                None => {
                    Value::Term(unknown(machine.terms(), &format!("audit!r{depth}.{slot}"), program.target.bits(*ty)))
                }
            };
            (v, *ty)
        })
        .collect();
    out
}

fn callers(
    machine: &mut Machine,
    known: &BTreeMap<Loc, LocationValue>,
    of: &Option<Rc<CallStack>>,
) -> Option<Rc<CallStack>> {
    let mut stack = Vec::new();
    let mut at = of.as_ref();
    while let Some(c) = at {
        stack.push(c);
        at = c.below.as_ref();
    }
    let mut below = None;
    for c in stack.into_iter().rev() {
        let frame = frame(machine, known, c.depth - 1, &c.frame);
        below = Some(Rc::new(CallStack { frame, below, depth: c.depth }));
    }
    below
}

/// Loops made as few rounds as Ψ allows: a state that made more is cut earlier, and reaches less.
fn rounds(st: &mut State, psi: &Condition) {
    let of = |depth: u32| psi.rounds.iter().filter(move |r| r.depth == depth).map(|r| (r.header, r.at_least)).collect();
    st.frame.visits = of(st.call_depth());
    let mut stack = Vec::new();
    let mut at = st.callers.take();
    while let Some(c) = at {
        at = c.below.clone();
        stack.push((Frame { visits: of(c.depth - 1), ..c.frame.clone() }, c.depth));
    }
    for (frame, depth) in stack.into_iter().rev() {
        st.callers = Some(Rc::new(CallStack { frame, below: st.callers.take(), depth }));
    }
}

/// The general state of a node; `None` if no state satisfies Ψ.
pub fn generalise(
    machine: &mut Machine,
    locs: &Locs,
    own: &State,
    psi: &Condition,
) -> Result<Option<State>, AuditError> {
    let known = what_is_known(machine.terms(), locs, own, psi);
    let mut st = own.clone();
    (st.path, st.history) = (PathConstraint::default(), History::beginning(st.inst));
    st.decided = Default::default();
    st.decided_numbers = Default::default();
    st.frame = frame(machine, &known, own.call_depth(), &own.frame);
    st.callers = callers(machine, &known, &own.callers);
    rounds(&mut st, psi);
    let changing = own
        .memory
        .live()
        .filter(|(id, o)| o.kind != ObjectKind::Function && !o.readonly && !locs.is_constant(*id))
        // The bytes of a member are its segment's.
        .map(|(id, _)| own.memory.segment_of(id).map_or(id, |s| s.0));
    for id in changing.collect::<BTreeSet<_>>() {
        let size = own.memory.get(id).map_or(0, |o| o.contents.size());
        let len = u32::try_from(size).unwrap_or(u32::MAX);
        let name = format!("audit!m{}", id.0);
        let array = symbol(machine.terms(), &name, SymbolKind::Array { element: 8, len });
        let array = machine.terms().array_var(array);
        if let Some(o) = st.memory.get_mut(id) {
            o.contents = Contents::new(size, Background::Array(array));
        }
    }
    for (loc, k) in &known {
        if let Loc::Cell { obj, off, bytes } = *loc {
            let v = known_value(machine.terms(), *k, &format!("m{}.{off}", obj.0));
            let Some((contents, w)) = st.memory.contents_mut(obj) else {
                return Err(AuditError::Wrong(format!("Ψ speaks of object {}, which is not there", obj.0)));
            };
            if off + u64::from(bytes) > w.len {
                return Err(AuditError::Wrong(format!("Ψ speaks of bytes outside object {}", obj.0)));
            }
            contents.write(machine.terms(), w.start + off, bytes as usize, v);
        }
    }
    let Some(assumptions) = assumptions(machine, locs, &st, psi)? else { return Ok(None) };
    for c in assumptions {
        match machine.constrain(&mut st, c) {
            Some(true) => {}
            Some(false) => return Ok(None),
            None => return Err(AuditError::Unchecked("the solver returned unknown")),
        }
    }
    Ok(Some(st))
}

/// Ψ as conditions on the symbolic variables of the abstract state; `None` if it puts one pointer into two objects.
fn assumptions(
    machine: &mut Machine,
    locs: &Locs,
    st: &State,
    psi: &Condition,
) -> Result<Option<Vec<TermId>>, AuditError> {
    let terms = machine.terms();
    let missing = || AuditError::Wrong("Ψ speaks of a location that is not there".into());
    let mut out = Vec::new();
    for l in literals(terms, psi) {
        out.push(translate(terms, locs, st, l).ok_or_else(missing)?);
    }
    for c in &psi.choices {
        out.extend(chosen(terms, locs, st, c));
    }
    let points_to = psi.points_to.iter().map(|p| (p.ptr, p.off, None));
    let pinned: BTreeMap<TermId, ObjId> = psi.points_to.iter().map(|p| (p.ptr, p.obj)).collect();
    if psi.points_to.iter().any(|p| pinned.get(&p.ptr) != Some(&p.obj)) {
        return Ok(None);
    }
    let dereferenceable = psi.dereferenceable.iter().map(|v| (v.ptr, None, v.bounded.then_some(v.bytes)));
    let dangling = psi.dangling.iter().map(|d| (d.ptr, d.at.map(|k| k as u64), None));
    for (ptr, at, room) in points_to.chain(dereferenceable).chain(dangling) {
        let t = translate(terms, locs, st, ptr).ok_or_else(missing)?;
        let Some((obj, off)) = target(terms, t) else {
            return Err(AuditError::Unchecked("a pointer of several parts"));
        };
        if pinned.get(&ptr).is_some_and(|o| *o != obj) {
            return Ok(None);
        }
        let width = terms.width(off);
        if let Some(k) = at {
            let k = terms.constant(width, k);
            out.push(terms.eq(off, k));
        }
        if let (Some(bytes), Some(o)) = (room, st.memory.header(obj))
            && bytes <= o.capacity()
        {
            out.push(o.size().within(terms, off, bytes));
        }
    }
    // Objects have the sizes that they have in the state at hand. A symbolic one is any that Ψ has room in.
    for (_, o) in st.memory.live().filter(|(_, o)| o.size().is_symbolic()) {
        let size = o.size().term(terms, terms.pointer_bits);
        let capacity = terms.constant(terms.pointer_bits, o.capacity());
        out.push(terms.ule(size, capacity));
    }
    for p in &psi.points_to {
        if let Some(o) = st.memory.header(p.obj).filter(|o| o.size().is_symbolic()) {
            let needed = if p.off.is_some() { *p } else { PointsTo { bytes: 0, ..*p } };
            out.push(room_for(terms, o.size(), &needed));
        }
    }
    Ok(Some(out))
}
