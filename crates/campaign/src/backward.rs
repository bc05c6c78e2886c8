//! The campaign of backward execution: random functions over small heaps, against brute force.
//!
//! *Law*: a mark that an input reaches is not called unreachable; an input that is called an answer reaches its mark.
//! Functions are compiled many at a time. An interpreter of the generated functions runs thousands of small inputs and
//! every input that backward execution finds.

mod check;
mod function;
mod interpret;

pub use check::{Totals, check};
pub use function::{FUNCTIONS, Function, prelude};
