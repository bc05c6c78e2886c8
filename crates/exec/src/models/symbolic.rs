//! Making memory and values symbolic.

use super::Call;
use crate::access::{AccessKind, ResolvedLocation};
use crate::feasibility::Feasibility;
use crate::flow::{Flow, StepResult};
use crate::machine::Machine;
use crate::symbolic_size::{Allocation, Count};
use pleach_expr::{INDEX_BITS, SymbolId, SymbolKind, SymbolOrigin, TermId};
use pleach_ir::types::{DebugType, Encoding};
use pleach_ir::{Inst, InstId, TypeId};
use pleach_memory::{Background, ObjId, ObjectKind, Size, Value};
use pleach_state::{Access, Cut, Detail, ErrorKind, ForkKind, Input, InputType, Origin, State};

/// A typed array of at most this many elements is made of whole elements instead of bytes.
const MAX_ELEMENTS: u64 = 1024;

impl Machine {
    /// A new scalar input.
    pub(crate) fn new_scalar(
        &mut self,
        st: &mut State,
        name: &str,
        bits: u16,
        origin: Origin,
        ty: InputType,
    ) -> TermId {
        self.commit(st);
        let (nth, unique) = st.name_input(name);
        let key = SymbolOrigin::Input { name: self.terms.symbols.name(name), nth };
        let symbol = self.terms.symbols.intern(key, SymbolKind::Bits(bits), || unique.clone());
        // Replay hands nondet values out by order; their objects carry the function's name.
        let shown = if origin == Origin::Nondet { name.to_string() } else { unique };
        let size = u32::from(bits).div_ceil(8);
        crate::access::note(st, || Access::Fresh);
        let site = (st.frame.func, InstId(st.inst));
        let number = st.inputs.len();
        st.inputs.push(Input { name: shown, symbol, size, length: None, origin, ty, site });
        let whole = self.terms.var(symbol);
        self.follow_given(st, number, &[whole]);
        whole
    }

    /// Restricts input `number`, made of these elements, to the one that is to be followed. Bytes beyond those given
    /// are zero.
    fn follow_given(&mut self, st: &mut State, number: usize, elements: &[TermId]) {
        let Some(given) = &self.config.inputs else { return };
        let given = match given.by_name {
            true => st.inputs.in_order().get(number).and_then(|i| given.objects.iter().find(|g| g.0 == i.name)),
            false => given.objects.get(number),
        };
        let mut bytes = given.map_or_else(Vec::new, |g| g.1.clone()).into_iter().chain(std::iter::repeat(0));
        for &t in elements {
            let w = self.terms.width(t);
            let limbs: Vec<u64> = (0..usize::from(w).div_ceil(64))
                .map(|i| {
                    (0..(usize::from(w) - 64 * i).div_ceil(8).min(8))
                        .map(|k| u64::from(bytes.next().unwrap_or(0)) << (8 * k))
                        .sum()
                })
                .collect();
            let value = if w <= 64 { self.terms.constant(w, limbs[0]) } else { self.terms.wide_constant(w, &limbs) };
            let same = self.terms.eq(t, value);
            // A fresh symbolic variable can have any value.
            let _ = self.assume(st, same);
        }
    }

    /// The bits of one element, if an array of this size and type is best kept in elements: whole scalars.
    fn element_bits(&self, ty: Option<TypeId>, size: u64) -> Option<u16> {
        let mut id = ty?;
        loop {
            match &self.program.types[id.index()] {
                DebugType::Named { of: Some(of), .. } => id = *of,
                DebugType::Array { element, .. } => id = *element,
                DebugType::Base { bits, encoding, .. } if *encoding != Encoding::Float => {
                    let bytes = u64::from(*bits) / 8;
                    let whole =
                        matches!(bits, 16 | 32 | 64) && size.is_multiple_of(bytes) && size / bytes <= MAX_ELEMENTS;
                    return whole.then_some(*bits as u16);
                }
                DebugType::Enum { bits, .. } if *bits == 32 && size.is_multiple_of(4) => return Some(32),
                _ => return None,
            }
        }
    }

