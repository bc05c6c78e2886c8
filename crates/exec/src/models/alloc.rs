//! The heap.

use super::{Call, ModelFn};
use crate::access::{bound_of, note};
use crate::config::SizeMode;
use crate::feasibility::Feasibility;
use crate::flow::{Flow, Step, StepResult};
use crate::machine::Machine;
use crate::overlap::Overlap;
use crate::symbolic_size::Allocation;
use pleach_expr::{TermId, base_range, facts};
use pleach_ir::{BinOp, FALLIBLE_MALLOC, OWN_ALLOCATION};
use pleach_memory::{Background, Contents, ObjId, ObjectEntry, ObjectKind, Size, Value};
use pleach_semantics::overflow_term;
use pleach_state::{Access, Assumption, Cut, Detail, End, ErrorKind, ForkKind, State};

/// KLEE has a word to say about blocks of this size.
const LARGE: u64 = 10 << 20;

/// What is fixed where the size is symbolic.
pub const ALLOCATION_SIZE: &str = "the size of an allocation";
/// The same for a local.
pub const LOCAL_SIZE: &str = "the size of a local array";

pub(super) fn find(name: &str) -> Option<ModelFn> {
    Some(match name.strip_prefix(OWN_ALLOCATION).unwrap_or(name) {
        "malloc" | "_Znwm" | "_Znam" | "_Znwj" | "_Znaj" => malloc,
        "calloc" => calloc,
        "realloc" => realloc,
        "free" | "_ZdlPv" | "_ZdaPv" | "_ZdlPvm" | "_ZdaPvm" => free,
        "aligned_alloc" | "memalign" => aligned_alloc,
        "posix_memalign" => posix_memalign,
        "malloc_usable_size" => usable_size,
        "memcpy" | "memmove" => memcpy,
        "__memcpy_chk" | "__memmove_chk" => memcpy_checked,
        "memset" | "__memset_chk" => memset,
        _ => return None,
    })
}

fn size_of(m: &mut Machine, st: &mut State, call: &Call, i: usize) -> StepResult<u64> {
    let w = call.width(m, i);
    m.concretize(st, call.arg(i), w, ALLOCATION_SIZE)
}

const HEAP: Allocation = Allocation { what: ALLOCATION_SIZE, element: 1 };

/// The size of a new block by argument `i`.
fn new_size(m: &mut Machine, st: &mut State, call: &Call, i: usize) -> StepResult<Size> {
    let w = call.width(m, i);
    let n = m.size_of_new(st, call.arg(i), w, HEAP)?;
    Ok(n.bytes(&mut m.terms, 1).unwrap_or(Size::Fixed(n.most())))
}

fn allocate(
    m: &mut Machine,
    st: &mut State,
    call: &Call,
    size: Size,
    align: Option<u64>,
    background: Background,
) -> StepResult<Option<ObjId>> {
    let n = size.capacity();
    if m.config.rules.warn_of_large_objects && n >= LARGE {
        m.warn_once(format!("Large memory allocation ({n} bytes). KLEE may run out of memory."));
    }
    if n > m.config.max_alloc {
        // INCOMPLETE: it could succeed, unless there is no room for it anywhere.
        if n < base_range(m.pointer_bits()).1 {
            m.drop_alternative(st, &format!("an allocation of {n} bytes, answered with a null pointer"))?;
        }
        call.give(st, Value::NULL);
        return Ok(None);
    }
    assume_memory(m, call);
    let id = m.allocate_with(st, size, align.unwrap_or(16), ObjectKind::Heap, Contents::new(n, background))?;
    note(st, || Access::Alloc { obj: id, size: bound_of(size), zeroed: background == Background::Zero, align });
    call.give(st, Value::ptr(id, 0));
    Ok(Some(id))
}

/// The block is there. Where the program was asked whether it is, nothing is assumed.
fn assume_memory(m: &mut Machine, call: &Call) {
    if !call.name.starts_with(OWN_ALLOCATION) {
        let elsewhere = m.program.function_named(FALLIBLE_MALLOC).is_some();
        m.assume_of_run(Assumption::Allocation { elsewhere });
    }
}

