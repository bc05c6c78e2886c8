//! Contracts of recursive functions.
//!
//! *Paper*: none; Unbounded §4 proves loops by an invariant at their header, and a contract is that of a recursive
//! call. *Idea*: a contract says what holds of the arguments of each call and how the result is related to them. A body
//! is explored once, from any arguments that the contract allows, with each recursive call replaced by its contract: a
//! *stub* that checks what is required, forgets what the call may change, and assumes what is ensured. If every body
//! keeps its contract, all calls do, however deep (induction over the calls that are active). *Invariant*: where all
//! checks hold and no body runs into an error, no execution of the program does, as long as there is stack.
//! *Deviations*: only functions over numbers ([`fragment`]). *Direction*: candidates are guessed from samples; a wrong
//! one is found by exploration and dropped. *Checked by*: `loop-campaign --recursion`, against enumeration.

mod abstraction;
mod build;
mod candidates;
mod claim;
mod fragment;
mod interpret;
mod undefined;

pub use abstraction::{Abstracted, Check};
pub use claim::{Atom, Claim, Operand, Sum, Variable};

use fragment::Fragment;
use interpret::Sample;
use pleach_ir::{FuncId, Program};

/// What is known of the calls of one function.
#[derive(Clone, PartialEq, Debug)]
pub struct Contract {
    pub function: FuncId,
    /// of its arguments
    pub requires: Vec<Claim>,
    /// of its result, and of what it changes
    pub ensures: Vec<Claim>,
}

/// The recursive functions of a program, ready for contracts.
pub struct Recursion<'a> {
    program: &'a Program,
    fragment: Fragment,
    samples: Vec<Vec<Sample>>,
}

impl<'a> Recursion<'a> {
    /// The recursive functions that the entry reaches; why there are no contracts for them.
    pub fn of(program: &'a Program, entry: FuncId) -> Result<Recursion<'a>, String> {
        let fragment = Fragment::of(program, entry)?;
        let samples = fragment.functions.iter().map(|f| interpret::samples(program, &fragment, f)).collect();
        Ok(Recursion { program, fragment, samples })
    }

    /// Whether the entry reaches a recursive function at all.
    pub fn is_there(program: &Program, entry: FuncId) -> bool {
        !fragment::recursive(program, entry).is_empty()
    }

    /// Contracts that require all they could, and ensure nothing yet.
    pub fn first(&self) -> Vec<Contract> {
        let one = |f: &fragment::RecursiveFunction| Contract {
            function: f.id,
            requires: candidates::requires(self.program, f),
            ensures: Vec::new(),
        };
        self.fragment.functions.iter().map(one).collect()
    }

    /// What the samples that keep what is required have in common.
    pub fn guess_ensures(&self, contracts: &mut [Contract]) {
        for ((c, f), samples) in contracts.iter_mut().zip(&self.fragment.functions).zip(&self.samples) {
            let kept: Vec<&Sample> = samples.iter().filter(|s| c.requires.iter().all(|r| r.holds(s))).collect();
            c.ensures = candidates::ensures(self.program, f, &kept);
        }
    }

    /// The program with calls replaced by contracts, and a driver for each body.
    pub fn abstracted(&self, contracts: &[Contract]) -> Result<Abstracted, String> {
        abstraction::abstracted(self.program, &self.fragment, contracts)
    }

    /// A claim of a function's contract in C.
    pub fn text(&self, of: FuncId, claim: &Claim) -> String {
        claim.text(self.program, of)
    }
}
