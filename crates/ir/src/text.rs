//! A readable text form of the program, and its parser.
//!
//! Pools do not show: arguments, copies, cases and constants are written where they are used, so the parser may number
//! them anew. What round-trips is the text: `print(parse(t)) = t` for every `t` that `print` gave. Second names of
//! functions (`Program::add_alias`) are not part of it.
//!
//! ```text
//! target "x86_64-pc-linux-gnu" ptr 8
//! file "max.c"
//! global $limit size 4 align 4 const = bytes "ff000000"
//! func @max(%0 i32 "a", %1 i32 "b") -> (i32) {
//!   slot %0 i32 "a"
//!   slot %1 i32 "b"
//!   slot %2 i1
//!   slot %3 i32
//! b0:
//!   %2 = cmp sgt i32 %0, %1 at 0:1:28
//!   branch %2, b1 [%3 = %0], b1 [%3 = i32 7]
//! b1:
//!   return (i32 %3)
//! }
//! ```
//!
//! White space separates and otherwise does not matter; `;` starts a comment. An operand is a slot `%n`, an integer
//! `i32 5`, a wide integer `wide i128 [low, high]`, an address `$global + 4`, `@function`, `block @function b2`, or
//! `undef i32`. Names that occur twice are referred to by number, as `@#3`. A place is `file:line:column`.

mod lex;
mod parse;
mod parse_body;
mod parse_inst;
mod parse_items;
mod print;
mod print_inst;
mod words;

#[cfg(test)]
mod tests;

pub use lex::ParseError;
pub use parse::parse;
pub use print::{print, print_function, print_inst};
