//! Does a state satisfy a condition that names its own objects? Independent of the pruner's matching.

use crate::AuditError;
use pleach_exec::{Machine, Refuted};
use pleach_expr::{SymbolId, TermId, Terms};
use pleach_memory::{ObjId, Object, ObjectEntry, ObjectKind, Value};
use pleach_state::State;
use pleach_state::access_path::frames;
use pleach_state::seams::PathOracle;
use pleach_wp::{Condition, Loc, Locs, MayPointToLiteral, PointsTo, room_for};
use rustc_hash::FxHashMap;

/// A register of the frame at a call depth.
pub fn register(state: &State, depth: u32, slot: u32) -> Option<Value> {
    let (_, frame) = frames(state).find(|(here, _)| *here == depth)?;
    frame.register(slot)
}

/// The value of a location; `None` if the state has no such location.
pub fn value(terms: &mut Terms, state: &State, loc: Loc, var: TermId) -> Option<TermId> {
    let width = terms.width(var);
    let v = match loc {
        Loc::Reg { depth, slot } => register(state, depth, slot)?,
        Loc::Size { obj } => return Some(state.memory.header(obj)?.size().term(terms, width)),
        Loc::Cell { obj, off, bytes } => {
            let (contents, w) = state.memory.contents(obj)?;
            if off + u64::from(bytes) > w.len {
                return None;
            }
            contents.clone().read(terms, w.start + off, bytes as usize, obj)
        }
    };
    // What was never written may be anything: the variable itself stands for it.
    let Some(t) = v.to_term(terms, width) else { return Some(var) };
    Some(if terms.width(t) == width { t } else { terms.resize_unsigned(t, width) })
}

/// The term with the state's values for locations.
pub fn translate(terms: &mut Terms, locs: &Locs, state: &State, t: TermId) -> Option<TermId> {
    let mut map: FxHashMap<TermId, TermId> = FxHashMap::default();
    let symbols: Vec<SymbolId> = terms.support(t).iter().map(|k| k.symbol()).collect();
    for s in symbols {
        if let Some(loc) = locs.get(s) {
            let var = terms.var(s);
            let v = value(terms, state, loc, var)?;
            map.insert(var, v);
        }
    }
    Some(terms.substitute(t, &map))
}

/// The pointer is into one of the objects with room for the access, or where else the choice allows; `None` if it says
/// nothing of the state.
pub fn chosen(terms: &mut Terms, locs: &Locs, state: &State, c: &MayPointToLiteral) -> Option<TermId> {
    if c.outside || c.null {
        return None;
    }
    let t = translate(terms, locs, state, c.ptr)?;
    let mut any = Terms::FALSE;
    for &obj in &c.objects {
        let Some(size) = state.memory.header(obj).map(|o| o.size()) else { continue };
        let base = terms.base(obj);
        let off = terms.sub(t, base);
        let within = size.within(terms, off, c.bytes);
        any = terms.or(any, within);
    }
    Some(any)
}

/// The object a pointer points to, and its offset in it.
pub fn target(terms: &mut Terms, t: TermId) -> Option<(ObjId, TermId)> {
    let [obj] = terms.bases(t)[..] else { return None };
    let base = terms.base(obj);
    let off = terms.sub(t, base);
    (!terms.has(off, pleach_expr::facts::HAS_BASE)).then_some((obj, off))
}

fn must(machine: &mut Machine, state: &State, t: TermId, of: TermId) -> Result<(), AuditError> {
    match machine.refute(state, t) {
        Refuted::Holds => Ok(()),
        Refuted::Unknown => Err(AuditError::Unchecked("the solver returned unknown")),
        Refuted::Fails(model) => {
            let keys = machine.terms().support(t);
            let values: Vec<String> = keys
                .iter()
                .take(8)
                .map(|k| {
                    format!("{}.{} = {:#x}", machine.terms().symbols.info(k.symbol()).name, k.cell(), model.get(*k))
                })
                .collect();
            Err(AuditError::Wrong(format!("{} fails for {}", machine.terms().show(of), values.join(", "))))
        }
    }
}

/// The object lies at a multiple of 2^align wherever it lies.
fn promised(o: &Object, align: u8) -> bool {
    matches!(o.kind, ObjectKind::Fixed | ObjectKind::Segment) || o.align >> align != 0
}

