//! Loads, stores and locals; which object a pointer means, and whether it may be touched.

use crate::alignment::Wanted;
use crate::flow::{Flow, StepResult};
use crate::machine::{Code, Machine};
use crate::symbolic_size::Allocation;
use pleach_expr::{Terms, mask};
use pleach_ir::{FuncId, Function, Init, Inst};
use pleach_memory::symbolic::trailing_zeros;
pub(crate) use pleach_memory::{AccessKind, ResolvedLocation};
use pleach_memory::{Contents, Fault, ObjId, Object, ObjectEntry, ObjectKind, Site, Size, Value};
use pleach_state::{Access, Cut, ErrorKind, SizeBound, State};

/// What an access is called, and what it is to go beyond its object.
pub(crate) trait AccessWords {
    fn oob(self) -> ErrorKind;
    fn verb(self) -> &'static str;
}

impl AccessWords for AccessKind {
    fn oob(self) -> ErrorKind {
        match self {
            AccessKind::Read => ErrorKind::OobRead,
            AccessKind::Write => ErrorKind::OobWrite,
        }
    }
    fn verb(self) -> &'static str {
        match self {
            AccessKind::Read => "read",
            AccessKind::Write => "write",
        }
    }
}

impl Machine {
    pub(crate) fn memory_inst(
        &mut self,
        code: &Code,
        f: &Function,
        consts: &[Value],
        st: &mut State,
        inst: &Inst,
    ) -> StepResult<()> {
        match *inst {
            Inst::Load { ty, align, dst, ptr, .. } => {
                let w = self.width_of(ty);
                let n = u64::from(code.program.target.store_bytes(ty));
                let p = self.value(st, consts, ptr, self.pointer_bits());
                self.mind_unwritten(st, p, "the address of a read")?;
                let mut v = self.read(st, p, n, align)?;
                if u64::from(w) != n * 8 {
                    v = match v {
                        Value::Int(x) if w <= 64 => Value::Int(x & mask(w)),
                        v => {
                            let t = self.term(st, v, (n * 8) as u16);
                            let t = self.terms.extract(t, 0, w);
                            Value::from_term(&self.terms, t)
                        }
                    };
                }
                self.set(st, dst, v);
                Ok(())
            }
            Inst::Store { ty, align, ptr, value, .. } => {
                let w = self.width_of(ty);
                let n = u64::from(code.program.target.store_bytes(ty));
                let p = self.value(st, consts, ptr, self.pointer_bits());
                self.mind_unwritten(st, p, "the address of a write")?;
                let to = self.locate_aligned(st, p, Wanted { bytes: n, purpose: AccessKind::Write, align })?;
                let mut v = self.copied(st, consts, value, w);
                if u64::from(w) != n * 8 {
                    let t = self.term(st, v, w);
                    let t = self.terms.zext(t, (n * 8) as u16);
                    v = Value::from_term(&self.terms, t);
                }
                self.write_target(st, to, n, v);
                Ok(())
            }
            Inst::Alloca { dst, size, count, count_width, object } => {
                let c = self.value(st, consts, count, count_width);
                let local = Allocation { what: crate::LOCAL_SIZE, element: size };
                let c = self.size_of_new(st, c, count_width, local)?;
                let bytes = c.bytes(&mut self.terms, size).filter(|b| b.capacity() <= self.config.max_alloc);
                let live: u64 = self.stack_bytes(st);
                let room = |b: u64| live.saturating_add(b) <= self.config.max_stack_bytes.max(b.min(1 << 20));
                let Some(bytes) = bytes.filter(|b| room(b.capacity())) else {
                    return Err(Flow::error(
                        ErrorKind::StackOverflow,
                        format!("locals of {} bytes do not fit into the stack", size.saturating_mul(c.most())),
                    ));
                };
                let align = u64::from(f.objects[object as usize].align);
                let id = self.allocate(st, bytes, align, ObjectKind::Stack)?;
                st.frame.locals.push(id);
                note(st, || Access::Alloc { obj: id, size: bound_of(bytes), zeroed: false, align: None });
                self.set(st, dst, Value::ptr(id, 0));
                Ok(())
            }
            Inst::StackSave { dst } => {
                self.set(st, dst, Value::Int(st.frame.locals.len() as u64));
                Ok(())
            }
            Inst::StackRestore { mark } => {
                if let Value::Int(n) = self.raw(st, consts, mark) {
                    while st.frame.locals.len() as u64 > n {
                        if let Some(o) = st.frame.locals.pop() {
                            st.memory.drop_local(o);
                        }
                    }
                }
                Ok(())
            }
            Inst::ScopeEnd { local } => {
                let Value::Ptr { obj, off: 0 } = self.raw(st, consts, local) else {
                    note(st, || Access::Empty);
                    return Ok(());
                };
                st.frame.locals.retain(|o| *o != obj);
                st.memory.drop_local(obj);
                note(st, || Access::ScopeEnd { obj });
                Ok(())
            }
            _ => unreachable!("dispatched by family"),
        }
    }

