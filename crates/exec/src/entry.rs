//! How a run begins: the arguments of `main`, symbolic parameters, fuzz data.

use crate::access::ResolvedLocation;
use crate::config::SetupError;
use crate::machine::Machine;
use crate::parameters::{self, Choice};
use pleach_expr::{SymbolKind, SymbolOrigin, TermId};
use pleach_ir::cfg::Cfg;
use pleach_ir::liveness::Liveness;
use pleach_ir::types::DebugType;
use pleach_ir::{BlockId, InstId};
use pleach_memory::{Background, Contents, ObjId, ObjectKind, Site, Size, Value};
use pleach_state::{Assumption, Input, InputType, Origin, State};

/// Numbers of instructions that no function has: those of objects that parameters point to.
const FIRST_PARAMETER: u32 = u32::MAX - 0x1_0000;

/// An object whose size is an input too.
struct SizedInput<'a> {
    name: &'a str,
    origin: Origin,
    site: Site,
    /// width of the count
    bits: u16,
    /// bytes of one element, and how many there are at most
    element: u64,
    most: u64,
}

/// Which parameters have which value because they count elements.
fn counts(choices: &[Choice]) -> impl Iterator<Item = (usize, u64)> {
    choices.iter().filter_map(|c| match c {
        Choice::Object { counted, .. } => *counted,
        _ => None,
    })
}

impl Machine {
    fn object(&mut self, st: &mut State, contents: Contents) -> Result<ObjId, SetupError> {
        let site = Site::new(st.frame.func.0, u32::MAX);
        st.memory
            .allocate(contents.size(), 16, ObjectKind::Global, site, contents)
            .map_err(|_| SetupError::Memory("the arguments of the program".into()))
    }

    /// `argc`, `argv` and the environment, as many of them as `main` takes.
    pub(crate) fn main_arguments(&mut self, st: &mut State, args: &[String]) -> Result<(), SetupError> {
        let program = self.program.clone();
        let params = &program.function(st.frame.func).params;
        if params.is_empty() {
            return Ok(());
        }
        let [count, strings, environment] = self.arguments_read();
        if count || strings || !args.is_empty() {
            self.assume_of_run(Assumption::Arguments(args.to_vec()));
        }
        if environment && self.config.environment.is_empty() {
            self.assume_of_run(Assumption::Environment("no environment variable is set".into()));
        }
        let all: Vec<String> = std::iter::once(self.config.program_name.clone()).chain(args.iter().cloned()).collect();
        let argv = self.string_vector(st, &all)?;
        let environment = self.config.environment.clone();
        let envp = self.string_vector(st, &environment)?;
        let values = [Value::Int(all.len() as u64), Value::ptr(argv, 0), Value::ptr(envp, 0)];
        for (p, v) in params.iter().zip(values) {
            st.frame.regs[p.slot.index()] = v;
        }
        Ok(())
    }

    /// Which of its three parameters `main` reads; what comes before it in the C library reads them always.
    fn arguments_read(&self) -> [bool; 3] {
        let Some(main) = self.program.function_named(&self.config.main) else { return [true; 3] };
        let f = self.program.function(main);
        let live = Liveness::new(f, &Cfg::new(f));
        let entry = live.live_in(BlockId(0));
        std::array::from_fn(|i| f.params.get(i).is_some_and(|p| entry.contains(p.slot.index())))
    }

    /// Pointers to these strings, and a null pointer after them.
    fn string_vector(&mut self, st: &mut State, strings: &[String]) -> Result<ObjId, SetupError> {
        let word = self.pointer_bytes();
        let mut vector = Contents::new((strings.len() as u64 + 1) * word, Background::Zero);
        for (i, s) in strings.iter().enumerate() {
            let mut bytes = s.clone().into_bytes();
            bytes.push(0);
            let id = self.object(st, Contents::from_bytes(&bytes))?;
            vector.write(&mut self.terms, i as u64 * word, word as usize, Value::ptr(id, 0));
        }
        self.object(st, vector)
    }