fn malloc(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let n = new_size(m, st, call, 0)?;
    let b = m.background();
    allocate(m, st, call, n, None, b).map(|_| ())
}

fn calloc(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    if m.config.sizes.mode != SizeMode::Any && [0, 1].into_iter().any(|i| m.concrete_number(st, call.arg(i)).is_none())
    {
        return calloc_symbolic(m, st, call);
    }
    let a = size_of(m, st, call, 0)?;
    let b = size_of(m, st, call, 1)?;
    match a.checked_mul(b).filter(|n| *n <= pleach_expr::mask(m.pointer_bits())) {
        Some(n) => allocate(m, st, call, n.into(), None, Background::Zero).map(|_| ()),
        None => {
            call.give(st, Value::NULL);
            Ok(())
        }
    }
}

/// A product that may wrap around: then there is no block.
fn calloc_symbolic(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let w = m.pointer_bits();
    let [a, b] = [0, 1].map(|i| {
        let width = call.width(m, i);
        let t = m.term(st, call.arg(i), width);
        m.terms.resize_unsigned(t, w)
    });
    let over = overflow_term(&mut m.terms, BinOp::Mul, false, a, b);
    match m.decide(st, over) {
        Feasibility::True => {
            call.give(st, Value::NULL);
            return Ok(());
        }
        Feasibility::False => {}
        Feasibility::Both(yes, no) => return Err(m.split(st, vec![(yes, None), (no, None)], ForkKind::Other)),
        Feasibility::OtherUnknown { side, why, holds } => return Err(m.split_with_unknown(st, side, None, holds, &why)),
    }
    let bytes = m.terms.mul(a, b);
    let bytes = Value::from_term(&m.terms, bytes);
    let n = m.size_of_new(st, bytes, w, HEAP)?;
    let size = n.bytes(&mut m.terms, 1).unwrap_or(Size::Fixed(n.most()));
    allocate(m, st, call, size, None, Background::Zero).map(|_| ())
}

fn aligned_alloc(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let align = size_of(m, st, call, 0)?;
    let n = new_size(m, st, call, 1)?;
    let b = m.background();
    allocate(m, st, call, n, Some(align), b).map(|_| ())
}

fn posix_memalign(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let align = size_of(m, st, call, 1)?;
    let n = new_size(m, st, call, 2)?;
    let bytes = m.pointer_bytes();
    let at = m.place(st, call.arg(0), bytes, crate::access::AccessKind::Write)?;
    let b = m.background();
    assume_memory(m, call);
    let id = m.allocate_with(st, n, align, ObjectKind::Heap, Contents::new(n.capacity(), b))?;
    m.write_place(st, at, bytes, Value::ptr(id, 0));
    if let crate::access::ResolvedLocation::At { obj, off } = at {
        note(st, || Access::AllocTo { obj: id, size: bound_of(n), align, at: obj, off });
    }
    call.give(st, Value::Int(0));
    Ok(())
}