    fn stack_bytes(&self, st: &State) -> u64 {
        st.frame.locals.iter().filter_map(|o| st.memory.header(*o)).map(|o| o.capacity()).sum()
    }

    /// A fresh object with contents nobody wrote, made by the current instruction.
    pub(crate) fn allocate(
        &mut self,
        st: &mut State,
        size: impl Into<Size>,
        align: u64,
        kind: ObjectKind,
    ) -> StepResult<ObjId> {
        let size = size.into();
        let contents = Contents::new(size.capacity(), self.background());
        self.allocate_with(st, size, align, kind, contents)
    }

    pub(crate) fn allocate_with(
        &mut self,
        st: &mut State,
        size: impl Into<Size>,
        align: u64,
        kind: ObjectKind,
        contents: Contents,
    ) -> StepResult<ObjId> {
        self.commit(st);
        let site = Site { func: st.frame.func.0, inst: st.inst, calls: self.calls_under_way(st) };
        st.memory.allocate(size, align, kind, site, contents).map_err(|_| Flow::cut(Cut::Memory))
    }

    /// The location that a pointer refers to for an access of `n` bytes. Where it may refer to several objects, or may
    /// be invalid, the path splits and each side executes the instruction again.
    pub(crate) fn place(
        &mut self,
        st: &mut State,
        p: Value,
        n: u64,
        purpose: AccessKind,
    ) -> StepResult<ResolvedLocation> {
        match p {
            Value::Ptr { obj, off } => {
                let size = self.live_size(st, obj, purpose)?;
                let end = u64::try_from(off).ok().and_then(|off| off.checked_add(n));
                let Some(end) = end.filter(|end| *end <= size.capacity()) else {
                    return Err(self.out_of_bounds(st, obj, Some(off), n, purpose));
                };
                if size.is_symbolic() {
                    let inside = size.at_least(&mut self.terms, end);
                    let message = self.oob_message(st, obj, Some(off), n, purpose);
                    self.require(st, inside, purpose.oob(), || message)?;
                }
                Ok(ResolvedLocation::At { obj, off: off as u64 })
            }
            Value::Int(addr) => self.numeric_place(st, addr, n, purpose),
            Value::Term(t) => self.symbolic_place(st, t, n, purpose),
            Value::Undef => Err(Flow::error(purpose.oob(), "the pointer was never initialised")),
        }
    }

    pub(crate) fn numeric_place(
        &mut self,
        st: &mut State,
        addr: u64,
        n: u64,
        purpose: AccessKind,
    ) -> StepResult<ResolvedLocation> {
        match self.model.at_number(&st.memory, addr) {
            Ok((obj, off)) => self.place(st, Value::ptr(obj, off), n, purpose),
            Err(fault) => Err(self.faulty(st, fault, n, purpose)),
        }
    }

