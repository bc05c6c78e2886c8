//! What operators mean, as concrete values and as terms.
//!
//! The executor runs forward with these meanings, the weakest precondition backward. Two definitions of one operator
//! would be two chances for a difference, so they live here, below both. This crate knows no states and no scheduling.
//!
//! ```
//! use pleach_expr::Terms;
//! use pleach_ir::BinOp;
//! use pleach_semantics::{bin_term, concrete};
//!
//! let mut terms = Terms::new(64);
//! let (a, b) = (terms.constant(8, 200), terms.constant(8, 100));
//! let sum = bin_term(&mut terms, BinOp::Add, a, b);
//! assert_eq!(terms.as_const(sum), concrete(BinOp::Add, 8, 200, 100));
//! ```

mod float;
mod integer;
mod objects;
mod ranges;
mod scalar;

pub use float::{float_bin, float_cast, float_cmp, float_neg};
pub use integer::{bin_term, cmp_term, compare, concrete, overflow_term, signed_min};
pub use objects::{address_of, errno_object, fixed_objects, object_of};
pub use ranges::disjoint;
pub use scalar::scalar_terms;