/// Every conjunct holds.
pub fn holds(machine: &mut Machine, locs: &Locs, state: &State, psi: &Condition) -> Result<(), AuditError> {
    let wrong = |machine: &mut Machine, t: TermId, what: &str| {
        Err(AuditError::Wrong(format!("{} {what}", machine.terms().show(t))))
    };
    if let Some(r) = psi.rounds.iter().find(|r| !r.hold_in(state)) {
        return Err(AuditError::Wrong(format!("block {} was not entered {} times", r.header.0, r.at_least)));
    }
    for l in literals(machine.terms(), psi) {
        let Some(t) = translate(machine.terms(), locs, state, l) else {
            return wrong(machine, l, "speaks of something that is not there");
        };
        must(machine, state, t, l)?;
    }
    for c in &psi.choices {
        if let Some(t) = chosen(machine.terms(), locs, state, c) {
            must(machine, state, t, c.ptr)?;
        }
    }
    let single = psi.points_to.iter().map(|p| p.ptr).chain(psi.dereferenceable.iter().map(|v| v.ptr));
    let several = single.chain(psi.dangling.iter().map(|d| d.ptr)).any(|p| {
        let t = translate(machine.terms(), locs, state, p);
        t.is_some_and(|t| !machine.terms().bases(t).is_empty() && target(machine.terms(), t).is_none())
    });
    if several {
        // Which of them it is the path may say; that is not looked at here.
        return Err(AuditError::Unchecked("a pointer of several parts"));
    }
    for p in &psi.points_to {
        let t = translate(machine.terms(), locs, state, p.ptr);
        let Some((obj, off)) = t.and_then(|t| target(machine.terms(), t)) else {
            return wrong(machine, p.ptr, "is no pointer into one object");
        };
        let Some(o) = state.memory.header(obj).cloned() else { return wrong(machine, p.ptr, "points to nothing") };
        let fits =
            obj == p.obj && !(p.write && o.readonly) && p.kind.is_none_or(|k| k == o.kind) && promised(&o, p.align);
        let needed = if p.off.is_some() { *p } else { PointsTo { bytes: 0, ..*p } };
        let room = room_for(machine.terms(), o.size(), &needed);
        if !fits || room == Terms::FALSE {
            return wrong(machine, p.ptr, "points to another object than it should");
        }
        must(machine, state, room, p.ptr)?;
        if let Some(k) = p.off {
            let k = constant_like(machine.terms(), off, k);
            let same = machine.terms().eq(off, k);
            must(machine, state, same, p.ptr)?;
        }
    }
    for v in &psi.dereferenceable {
        let t = translate(machine.terms(), locs, state, v.ptr);
        let Some((obj, off)) = t.and_then(|t| target(machine.terms(), t)) else {
            return wrong(machine, v.ptr, "is no valid pointer");
        };
        let Some(o) = state.memory.header(obj).cloned() else { return wrong(machine, v.ptr, "points to nothing") };
        let fits = (!v.bounded || v.bytes <= o.capacity()) && promised(&o, v.align);
        if o.kind == ObjectKind::Function || (v.write && o.readonly) || !fits {
            return wrong(machine, v.ptr, "does not allow the access");
        }
        if v.bounded {
            let inside = o.size().within(machine.terms(), off, v.bytes);
            must(machine, state, inside, v.ptr)?;
        }
    }
    for d in &psi.dangling {
        let t = translate(machine.terms(), locs, state, d.ptr);
        let Some((obj, off)) = t.and_then(|t| target(machine.terms(), t)) else {
            return wrong(machine, d.ptr, "is no pointer into one object");
        };
        let dangling = match state.memory.entry(obj) {
            Some(ObjectEntry::Freed(_)) => d.freed,
            Some(ObjectEntry::OutOfScope { .. }) => !d.freed,
            _ => false,
        };
        if !dangling {
            return wrong(machine, d.ptr, "points to something that is still there");
        }
        if let Some(k) = d.at {
            let k = constant_like(machine.terms(), off, k as u64);
            let same = machine.terms().eq(off, k);
            must(machine, state, same, d.ptr)?;
        }
    }
    if let Some(blocks) = &psi.blocks
        && let Some((id, _)) = state.memory.live().find(|(id, o)| o.kind == ObjectKind::Heap && !blocks.contains(id))
    {
        return Err(AuditError::Wrong(format!("block {} is not among those allowed", id.0)));
    }
    Ok(())
}

/// A literal mentions a symbolic variable that is not a location.
pub fn is_open(terms: &mut Terms, locs: &Locs, psi: &Condition) -> bool {
    literals(terms, psi).into_iter().any(|l| terms.support(l).iter().any(|k| locs.get(k.symbol()).is_none()))
}

/// All literals, sums written out.
pub fn literals(terms: &mut Terms, psi: &Condition) -> Vec<TermId> {
    let sums: Vec<TermId> = psi.sums.iter().flat_map(|s| s.literals(terms)).collect();
    psi.literals.iter().copied().chain(sums).collect()
}

/// A condition in one line.
pub fn describe(machine: &mut Machine, psi: &Condition) -> String {
    let literals = literals(machine.terms(), psi);
    let terms = machine.terms();
    let mut out: Vec<String> = literals.iter().map(|l| terms.show(*l)).collect();
    for p in &psi.points_to {
        let at = p.off.map_or(String::new(), |o| format!("+{o}"));
        out.push(format!("{} → object {}{at}", terms.show(p.ptr), p.obj.0));
    }
    for v in &psi.dereferenceable {
        let how = if v.bounded { format!("{} bytes", v.bytes) } else { "live".into() };
        out.push(format!("valid {} ({how})", terms.show(v.ptr)));
    }
    for d in &psi.dangling {
        out.push(format!("dangling {}", terms.show(d.ptr)));
    }
    if let Some(b) = &psi.blocks {
        out.push(format!("no heap blocks but {:?}", b.iter().map(|b| b.0).collect::<Vec<_>>()));
    }
    for r in &psi.rounds {
        out.push(format!("block {} was entered {} times or more", r.header.0, r.at_least));
    }
    if out.is_empty() { "true".into() } else { out.join("; ") }
}

/// A number of the same width.
fn constant_like(terms: &mut Terms, like: TermId, k: u64) -> TermId {
    terms.constant(terms.width(like), k)
}
