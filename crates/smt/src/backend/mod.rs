//! The solver libraries behind one small interface.
//!
//! [`Engine`] is what a library must offer: make terms, assert, check under assumptions, read values. The translation
//! of our terms ([`encode`]) and the incremental use ([`incremental`]) are written once against it.

mod bitwuzla;
mod effort;
mod encode;
pub mod incremental;
mod z3;

use crate::answer::UnknownReason;
use crate::config::{BackendKind, SolverConfig};
use crate::error::SmtError;
use crate::query::Solver;
use crate::session::Satisfiability;
use incremental::Incremental;
use pleach_expr::{TermId, Terms};
use std::cell::Cell;
use std::fmt::Debug;
use std::hash::Hash;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Where a check has to stop.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    pub timeout: Option<Duration>,
    pub memory_mib: Option<u64>,
    pub interrupt: Option<Arc<AtomicBool>>,
    pub steps: Rc<Steps>,
}

/// How far searches go, as far as a library tells: the same in every run, as time is not.
#[derive(Debug, Default)]
pub struct Steps {
    pub taken: Cell<u64>,
    /// the limit for one check
    pub limit: Cell<Option<u64>>,
}

/// The sorts that terms are translated to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sort {
    Bool,
    Bits(u16),
    /// from bit-vectors of `index` bits to bit-vectors of `element` bits
    Array {
        index: u16,
        element: u16,
    },
}

/// An IEEE format by the widths of exponent and significand (with the hidden bit).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Format {
    pub exponent: u16,
    pub significand: u16,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Round {
    NearestEven,
    NearestAway,
    Up,
    Down,
    ToZero,
}

/// The functions of SMT-LIB that terms are translated to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fun {
    Not,
    And,
    Or,
    Xor,
    Equal,
    Ite,
    BvNot,
    BvNeg,
    BvAnd,
    BvOr,
    BvXor,
    BvAdd,
    BvSub,
    BvMul,
    BvUdiv,
    BvSdiv,
    BvUrem,
    BvSrem,
    BvShl,
    BvLshr,
    BvAshr,
    BvUlt,
    BvUle,
    BvSlt,
    BvSle,
    Concat,
    Extract { high: u16, low: u16 },
    ZeroExtend(u16),
    SignExtend(u16),
    Select,
    Store,
    FpFromBits(Format),
    FpAdd(Round),
    FpSub(Round),
    FpMul(Round),
    FpDiv(Round),
    FpFma(Round),
    FpSqrt(Round),
    FpToIntegral(Round),
    FpEq,
    FpLt,
    FpLe,
    FpIsNan,
    FpFromFp(Round, Format),
    FpFromSigned(Round, Format),
    FpFromUnsigned(Round, Format),
    FpToSigned(Round, u16),
    FpToUnsigned(Round, u16),
}

impl Fun {
    /// Arrays and floats.
    pub fn beyond_bits(self) -> bool {
        use Fun::*;
        matches!(
            self,
            Select
                | Store
                | FpFromBits(_)
                | FpAdd(_)
                | FpSub(_)
                | FpMul(_)
                | FpDiv(_)
                | FpFma(_)
                | FpSqrt(_)
                | FpToIntegral(_)
                | FpEq
                | FpLt
                | FpLe
                | FpIsNan
                | FpFromFp(..)
                | FpFromSigned(..)
                | FpFromUnsigned(..)
                | FpToSigned(..)
                | FpToUnsigned(..)
        )
    }
}

/// What a library said about the asserted terms and the assumptions.
#[derive(Clone, Debug)]
pub enum Verdict {
    Sat,
    /// positions of the assumptions that are needed for it
    Unsat(Vec<usize>),
    Unknown(UnknownReason),
}

/// What is known of a query before it is checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Check {
    Usual,
    /// much is to be done before the search begins
    Large,
}