    /// Every parameter an input; a pointer is null or points to a fresh object whose contents are one.
    pub(crate) fn symbolic_parameters(&mut self, st: &mut State, choices: &[Choice]) -> Result<(), SetupError> {
        let program = self.program.clone();
        let f = program.function(st.frame.func);
        let mut lengths = Vec::new();
        for (i, (p, choice)) in f.params.iter().zip(choices).enumerate() {
            let name = parameters::name(&f.params, i);
            let object = match (p.byval, *choice) {
                (Some((size, _)), _) => Some((u64::from(size), false)),
                (None, Choice::Object { bytes, terminated, .. }) => Some((bytes, terminated)),
                (None, Choice::Value | Choice::Null | Choice::UpTo { .. }) => None,
            };
            if let Choice::UpTo { element, most, by } = *choice {
                let site = Site::new(st.frame.func.0, FIRST_PARAMETER + i as u32);
                let bits = self.width_of(f.params[by].ty);
                let wanted = SizedInput { name: &name, origin: Origin::Parameter, site, bits, element, most };
                let (obj, n) = self.object_up_to(st, wanted)?;
                st.frame.regs[p.slot.index()] = Value::ptr(obj, 0);
                lengths.push((by, n));
                continue;
            }
            if let Some((bytes, terminated)) = object {
                let obj = self.parameter_object(st, i, &name, bytes)?;
                if terminated {
                    self.terminate(st, ResolvedLocation::At { obj, off: bytes - 1 });
                }
                st.frame.regs[p.slot.index()] = Value::ptr(obj, 0);
            } else if *choice == Choice::Null {
                self.null_parameter(st, &name);
                st.frame.regs[p.slot.index()] = Value::NULL;
            } else {
                let w = self.width_of(p.ty);
                let bits = w.next_multiple_of(8);
                let ty = match p.debug_type {
                    Some(ty) => InputType::Debug { ty, count: 1 },
                    None => InputType::Bytes,
                };
                let t = self.new_scalar(st, &name, bits, Origin::Parameter, ty);
                let t = self.terms.resize_unsigned(t, w);
                for (_, n) in counts(choices).filter(|c| c.0 == i) {
                    let n = self.terms.constant(w, n);
                    let same = self.terms.eq(t, n);
                    // A fresh symbolic variable can have any value.
                    let _ = self.assume(st, same);
                }
                st.frame.regs[p.slot.index()] = Value::from_term(&self.terms, t);
            }
        }
        for (by, n) in lengths {
            let p = &f.params[by];
            let count = self.term(st, st.frame.regs[p.slot.index()], self.width_of(p.ty));
            let same = self.terms.eq(count, n);
            // Both are fresh, and every value of one is possible for the other.
            let _ = self.assume(st, same);
        }
        Ok(())
    }

    /// What a pointer parameter points to: an input of `size` bytes.
    fn parameter_object(&mut self, st: &mut State, i: usize, name: &str, bytes: u64) -> Result<ObjId, SetupError> {
        let site = Site::new(st.frame.func.0, FIRST_PARAMETER + i as u32);
        let contents = Contents::new(bytes, Background::Zero);
        let made = st.memory.allocate(bytes, 16, ObjectKind::Global, site, contents);
        let obj = made.map_err(|_| SetupError::Memory(format!("what the parameter `{name}` points to")))?;
        if bytes > 0 {
            let _ = self.make_symbolic(st, obj, 0, bytes, name, Origin::Parameter);
        }
        Ok(obj)
    }

    /// The type of an object of `bytes` bytes that a parameter points to.
    pub(crate) fn pointee_of_parameter(&self, st: &State, obj: ObjId, bytes: u64) -> Option<InputType> {
        let site = st.memory.header(obj)?.site;
        let i = site.inst.checked_sub(FIRST_PARAMETER)? as usize;
        let p = self.program.functions.get(site.func as usize)?.params.get(i).filter(|p| p.byval.is_none())?;
        let ty = self.pointee(p.debug_type?)?;
        let count = bytes.checked_div(self.size_of_type(ty)?)?;
        // One scalar behind a pointer is an array, too: a test says which parameters are pointers.
        Some(InputType::Debug { ty, count: if self.is_aggregate(ty) { count } else { InputType::ARRAY } })
    }

    /// The last byte of a string is zero: stored, so that nothing is computed from it, and in the test too.
    fn terminate(&mut self, st: &mut State, last: ResolvedLocation) {
        let byte = self.read_place(st, last, 1);
        let byte = self.term(st, byte, 8);
        let zero = self.terms.constant(8, 0);
        let ended = self.terms.eq(byte, zero);
        // A fresh symbolic variable can have any value.
        let _ = self.assume(st, ended);
        self.write_place(st, last, 1, Value::Int(0));
    }

    /// A null pointer is an input without bytes: tests have to say so.
    fn null_parameter(&mut self, st: &mut State, name: &str) {
        let (nth, shown) = st.name_input(&format!("{name}.null"));
        let key = SymbolOrigin::Input { name: self.terms.symbols.name(&shown), nth };
        let symbol = self.terms.symbols.intern(key, SymbolKind::Array { element: 8, len: 0 }, || shown.clone());
        let site = (st.frame.func, InstId(st.inst));
        st.inputs.push(Input {
            name: shown,
            symbol,
            size: 0,
            length: None,
            origin: Origin::Parameter,
            ty: InputType::Bytes,
            site,
        });
    }

    /// The name of the parameter that an object of this site belongs to.
    pub(crate) fn parameter_of(&self, site: Site) -> Option<String> {
        let i = site.inst.checked_sub(FIRST_PARAMETER)? as usize;
        let f = self.program.functions.get(site.func as usize)?;
        (i < f.params.len()).then(|| parameters::name(&f.params, i))
    }

