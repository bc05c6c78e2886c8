//! Inputs of a path as the report's inputs: types from the program's debug information.

use pleach_exec::ConcreteInput;
use pleach_ir::types::{DebugType, Encoding, Member};
use pleach_ir::{FuncId, Param, Program, Ty, TypeId};
use pleach_report::{Field, Input, InputOrigin, InputType, Parameter};
use pleach_state::{InputType as PathType, Origin};
use rustc_hash::FxHashMap;

/// Types nested deeper than this are shown as bytes; C has no value type that contains itself, damaged debug
/// information may.
const DEEPEST: u32 = 64;

/// Converts types, each once.
pub struct Types {
    pointer_bits: u32,
    known: FxHashMap<(TypeId, u64, usize), InputType>,
}

impl Types {
    pub fn new(program: &Program) -> Types {
        Types { pointer_bits: program.target.pointer_bytes * 8, known: FxHashMap::default() }
    }

    pub fn input(&mut self, program: &Program, input: ConcreteInput) -> Input {
        let ty = self.convert(program, &input.ty, input.bytes.len());
        Input { name: input.name, ty, bytes: input.bytes, origin: origin(input.origin) }
    }

    /// The report's type of an input of `size` bytes.
    pub fn convert(&mut self, program: &Program, ty: &PathType, size: usize) -> InputType {
        match ty {
            PathType::Bytes => InputType::Bytes(size as u64),
            PathType::Scalar { name, bits, signed } => scalar(name, u32::from(*bits), *signed),
            PathType::Debug { ty, count } => {
                if let Some(known) = self.known.get(&(*ty, *count, size)) {
                    return known.clone();
                }
                let element = self.debug(program, *ty, DEEPEST);
                let whole = match *count {
                    1 => element,
                    PathType::ARRAY => {
                        let fit = (size as u64).checked_div(element.size()).unwrap_or(0);
                        InputType::array(element, fit)
                    }
                    count => InputType::array(element, count),
                };
                // What the program declared must fit what it made symbolic.
                let fits = whole.size() == size as u64;
                let whole = if fits { whole } else { InputType::Bytes(size as u64) };
                self.known.insert((*ty, *count, size), whole.clone());
                whole
            }
        }
    }

    /// A parameter of a function as its declaration has it; what a pointer refers to, for a pointer. Without debug
    /// information the type is that of bytes.
    pub fn parameter(&self, p: &Program, number: usize, param: &Param) -> Parameter {
        let by_pointer = matches!(param.ty, Ty::Ptr) && param.byval.is_none();
        let ty = param.debug_type.and_then(|t| if by_pointer { pointee(p, t) } else { Some(t) });
        let ty = ty.map_or(InputType::Bytes(0), |t| self.debug(p, t, DEEPEST));
        let name = param.name.clone().unwrap_or_else(|| format!("p{number}"));
        Parameter { name, ty, by_pointer }
    }

    fn debug(&self, p: &Program, ty: TypeId, deep: u32) -> InputType {
        let Some(t) = p.types.get(ty.index()) else { return InputType::Bytes(0) };
        if deep == 0 {
            return InputType::Bytes(0);
        }
        let fields = |members: &[Member]| members.iter().map(|m| self.field(p, m, deep)).collect();
        match t {
            DebugType::Base { name, bits, encoding } => base(name, *bits, *encoding),
            DebugType::Enum { name, bits, signed, .. } => {
                InputType::Int { name: tagged("enum", name), bits: *bits, signed: *signed }
            }
            DebugType::Pointer { to } => {
                let to = to.map_or_else(|| "void".into(), |t| spelling(p, t, deep));
                InputType::Pointer { to, bits: self.pointer_bits }
            }
            DebugType::Array { element, count } => InputType::array(self.debug(p, *element, deep - 1), *count),
            DebugType::Struct { size, members, .. } if members.iter().any(|m| m.bits.is_some()) => {
                InputType::Bytes(*size)
            }
            DebugType::Struct { name, size, members } => {
                InputType::Struct { name: tagged("struct", name), size: *size, fields: fields(members) }
            }
            DebugType::Union { name, size, .. } => InputType::Union { name: tagged("union", name), size: *size },
            DebugType::Named { name, of: Some(of) } => renamed(self.debug(p, *of, deep - 1), name),
            DebugType::Named { of: None, .. } | DebugType::Function { .. } => InputType::Bytes(0),
            DebugType::Unknown { size } => InputType::Bytes(*size),
        }
    }

    fn field(&self, p: &Program, m: &Member, deep: u32) -> Field {
        Field { name: m.name.clone(), offset: m.offset, ty: self.debug(p, m.ty, deep - 1) }
    }
}

pub fn origin(origin: Origin) -> InputOrigin {
    match origin {
        Origin::MakeSymbolic => InputOrigin::MakeSymbolic,
        Origin::Nondet => InputOrigin::Nondet,
        Origin::Parameter => InputOrigin::Parameter,
        Origin::FuzzData => InputOrigin::FuzzData,
    }
}

/// What a pointer type, maybe behind a typedef, points to.
pub fn pointee(p: &Program, ty: TypeId) -> Option<TypeId> {
    let mut at = ty;
    for _ in 0..DEEPEST {
        match p.types.get(at.index())? {
            DebugType::Pointer { to } => return *to,
            DebugType::Named { of: Some(of), .. } => at = *of,
            _ => return None,
        }
    }
    None
}