    /// The size of an object that may be touched for `purpose`, or the error of doing so.
    pub(crate) fn live_size(&mut self, st: &mut State, obj: ObjId, purpose: AccessKind) -> StepResult<Size> {
        match self.model.touch(&st.memory, obj, purpose) {
            Ok(size) if size != Size::Fixed(0) => Ok(size),
            other => {
                if let Some(name) = st.memory.header(obj).and_then(|o| self.defined_elsewhere(o)) {
                    // INCOMPLETE: `extern int table[]` without a definition has some size.
                    let what = format!("an access to `{name}`, which is defined elsewhere and whose size is not known");
                    return Err(Flow::cut(Cut::Unsupported(what)));
                }
                other.map_err(|fault| self.faulty(st, fault, 0, purpose))
            }
        }
    }

    /// An access of `n` bytes at which something is wrong, as an error.
    pub(crate) fn faulty(&self, st: &State, fault: Fault, n: u64, purpose: AccessKind) -> Flow {
        let verb = purpose.verb();
        match fault {
            Fault::Null(addr) => null(addr, n, purpose),
            Fault::NoObject(addr) => Flow::error_with(
                purpose.oob(),
                format!("{verb} of {n} bytes at address {addr:#x}, where no object is"),
                pleach_state::Detail::NoObject,
            ),
            Fault::InFreed(addr) => Flow::error(
                ErrorKind::UseAfterFree,
                format!("{verb} of {n} bytes at address {addr:#x}, where an object was freed"),
            ),
            Fault::OutOfBounds(obj) => self.out_of_bounds(st, obj, None, n, purpose),
            Fault::Function => Flow::error(purpose.oob(), format!("{verb} through a pointer to a function")),
            Fault::Readonly(obj) => {
                let what = self.describe(st, obj);
                Flow::error(ErrorKind::Readonly, format!("write to {what}, which is read-only"))
            }
            Fault::Freed(obj) => {
                let what = self.describe(st, obj);
                Flow::error(ErrorKind::UseAfterFree, format!("{verb} of {what} after it was freed"))
            }
            Fault::OutOfScope => {
                Flow::error(ErrorKind::UseAfterFree, format!("{verb} of a local variable after the end of its scope"))
            }
        }
    }

    /// The name of a global that the program only declares.
    fn defined_elsewhere(&self, o: &Object) -> Option<&str> {
        let global = self.program.globals.get(o.site.inst as usize)?;
        let declared = o.kind == ObjectKind::Global && o.site.func == u32::MAX && global.init == Init::External;
        (declared && o.size() == Size::Fixed(0)).then_some(&global.name)
    }

    pub(crate) fn out_of_bounds(&self, st: &State, obj: ObjId, off: Option<i64>, n: u64, purpose: AccessKind) -> Flow {
        Flow::error(purpose.oob(), self.oob_message(st, obj, off, n, purpose))
    }

    pub(crate) fn oob_message(&self, st: &State, obj: ObjId, off: Option<i64>, n: u64, purpose: AccessKind) -> String {
        let what = self.describe(st, obj);
        let at = match off {
            Some(o) => format!("at offset {o} of {what}"),
            None => format!("outside {what}"),
        };
        format!("{} of {n} byte{} {at}", purpose.verb(), if n == 1 { "" } else { "s" })
    }

