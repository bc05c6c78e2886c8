//! Source-level types from debug information: they give test inputs their C types and their fields.

use crate::ids::TypeId;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Encoding {
    Signed,
    Unsigned,
    SignedChar,
    UnsignedChar,
    Bool,
    Float,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Member {
    pub name: String,
    /// in bytes from the start of the aggregate
    pub offset: u64,
    /// bit-fields: (bit offset within the aggregate, width)
    pub bits: Option<(u64, u32)>,
    pub ty: TypeId,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum DebugType {
    Base {
        name: String,
        bits: u32,
        encoding: Encoding,
    },
    Pointer {
        to: Option<TypeId>,
    },
    Array {
        element: TypeId,
        count: u64,
    },
    Struct {
        name: String,
        size: u64,
        members: Vec<Member>,
    },
    Union {
        name: String,
        size: u64,
        members: Vec<Member>,
    },
    Enum {
        name: String,
        bits: u32,
        signed: bool,
        variants: Vec<(String, i64)>,
    },
    /// Without a result it returns nothing; parameters that have no type here are left out.
    Function {
        result: Option<TypeId>,
        parameters: Vec<TypeId>,
    },
    /// A name for another type (typedef); qualifiers are dropped.
    Named {
        name: String,
        of: Option<TypeId>,
    },
    Unknown {
        size: u64,
    },
}