/// The parameters of a function, and which of them are pointers to functions.
pub fn parameters(p: &Program, function: FuncId) -> Vec<(Parameter, bool)> {
    let types = Types::new(p);
    let is_function = |param: &Param| param.debug_type.is_some_and(|ty| is_function_pointer(p, ty));
    let numbered = p.function(function).params.iter().enumerate();
    numbered.map(|(i, param)| (types.parameter(p, i, param), is_function(param))).collect()
}

/// Whether a type is, maybe behind typedefs, a pointer to a function.
fn is_function_pointer(p: &Program, ty: TypeId) -> bool {
    let mut at = pointee(p, ty);
    for _ in 0..DEEPEST {
        match at.and_then(|t| p.types.get(t.index())) {
            Some(DebugType::Function { .. }) => return true,
            Some(DebugType::Named { of, .. }) => at = *of,
            _ => return false,
        }
    }
    false
}

fn base(name: &str, bits: u32, encoding: Encoding) -> InputType {
    let name = name.to_owned();
    match encoding {
        Encoding::Bool => InputType::Bool,
        Encoding::SignedChar => InputType::Char { name, signed: true },
        Encoding::UnsignedChar => InputType::Char { name, signed: false },
        // The value of a `long double` has 80 bits, its object 96 or 128.
        Encoding::Float if bits == 96 || bits == 128 => InputType::Float { name, bits: 80 },
        Encoding::Float => InputType::Float { name, bits },
        Encoding::Signed => InputType::Int { name, bits, signed: true },
        Encoding::Unsigned => InputType::Int { name, bits, signed: false },
    }
}

fn scalar(name: &str, bits: u32, signed: bool) -> InputType {
    match name {
        "_Bool" | "bool" => InputType::Bool,
        "float" | "double" => InputType::Float { name: name.into(), bits },
        "char" | "signed char" | "unsigned char" => InputType::Char { name: name.into(), signed },
        _ => InputType::Int { name: name.into(), bits, signed },
    }
}

fn tagged(tag: &str, name: &str) -> String {
    if name.is_empty() { tag.to_owned() } else { format!("{tag} {name}") }
}

/// A typedef's name for the type.
fn renamed(ty: InputType, name: &str) -> InputType {
    let name = name.to_owned();
    match ty {
        InputType::Int { bits, signed, .. } => InputType::Int { name, bits, signed },
        InputType::Char { signed, .. } => InputType::Char { name, signed },
        InputType::Float { bits, .. } => InputType::Float { name, bits },
        InputType::Struct { size, fields, .. } => InputType::Struct { name, size, fields },
        InputType::Union { size, .. } => InputType::Union { name, size },
        other => other,
    }
}

/// A type's name in C, without its contents.
fn spelling(p: &Program, ty: TypeId, deep: u32) -> String {
    match p.types.get(ty.index()) {
        _ if deep == 0 => "void".into(),
        Some(DebugType::Base { name, .. } | DebugType::Named { name, .. }) => name.clone(),
        Some(DebugType::Struct { name, .. }) => tagged("struct", name),
        Some(DebugType::Union { name, .. }) => tagged("union", name),
        Some(DebugType::Enum { name, .. }) => tagged("enum", name),
        Some(DebugType::Pointer { to: Some(to) }) => format!("{} *", spelling(p, *to, deep - 1)),
        Some(DebugType::Array { element, count }) => format!("{} [{count}]", spelling(p, *element, deep - 1)),
        _ => "void".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_ir::Target;

    #[test]
    fn types_follow_the_debug_information() {
        let mut p = Program::new(Target { triple: "x86_64".into(), pointer_bytes: 8 });
        let member = |name: &str, offset, ty| Member { name: name.into(), offset, bits: None, ty: TypeId(ty) };
        p.types = vec![
            DebugType::Base { name: "int".into(), bits: 32, encoding: Encoding::Signed },
            DebugType::Named { name: "id_t".into(), of: Some(TypeId(0)) },
            DebugType::Struct {
                name: "node".into(),
                size: 16,
                members: vec![member("id", 0, 1), member("next", 8, 3)],
            },
            DebugType::Pointer { to: Some(TypeId(2)) },
        ];
        let mut types = Types::new(&p);
        let node = types.convert(&p, &PathType::Debug { ty: TypeId(2), count: 1 }, 16);
        let InputType::Struct { name, fields, .. } = &node else { panic!("{node:?}") };
        assert_eq!(name, "struct node");
        assert_eq!(fields[0].ty, InputType::Int { name: "id_t".into(), bits: 32, signed: true });
        assert_eq!(fields[1].ty, InputType::Pointer { to: "struct node".into(), bits: 64 });
        let three = types.convert(&p, &PathType::Debug { ty: TypeId(0), count: 3 }, 12);
        assert_eq!(three, InputType::array(InputType::int(), 3));
        let fit = types.convert(&p, &PathType::Debug { ty: TypeId(0), count: PathType::ARRAY }, 4);
        assert_eq!(fit, InputType::array(InputType::int(), 1));
        let misfit = types.convert(&p, &PathType::Debug { ty: TypeId(0), count: 3 }, 13);
        assert_eq!(misfit, InputType::Bytes(13));
        assert_eq!(pointee(&p, TypeId(3)), Some(TypeId(2)));
        p.types.push(DebugType::Function { result: None, parameters: Vec::new() });
        p.types.push(DebugType::Named { name: "callback".into(), of: Some(TypeId(4)) });
        p.types.push(DebugType::Pointer { to: Some(TypeId(5)) });
        assert!(is_function_pointer(&p, TypeId(6)) && !is_function_pointer(&p, TypeId(3)));
    }
}