/// One instance of a solver library. Terms live as long as the instance.
pub trait Engine: Sized {
    type Term: Copy + Eq + Hash + Debug;
    /// Terms nested deeper than this are refused: the library would overflow the stack.
    const MAX_DEPTH: u32;
    fn open(limits: &Limits) -> Result<Self, SmtError>;
    fn truth(&mut self, value: bool) -> Result<Self::Term, SmtError>;
    /// From little-endian limbs.
    fn bits(&mut self, width: u16, limbs: &[u64]) -> Result<Self::Term, SmtError>;
    /// A fresh variable.
    fn fresh(&mut self, sort: Sort) -> Result<Self::Term, SmtError>;
    fn apply(&mut self, fun: Fun, args: &[Self::Term]) -> Result<Self::Term, SmtError>;
    /// `body` for all values of the variable `bound`.
    fn forall(&mut self, bound: Self::Term, sort: Sort, body: Self::Term) -> Result<Self::Term, SmtError>;
    fn assert(&mut self, term: Self::Term) -> Result<(), SmtError>;
    /// For the checks that follow.
    fn set_timeout(&mut self, timeout: Option<Duration>);
    /// Ends soon after an interrupt. If it was given up without an answer then, the instance is only dropped.
    fn check(&mut self, assumptions: &[Self::Term], how: Check) -> Result<Verdict, SmtError>;
    /// After `Sat`: the value of a Boolean or bit-vector term, as little-endian limbs.
    fn value(&mut self, term: Self::Term) -> Result<Vec<u64>, SmtError>;
}

/// The back end of that kind, with the limits of `config`; it counts its `steps`.
pub fn backend(kind: BackendKind, config: &SolverConfig, steps: &Rc<Steps>) -> Box<dyn Solver> {
    let limits = Limits {
        timeout: config.timeout,
        memory_mib: config.memory_mib,
        interrupt: config.interrupt.clone(),
        steps: Rc::clone(steps),
    };
    match kind {
        BackendKind::Bitwuzla => Box::new(Incremental::<bitwuzla::Bitwuzla>::new(limits, &incremental::BITWUZLA)),
        BackendKind::Z3 => Box::new(Incremental::<z3::Z3>::new(limits, &incremental::Z3)),
    }
}

/// One instance for [`crate::Session`], whatever the library.
pub trait Conversation {
    fn assert(&mut self, terms: &Terms, t: TermId) -> Result<(), SmtError>;
    fn check(&mut self, terms: &Terms, assumptions: &[TermId]) -> Result<Satisfiability, SmtError>;
    fn value(&mut self, terms: &Terms, t: TermId) -> Result<u64, SmtError>;
    fn set_timeout(&mut self, timeout: Option<Duration>);
}

impl<E: Engine> Conversation for encode::Encoder<E> {
    fn assert(&mut self, terms: &Terms, t: TermId) -> Result<(), SmtError> {
        let t = self.constraint(terms, t)?;
        self.engine.assert(t)
    }

    fn check(&mut self, terms: &Terms, assumptions: &[TermId]) -> Result<Satisfiability, SmtError> {
        let all = assumptions.iter().map(|t| self.constraint(terms, *t)).collect::<Result<Vec<_>, _>>()?;
        Ok(match self.engine.check(&all, Check::Usual)? {
            Verdict::Sat => Satisfiability::Sat,
            Verdict::Unsat(_) => Satisfiability::Unsat,
            Verdict::Unknown(why) => Satisfiability::Unknown(why),
        })
    }

    fn value(&mut self, terms: &Terms, t: TermId) -> Result<u64, SmtError> {
        let t = self.any(terms, t)?;
        Ok(self.engine.value(t)?.first().copied().unwrap_or(0))
    }

    fn set_timeout(&mut self, timeout: Option<Duration>) {
        self.engine.set_timeout(timeout);
    }
}

/// An instance of that kind.
pub fn conversation(kind: BackendKind, config: &SolverConfig) -> Result<Box<dyn Conversation>, SmtError> {
    let limits = Limits {
        timeout: config.timeout,
        memory_mib: config.memory_mib,
        interrupt: config.interrupt.clone(),
        steps: Rc::default(),
    };
    Ok(match kind {
        BackendKind::Bitwuzla => Box::new(encode::Encoder::new(bitwuzla::Bitwuzla::open(&limits)?)),
        BackendKind::Z3 => Box::new(encode::Encoder::new(z3::Z3::open(&limits)?)),
    })
}