    /// An object as text.
    pub(crate) fn describe(&self, st: &State, obj: ObjId) -> String {
        let o = match st.memory.entry(obj) {
            Some(ObjectEntry::Live(o) | ObjectEntry::InSegment(o, ..) | ObjectEntry::Freed(o)) => o,
            Some(ObjectEntry::OutOfScope { size, .. }) => return format!("an object of {}", bytes_text(*size)),
            None => return "an object of 0 bytes".into(),
        };
        let bytes = bytes_text(o.size());
        let program = &self.program;
        match o.kind {
            ObjectKind::Global => match program.globals.get(o.site.inst as usize) {
                Some(g) if o.site.func == u32::MAX && !g.name.starts_with('.') => format!("`{}` ({bytes})", g.name),
                None if o.site.inst == u32::MAX && o.site.func == u32::MAX => format!("`errno` ({bytes})"),
                _ if o.site.func == u32::MAX => format!("a constant of {bytes}"),
                _ => match self.parameter_of(o.site) {
                    Some(name) => format!("what the parameter `{name}` points to ({bytes})"),
                    None => format!("an input of {bytes}"),
                },
            },
            ObjectKind::Stack => {
                let f = &program.functions[o.site.func as usize];
                match f.insts.get(o.site.inst as usize) {
                    Some(Inst::Alloca { object, .. }) if !f.objects[*object as usize].name.is_empty() => {
                        format!("`{}` ({bytes})", f.objects[*object as usize].name)
                    }
                    _ => format!("a local of {bytes}"),
                }
            }
            ObjectKind::Heap => {
                let f = &program.functions[o.site.func as usize];
                let line = f.spans.get(o.site.inst as usize).map_or(0, |s| s.line);
                // Of a runtime there are no lines.
                if line == 0 && !program.is_own(FuncId(o.site.func)) {
                    return format!("a heap block of {bytes}");
                }
                format!("a heap block of {bytes} allocated in {} (line {line})", f.name)
            }
            ObjectKind::Function => "a function".into(),
            ObjectKind::Fixed => format!("an object of {bytes} at a fixed address"),
            ObjectKind::Segment => format!("{} objects", st.memory.members(obj).len()),
        }
    }

    pub(crate) fn read_place(&mut self, st: &mut State, place: ResolvedLocation, n: u64) -> Value {
        match place {
            ResolvedLocation::At { obj, off } => {
                // A read that decides nothing leaves the object shared with other states.
                if let Some(o) = st.memory.get(obj) {
                    if n <= 8
                        && let Some(v) = o.contents.read_concrete(off, n as usize)
                    {
                        return Value::Int(v);
                    }
                    if let Some(v) = o.contents.read_cell(off, n as usize) {
                        return v;
                    }
                }
                let Some((contents, w)) = st.memory.contents_mut(obj) else { return Value::Undef };
                contents.read(&mut self.terms, w.start + off, n as usize, obj)
            }
            ResolvedLocation::Symbolic { obj, off } => {
                self.warn_large_symbolic_array(st, obj, "read");
                let Some((contents, w)) = st.memory.contents_mut(obj) else { return Value::Undef };
                contents.read_at(&mut self.terms, w, off, n, obj)
            }
            ResolvedLocation::Piece { obj, piece, off } => {
                let Some((contents, _)) = st.memory.contents_mut(obj) else { return Value::Undef };
                let v = contents.read_at(&mut self.terms, piece, off, n, obj);
                if self.config.check_resolution {
                    self.check_piece(st, obj, piece, off, n, Some(v));
                }
                v
            }
        }
    }

    /// KLEE has a word to say where the solver is given a large array.
    fn warn_large_symbolic_array(&mut self, st: &State, obj: ObjId, what: &str) {
        const LARGE: u64 = 4096;
        if !self.config.rules.warn_of_large_objects {
            return;
        }
        let size = st.memory.get(obj).map_or(0, |o| o.capacity());
        if size > LARGE {
            let about = self.describe(st, obj);
            self.warn_once(format!(
                "Symbolic memory {what} will send the following array of {size} bytes to the constraint solver -- large symbolic \
                 arrays may cause significant performance issues: {about}"
            ));
        }
    }

