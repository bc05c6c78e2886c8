//! The heap.

use super::{Call, ModelFn};
use crate::access::note;
use crate::flow::{Flow, Step, StepResult};
use crate::machine::Machine;
use crate::overlap::Overlap;
use pleach_expr::base_range;
use pleach_memory::{Background, Contents, ObjId, ObjectEntry, ObjectKind, Value};
use pleach_state::{Access, Cut, Detail, End, ErrorKind, State};

/// KLEE has a word to say about blocks of this size.
const LARGE: u64 = 10 << 20;

/// What is fixed where the size is symbolic.
pub const ALLOCATION_SIZE: &str = "the size of an allocation";
/// The same for a local.
pub const LOCAL_SIZE: &str = "the size of a local array";

pub(super) fn find(name: &str) -> Option<ModelFn> {
    Some(match name {
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

fn allocate(
    m: &mut Machine,
    st: &mut State,
    call: &Call,
    n: u64,
    align: Option<u64>,
    background: Background,
) -> StepResult<Option<ObjId>> {
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
    let id = m.allocate_with(st, n, align.unwrap_or(16), ObjectKind::Heap, Contents::new(n, background))?;
    note(st, || Access::Alloc { obj: id, size: n, zeroed: background == Background::Zero, align });
    call.give(st, Value::ptr(id, 0));
    Ok(Some(id))
}

fn malloc(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let n = size_of(m, st, call, 0)?;
    let b = m.background();
    allocate(m, st, call, n, None, b).map(|_| ())
}

fn calloc(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let a = size_of(m, st, call, 0)?;
    let b = size_of(m, st, call, 1)?;
    match a.checked_mul(b).filter(|n| *n <= pleach_expr::mask(m.pointer_bits())) {
        Some(n) => allocate(m, st, call, n, None, Background::Zero).map(|_| ()),
        None => {
            call.give(st, Value::NULL);
            Ok(())
        }
    }
}

fn aligned_alloc(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let align = size_of(m, st, call, 0)?;
    let n = size_of(m, st, call, 1)?;
    let b = m.background();
    allocate(m, st, call, n, Some(align), b).map(|_| ())
}

fn posix_memalign(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let align = size_of(m, st, call, 1)?;
    let n = size_of(m, st, call, 2)?;
    let bytes = m.pointer_bytes();
    let at = m.place(st, call.arg(0), bytes, crate::access::AccessKind::Write)?;
    let b = m.background();
    let id = m.allocate_with(st, n, align, ObjectKind::Heap, Contents::new(n, b))?;
    m.write_place(st, at, bytes, Value::ptr(id, 0));
    if let crate::access::ResolvedLocation::At { obj, off } = at {
        note(st, || Access::AllocTo { obj: id, size: n, align, at: obj, off });
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
                let (size, kind) = (o.size, o.kind);
                let what = m.describe(st, obj, size);
                let elsewhere = || format!("free of {what}, which was not allocated on the heap");
                let (message, detail) = match kind {
                    ObjectKind::Heap => (format!("free of a pointer {off} bytes into {what}"), Detail::None),
                    ObjectKind::Stack => (elsewhere(), Detail::FreeOfLocal),
                    _ => (elsewhere(), Detail::FreeOfGlobal),
                };
                Err(Flow::error_with(ErrorKind::BadFree, message, detail))
            }
            Some(ObjectEntry::Freed(o)) => {
                let size = o.size;
                let what = m.describe(st, obj, size);
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
    let n = size_of(m, st, call, 1)?;
    let old = block_at(m, st, call.arg(0)).map_err(|flow| if n == 0 { flow } else { of_realloc(flow) })?;
    let mark = st.trace.accesses.len();
    if n == 0 && (old.is_some() || m.config.rules.realloc_zero_is_null) {
        if let Some(o) = old {
            st.memory.free(o);
        }
        call.give(st, Value::NULL);
        note(st, || Access::Realloc { old, new: None, kept: 0, size: 0 });
        return Ok(());
    }
    let b = m.background();
    let Some(new) = allocate(m, st, call, n, None, b)? else { return Ok(()) };
    let mut kept = 0;
    if let Some(old) = old {
        kept = st.memory.header(old).map_or(0, |o| o.size).min(n);
        m.copy_bytes(st, Value::ptr(new, 0), Value::ptr(old, 0), (Value::Int(kept), 64), Overlap::Allowed)?;
        st.memory.replace(old, new);
    }
    st.trace.accesses.truncate(mark);
    note(st, || Access::Realloc { old, new: Some(new), kept, size: n });
    Ok(())
}

fn usable_size(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let obj = block_at(m, st, call.arg(0))?;
    let n = obj.and_then(|o| st.memory.header(o)).map_or(0, |o| o.size);
    call.give(st, Value::Int(n));
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
