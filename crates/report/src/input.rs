//! Program inputs and the C types they have.

use serde::{Deserialize, Serialize};

use crate::value;

/// Where an input enters the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InputOrigin {
    /// `klee_make_symbolic`, `klee_int`, `klee_range`, `klee_choose`.
    MakeSymbolic,
    /// A `__VERIFIER_nondet_*` function.
    Nondet,
    /// An element of `argv`.
    Argument,
    /// A parameter of the function given by `--entry`.
    Parameter,
    /// The buffer of `LLVMFuzzerTestOneInput`.
    FuzzData,
}

/// One input with its value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// Name given by the program, or the nondet function's name.
    pub name: String,
    /// C type from the program.
    pub ty: InputType,
    /// The value, little endian.
    pub bytes: Vec<u8>,
    /// How it enters the program.
    pub origin: InputOrigin,
}

/// A member of a structure.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Field {
    /// Member name.
    pub name: String,
    /// Byte offset.
    pub offset: u64,
    /// Member type.
    pub ty: InputType,
}

/// A C type, as far as it matters for showing and passing values.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InputType {
    /// An integer that is read as a number.
    Int {
        /// C spelling, for instance `unsigned int` or `size_t`.
        name: String,
        /// Width.
        bits: u32,
        /// Signedness.
        signed: bool,
    },
    /// `_Bool`.
    Bool,
    /// A character type.
    Char {
        /// C spelling.
        name: String,
        /// Signedness.
        signed: bool,
    },
    /// A floating-point type.
    Float {
        /// C spelling.
        name: String,
        /// Width of the value: 32, 64 or 80.
        bits: u32,
    },
    /// A pointer.
    Pointer {
        /// C spelling of what it points to.
        to: String,
        /// Width.
        bits: u32,
    },
    /// An array.
    Array {
        /// Element type.
        elem: Box<InputType>,
        /// Number of elements.
        count: u64,
    },
    /// A structure.
    Struct {
        /// C spelling, for instance `struct point`.
        name: String,
        /// Size with padding.
        size: u64,
        /// Members by offset.
        fields: Vec<Field>,
    },
    /// A union: shown as bytes.
    Union {
        /// C spelling.
        name: String,
        /// Size.
        size: u64,
    },
    /// No type known.
    Bytes(u64),
}

/// A scalar inside an input.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaf<'a> {
    /// Access path, for instance `p.xs[2]`.
    pub path: String,
    /// Its type, always a scalar.
    pub ty: InputType,
    /// Its bytes (fewer than the type's size when the input is short).
    pub bytes: &'a [u8],
}

impl InputType {
    /// `int`.
    pub fn int() -> Self {
        Self::Int { name: "int".into(), bits: 32, signed: true }
    }

    /// `char`, signed as on the supported targets.
    pub fn char() -> Self {
        Self::Char { name: "char".into(), signed: true }
    }

    /// `unsigned char`.
    pub fn unsigned_char() -> Self {
        Self::Char { name: "unsigned char".into(), signed: false }
    }

    /// An array of `count` elements.
    pub fn array(elem: InputType, count: u64) -> Self {
        Self::Array { elem: Box::new(elem), count }
    }

    /// Size in bytes.
    pub fn size(&self) -> u64 {
        match self {
            Self::Int { bits, .. } | Self::Pointer { bits, .. } => u64::from(bits.div_ceil(8)),
            Self::Bool | Self::Char { .. } => 1,
            Self::Float { bits: 80, .. } => 16,
            Self::Float { bits, .. } => u64::from(bits.div_ceil(8)),
            Self::Array { elem, count } => elem.size().saturating_mul(*count),
            Self::Struct { size, .. } | Self::Union { size, .. } | Self::Bytes(size) => *size,
        }
    }

    /// The type as C spells it in a cast, for instance `int [4]` or `struct s`.
    pub fn spelling(&self) -> String {
        self.declaration("")
    }

    /// A C declaration of `name` with this type, for instance `int x[4]`.
    pub fn declaration(&self, name: &str) -> String {
        let join = |ty: &str, rest: String| {
            let glue = if rest.is_empty() || ty.ends_with('*') { "" } else { " " };
            format!("{ty}{glue}{rest}")
        };
        match self {
            Self::Int { name: ty, .. }
            | Self::Char { name: ty, .. }
            | Self::Float { name: ty, .. }
            | Self::Struct { name: ty, .. }
            | Self::Union { name: ty, .. } => join(ty, name.to_owned()),
            Self::Bool => join("_Bool", name.to_owned()),
            Self::Pointer { to, .. } => join(&format!("{to} *"), name.to_owned()),
            Self::Array { elem, count } => elem.declaration(&format!("{name}[{count}]")),
            Self::Bytes(n) => join("unsigned char", format!("{name}[{n}]")),
        }
    }

    /// Whether this is a character array, which is shown as a string.
    pub fn is_text(&self) -> bool {
        matches!(self, Self::Array { elem, .. } if matches!(**elem, Self::Char { .. }))
    }

    /// The value in `bytes` as a C programmer would write it.
    pub fn render(&self, bytes: &[u8]) -> String {
        value::render(self, bytes)
    }

    /// The value in `bytes` as JSON.
    pub fn to_json(&self, bytes: &[u8]) -> serde_json::Value {
        value::to_json(self, bytes)
    }
}

impl Input {
    /// The parameter that this says to be a null pointer: an object without bytes stands for it.
    pub fn null_pointer(&self) -> Option<&str> {
        let says = self.origin == InputOrigin::Parameter && self.bytes.is_empty();
        self.name.strip_suffix(".null").filter(|_| says)
    }

    /// The value as a C programmer would write it.
    pub fn render(&self) -> String {
        self.ty.render(&self.bytes)
    }

    /// The scalars of this input in memory order, padding left out.
    pub fn leaves(&self) -> Vec<Leaf<'_>> {
        value::leaves(&self.name, &self.ty, &self.bytes)
    }
}