    /// Records an access of `n` bytes.
    pub(crate) fn record(&self, st: &mut State, place: ResolvedLocation, n: u64) {
        if !st.history.is_kept() {
            return;
        }
        let access = match place {
            // What happens in a segment may happen to any member.
            ResolvedLocation::At { obj, .. } | ResolvedLocation::Symbolic { obj, .. } if self.is_segment(st, obj) => {
                Access::Opaque
            }
            ResolvedLocation::At { obj, off } => match size_bound(st, obj) {
                SizeBound::Exactly(_) => Access::At { obj, off },
                SizeBound::AtMost(_) => Access::AtSized { obj, off },
            },
            ResolvedLocation::Symbolic { obj, .. } if st.memory.get(obj).is_none() => Access::Opaque,
            ResolvedLocation::Symbolic { obj, off } | ResolvedLocation::Piece { obj, off, .. } => {
                let zeros = u64::from(trailing_zeros(&self.terms, off));
                let aligned = n.is_power_of_two() && zeros >= u64::from(n.trailing_zeros());
                Access::InBounds { obj, size: size_bound(st, obj), aligned }
            }
        };
        st.history.access(access);
    }

    pub(crate) fn write_place(&mut self, st: &mut State, place: ResolvedLocation, n: u64, v: Value) {
        let keep_undef = match place {
            ResolvedLocation::At { obj, off } => {
                st.memory.contents(obj).is_some_and(|(c, w)| c.is_uninit(w.start + off))
            }
            ResolvedLocation::Symbolic { .. } | ResolvedLocation::Piece { .. } => false,
        };
        let v = if v == Value::Undef && !keep_undef {
            let t = self.fresh(st, (n * 8) as u16);
            Value::from_term(&self.terms, t)
        } else {
            v
        };
        match place {
            ResolvedLocation::At { obj, off } => {
                let Some((contents, w)) = st.memory.contents_mut(obj) else { return };
                contents.write(&mut self.terms, w.start + off, n as usize, v);
            }
            ResolvedLocation::Symbolic { obj, off } => {
                self.warn_large_symbolic_array(st, obj, "write");
                let t = self.term(st, v, (n * 8) as u16);
                let Some((contents, w)) = st.memory.contents_mut(obj) else { return };
                contents.write_at(&mut self.terms, w, Terms::TRUE, off, n, t, obj);
            }
            ResolvedLocation::Piece { obj, piece, off } => {
                if self.config.check_resolution {
                    self.check_piece(st, obj, piece, off, n, None);
                }
                let t = self.term(st, v, (n * 8) as u16);
                let Some((contents, _)) = st.memory.contents_mut(obj) else { return };
                contents.write_at(&mut self.terms, piece, Terms::TRUE, off, n, t, obj);
            }
        }
    }
}

/// What a trace says of the size of an object.
pub(crate) fn size_bound(st: &State, obj: ObjId) -> SizeBound {
    bound_of(st.memory.header(obj).map_or(Size::Fixed(0), |o| o.size()))
}

pub(crate) fn bound_of(size: Size) -> SizeBound {
    match size {
        Size::Fixed(n) => SizeBound::Exactly(n),
        Size::Symbolic { capacity, .. } => SizeBound::AtMost(capacity),
    }
}

/// A size as text.
fn bytes_text(size: Size) -> String {
    match size {
        Size::Fixed(1) => "1 byte".into(),
        Size::Fixed(n) => format!("{n} bytes"),
        Size::Symbolic { capacity: 1, .. } => "up to 1 byte (its size depends on the input)".into(),
        Size::Symbolic { capacity, .. } => format!("up to {capacity} bytes (its size depends on the input)"),
    }
}

/// Records what the current instruction did, where a trace is kept.
#[inline]
pub(crate) fn note(st: &mut State, access: impl FnOnce() -> Access) {
    if st.history.is_kept() {
        st.history.access(access());
    }
}

/// Says more exactly what the last entry did.
pub(crate) fn renote(st: &mut State, access: Access) {
    st.history.amend(|last| *last = access);
}

pub(crate) fn null(addr: u64, n: u64, purpose: AccessKind) -> Flow {
    let at = if addr == 0 { String::new() } else { format!(" plus {addr}") };
    Flow::error(
        ErrorKind::Null,
        format!("{} of {n} byte{} through a null pointer{at}", purpose.verb(), if n == 1 { "" } else { "s" }),
    )
}