/// The heap block a pointer given to `free` or `realloc` is the start of, or the error.
fn block_at(m: &mut Machine, st: &mut State, p: Value) -> StepResult<Option<ObjId>> {
    match p {
        Value::Int(0) => Ok(None),
        Value::Ptr { obj, off } => match st.memory.entry(obj) {
            Some(ObjectEntry::Live(o) | ObjectEntry::InSegment(o, ..)) if o.kind == ObjectKind::Heap && off == 0 => {
                Ok(Some(obj))
            }
            Some(ObjectEntry::Live(o) | ObjectEntry::InSegment(o, ..)) => {
                let kind = o.kind;
                let what = m.describe(st, obj);
                let elsewhere = || format!("free of {what}, which was not allocated on the heap");
                let (message, detail) = match kind {
                    ObjectKind::Heap => (format!("free of a pointer {off} bytes into {what}"), Detail::None),
                    ObjectKind::Stack => (elsewhere(), Detail::FreeOfLocal),
                    _ => (elsewhere(), Detail::FreeOfGlobal),
                };
                Err(Flow::error_with(ErrorKind::BadFree, message, detail))
            }
            Some(ObjectEntry::Freed(_)) => {
                let what = m.describe(st, obj);
                Err(Flow::error(ErrorKind::DoubleFree, format!("{what} is freed twice")))
            }
            _ => Err(Flow::error(ErrorKind::BadFree, "free of a local variable whose function has returned")),
        },
        Value::Int(a) => {
            Err(Flow::error(ErrorKind::BadFree, format!("free of address {a:#x}, which was not allocated")))
        }
        Value::Undef => Err(Flow::error(ErrorKind::BadFree, "free of a pointer that was never initialised")),
        Value::Term(t) => {
            if let Some(&(obj, off)) = st.decided.get(&t)
                && let Some(k) = m.terms.as_const(off)
            {
                return block_at(m, st, Value::ptr(obj, k as i64));
            }
            if let Some(&a) = st.decided_numbers.get(&t) {
                return block_at(m, st, Value::Int(a));
            }
            if let Some([c]) = pleach_memory::resolve::candidates(&mut m.terms, t).as_deref()
                && let Some(obj) = c.obj
            {
                // One block, at any offset: only its start can be freed.
                let zero = m.terms.constant(m.terms.width(c.offset), 0);
                let start = m.terms.eq(c.offset, zero);
                m.require(st, start, ErrorKind::BadFree, || "free of a pointer into the middle of a block".into())?;
                return block_at(m, st, Value::ptr(obj, 0));
            }
            m.decide_pointer(st, t)?;
            Err(Flow::cut(Cut::Unsupported("free of a pointer with unknown target".into())))
        }
    }
}

fn free(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    match block_at(m, st, call.arg(0))? {
        Some(obj) => {
            st.memory.free(obj);
            note(st, || Access::Free { obj });
        }
        None => note(st, || Access::FreeNull),
    }
    Ok(())
}

/// KLEE tells a bad pointer given to `realloc` from one given to `free`.
fn of_realloc(flow: Flow) -> Flow {
    match flow {
        Flow::Stop(Step::End(End::Error(e))) if e.kind == ErrorKind::BadFree && e.detail == Detail::None => {
            let words = Detail::KleeText { message: "memory error: invalid pointer: realloc", suffix: "ptr.err" };
            Flow::error_with(e.kind, e.message, words)
        }
        other => other,
    }
}

fn realloc(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let size = new_size(m, st, call, 1)?;
    let size = not_zero_if_symbolic(m, st, size)?;
    let n = size.capacity();
    let old = block_at(m, st, call.arg(0)).map_err(|flow| if n == 0 { flow } else { of_realloc(flow) })?;
    let mark = st.history.accesses();
    if n == 0 && (old.is_some() || m.config.rules.realloc_zero_is_null) {
        if let Some(o) = old {
            st.memory.free(o);
        }
        call.give(st, Value::NULL);
        note(st, || Access::Realloc { old, new: None, kept: 0, size: 0 });
        return Ok(());
    }
    if let Some(old) = old
        && (size.is_symbolic() || st.memory.header(old).is_some_and(|o| o.size().is_symbolic()))
    {
        return realloc_symbolic(m, st, call, old, size);
    }
    let b = m.background();
    let Some(new) = allocate(m, st, call, size, None, b)? else { return Ok(()) };
    if size.is_symbolic() {
        st.history.drop_accesses(mark);
        note(st, || Access::ReallocNull { new, size: bound_of(size) });
        return Ok(());
    }
    let mut kept = 0;
    if let Some(old) = old {
        kept = st.memory.header(old).map_or(0, |o| o.capacity()).min(n);
        m.copy_bytes(st, Value::ptr(new, 0), Value::ptr(old, 0), (Value::Int(kept), 64), Overlap::Allowed)?;
        st.memory.replace(old, new);
    }
    st.history.drop_accesses(mark);
    note(st, || Access::Realloc { old, new: Some(new), kept, size: n });
    Ok(())
}

