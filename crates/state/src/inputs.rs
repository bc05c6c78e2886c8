//! The inputs that a path has requested, in order.

use pleach_expr::{SymbolId, TermId};
use pleach_ir::{FuncId, InstId, TypeId};
use std::rc::Rc;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    MakeSymbolic,
    /// `__VERIFIER_nondet_*`, `klee_int`, `klee_range`, …
    Nondet,
    Parameter,
    FuzzData,
}

/// What the C type of an input is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputType {
    /// from the program's debug information; `count` elements of it, or [`ARRAY`](Self::ARRAY)
    Debug {
        ty: TypeId,
        count: u64,
    },
    /// a C scalar by name
    Scalar {
        name: &'static str,
        bits: u16,
        signed: bool,
    },
    Bytes,
}

impl InputType {
    /// A `count` for an array of as many elements as the input has.
    pub const ARRAY: u64 = 0;
}

#[derive(Clone, Debug)]
pub struct Input {
    pub name: String,
    /// a byte array of `size` cells, or a bit-vector of `8·size` bits (or fewer: bool)
    pub symbol: SymbolId,
    pub size: u32,
    /// how many of the bytes the program requested, where that is symbolic
    pub length: Option<TermId>,
    pub origin: Origin,
    pub ty: InputType,
    /// the instruction by which the program requested it
    pub site: (FuncId, InstId),
}

/// A persistent list, newest first.
#[derive(Clone, Default)]
pub struct Inputs {
    last: Option<Rc<Node>>,
    len: usize,
}

struct Node {
    input: Rc<Input>,
    before: Option<Rc<Node>>,
}

impl Drop for Node {
    fn drop(&mut self) {
        let mut next = self.before.take();
        while let Some(rc) = next {
            match Rc::try_unwrap(rc) {
                Ok(mut n) => next = n.before.take(),
                Err(_) => break,
            }
        }
    }
}

impl Inputs {
    pub fn push(&mut self, input: Input) {
        self.last = Some(Rc::new(Node { input: Rc::new(input), before: self.last.take() }));
        self.len += 1;
    }
    /// The same inputs in the same order.
    pub fn is_same(&self, other: &Inputs) -> bool {
        let (mut a, mut b) = (&self.last, &other.last);
        while let (Some(x), Some(y)) = (a, b) {
            if Rc::ptr_eq(x, y) {
                return true;
            }
            if x.input.symbol != y.input.symbol || x.input.site != y.input.site {
                return false;
            }
            (a, b) = (&x.before, &y.before);
        }
        a.is_none() && b.is_none()
    }
    pub fn len(&self) -> usize {
        self.len
    }
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// In the order of the program's requests.
    pub fn in_order(&self) -> Vec<Rc<Input>> {
        let mut v = Vec::with_capacity(self.len);
        let mut at = &self.last;
        while let Some(n) = at {
            v.push(n.input.clone());
            at = &n.before;
        }
        v.reverse();
        v
    }
}
