//! What a statement can name.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ty {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
}

impl Ty {
    pub const ALL: [Ty; 8] = [Ty::I8, Ty::U8, Ty::I16, Ty::U16, Ty::I32, Ty::U32, Ty::I64, Ty::U64];

    pub fn c(self) -> &'static str {
        match self {
            Ty::I8 => "signed char",
            Ty::U8 => "unsigned char",
            Ty::I16 => "short",
            Ty::U16 => "unsigned short",
            Ty::I32 => "int",
            Ty::U32 => "unsigned",
            Ty::I64 => "long",
            Ty::U64 => "unsigned long",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Var {
    pub name: String,
    pub ty: Ty,
    /// Elements of an array.
    pub len: Option<u32>,
    pub writable: bool,
}

impl Var {
    pub fn scalar(name: String, ty: Ty) -> Self {
        Var { name, ty, len: None, writable: true }
    }

    pub fn array(name: String, ty: Ty, len: u32) -> Self {
        Var { name, ty, len: Some(len), writable: true }
    }

    pub fn input(name: &str) -> Self {
        Var { name: name.into(), ty: Ty::U8, len: None, writable: false }
    }

    /// Counts a loop: not to be written by its body.
    pub fn counter(name: String) -> Self {
        Var { name, ty: Ty::I32, len: None, writable: false }
    }
}

/// Variables, innermost last.
#[derive(Default)]
pub struct Scope(Vec<Var>);

impl Scope {
    pub fn add(&mut self, var: Var) {
        self.0.push(var);
    }

    pub fn mark(&self) -> usize {
        self.0.len()
    }

    pub fn release(&mut self, mark: usize) {
        self.0.truncate(mark);
    }

    pub fn vars(&self) -> impl Iterator<Item = &Var> {
        self.0.iter()
    }
}