/// A symbolic size is decided to be zero or not: `realloc` to no bytes frees the block.
fn not_zero_if_symbolic(m: &mut Machine, st: &mut State, size: Size) -> StepResult<Size> {
    let Size::Symbolic { size: t, .. } = size else { return Ok(size) };
    let zero = m.terms.constant(m.terms.width(t), 0);
    let none = m.terms.eq(t, zero);
    match m.decide(st, none) {
        Feasibility::True => Ok(Size::Fixed(0)),
        Feasibility::False => Ok(size),
        Feasibility::Both(yes, no) => Err(m.split(st, vec![(yes, None), (no, None)], ForkKind::Other)),
        Feasibility::OtherUnknown { side, why, holds } => Err(m.split_with_unknown(st, side, None, holds, &why)),
    }
}

/// `realloc` where one of the sizes is symbolic.
///
/// All bytes that both blocks have room for are copied. *Invariant*: what lies behind the end of the old block was
/// never written, and so is anything in the new block, as it must be. Where that is not so, and where pointers could
/// be lost, the path splits by the sizes.
fn realloc_symbolic(m: &mut Machine, st: &mut State, call: &Call, old: ObjId, size: Size) -> StepResult<()> {
    let (mut pointers, mut unwritten) = (false, true);
    if let Some((contents, w)) = st.memory.contents(old) {
        let base = |t: TermId| m.terms.has(t, facts::HAS_BASE);
        let pointer = |v: &Value| matches!(v, Value::Ptr { .. }) || matches!(v, Value::Term(t) if base(*t));
        pointers = contents.held(w).iter().any(pointer);
        unwritten = (w.start..w.start + w.len).all(|at| contents.is_uninit(at));
    }
    if pointers || !unwritten {
        m.each_size(st, old)?;
    }
    let size = match size {
        Size::Symbolic { size: t, .. } if pointers => {
            let w = m.terms.width(t);
            Size::Fixed(m.each_value(st, Value::Term(t), w, ALLOCATION_SIZE)?)
        }
        size => size,
    };
    let mark = st.history.accesses();
    let b = m.background();
    let Some(new) = allocate(m, st, call, size, None, b)? else { return Ok(()) };
    let kept = st.memory.header(old).map_or(0, |o| o.capacity()).min(size.capacity());
    m.copy_contents(st, (new, 0), (old, 0), kept);
    st.memory.replace(old, new);
    st.history.drop_accesses(mark);
    // A size that is decided here splits the path; the record does not say so.
    note(st, || Access::SymbolicSize);
    Ok(())
}

fn usable_size(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let obj = block_at(m, st, call.arg(0))?;
    let n = obj.map_or(Value::Int(0), |o| m.size_value(st, o));
    call.give(st, n);
    Ok(())
}

fn memcpy(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let w = call.width(m, 2);
    let overlap = m.may_overlap(!call.name.contains("memcpy"));
    m.copy_bytes(st, call.arg(0), call.arg(1), (call.arg(2), w), overlap)?;
    call.give(st, call.arg(0));
    Ok(())
}

/// `__memcpy_chk(to, from, n, room)`: n ≤ room.
fn memcpy_checked(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let w = call.width(m, 2);
    let (n, room) = (m.term(st, call.arg(2), w), m.term(st, call.arg(3), w));
    let fits = m.terms.ule(n, room);
    if let Some(0) = m.terms.as_const(fits) {
        let why = "memcpy or memmove writes more than its target has room for";
        return Err(Flow::error_with(
            ErrorKind::OobWrite,
            why,
            Detail::KleeText { message: "memcpy overflow", suffix: "ptr.err" },
        ));
    }
    m.require(st, fits, ErrorKind::OobWrite, || "memcpy or memmove writes more than its target has room for".into())?;
    memcpy(m, st, call)
}

fn memset(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let bw = call.width(m, 1);
    let t = m.term(st, call.arg(1), bw);
    let byte = m.terms.extract(t, 0, 8);
    let byte = Value::from_term(&m.terms, byte);
    let w = call.width(m, 2);
    m.fill_bytes(st, call.arg(0), byte, call.arg(2), w)?;
    call.give(st, call.arg(0));
    Ok(())
}
