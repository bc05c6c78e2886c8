//! How a run begins: the arguments of `main`, symbolic parameters, fuzz data.

use crate::config::SetupError;
use crate::machine::Machine;
use pleach_ir::cfg::Cfg;
use pleach_ir::liveness::Liveness;
use pleach_ir::types::DebugType;
use pleach_ir::{BlockId, Ty};
use pleach_memory::{Background, Contents, ObjId, ObjectKind, Site, Value};
use pleach_state::{Assumption, InputType, Origin, State};

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

    /// Every parameter an input; a pointer points to a fresh object whose contents are one.
    pub(crate) fn symbolic_parameters(&mut self, st: &mut State) -> Result<(), SetupError> {
        let program = self.program.clone();
        let f = program.function(st.frame.func);
        for (i, p) in f.params.iter().enumerate() {
            let name = p.name.clone().unwrap_or_else(|| format!("arg{i}"));
            let pointee = p.debug_type.and_then(|t| self.pointee(t));
            let points = matches!(p.ty, Ty::Ptr) || p.byval.is_some();
            if points {
                let bytes = match (p.byval, pointee.and_then(|t| self.size_of_type(t))) {
                    (Some((size, _)), _) => u64::from(size),
                    (None, Some(n)) if n > 1 => n,
                    _ => u64::from(self.config.pointer_bytes),
                };
                let obj = self.object(st, Contents::new(bytes, Background::Zero))?;
                let _ = self.make_symbolic(st, obj, 0, bytes, &name, Origin::Parameter);
                st.frame.regs[p.slot.index()] = Value::ptr(obj, 0);
            } else {
                let w = self.width_of(p.ty);
                let bits = w.next_multiple_of(8);
                let ty = match p.debug_type {
                    Some(ty) => InputType::Debug { ty, count: 1 },
                    None => InputType::Bytes,
                };
                let t = self.new_scalar(st, &name, bits, Origin::Parameter, ty);
                let t = self.terms.resize_unsigned(t, w);
                st.frame.regs[p.slot.index()] = Value::from_term(&self.terms, t);
            }
        }
        Ok(())
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

    fn pointee(&self, ty: pleach_ir::TypeId) -> Option<pleach_ir::TypeId> {
        match &self.program.types[ty.index()] {
            DebugType::Pointer { to } => *to,
            DebugType::Named { of: Some(of), .. } => self.pointee(*of),
            _ => None,
        }
    }

    fn size_of_type(&self, ty: pleach_ir::TypeId) -> Option<u64> {
        match &self.program.types[ty.index()] {
            DebugType::Base { bits, .. } | DebugType::Enum { bits, .. } => Some(u64::from(*bits) / 8),
            DebugType::Pointer { .. } => Some(self.pointer_bytes()),
            DebugType::Array { element, count } => Some(self.size_of_type(*element)? * count),
            DebugType::Struct { size, .. } | DebugType::Union { size, .. } | DebugType::Unknown { size } => Some(*size),
            DebugType::Named { of, .. } => self.size_of_type((*of)?),
            DebugType::Function => None,
        }
    }
}