    /// The source type of an object and how many of it there are.
    pub(crate) fn object_type(&self, st: &State, obj: ObjId) -> Option<TypeId> {
        let o = st.memory.header(obj)?;
        match o.kind {
            ObjectKind::Global if o.site.func == u32::MAX => self.program.globals.get(o.site.inst as usize)?.ty,
            ObjectKind::Stack => {
                let f = &self.program.functions[o.site.func as usize];
                match f.insts.get(o.site.inst as usize)? {
                    Inst::Alloca { object, .. } => f.objects[*object as usize].ty,
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// `n` bytes from `off` of an object become a new input.
    pub(crate) fn make_symbolic(
        &mut self,
        st: &mut State,
        obj: ObjId,
        off: u64,
        n: u64,
        name: &str,
        origin: Origin,
    ) -> StepResult<()> {
        let Ok(len) = u32::try_from(n) else {
            return Err(Flow::cut(Cut::Unsupported(format!("{LARGE_INPUT} ({n} bytes)"))));
        };
        let whole = off == 0 && st.memory.header(obj).is_some_and(|o| o.size() == Size::Fixed(n));
        let debug = if whole { self.object_type(st, obj) } else { None };
        let ty = match debug {
            Some(ty) => InputType::Debug { ty, count: 1 },
            None => self.pointee_of_parameter(st, obj, n).unwrap_or(InputType::Bytes),
        };
        self.commit(st);
        crate::access::note(st, || Access::FreshMemory { obj, off, len: n });
        let (nth, unique) = st.name_input(name);
        let key = SymbolOrigin::Input { name: self.terms.symbols.name(name), nth };
        let (symbol, cells) = self.input_cells(key, &unique, len, self.element_bits(debug, n));
        let site = (st.frame.func, InstId(st.inst));
        let number = st.inputs.len();
        st.inputs.push(Input { name: unique, symbol, size: len, length: None, origin, ty, site });
        if self.config.inputs.is_some() {
            let elements = cells.clone().unwrap_or_else(|| {
                let array = self.terms.array_var(symbol);
                (0..n)
                    .map(|i| {
                        let at = self.terms.constant(INDEX_BITS, i);
                        self.terms.read(array, at)
                    })
                    .collect()
            });
            self.follow_given(st, number, &elements);
        }
        match cells {
            None => {
                let array = self.terms.array_var(symbol);
                self.write_array(st, obj, off, n, array);
            }
            Some(cells) => {
                let bytes = n / (cells.len() as u64).max(1);
                for (i, t) in cells.into_iter().enumerate() {
                    let at = ResolvedLocation::At { obj, off: off + i as u64 * bytes };
                    self.write_place(st, at, bytes, Value::Term(t));
                }
            }
        }
        Ok(())
    }

    /// Bytes of an object become a new input; how many of them is symbolic. `None` if that must be decided first.
    fn make_symbolic_up_to(
        &mut self,
        st: &mut State,
        p: Value,
        (n, most): (TermId, u64),
        name: &str,
        origin: Origin,
    ) -> StepResult<Option<()>> {
        let beyond = match origin {
            Origin::MakeSymbolic => ErrorKind::User,
            _ => ErrorKind::OobWrite,
        };
        let Some(to) = self.range_end_or(st, p, n, AccessKind::Write, beyond)? else { return Ok(None) };
        let most = most.min(to.room);
        let Ok(len) = u32::try_from(most) else { return Ok(None) };
        if self.has_pointers(st, &to, most) {
            return Ok(None);
        }
        self.commit(st);
        crate::access::note(st, || Access::SymbolicSize);
        let (nth, unique) = st.name_input(name);
        let key = SymbolOrigin::Input { name: self.terms.symbols.name(name), nth };
        let symbol = self.terms.symbols.intern(key, SymbolKind::Array { element: 8, len }, || unique.clone());
        let site = (st.frame.func, InstId(st.inst));
        let number = st.inputs.len();
        let (ty, length) = (InputType::Bytes, Some(n));
        st.inputs.push(Input { name: unique, symbol, size: len, length, origin, ty, site });
        let array = self.terms.array_var(symbol);
        let bytes: Vec<TermId> = (0..most)
            .map(|i| {
                let at = self.terms.constant(INDEX_BITS, i);
                self.terms.read(array, at)
            })
            .collect();
        if self.config.inputs.is_some() {
            self.follow_given(st, number, &bytes);
        }
        let w = self.terms.width(n);
        let size = st.memory.header(to.obj).map(|o| o.size());
        let whole = to.off == 0 && size.is_some_and(|size| size.is_symbolic() && size.term(&mut self.terms, w) == n);
        if whole && st.memory.get(to.obj).is_some_and(|o| o.contents.size() == most) {
            // SOUND: what lies behind the end is never read.
            self.write_array(st, to.obj, 0, most, array);
            return Ok(Some(()));
        }
        let bytes: Vec<Value> = bytes.into_iter().map(Value::Term).collect();
        self.write_guarded(st, &to, n, &bytes);
        Ok(Some(()))
    }

    /// The bytes that `call` makes symbolic, argument 0 with the size in argument 1. True: it is done; else the size
    /// is this number.
    fn make_symbolic_by_size(
        &mut self,
        st: &mut State,
        call: &Call,
        what: &'static str,
        name: &str,
        origin: Origin,
    ) -> StepResult<Option<u64>> {
        let w = call.width(self, 1);
        let size = self.size_of_new(st, call.arg(1), w, Allocation { what, element: 1 })?;
        let Count::Symbolic { count, most } = size else { return Ok(Some(size.most())) };
        // No bytes are no input.
        let zero = self.terms.constant(self.terms.width(count), 0);
        let none = self.terms.eq(count, zero);
        match self.decide(st, none) {
            Feasibility::True => return Ok(Some(0)),
            Feasibility::False => {}
            Feasibility::Both(yes, no) => {
                return Err(self.split(st, vec![(yes, None), (no, None)], ForkKind::Other));
            }
            Feasibility::OtherUnknown { side, why, holds } => {
                return Err(self.split_with_unknown(st, side, None, holds, &why));
            }
        }
        match self.make_symbolic_up_to(st, call.arg(0), (count, most), name, origin)? {
            Some(()) => Ok(None),
            None => self.concretize(st, call.arg(1), w, what).map(Some),
        }
    }

    /// Bytes of an object become those of an array.
    pub(crate) fn write_array(&mut self, st: &mut State, obj: ObjId, off: u64, n: u64, array: TermId) {
        if off == 0
            && let Some(o) = st.memory.get_mut(obj).filter(|o| o.contents.size() == n)
        {
            o.contents.reset(Background::Array(array));
            return;
        }
        for i in 0..n {
            if i % 65536 == 65535 && self.terms.brake.pulled() {
                return;
            }
            let at = self.terms.constant(INDEX_BITS, i);
            let byte = self.terms.read(array, at);
            self.write_place(st, ResolvedLocation::At { obj, off: off + i }, 1, Value::Term(byte));
        }
    }

    /// The symbol of an input, and its elements where it is kept in elements.
    fn input_cells(
        &mut self,
        key: SymbolOrigin,
        name: &str,
        len: u32,
        element: Option<u16>,
    ) -> (SymbolId, Option<Vec<TermId>>) {
        let mut symbol = |kind| self.terms.symbols.intern(key, kind, || name.to_owned());
        match element {
            None => (symbol(SymbolKind::Array { element: 8, len }), None),
            Some(bits) if u32::from(bits) == len * 8 => {
                let s = symbol(SymbolKind::Bits(bits));
                let t = self.terms.var(s);
                (s, Some(vec![t]))
            }
            Some(bits) => {
                let count = len / (u32::from(bits) / 8);
                let s = symbol(SymbolKind::Array { element: bits, len: count });
                let array = self.terms.array_var(s);
                let cells = (0..count)
                    .map(|i| {
                        let at = self.terms.constant(INDEX_BITS, u64::from(i));
                        self.terms.read(array, at)
                    })
                    .collect();
                (s, Some(cells))
            }
        }
    }
}

/// Inputs have less than 4 GiB.
pub const LARGE_INPUT: &str = "a symbolic object of 4 GiB or more";

/// `klee_make_symbolic(address, bytes, name)`
pub(super) fn make_symbolic(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    if m.config.rules.strict_make_symbolic && call.args.len() != 3 {
        return Err(misuse("Incorrect number of arguments to klee_make_symbolic(void*, size_t, char*)"));
    }
    let name = match call.arg(2) {
        Value::Int(0) => String::new(),
        p => m.string_argument(st, p)?,
    };
    let name = if name.is_empty() {
        if m.config.rules.strict_make_symbolic {
            m.warn("klee_make_symbolic: renamed empty name to \"unnamed\"".into());
        }
        "unnamed".to_owned()
    } else {
        name
    };
    const WHAT: &str = "the size given to klee_make_symbolic";
    let Some(n) = m.make_symbolic_by_size(st, call, WHAT, &name, Origin::MakeSymbolic)? else { return Ok(()) };
    if n == 0 {
        return Ok(());
    }
    if let (true, Value::Ptr { obj, off }) = (m.config.rules.strict_make_symbolic, call.arg(0))
        && let Some(o) = st.memory.header(obj)
    {
        if o.readonly {
            return Err(misuse("cannot make readonly object symbolic"));
        }
        if off != 0 || o.size() != Size::Fixed(n) {
            return Err(misuse("Wrong size given to klee_make_symbolic"));
        }
    }
    let size_message = |size: u64| format!("klee_make_symbolic is given {n} bytes but the object `{name}` has {size}");
    if let Value::Ptr { obj, off } = call.arg(0)
        && let Some(o) = st.memory.header(obj)
        && off >= 0
        && (off as u64).saturating_add(n) > o.capacity()
    {
        return Err(Flow::error(ErrorKind::User, size_message(o.capacity())));
    }
    match m.place(st, call.arg(0), n, AccessKind::Write)? {
        ResolvedLocation::At { obj, off } => m.make_symbolic(st, obj, off, n, &name, Origin::MakeSymbolic),
        ResolvedLocation::Symbolic { .. } | ResolvedLocation::Piece { .. } => {
            Err(Flow::cut(Cut::Unsupported("klee_make_symbolic at a symbolic offset".into())))
        }
    }
}

fn misuse(why: &'static str) -> Flow {
    Flow::error_with(ErrorKind::User, why, Detail::Misuse(why))
}

impl Machine {
    /// A C string given to an intrinsic: up to its end, or to that of its object.
    pub(super) fn string_argument(&mut self, st: &mut State, p: Value) -> StepResult<String> {
        match p {
            Value::Ptr { obj, off } => {
                if let Some(s) = self.c_string(st, p) {
                    return Ok(s);
                }
                let held = st.memory.contents(obj).filter(|_| off >= 0);
                let (held, w) =
                    held.ok_or_else(|| misuse("Invalid string pointer passed to one of the klee_ functions"))?;
                let byte = |at| held.read_concrete(w.start + at, 1).filter(|b| *b != 0).map(|b| b as u8);
                let bytes: Vec<u8> = (off as u64..w.len).map_while(byte).collect();
                self.warn_once("String not terminated by \\0 passed to one of the klee_ functions".into());
                Ok(String::from_utf8_lossy(&bytes).into_owned())
            }
            Value::Int(_) | Value::Undef => Err(misuse("Invalid string pointer passed to one of the klee_ functions")),
            Value::Term(_) => Err(misuse("Symbolic string pointer passed to one of the klee_ functions")),
        }
    }
}

/// `__VERIFIER_nondet_memory(address, bytes)`
pub(super) fn nondet_memory(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    const WHAT: &str = "the size given to __VERIFIER_nondet_memory";
    let name = "__VERIFIER_nondet_memory";
    let Some(n) = m.make_symbolic_by_size(st, call, WHAT, name, Origin::Nondet)? else { return Ok(()) };
    if n == 0 {
        return Ok(());
    }
    match m.place(st, call.arg(0), n, AccessKind::Write)? {
        ResolvedLocation::At { obj, off } => m.make_symbolic(st, obj, off, n, name, Origin::Nondet),
        ResolvedLocation::Symbolic { .. } | ResolvedLocation::Piece { .. } => {
            Err(Flow::cut(Cut::Unsupported("nondet memory at a symbolic offset".into())))
        }
    }
}