    /// `LLVMFuzzerTestOneInput(data, n)` with exactly `n` symbolic bytes.
    pub(crate) fn fuzz_data(&mut self, st: &mut State, n: u32) -> Result<(), SetupError> {
        let program = self.program.clone();
        let f = program.function(st.frame.func);
        let data = self.object(st, Contents::new(u64::from(n), Background::Zero))?;
        if n > 0 {
            let _ = self.make_symbolic(st, data, 0, u64::from(n), "data", Origin::FuzzData);
        }
        for (p, v) in f.params.iter().zip([Value::ptr(data, 0), Value::Int(u64::from(n))]) {
            st.frame.regs[p.slot.index()] = v;
        }
        Ok(())
    }

    /// `LLVMFuzzerTestOneInput(data, n)` with 1 to `most` symbolic bytes: one object of symbolic size.
    pub(crate) fn fuzz_data_up_to(&mut self, st: &mut State, most: u32) -> Result<(), SetupError> {
        let program = self.program.clone();
        let f = program.function(st.frame.func);
        let bits = f.params.get(1).map_or(self.terms.pointer_bits, |p| program.target.bits(p.ty));
        let site = Site::new(st.frame.func.0, u32::MAX);
        let most = u64::from(most);
        let wanted = SizedInput { name: "data", origin: Origin::FuzzData, site, bits, element: 1, most };
        let (data, n) = self.object_up_to(st, wanted)?;
        for (p, v) in f.params.iter().zip([Value::ptr(data, 0), Value::Term(n)]) {
            st.frame.regs[p.slot.index()] = v;
        }
        Ok(())
    }

    /// An input of symbolic size: the object, and how many elements it has (at least one).
    fn object_up_to(&mut self, st: &mut State, wanted: SizedInput) -> Result<(ObjId, TermId), SetupError> {
        let SizedInput { name, origin, site, bits, element, most } = wanted;
        let full = || SetupError::Memory(format!("what the parameter `{name}` points to"));
        let capacity = element.checked_mul(most).and_then(|n| u32::try_from(n).ok()).ok_or_else(full)?;
        let (nth, shown) = st.name_input(name);
        // The count is no input of its own: the tests have as many bytes.
        let key = SymbolOrigin::InputSize { name: self.terms.symbols.name(name), nth };
        let symbol = self.terms.symbols.intern(key, SymbolKind::Bits(bits), || format!("{shown}.size"));
        let n = self.terms.var(symbol);
        let (zero, limit) = (self.terms.constant(bits, 0), self.terms.constant(bits, most));
        let (some, within) = (self.terms.ult(zero, n), self.terms.ule(n, limit));
        let bounded = self.terms.and(some, within);
        // A fresh symbolic variable can have any value.
        let _ = self.assume(st, bounded);
        let word = self.terms.pointer_bits;
        let (wide, each) = (self.terms.resize_unsigned(n, word), self.terms.constant(word, element));
        let size = self.terms.mul(wide, each);
        let key = SymbolOrigin::Input { name: self.terms.symbols.name(name), nth };
        let kind = SymbolKind::Array { element: 8, len: capacity };
        let symbol = self.terms.symbols.intern(key, kind, || shown.clone());
        let contents = Contents::new(u64::from(capacity), Background::Array(self.terms.array_var(symbol)));
        let extent = Size::Symbolic { size, capacity: u64::from(capacity) };
        let obj = st.memory.allocate(extent, 16, ObjectKind::Global, site, contents).map_err(|_| full())?;
        let site = (st.frame.func, InstId(st.inst));
        let ty = self.pointee_of_parameter(st, obj, u64::from(capacity)).unwrap_or(InputType::Bytes);
        let length = Some(size);
        st.inputs.push(Input { name: shown, symbol, size: capacity, length, origin, ty, site });
        Ok((obj, n))
    }

    pub(crate) fn pointee(&self, ty: pleach_ir::TypeId) -> Option<pleach_ir::TypeId> {
        match &self.program.types[ty.index()] {
            DebugType::Pointer { to } => *to,
            DebugType::Named { of: Some(of), .. } => self.pointee(*of),
            _ => None,
        }
    }

    pub(crate) fn size_of_type(&self, ty: pleach_ir::TypeId) -> Option<u64> {
        match &self.program.types[ty.index()] {
            DebugType::Base { bits, .. } | DebugType::Enum { bits, .. } => Some(u64::from(*bits) / 8),
            DebugType::Pointer { .. } => Some(self.pointer_bytes()),
            DebugType::Array { element, count } => Some(self.size_of_type(*element)? * count),
            DebugType::Struct { size, .. } | DebugType::Union { size, .. } | DebugType::Unknown { size } => Some(*size),
            DebugType::Named { of, .. } => self.size_of_type((*of)?),
            DebugType::Function { .. } => None,
        }
    }
}
